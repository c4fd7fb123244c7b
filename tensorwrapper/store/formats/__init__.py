"""Read and write files of other formats lazily, as mappings from names to tensors."""
