"""Classes for asyncio: worker threads for blocking calls, and tensors that use them."""
