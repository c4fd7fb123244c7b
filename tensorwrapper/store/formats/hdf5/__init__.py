"""Read and write HDF5 files."""
