"""Shapes in the words of Awkward, Arrow, PyTorch, TensorFlow and Zarr, and what each leaves out."""
