"""Execution of plans: read each source once, into memory for the reads and for the result."""
