"""Parquet and Arrow files, read by pyarrow."""
