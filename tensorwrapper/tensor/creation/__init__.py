"""Creation of tensors: from arrays, nested lists, buffers, coordinates, strings; or from one number."""
