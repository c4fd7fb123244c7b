"""Buffers of which some tiles are stored, and one value for all others."""
