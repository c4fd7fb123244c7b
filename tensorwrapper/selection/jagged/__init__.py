"""Views of rows: operations on rows, as boxes of rank 1 with their elements."""
