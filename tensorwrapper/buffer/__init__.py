"""What holds the elements of a tensor, and the one routine that copies them."""

from tensorwrapper.buffer._copy import CopyCount, count_copies
from tensorwrapper.buffer._dense import Dense

__all__ = ["CopyCount", "Dense", "count_copies"]
