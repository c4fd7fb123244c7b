"""Index sets that are no shape, positions chosen along each mode, and patterns that shapes match."""
