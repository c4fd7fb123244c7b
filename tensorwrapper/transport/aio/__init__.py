"""Waiting on a socket while other work goes on: in an asyncio loop, or in a helper thread."""
