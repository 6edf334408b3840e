"""How bytes and rows of a file are reached."""
