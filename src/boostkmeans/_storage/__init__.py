"""Formats of stored files: atomic writing, strict JSON, tensors, checked fields, models."""
