"""Loading of saved models."""
