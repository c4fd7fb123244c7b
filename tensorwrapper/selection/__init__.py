"""Selections: views over many sources, their plans, and how index spaces are cut into blocks."""
