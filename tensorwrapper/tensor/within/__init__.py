"""Algorithms within rows: flat elements and the splits of rows, in NumPy alone."""
