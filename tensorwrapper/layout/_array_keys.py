"""Keys with arrays, by NumPy's rules: what they select of a layout, as places or as an outer product."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final, Protocol, Self, TypeAlias, TypeVar, cast

import numpy as np

from tensorwrapper._arrays import has_type, shown_array
from tensorwrapper._error_text import brief
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._memory import memory_for
from tensorwrapper.errors import (
    IndexTypeError,
    JaggedModeError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
    StepError,
    TensorWrapperError,
    TooManyIndicesError,
)
from tensorwrapper.layout._layout import Layout
from tensorwrapper.layout.boxes._common import fits_int64
from tensorwrapper.layout.boxes._keys import expand_positional, warn_of_indices
from tensorwrapper.layout.cells._parts import rows_of, starts_at_zero
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import unnamed_shape
from tensorwrapper.typing import Array, Extents, IntArray, PositionalItem, PositionalKey

KeyItem: TypeAlias = "PositionalItem | Array"
"""An item of a key in which all positions and masks are arrays."""

_FEW = 4096
"""Positions of a mode that are written down whatever is selected of it."""

_BASIC = {int, slice, type(None), type(Ellipsis)}


def is_basic(key: object) -> bool:
    """Tell whether a key is made of integers, slices, ellipses and None, so that it selects a view."""
    if type(key) is not tuple:
        return type(key) in _BASIC or _is_basic_item(key)
    items = cast("tuple[object, ...]", key)
    return _BASIC.issuperset(map(type, items)) or all(map(_is_basic_item, items))


def _is_basic_item(item: object) -> bool:
    """Tell it of one item: a tuple within a key is a sequence of positions."""
    if type(item) in _BASIC:
        return True
    if isinstance(item, np.ndarray | np.generic):
        # As in NumPy, an array of rank 0 is a number, and a bool is a mask.
        array = cast("Array", item)
        return not array.ndim and array.dtype.kind in "iu"
    # Other values without `__index__` are sequences of positions, or invalid keys, but not tuples of items.
    if isinstance(item, slice):
        return True
    return hasattr(item, "__index__") and not (isinstance(item, bool) or hasattr(item, "__array__"))


def addresses_of_items(layout: Layout[Any], items: tuple[KeyItem, ...]) -> IntArray:
    """Return the addresses of a selection from a box by NumPy's indexing with arrays.

    NumPy applies the key to the coordinates of each mode. The items are those of `to_items`.
    """
    with numpys_errors(layout.shape):
        addresses = _addresses(layout, items)
    if not addresses.size:
        warn_of_indices(items, layout.shape.extents, layout.shape.origin)
    return addresses


def _addresses(layout: Layout[Any], items: tuple[KeyItem, ...]) -> IntArray:
    shape: Shape[Any] = layout.shape
    along, narrowed = _narrowed(items, shape.extents)
    extents = tuple([len(positions) for positions in along])
    try:
        places = np.broadcast_to(np.zeros((), np.bool_), extents)
    except ValueError as error:
        raise SizeOverflowError(f"NumPy has no arrays of extents {extents}") from error
    if not along:
        # NumPy applies the key to the one element, which has no coordinates.
        extents = places[cast("Any", items)].shape
        return layout.offsets_of(np.empty((*extents, 0), dtype=np.int64))
    held = layout.implementation.unnamed()
    if held.mode_strides is not None and fits_int64(held, held.offset):
        # A stride that is never taken may be of any size.
        steps = [step if n > 1 else 0 for step, n in zip(held.mode_strides, shape.extents, strict=True)]
        return _sums(along, steps, held.offset, narrowed)
    indices: IntArray | None = None
    for mode, start in enumerate(shape.origin):
        column = along[mode].reshape((-1,) + (1,) * (shape.rank - mode - 1))
        # A broadcast view, which needs no memory however large the box is.
        chosen: IntArray = np.broadcast_to(column, extents)[cast("Any", narrowed)]
        if shape.rank == 1:
            return layout.offsets_of((chosen + start if start else chosen)[..., np.newaxis])
        if indices is None:
            indices = np.empty((*chosen.shape, shape.rank), dtype=np.int64)
        np.add(chosen, start, out=indices[..., mode])
    return layout.offsets_of(cast("IntArray", indices))


def _sums(along: list[IntArray], steps: list[int], offset: int, narrowed: tuple[KeyItem, ...]) -> IntArray:
    """Return the addresses in a layout with strides. It holds two arrays of them at most."""
    extents = tuple([len(positions) for positions in along])
    total: IntArray = np.array(offset, dtype=np.int64)
    for mode, (positions, step) in enumerate(zip(along, steps, strict=True)):
        column = positions.reshape((-1,) + (1,) * (len(along) - mode - 1))
        # A broadcast view, which needs no memory however large the box is.
        chosen: IntArray = np.broadcast_to(column, extents)[cast("Any", narrowed)]
        if step != 1:
            chosen = np.multiply(chosen, step, out=chosen if chosen.flags.writeable else None)
        total = total + chosen if not mode else np.add(total, chosen, out=total)
    return total


def _narrowed(items: tuple[KeyItem, ...], extents: Extents) -> tuple[list[IntArray], tuple[KeyItem, ...]]:
    """Return the positions along each mode that a key needs at most, and the key for these alone.

    A long mode is not written down for the few positions that are selected of it.
    """
    given = sum(map(_width, items))
    if (
        given > len(extents)
        or sum([item is Ellipsis for item in items]) > 1
        or max(extents, default=0) <= _FEW
    ):
        # NumPy says what is wrong with it.
        return [np.arange(extent) for extent in extents], items
    whole: list[KeyItem] = [slice(None)] * (len(extents) - given)
    dots = next((place for place, item in enumerate(items) if item is Ellipsis), len(items))
    nothing = not all(map(_has_positions, items))
    alone = sum([type(item) is not slice for item in items]) == 1
    along: list[IntArray] = []
    narrowed: list[KeyItem] = []
    for item in [*items[:dots], *whole, *items[dots + 1 :]]:
        mode, width = len(along), _width(item)
        if width == 1 and extents[mode] > _FEW and not _is_mask(item):
            positions, own = _narrowed_mode(item, extents[mode], mode, nothing=nothing, alone=alone)
            along.append(positions)
            narrowed.append(own)
        else:
            along += [np.arange(extent) for extent in extents[mode : mode + width]]
            narrowed.append(item)
    return along, tuple(narrowed)


def _narrowed_mode(
    item: KeyItem, extent: int, mode: int, *, nothing: bool, alone: bool
) -> tuple[IntArray, "slice | IntArray"]:
    """Return positions of a mode, and which of them an item names; `alone` is True beside slices only."""
    if isinstance(item, slice):
        named = range(extent)[item]
        # Not as the length of a range, which ends at 2**63.
        count = max(-((named.start - named.stop) // named.step), 0)
        if nothing and count < 2**62:
            # Nothing is selected, so that it does not matter which they are.
            return np.broadcast_to(np.int64(0), (count,)), slice(None)
        with memory_for(count, "positions"):
            return np.arange(named.start, named.stop, named.step), slice(None)
    given = cast("IntArray", np.asarray(item))
    line = alone and given.ndim == 1
    if given.size >= extent and not line:
        # The key pays for the memory.
        return np.arange(extent, dtype=np.int64), given
    outside = (given < -extent) | (given >= extent)
    if outside.any():
        raise OutOfBoundsError(
            f"index {given[outside].flat[0]} is out of bounds for mode {mode}, which has extent {extent}"
        )
    number = given.astype(np.int64, copy=False)
    if (number < 0).any():
        if extent > MAX_INT64:
            raise SizeOverflowError(
                f"positions from the end of mode {mode}, of extent {extent}, exceed 64 bits"
            )
        number = np.where(number < 0, number + extent, number)
    if line:
        return number, slice(None)
    return number.reshape(-1), np.arange(number.size).reshape(number.shape)


def _is_mask(item: KeyItem) -> bool:
    return isinstance(item, np.ndarray) and cast("Array", item).dtype.kind == "b"


def _has_positions(item: KeyItem) -> bool:
    if not isinstance(item, np.ndarray):
        return True
    array = cast("Array", item)
    return bool(array.any() if array.dtype.kind == "b" else array.size)


@contextmanager
def numpys_errors(shape: Shape[Any]) -> Generator[None]:
    """Raise NumPy's errors for a key as errors of this package, with the extents."""
    try:
        yield
    except TensorWrapperError:
        raise
    except MemoryError as error:
        text = f"a key selects more places of extents {shape.extents} than memory holds"
        raise SizeOverflowError(text) from error
    except (IndexError, OverflowError) as error:
        text = str(error)
        if isinstance(error, OverflowError) or text.startswith("only integers"):
            # Other items are refused before, but these numbers are beyond those of NumPy.
            text = "a position of the key does not fit 64 bits"
        kind = TooManyIndicesError if "too many indices" in text else OutOfBoundsError
        raise kind(f"{text}; the tensor has extents {shape.extents}") from error


