"""Rows, cells and tiles of a tensor: their positions, their facts, reductions, sums, and padding."""
