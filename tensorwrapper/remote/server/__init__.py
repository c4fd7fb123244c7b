"""The server: what is served, how requests are answered, and the thread that does it."""