def to_items(key: object, shape: Shape[Any] | None = None, *, of_modes: bool = False) -> tuple[KeyItem, ...]:
    """Return a key as a tuple in which all positions and masks are arrays.

    A sparse mask becomes one array of positions for each of its modes, which NumPy treats alike. Keys of
    modes (`of_modes`) keep it. If a shape is given, empty and sparse masks must have its extents: NumPy does
    not check empty ones beside other items.
    """
    given = cast("tuple[object, ...]", key) if isinstance(key, tuple) else (key,)
    sparse: dict[int, IntArray] = {}
    items = tuple([_normal_item(item, place, sparse) for place, item in enumerate(given)])
    if shape is not None:
        for place, item in enumerate(items):
            if _is_mask(item) and (place in sparse or not cast("Array", item).size):
                _check_mask(items, place, shape)
    if not sparse:
        return items
    found: list[KeyItem] = []
    for place, item in enumerate(items):
        if place not in sparse:
            found.append(item)
            continue
        extents = cast("Array", item).shape
        if not of_modes:
            found += np.unravel_index(sparse[place], extents)
        elif len(extents) == 1:
            mask = np.zeros(extents, np.bool_)
            mask[sparse[place]] = True
            found.append(mask)
        else:
            found.append(item)
    return tuple(found)


