"""Files as the system has them: bytes at their places, maps, files replaced at once, and what it refuses."""
