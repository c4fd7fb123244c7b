"""Send whole tensors of files to another process, and receive them."""
