"""Tensors that are there for what is said about them alone: no type, no elements, one empty part."""

from collections.abc import Callable
from typing import Any, final

import attrs
import numpy as np

from tensorwrapper.buffer import BufferCommon
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.layout.lowlevel import new_row_major, wrap_layout
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, IntArray

__all__ = ["NoElements", "no_elements"]


@final
@attrs.frozen
class NoElements(BufferCommon[Any]):
    """A buffer without addresses, which a message tells from an array that happens to be empty."""

    @property
    def dtype(self) -> "np.dtype[Any]":
        return np.dtype(np.bool_)

    @property
    def size(self) -> int:
        return 0

    @property
    def writeable(self) -> bool:
        return False

    def read_only(self) -> "NoElements":
        return self

    def read(self, addresses: IntArray) -> Array:
        return np.empty(addresses.shape, dtype=np.bool_)

    def write(self, addresses: IntArray, values: Array) -> None:
        """Do nothing: there are no addresses."""

    def pack(self, layout: LayoutCommon, *, own: bool = True) -> "NoElements":  # noqa: ARG002 - none to pack
        return self

    def __reduce__(self) -> tuple[Callable[[], "NoElements"], tuple[()]]:
        return NoElements, ()


def no_elements() -> Tensor[np.bool_]:
    """Return a tensor of shape ``(0,)`` that stands in a message for metadata alone, as Wire-Cell sends them.

    It is written with the type ``?`` of 0 bytes and an empty part, and read back as the same. So are
    slices and copies of it.

    Examples
    --------
    >>> from tensorwrapper import wire
    >>> frames = wire.encode([no_elements()], tensor_metadata=[{"datatype": "frame"}])
    >>> bytes(frames[0])[8:-2].decode()
    '{"TENS":{"tensors":[{"dtype":"?","metadata":{"datatype":"frame"},"part":0,"shape":[],"word":0}]'
    >>> message = wire.decode(frames)
    >>> message.tensors[0].size, message.tensor_metadata
    (0, ({'datatype': 'frame'},))
    """
    return make_tensor(wrap_layout(new_row_major((0,))), NoElements())
