"""Files of the system: bytes at positions, maps, atomic replacement, and errors."""
