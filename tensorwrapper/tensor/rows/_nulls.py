"""Split nullable tensors, and scatter results to valid positions."""

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer import BufferCommon, Dense, Nullable
from tensorwrapper.buffer.lowlevel import holds_strings, packed_layout
from tensorwrapper.shape import Shape
from tensorwrapper.tensor._tensor_base import TensorBase

Marks: TypeAlias = "npt.NDArray[np.bool_]"
"""One truth value for each element."""


def sides_of(tensor: TensorBase[Any]) -> tuple[TensorBase[Any], Marks]:
    """Return the same tensor without room for nulls, and which of its elements are valid."""
    layout, buffer = tensor.layout, tensor.buffer
    valid, sides = buffer.valid_of(layout.implementation), buffer.sides
    if sides is not None:
        return tensor._make(layout, sides[0]), valid
    if not buffer.nullable:
        return tensor, valid
    from tensorwrapper.buffer import Strings  # noqa: PLC0415 - for strings alone

    data = buffer.strings_of(layout.implementation).fill_null("" if buffer.dtype.kind == "T" else b"")
    return tensor._make(packed_layout(tensor.shape), Strings(data, nullable=False)), valid


def zero_filled(tensor: TensorBase[Any]) -> Any:  # noqa: ANN401 - a tensor with the methods of its kind
    """Return numbers with zero for nulls, or what elements of a type without a zero begin with."""
    return cast("Any", tensor).fill_null(np.zeros((), tensor.dtype)[()])


def over_valid(
    results: "Sequence[TensorBase[Any]]", valid: Marks, shape: Shape[Any], like: TensorBase[Any]
) -> list[TensorBase[Any]]:
    """Return tensors with results at valid positions in order, and nulls elsewhere."""
    return [like._make(packed_layout(shape), _scattered(own, valid)) for own in results]


def _scattered(result: TensorBase[Any], valid: Marks) -> BufferCommon[Any]:
    if holds_strings(result.dtype):
        from tensorwrapper.buffer import StringData, Strings  # noqa: PLC0415 - for strings alone

        data = result.buffer.strings_of(result.layout.implementation)
        places = np.full(len(valid), len(data), np.int64)
        places[valid] = np.arange(len(data))
        nothing = StringData.from_list([None], kind=data.kind)
        return Strings(StringData.concat([data, nothing]).take(places), nullable=True)
    inner = valid
    if result.buffer.sides is not None:
        inner = valid.copy()
        inner[valid] = result.buffer.valid_of(result.layout.implementation)
        result = sides_of(result)[0]
    flat = np.zeros(len(valid), result.dtype)
    flat[valid] = result.elements()
    return Nullable(Dense(cast("Any", flat)), Dense(cast("Any", inner)))
