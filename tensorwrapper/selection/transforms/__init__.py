"""Places taken apart into positions of single modes, and evenly spaced runs of positions."""
