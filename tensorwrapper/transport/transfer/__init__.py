"""Transfer large tensors in chunks, with bounded memory, and resume after errors."""
