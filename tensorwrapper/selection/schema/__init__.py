"""Views as JSON: written, and read from strangers within limits."""
