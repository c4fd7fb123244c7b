"""Zarr stores in folders: arrays on regular and rectilinear grids, and ragged ones."""
