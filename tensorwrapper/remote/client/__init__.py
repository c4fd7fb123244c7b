"""The client: connections, sources that read over them, and tensors that are such sources."""
