"""NumPy's protocols on tensors and views: NumPy computes on the elements, and the shape stays."""
