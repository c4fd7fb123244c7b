"""Jagged, tiled, triangular and nested shapes: made from lengths, cells or children, and joined."""
