"""Tensors in tiles of which some are present: the work of their methods, loaded with the first call."""
