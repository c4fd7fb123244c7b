"""Tensors over the elements of the present tiles of a pattern."""

from typing import Any

from tensorwrapper.buffer import Blocks
from tensorwrapper.buffer.lowlevel import packed_layout
from tensorwrapper.shape import BlockPattern
from tensorwrapper.tensor._tensor import Tensor, make_tensor
from tensorwrapper.typing import Array

__all__ = ["tensor_of_pattern"]


def tensor_of_pattern(pattern: BlockPattern[Any], flat: Array, fill_value: object = 0) -> Tensor[Any]:
    """Return the tensor over the elements of the present tiles of a pattern; no copy."""
    return make_tensor(packed_layout(pattern.tiling.shape), Blocks(pattern, flat, fill_value=fill_value))
