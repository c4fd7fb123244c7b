"""Views of rows: what puts rows together, as boxes of rank 1 that stand for their elements."""
