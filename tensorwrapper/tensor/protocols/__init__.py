"""Arrays of others read into elements and a shape: Arrow's, those that name their modes, rows, strings."""
