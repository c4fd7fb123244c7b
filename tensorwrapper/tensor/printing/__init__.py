"""Tensors shown: as text in the manner of NumPy, and in notebooks."""
