"""Read and write selections by keys that are arrays or jagged tensors."""
