"""Tensors of a server: elements and versions, read and written for clients."""
