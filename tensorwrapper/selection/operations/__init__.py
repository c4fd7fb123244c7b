"""What is done to a view: each operation with its text, its JSON, and the way back from its positions."""
