"""The estimators: parameters, the scikit-learn interface, and fitted attributes."""
