"""Plans carried out: sources asked once, and memory for what they send and for the result."""
