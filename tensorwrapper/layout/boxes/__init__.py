"""Layouts of boxes: one rule for each mode."""
