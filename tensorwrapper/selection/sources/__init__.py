"""Where elements come from: sources, what is asked of them, and what a read costs."""
