"""The algebra of hierarchical layouts: coalesced, composed, completed, inverted, divided, multiplied."""
