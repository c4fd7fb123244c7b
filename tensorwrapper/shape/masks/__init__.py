"""Sets of indices that are not shapes, positions selected along each mode, and patterns that shapes match."""
