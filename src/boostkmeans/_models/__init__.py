"""Loading of models of every class."""
