"""What is not one dense array, in the parts of a message: how it is described, written and read."""
