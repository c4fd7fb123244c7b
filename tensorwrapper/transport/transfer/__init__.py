"""Large tensors in chunks: never in one frame, never in memory as a whole, and resumed after errors."""
