"""Conventions of HDF5 and Zarr files, by which several arrays and attributes form one tensor."""
