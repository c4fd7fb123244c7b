"""State of a socket's connections, and the files at which it listens."""
