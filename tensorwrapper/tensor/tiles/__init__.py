"""Implementation of block-sparse methods, imported on first use."""
