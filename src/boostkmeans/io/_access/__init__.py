"""Access to the bytes and rows of files."""
