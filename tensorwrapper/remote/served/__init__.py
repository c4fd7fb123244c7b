"""Tensors that a server holds: elements and versions, read and written for those who ask."""
