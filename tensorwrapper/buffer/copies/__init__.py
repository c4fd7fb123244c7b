"""Elements copied between buffers, run by run or box by box, and counted."""
