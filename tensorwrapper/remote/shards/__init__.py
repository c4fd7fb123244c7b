"""Tensors whose tiles, or rows, several servers hold: the catalogue, reading, and plans to move them."""
