"""Checkpoints: files with the state of a fit, and the checks of what they contain."""
