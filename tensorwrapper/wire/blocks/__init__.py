"""Tensors in blocks: cut, sent apart, collected in any order, and put together within limits."""
