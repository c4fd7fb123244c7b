"""Create tensors over the present tiles of a pattern, given instead of a shape."""

from typing import TYPE_CHECKING, Any, TypeGuard

from tensorwrapper.buffer.lowlevel import packed_layout
from tensorwrapper.shape import Shape
from tensorwrapper.tensor._tensor import Tensor, make_tensor
from tensorwrapper.typing import Array

if TYPE_CHECKING:
    from tensorwrapper.shape import BlockPattern


def is_pattern(shape: object) -> "TypeGuard[BlockPattern[Any]]":
    """Return True if a shape argument is a block pattern."""
    if isinstance(shape, Shape | tuple | list | int):
        return False
    # Loaded here: few programs have one.
    from tensorwrapper.shape import BlockPattern  # noqa: PLC0415

    return isinstance(shape, BlockPattern)


def tensor_of_pattern(pattern: "BlockPattern[Any]", flat: Array, fill_value: object = 0) -> Tensor[Any]:
    """Return the tensor over the elements of the present tiles of a pattern; no copy."""
    from tensorwrapper.buffer import Blocks  # noqa: PLC0415 - as above

    return make_tensor(packed_layout(pattern.tiling.shape), Blocks(pattern, flat, fill_value=fill_value))
