"""Assignment to a sparse tensor: what becomes the fill is forgotten, the rest is merged into the stored."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer import Sparse
from tensorwrapper.buffer.lowlevel import assign_elements, is_fill, put_elements, stored_of, take_elements
from tensorwrapper.errors import ExtentMismatchError, LayoutError
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.tensor._facade import TensorFacade
from tensorwrapper.typing import Array, Extents

__all__ = ["assign_stored", "put_array"]


def assign_stored(
    held: LayoutCommon, buffer: Sparse[Any], value: "npt.ArrayLike | TensorFacade[Any]"
) -> bool:
    """Write a sparse tensor with the same fill into all elements of a layout; tell whether it is one.

    It costs what is stored on the two sides, whatever the sizes.

    Raises
    ------
    ExtentMismatchError
        If the extents of the value do not broadcast to those of the layout.
    """
    if not isinstance(value, TensorFacade) or not isinstance(value.buffer, Sparse):
        return False
    if not is_fill(_cast(value.buffer.fill_value, buffer.dtype), buffer.fill_value):
        return False
    source = value.layout.implementation
    if held.shape.kind == "smooth":
        source = _stretched(value, held.shape.extents)
    elif not value.shape.is_congruent(held.shape):
        return False
    ordinals, values = stored_of(source, value.buffer)
    put_elements(held, buffer, ordinals, _cast(values, buffer.dtype))
    return True


def put_array(held: LayoutCommon, buffer: Sparse[Any], values: Array) -> None:
    """Write one value per element, in row-major order, at once; the fill alone is not looked at one by one.

    Modes along which `values` has stride 0 repeat what they have once.
    """
    once = tuple([slice(0, 1) if not step else slice(None) for step in values.strides])
    few = values[once]
    other = ~is_fill(few, buffer.fill_value)
    if not other.any():
        put_elements(held, buffer, np.empty(0, dtype=np.int64), few.reshape(-1)[:0])
        return
    mask = np.broadcast_to(other, values.shape)
    picks = np.broadcast_to(np.arange(few.size).reshape(few.shape), values.shape)[mask]
    taken = take_elements(few.reshape(-1), iter([picks]), len(picks))
    put_elements(held, buffer, np.flatnonzero(mask), taken)


def _cast(values: Array, dtype: "np.dtype[Any]") -> Array:
    """Return elements of this dtype, cast as NumPy does in an assignment."""
    if values.dtype == dtype:
        return values
    result: Array = np.empty(values.shape, dtype)
    assign_elements(result, values)
    return result


def _stretched(value: TensorFacade[Any], extents: Extents) -> LayoutCommon:
    """Return the layout of a value broadcast to these extents, as NumPy does in an assignment."""
    layout = value.layout
    given = layout.shape.extents if layout.shape.kind == "smooth" else None
    if given == extents:
        return layout.implementation
    try:
        extra = len(given or ()) - len(extents)
        if given is not None and extra > 0 and given[:extra] == (1,) * extra:
            layout = layout.squeeze(*range(extra))
        return layout.broadcast(extents).implementation
    except LayoutError as error:
        raise ExtentMismatchError(
            f"a value of shape {value.shape} does not broadcast to a tensor of extents {extents}"
        ) from error
