"""Wait on a socket in an asyncio loop or in a helper thread."""
