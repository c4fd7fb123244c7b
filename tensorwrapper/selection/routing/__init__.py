"""From an index of a view back to the source and the index of its element."""
