"""Payload parts: written, read, compressed, summed up, and counted against the limits of a reader."""
