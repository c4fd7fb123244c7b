"""Operating system files: positional I/O, maps, atomic replacement, and errors."""
