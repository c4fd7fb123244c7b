"""Keys with arrays: what NumPy selects with them, and the outer product of positions."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, SupportsIndex, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import assign_indexed, index_elements
from tensorwrapper.errors import (
    ExtentMismatchError,
    IndexTypeError,
    JaggedModeError,
    OutOfBoundsError,
    RankError,
    TooManyIndicesError,
)
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import expand_positional
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Array, Extents, Index, IntArray, PositionalItem, PositionalKey, ScalarT_co

__all__ = [
    "ArrayKey",
    "ArrayKeyItem",
    "SupportsArray",
    "addresses_of_key",
    "is_basic",
    "outer_layout",
    "positions_of",
    "read_key",
    "split_points",
    "to_items",
    "write_key",
]


class SupportsArray(Protocol):
    """An array, or a tensor of positions or bools."""

    def __array__(self) -> Array: ...


ArrayKeyItem: TypeAlias = (
    "PositionalItem | Sequence[SupportsIndex] | Sequence[Sequence[SupportsIndex]] | SupportsArray"
)
"""What may stand for one mode of a tensor: what basic indexing takes, positions, or a mask."""

ArrayKey: TypeAlias = "ArrayKeyItem | tuple[ArrayKeyItem, ...]"
"""What may stand between the square brackets of a tensor."""

_Item: TypeAlias = "PositionalItem | Array"

_BASIC = {int, slice, type(None), type(Ellipsis)}


def is_basic(key: object) -> bool:
    """Tell whether a key is made of integers, slices, ellipses and None, so that it selects a view."""
    if type(key) is not tuple:
        return type(key) in _BASIC or _is_basic_item(key)
    items = cast("tuple[object, ...]", key)
    return _BASIC.issuperset(map(type, items)) or all(map(_is_basic_item, items))


def _is_basic_item(item: object) -> bool:
    if isinstance(item, np.ndarray | np.generic):
        # As in NumPy, an array of rank 0 is a number, and a bool is a mask.
        array = cast("Array", item)
        return not array.ndim and array.dtype.kind in "iu"
    # Whatever else has no `__index__` is a sequence of positions, or no key: never a tuple of items.
    if isinstance(item, slice):
        return True
    return hasattr(item, "__index__") and not (isinstance(item, bool) or hasattr(item, "__array__"))


def read_key(
    layout: Layout[Any], buffer: BufferCommon[ScalarT_co], key: object
) -> "npt.NDArray[ScalarT_co] | None":
    """Return what NumPy's indexing with arrays selects of a box in strides: an array of its own, or None."""
    memory = buffer.memory_of(layout.implementation)
    if memory is None:
        return None
    with _numpys_errors(layout.shape):
        return index_elements(memory, to_items(key))


def addresses_of_key(layout: Layout[Any], key: object) -> IntArray:
    """Return the addresses of what NumPy's indexing with arrays selects of a box."""
    items = to_items(key)
    with _numpys_errors(layout.shape):
        return _addresses(layout, items)


def write_key(layout: Layout[Any], buffer: BufferCommon[Any], key: object, values: Array) -> None:
    """Write values where NumPy's indexing with arrays would; of a place that comes twice the last counts."""
    items = to_items(key)
    memory = buffer.memory_of(layout.implementation)
    with _numpys_errors(layout.shape):
        if memory is not None:
            try:
                assign_indexed(memory, items, values)
            except ValueError as error:
                raise _misfit(values, error) from error
            return
        addresses = _addresses(layout, items)
    try:
        flat = np.broadcast_to(values, addresses.shape).reshape(-1)[::-1]
    except ValueError as error:
        raise _misfit(values, error) from error
    distinct, first = np.unique(addresses.reshape(-1)[::-1], return_index=True)
    buffer.write(distinct, flat[first])


def _misfit(values: Array, error: ValueError) -> ExtentMismatchError:
    return ExtentMismatchError(
        f"a value of extents {values.shape} does not fit what the key selects: {error}"
    )


def _addresses(layout: Layout[Any], items: tuple[_Item, ...]) -> IntArray:
    """Return the addresses that a key selects: NumPy applies it to the coordinates of each mode."""
    shape: Shape[Any] = layout.shape
    extents: Extents = shape.extents
    origin: Index = shape.origin
    columns: list[IntArray] = []
    for mode, (extent, start) in enumerate(zip(extents, origin, strict=True)):
        along = np.arange(start, start + extent).reshape((-1,) + (1,) * (shape.rank - mode - 1))
        # A view without memory of its own, however large the box is.
        columns.append(np.broadcast_to(along, extents)[cast("Any", items)])
    if not columns:
        # Nothing to stack: NumPy applies the key to the one element, which has no coordinates.
        extents = np.zeros(())[cast("Any", items)].shape
        return layout.offsets_of(np.empty((*extents, 0), dtype=np.int64))
    return layout.offsets_of(np.stack(columns, axis=-1))


