"""HDF5 files, read and written."""