def _check_mask(items: tuple[KeyItem, ...], place: int, shape: Shape[Any]) -> None:
    mask: Array = cast("Array", items[place])
    widths = [_width(item) for item in items]
    before, after = items[:place], sum(widths[place + 1 :])
    mode = shape.rank - after - mask.ndim if any(item is Ellipsis for item in before) else sum(widths[:place])
    modes = range(mode, mode + mask.ndim)
    if mode < 0 or modes.stop > shape.rank:
        return  # A key with too many items is refused where it is parsed.
    extents = tuple([_extent(shape, own) for own in modes])
    if mask.shape != extents:
        raise OutOfBoundsError(
            f"a mask of extents {mask.shape} does not fit mode {mode}, from where on there are {extents}"
        )


_MUST_HOLD: Final = "must hold positions, `t[[0, 1]]`, or bools, `t[t > 0]`, not"
_NAMED: Final = ": modes are named by keys, `t.named('x', 'y')[{'x': 0}]`"


def _normal_item(item: object, place: int, sparse: dict[int, IntArray]) -> KeyItem:
    """Return an item as a basic one or an array; for a sparse mask, what it takes of it is in `sparse`."""
    if _is_basic_item(item):
        _check_slice(item, place)
        return cast("PositionalItem", item)
    if hasattr(type(item), "__mask_places__"):
        known = cast("tuple[Extents, IntArray] | None", cast("Any", item).__mask_places__())
        if known is not None:
            extents, places = known
            if not extents:
                return np.array(len(places) > 0)
            sparse[place] = places
            return np.broadcast_to(np.True_, extents)  # without memory, however large it is
    if isinstance(item, bool | np.bool_):
        raise IndexTypeError(
            f"item {place} of the key is a single bool, which is not a position: give a mask, or an integer"
        )
    if isinstance(item, str | bytes | bytearray):
        raise IndexTypeError(f"item {place} of the key {_MUST_HOLD} {brief(item)}{_NAMED}")
    try:
        array = shown_array(item)
    except (TypeError, ValueError) as error:
        raise IndexTypeError(f"item {place} of the key is not an array of positions: {error}") from error
    if not array.size and not has_type(item):
        return array.astype(np.int64)  # an empty list is float64 for NumPy
    if array.dtype.kind not in "biu":
        what = f"{array.dtype}" if array.ndim else brief(item)
        raise IndexTypeError(f"item {place} of the key {_MUST_HOLD} {what}")
    return array


