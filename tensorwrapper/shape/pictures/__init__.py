"""Shapes drawn as SVG, and shown in notebooks."""
