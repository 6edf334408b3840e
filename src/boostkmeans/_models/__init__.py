"""Loading of model files of any class."""
