"""Keys that are arrays or jagged tensors: what they select, read and written where it lies."""
