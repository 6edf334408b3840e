"""The estimators: parameters, the scikit-learn contract, fitted attributes."""
