"""Plans: the reads of a view from each source, split between holder and consumer."""
