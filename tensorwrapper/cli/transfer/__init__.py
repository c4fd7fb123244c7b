"""Tensors of files to and from another process, as a whole."""
