"""Block patterns: which tiles of a tiling are present, as sets of tile numbers."""
