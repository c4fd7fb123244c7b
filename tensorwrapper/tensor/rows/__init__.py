"""Rows, cells and tiles of a tensor: where they lie, how they are known, reduced, summed, made longer."""
