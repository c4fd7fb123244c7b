"""Tensors in tiles of which some are present: what their methods do, loaded when the first is called."""
