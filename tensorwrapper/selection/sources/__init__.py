"""Sources of elements: their reads, and the costs of these."""
