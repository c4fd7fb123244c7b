"""Tensors over elements in existing memory, without a copy."""

from typing import TYPE_CHECKING, Any, Final, cast, overload

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import to_dtype
from tensorwrapper._arrays import unmasked_array
from tensorwrapper._hints import answered
from tensorwrapper.buffer import BufferCommon, Dense
from tensorwrapper.buffer.lowlevel import check_dtype, packed_layout
from tensorwrapper.errors import BufferSizeError, ConversionError, DTypeError
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape, ShapeLike, as_shape
from tensorwrapper.tensor._tensor import Tensor, make_tensor
from tensorwrapper.tensor._tensor_base import guard, layout_over
from tensorwrapper.tensor.creation._of_pattern import is_pattern, tensor_of_pattern
from tensorwrapper.typing import Array, BufferLike
from tensorwrapper.typing import IndexT_co as J
from tensorwrapper.typing import ScalarT_co as S

if TYPE_CHECKING:
    from tensorwrapper.shape import BlockPattern

_READER: Final = (
    "`tw.buffer.from_functions(len(x), 'i8', lambda places: [x[k] for k in places])` reads any sequence"
)


def plain_array(array: Array) -> Array:
    """Return an array of a subclass as a plain one, over the same memory."""
    return unmasked_array(array)


@overload
def from_buffer(buffer: "npt.NDArray[S]", shape: "BlockPattern") -> Tensor[S]: ...
@overload
def from_buffer(
    buffer: "npt.NDArray[S] | BufferCommon[S]",
    shape: "ShapeLike[J]",
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Layout[Any] | None = None,
) -> Tensor[S, J]:
    """Return a tensor of any shape over elements in existing memory; never a copy."""


@overload
def from_buffer(
    buffer: BufferLike,
    shape: "ShapeLike[J]",
    *,
    dtype: npt.DTypeLike | None = ...,
    layout: Layout | None = ...,
) -> Tensor[Any, J]: ...
def from_buffer(
    buffer: "npt.NDArray[S] | BufferCommon[S] | BufferLike",
    shape: "ShapeLike | BlockPattern",
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Layout[Any] | None = None,
) -> Tensor[Any]:
    """Return a tensor of any shape over elements in existing memory; never a copy.

    Parameters
    ----------
    buffer
        A one-dimensional array without gaps, anything with the buffer protocol, or one of our buffers.
    shape
        The shape; its elements are contiguous in row-major order, from the first one on. A block
        pattern takes the elements of its present tiles.
    dtype
        How to read a buffer that is not an array; bytes if not given.
    layout
        Other positions of the elements; it must be over `shape`.

    Raises
    ------
    BufferSizeError
        If the buffer does not have just the elements of the shape (with `layout`: all its offsets).
    DTypeError
        If tensors cannot hold such elements, or `dtype` is not the one that the array has.
    ConversionError
        If there is no buffer, it has gaps, or `layout` is over another shape.

    Examples
    --------
    >>> import numpy as np
    >>> t = from_buffer(np.arange(13.0), Shape.from_cells((2,), [(2, 2), (3, 3)]))
    >>> t[1].tolist()
    [[4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]
    """
    if is_pattern(shape):
        plain = from_buffer(cast("Any", buffer), Shape(shape.elements), dtype=dtype)
        if layout is not None or type(plain.buffer) is not Dense:
            raise ConversionError(
                "the tiles of a pattern are one after the other in memory, without a layout"
            )
        return tensor_of_pattern(shape, plain.buffer.flat)
    space = as_shape(cast("ShapeLike", shape))
    if isinstance(buffer, BufferCommon):
        return _over(cast("BufferCommon[Any]", buffer), space, dtype, layout)
    if isinstance(buffer, np.ndarray):
        flat = plain_array(cast("Array", buffer))
        check_dtype(flat.dtype)
        if dtype is not None and to_dtype(dtype) != flat.dtype:
            raise DTypeError(f"the array has elements of type {flat.dtype}, not {to_dtype(dtype)}")
        if flat.ndim != 1 or not flat.flags.c_contiguous:
            raise ConversionError(f"a buffer has one mode and no gaps, not extents {flat.shape}")
    else:
        flat = _read_buffer(buffer, to_dtype(np.uint8 if dtype is None else dtype))
    return _over(Dense(cast("Any", flat)), space, None, layout)


def _over(
    buffer: BufferCommon[Any], space: Shape[Any], dtype: npt.DTypeLike | None, layout: Layout[Any] | None
) -> Tensor[Any]:
    if dtype is not None and to_dtype(dtype) != buffer.dtype:
        raise DTypeError(f"the buffer has elements of type {buffer.dtype}, not {to_dtype(dtype)}")
    if layout is None:
        if buffer.size != space.size:
            raise BufferSizeError(f"{space} has {space.size} elements, but the buffer has {buffer.size}")
        layout = packed_layout(space)
    else:
        layout = layout_over(layout, space)
    least, greatest = layout.bounds()
    if greatest >= least:
        buffer.check_bounds(least, greatest)
    return make_tensor(layout, guard(layout, buffer))


def _read_buffer(buffer: BufferLike, dtype: "np.dtype[Any]") -> Array:
    check_dtype(dtype)
    try:
        octets = np.frombuffer(cast("Any", buffer), dtype=np.uint8)
    except (BufferError, TypeError, ValueError) as error:
        # A released memoryview and a closed map are a ValueError.
        given: object = buffer
        sequence = hasattr(type(given), "__getitem__") and not isinstance(
            given, bytes | bytearray | memoryview
        )
        reads = f"; {_READER}" if sequence else ""
        raise ConversionError(
            f"a {type(buffer).__name__} is not a buffer without gaps: {error}{reads}"
        ) from error
    if octets.nbytes % dtype.itemsize:
        raise BufferSizeError(f"{octets.nbytes} bytes do not divide into elements of {dtype.itemsize} bytes")
    return octets.view(dtype)


if not TYPE_CHECKING:
    from_buffer = answered(from_buffer)
