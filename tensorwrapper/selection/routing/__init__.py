"""From an index of a view back to the source and the index that its element comes from."""
