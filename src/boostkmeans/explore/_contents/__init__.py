"""Contents of rows: texts, images and columns of a table, for the rows that the page shows."""
