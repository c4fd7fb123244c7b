"""What is awaited: the threads that wait in place of a loop of asyncio, and tensors that use them."""
