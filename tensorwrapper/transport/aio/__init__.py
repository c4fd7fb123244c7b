"""Who waits at a socket and does something else meanwhile: a loop of asyncio, a thread beside the caller."""
