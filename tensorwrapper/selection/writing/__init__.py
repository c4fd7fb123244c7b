"""Writes through views, each element to the one place that it came from."""
