"""File formats below everything that is stored: atomic files, strict JSON, tensors, state."""
