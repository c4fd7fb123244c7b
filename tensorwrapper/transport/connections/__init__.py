"""State of a socket's connections, and its ``ipc`` socket files."""
