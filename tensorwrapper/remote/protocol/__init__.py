"""Requests and answers as values and as frames, without I/O."""
