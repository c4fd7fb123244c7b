"""Rules that take the positions of one mode to offsets: strides, cycles and tables, with their arithmetic."""
