"""Classes for asyncio: threads that wait in place of the loop, and tensors that use them."""
