"""Files that are read by byte ranges: their tensors are views."""