def _check_slice(item: object, place: int) -> None:
    """Raise the errors of basic keys: NumPy has other errors for slices beside arrays."""
    if not isinstance(item, slice):
        return
    try:
        cast("slice[Any, Any, Any]", item).indices(0)  # type: ignore[redundant-cast]
    except TypeError as error:
        raise IndexTypeError(f"the {item}, item {place} of the key, is not made of integers") from error
    except ValueError as error:
        raise StepError(f"the step of the {item}, item {place} of the key, is 0") from error


def _positions_of(item: Array, extent: int, mode: int) -> IntArray:
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


class Gathering(Protocol):
    """A layout, or what is selected from as layouts are."""

    @property
    def shape(self) -> Shape[Any]: ...

    def gather(self, mode: int, positions: IntArray, /) -> Self: ...


_G = TypeVar("_G", bound=Gathering)


def outer_product(part: _G, key: object) -> _G:
    """Return the outer product of the selections along each mode, without a copy.

    Raises
    ------
    RankError
        If an array or mask does not have one mode.
    OutOfBoundsError
        If a position does not exist.
    """
    basic: list[PositionalItem] = []
    mode = 0
    for item in expand_positional(cast("PositionalKey", to_items(key, of_modes=True)), part.shape.rank):
        if _is_basic_item(item):
            basic.append(item)
        else:
            # Of what is left: rows that were chosen may be of one length where all were not.
            extent = _extent(part.shape, mode)
            part = part.gather(mode, _positions_of(cast("Array", item), extent, mode))
            basic.append(slice(None))
        mode += item is not None
    whole = mode and all(isinstance(item, slice) and item == _WHOLE for item in basic)
    if whole and _starts_at_zero(part.shape):
        return part
    selected: _G = cast("Any", part)[tuple(basic)]
    return selected


def _starts_at_zero(shape: Shape[Any]) -> bool:
    plain = unnamed_shape(shape).flatten()
    return not any(plain.origin) if plain.is_box else starts_at_zero(rows_of(plain))


_WHOLE: Final = slice(None)


def _extent(shape: Shape[Any], mode: int) -> int:
    try:
        return shape.extent(mode)
    except JaggedModeError as error:
        least, greatest = shape.extent_bounds(mode)
        raise JaggedModeError(
            f"mode {mode} varies from {least} to {greatest} and has no positions of its own: {_SINGLE}"
        ) from error


_SINGLE: Final = (
    "`r.elements()[r.shape.ordinals([(0, 1), (1, 0)])]` takes single elements of rows, `r[[1, 0]]` whole "
    "rows, "
    "and `r.to_padded()` has extents"
)


def _width(item: KeyItem) -> int:
    """Return how many modes an item of a key uses up."""
    if item is None or item is Ellipsis:
        return 0
    mask = isinstance(item, np.ndarray) and cast("Array", item).dtype.kind == "b"
    return np.ndim(cast("Array", item)) if mask else 1


def split_points(layout: Layout[Any], key: object) -> tuple[Layout[Any], tuple[KeyItem, ...]]:
    """Return the layout with the modes of arrays first, and the key of points for it.

    Integers drop their modes first. Modes of slices come after those of the points.
    """
    items = to_items(key, layout.shape)
    widths = [_width(item) for item in items]
    given = sum(widths)
    rank = layout.shape.rank
    if given > rank:
        raise TooManyIndicesError(f"{given} indices are too many for {rank} modes")
    if sum(item is Ellipsis for item in items) > 1:
        raise RankError("a key may have one ellipsis only")
    points: list[KeyItem] = []
    moved: list[int] = []
    basic: list[PositionalItem] = []
    kept = 0  # modes that remain after the basic items
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
    if points and not part.shape.flatten().is_box:
        for mode in range(part.shape.rank):
            _extent(part.shape, mode)  # says of the first that varies what works
    if points and part.shape.has_layers:
        # The modes of points come first, whatever the layers.
        part = part.flatten()
    rest = [mode for mode in range(part.shape.rank) if mode not in moved]
    return part.permute(moved + rest), tuple(points)
