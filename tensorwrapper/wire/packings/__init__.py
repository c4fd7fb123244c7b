"""Packings: tensors that are not one dense array, described in the label and stored in parts."""
