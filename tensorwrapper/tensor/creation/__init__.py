"""Tensors made from what users have: arrays, nested lists, buffers, coordinates, strings; or one number."""
