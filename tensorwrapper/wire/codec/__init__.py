"""The codec: descriptions in a label to plans, plans and parts to tensors, and tensors to both."""
