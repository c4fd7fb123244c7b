"""Shapes written as text, ``repr`` and JSON, and read back."""
