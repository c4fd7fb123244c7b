"""Permutational symmetry: groups of operations, packed order, and what operations on tensors keep of it."""
