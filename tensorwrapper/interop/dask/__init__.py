"""Tensors on many machines: arrays and collections of Dask, and what moves between its workers."""
