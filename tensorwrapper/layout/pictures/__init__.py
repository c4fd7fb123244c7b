"""Layouts drawn as SVG, and written as text."""
