"""Tensors that only carry metadata: no type, no elements, one empty part."""

from collections.abc import Callable, Mapping
from typing import Any, cast, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import BufferCommon
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.layout.lowlevel import new_row_major, wrap_layout
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, IntArray
from tensorwrapper.wire.frames._label import dump_label, plain_object


@final
@frozen
class NoElements(BufferCommon[Any]):
    """A buffer without addresses, which a message tells from an array that happens to be empty."""

    said: str | None = None
    """The metadata that it is there for, as JSON: text, since a value never changes."""

    @property
    def dtype(self) -> "np.dtype[Any]":
        return np.dtype(np.bool_)

    @property
    def size(self) -> int:
        return 0

    @property
    def is_readonly(self) -> bool:
        return True

    def as_readonly(self) -> "NoElements":
        return self

    def read(self, addresses: IntArray) -> Array:
        return np.empty(addresses.shape, dtype=np.bool_)

    def write(self, addresses: IntArray, values: Array) -> None:
        """Do nothing: there are no addresses."""

    def pack(self, layout: LayoutCommon, *, own: bool = True) -> "NoElements":  # noqa: ARG002 - none to pack
        return self

    def __reduce__(self) -> tuple[Callable[[str | None], "NoElements"], tuple[str | None]]:
        return NoElements, (self.said,)


def is_metadata_alone(tensor: object) -> bool:
    """Return True if a tensor, or anything else, is one that `no_elements` makes."""
    return isinstance(tensor, Tensor) and isinstance(cast("Tensor[Any]", tensor).buffer, NoElements)


def no_elements(metadata: Mapping[str, object] | None = None) -> Tensor[np.bool_]:
    """Return a tensor of shape ``(0,)`` that only carries metadata in a message, as Wire-Cell sends them.

    It is written with the type ``?`` of 0 bytes and an empty part, and read back as the same. So are
    slices and copies of it.

    Parameters
    ----------
    metadata
        Metadata of the tensor, written unless `tensor_metadata` replaces it. Nested values need
        `metadata_depth`, as always. A message that is read has it in its `tensor_metadata`.

    Raises
    ------
    LocalProtocolError
        If it cannot be written as JSON.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> from tensorwrapper import wire
    >>> frames = wire.encode([tw.no_elements({"datatype": "frame"})])
    >>> bytes(frames[0])[8:-2].decode()
    '{"TENS":{"tensors":[{"dtype":"?","metadata":{"datatype":"frame"},"part":0,"shape":[],"word":0}]'
    >>> message = wire.decode(frames)
    >>> message.tensors[0].size, message.tensor_metadata
    (0, ({'datatype': 'frame'},))
    """
    said = None if metadata is None else dump_label(plain_object(metadata, "metadata"))
    return make_tensor(wrap_layout(new_row_major((0,))), NoElements(said))
