"""Conventions of HDF5 and Zarr files: arrays and attributes that together are one tensor."""
