"""Plans of copies from one layout to another, and what is worth knowing before one copies."""
