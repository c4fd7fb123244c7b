"""Tensors taken apart: the label entry of a tensor, and its parts, of which runs may be sent."""

from typing import Any, cast, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array
from tensorwrapper.wire._limits import Limits
from tensorwrapper.wire.blocks._tensor_header import TensorHeader, make_skeleton
from tensorwrapper.wire.codec._plan import check_readable
from tensorwrapper.wire.codec._write import Writer
from tensorwrapper.wire.packings._packing import Packed, WriteOptions


@final
@frozen(eq=False)
class DecomposedTensor:
    """A tensor as one entry of a label, and the parts that a message of it would have."""

    whole: TensorHeader
    total: Shape[Any]
    """The shape of the part that has the elements."""
    run: Tensor[Any]
    """The elements that are written one after the other."""
    data: Array | None
    """These elements, where a packing has made them."""
    packed: Packed | None
    parts: tuple[Array, ...]
    """The parts that say where elements are, from part 1 on, as bytes."""


def take_apart(tensor: Tensor[Any], limits: Limits) -> DecomposedTensor:
    """Return the description and the parts of a tensor; elements of one without a packing are not read.

    Raises
    ------
    LocalProtocolError
        If it cannot be written, or readers with these limits would refuse it.
    """
    writer = Writer(1, WriteOptions(limits=limits, allow_longdouble=True))
    entry, run, packed = writer.add_apart(tensor)
    parts = tuple([np.frombuffer(data, dtype=np.uint8) for data in writer.payload[1:]])
    total: Shape[Any] = Shape(*cast("list[int]", entry["shape"]))
    data: Array | None = None
    if packed is not None:
        data = packed.data
        if total.size != len(data) or data.dtype.itemsize != entry["word"]:
            # Only the label describes the meaning of these bytes.
            data = data.view(np.uint8)
            total = Shape(len(data))
    size = total.size * (run.dtype.itemsize if data is None else data.dtype.itemsize)
    whole = make_skeleton(entry, (size, *[len(part) for part in parts]))
    check_readable(whole.label, limits)
    return DecomposedTensor(whole, total, run, data, packed, parts)