@contextmanager
def _numpys_errors(shape: Shape[Any]) -> Generator[None]:
    try:
        yield
    except (OutOfBoundsError, IndexTypeError):
        raise
    except IndexError as error:
        kind = TooManyIndicesError if "too many indices" in str(error) else OutOfBoundsError
        raise kind(f"{error}; the tensor has extents {shape.extents}") from error


def to_items(key: object) -> tuple[_Item, ...]:
    """Return a key as a tuple in which all positions and masks are arrays."""
    items = cast("tuple[object, ...]", key) if isinstance(key, tuple) else (key,)
    return tuple([_normal_item(item, place) for place, item in enumerate(items)])


def _normal_item(item: object, place: int) -> _Item:
    if is_basic(item):
        return cast("PositionalItem", item)
    if isinstance(item, bool | np.bool_):
        raise IndexTypeError(
            f"item {place} of the key is a single bool, which is no position: give a mask, or an integer"
        )
    if isinstance(item, str | bytes | bytearray):
        raise IndexTypeError(f"item {place} of the key must hold positions or a mask, not {item!r}")
    try:
        array: Array = np.asarray(item)
    except (TypeError, ValueError) as error:
        raise IndexTypeError(f"item {place} of the key is no array of positions: {error}") from error
    if not array.size and not issubclass(type(item), np.ndarray):
        return array.astype(np.int64)  # an empty list is float64 for NumPy
    if array.dtype.kind not in "biu":
        what = f"{array.dtype}" if array.ndim else repr(item)
        raise IndexTypeError(f"item {place} of the key must hold positions or a mask, not {what}")
    return array


def positions_of(item: Array, extent: int, mode: int) -> IntArray:
    """Return the positions that an item names along one mode: a mask of it, or a flat array."""
    array = np.asarray(item)
    if array.ndim != 1:
        raise RankError(f"the item of mode {mode} must have one mode, not extents {array.shape}")
    if array.dtype.kind != "b":
        return array.astype(np.int64, copy=False)
    if len(array) != extent:
        raise OutOfBoundsError(
            f"a mask of {len(array)} positions does not fit mode {mode} of extent {extent}"
        )
    return np.flatnonzero(array)


def outer_layout(layout: Layout[Any], key: object) -> Layout[Any]:
    """Return the layout of the outer product of what a key selects along each mode; nothing is copied.

    Raises
    ------
    RankError
        If an array or mask has not just one mode.
    OutOfBoundsError
        If a position does not exist.
    """
    rank = layout.shape.rank
    items = expand_positional(cast("PositionalKey", to_items(key)), rank)
    basic: list[PositionalItem] = []
    mode = 0
    for item in items:
        if item is None or is_basic(item):
            basic.append(item)
        else:
            extent = _extent(layout.shape, mode)
            layout = layout.gather(mode, positions_of(cast("Array", item), extent, mode))
            basic.append(slice(None))
        mode += item is not None
    return layout[tuple(basic)]


def _extent(shape: Shape[Any], mode: int) -> int:
    try:
        return shape.extent(mode)
    except JaggedModeError as error:
        raise JaggedModeError(f"mode {mode} has no one extent to take positions of: {error}") from error


def _width(item: _Item) -> int:
    """Return how many modes an item of a key uses up."""
    if item is None or item is Ellipsis:
        return 0
    mask = isinstance(item, np.ndarray) and cast("Array", item).dtype.kind == "b"
    return np.ndim(cast("Array", item)) if mask else 1


def split_points(layout: Layout[Any], key: object) -> tuple[Layout[Any], tuple[_Item, ...]]:
    """Return the layout with the modes of arrays first, and the key of points for it.

    Integers drop their modes first, slices keep theirs, after those of the points.
    """
    items = to_items(key)
    widths = [_width(item) for item in items]
    given = sum(widths)
    rank = layout.shape.rank
    if given > rank:
        raise TooManyIndicesError(f"{given} indices are too many for {rank} modes")
    if sum(item is Ellipsis for item in items) > 1:
        raise RankError("a key may have one ellipsis only")
    points: list[_Item] = []
    moved: list[int] = []
    basic: list[PositionalItem] = []
    kept = 0  # modes of what the basic items leave
    for item, width in zip(items, widths, strict=True):
        if isinstance(item, np.ndarray):
            points.append(cast("Array", item))
            moved += range(kept, kept + width)
            basic += [slice(None)] * width
            kept += width
        else:
            basic.append(item)
            kept += rank - given if item is Ellipsis else 0 if not isinstance(item, slice | None) else 1
    part = layout[tuple(basic)]
    rest = [mode for mode in range(part.shape.rank) if mode not in moved]
    return part.permute(moved + rest), tuple(points)
