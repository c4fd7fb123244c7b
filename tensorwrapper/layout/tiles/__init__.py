"""Boxes in memory tile by tile, and tiled views of them."""
