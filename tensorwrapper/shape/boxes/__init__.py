"""Boxes, the base of all shapes, and the parsing of indices, slices and names of modes."""
