"""Plans of contractions: the tiles of two patterns that meet, and the cost, without elements."""
