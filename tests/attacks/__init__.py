"""Attacks on the library for `tests/hostile.py`. An attempt returns a failure as text, or ""."""
