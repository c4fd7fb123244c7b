"""Large tensors in chunks: none is one frame, none waits in memory as a whole, and what broke goes on."""
