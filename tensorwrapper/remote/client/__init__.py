"""The client: connections, sources that read over them, and remote tensors."""
