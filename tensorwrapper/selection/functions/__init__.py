"""Functions that make views: of sources, of several views, and of coordinates."""
