"""Elements of a symmetric box, of which each orbit is stored once."""
