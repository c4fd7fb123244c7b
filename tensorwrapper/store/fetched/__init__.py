"""Read files by byte ranges, with tensors as views."""
