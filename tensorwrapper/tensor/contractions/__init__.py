"""Contractions of tensors in tiles: each tile as a matrix, and their products, added up."""
