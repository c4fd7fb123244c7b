"""Find the source and the index of an element from its index in a view."""
