"""The server: its tensors, its answers, and its thread."""
