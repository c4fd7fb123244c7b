"""What becomes of the connections of a socket, and of the files at which it listens."""
