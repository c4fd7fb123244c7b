"""Shapes side by side: aligned as NumPy broadcasts, contracted by an einsum, paired cell by cell."""
