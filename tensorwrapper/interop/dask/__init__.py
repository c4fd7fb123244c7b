"""Tensors on many machines: arrays and collections of Dask, and transfers between its workers."""
