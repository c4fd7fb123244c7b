"""Plans: what a view reads from each source, split between holder and consumer."""
