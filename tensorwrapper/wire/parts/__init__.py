"""Payload parts: written, read, compressed, summed up, and counted against what a reader allows."""
