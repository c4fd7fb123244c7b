"""Block operations and their tensors as a graph that can be checked, and written as JSON."""
