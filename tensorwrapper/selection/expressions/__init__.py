"""Nodes of views: what is put together, generated or computed, and which step was written."""
