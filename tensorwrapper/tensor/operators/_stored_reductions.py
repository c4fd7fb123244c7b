"""Reductions of sparse tensors by stored elements and the fill."""

import math
from typing import TYPE_CHECKING, Any, Final, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._memory import memory_for
from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import packed_layout
from tensorwrapper.errors import ConversionError, ExtentError
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes, make_smooth, mode_of, names_of, wrap
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.tensor.rows._reduce import check_filled, check_reducible, fit_initial, reduce_runs
from tensorwrapper.typing import Array, IntArray

if TYPE_CHECKING:
    from tensorwrapper.buffer.lowlevel import PresentTiles
    from tensorwrapper.shape import BlockPattern, Partition

_KNOWN: Final = frozenset(
    (
        *("add", "multiply", "maximum", "minimum", "fmax", "fmin", "logical_or", "logical_and"),
        *("bitwise_or", "bitwise_and", "bitwise_xor"),
    )
)
"""Ufuncs whose reduction of many equal elements is known."""


def reduce_stored(
    ufunc: np.ufunc, tensor: TensorBase[Any], over: Shape[Any], options: dict[str, Any], name: str
) -> TensorBase[Any]:
    """Return the reduction of the modes that ``axis=`` names, dense. O(stored log stored + result).

    Parameters
    ----------
    ufunc
        The ufunc.
    tensor
        Sparse, or of blocks: elements that are not stored are its fill.
    over
        The indices of the result.
    options
        Those of ``reduce``.
    name
        Its name in errors.

    Raises
    ------
    ConversionError
        If the reduction of many equal elements is not known.
    ExtentError
        If nothing is reduced, and the ufunc has no identity.
    """
    if ufunc.__name__ not in _KNOWN or options.pop("where", True) is not True:
        raise ConversionError(
            f"{name} of a sparse tensor: `s.to_dense()` has all its elements, values() those stored"
        )
    shape = tensor.shape.flatten()
    axis, dtype = options.pop("axis", 0), options.pop("dtype", None)
    ordinals, values = tensor.buffer.stored_of(tensor.layout.implementation)
    owners, counts = _owners(shape, axis, over, ordinals)
    with refusals(name):
        initial = options.pop("initial", None)
        # As in NumPy, also where there is no number of the result.
        none = shape.is_box and not all(shape.extents[mode] for mode in modes_that_go(shape, axis))
        if initial is None and (none or not counts.all()) and ufunc.identity is None:
            raise ExtentError(f"{name}: nothing is reduced, and there is no identity: give initial=")
        result = _reduced(ufunc, (owners, values), counts, cast("Array", tensor.buffer.fill_value), dtype)
        if initial is not None:
            neutral = fit_initial(initial, result.dtype)
            result = ufunc(result, neutral)
            result[counts == 0] = neutral
    if options.pop("keepdims", False):
        over = shape_with_kept_modes(shape, axis)
    if options:
        raise ConversionError(f"{name} does not know {', '.join(map(repr, options))}")
    return tensor._make(packed_layout(over), Dense(cast("Any", result.reshape(-1))))


def _owners(
    shape: Shape[Any],
    axis: object,
    over: Shape[Any],
    ordinals: IntArray,
) -> tuple[IntArray, IntArray]:
    """Return of which number of the result each element is a part, and how many elements each has."""
    if not shape.is_box:
        splits = OperandShapes.splits_under(shape, over.rank) if over.rank else np.array([0, shape.size])
        return np.searchsorted(splits, ordinals, "right") - 1, np.diff(splits)
    gone = modes_that_go(shape, axis)
    owners = np.zeros(len(ordinals), np.int64)
    width, rest = 1, ordinals
    for mode in range(shape.rank - 1, -1, -1):
        extent = shape.extents[mode]
        if mode not in gone:
            owners += rest % max(extent, 1) * width
            width *= extent
        rest = rest // max(extent, 1)
    return owners, np.full(over.size, math.prod([shape.extents[mode] for mode in gone]))


def modes_that_go(shape: Shape[Any], axis: object) -> set[int]:
    """Return the modes that ``axis=`` names; all of them for None."""
    if axis is None:
        return set(range(shape.rank))
    given = cast("tuple[SupportsIndex, ...]", axis if isinstance(axis, tuple) else (axis,))
    return {mode_of(mode, shape.rank) for mode in given}


def shape_with_kept_modes(shape: Shape[Any], axis: object) -> Shape[Any]:
    """Return the indices of a result that has the reduced modes as well, each with one index."""
    if not shape.is_box:
        raise ConversionError("keepdims of rows; one number per row combines with them as it is")
    gone = modes_that_go(shape, axis)
    extents = [1 if mode in gone else n for mode, n in enumerate(shape.extents)]
    origin = [0 if mode in gone else start for mode, start in enumerate(shape.origin)]
    return wrap(make_smooth(tuple(extents), tuple(origin)), names_of(shape))


def _reduced(
    ufunc: np.ufunc,
    stored: tuple[IntArray, Array],
    counts: IntArray,
    fill: Array,
    dtype: npt.DTypeLike | None,
) -> Array:
    owners, values = stored
    if not (owners[1:] >= owners[:-1]).all():
        order = np.argsort(owners, kind="stable")
        owners, values = owners[order], values[order]
    own = np.bincount(owners, minlength=len(counts))
    has = own > 0
    absent = counts - own
    result = _fills_reduced(ufunc, fill, absent, dtype)
    if has.any():
        starts = (np.cumsum(own) - own)[has]
        parts = ufunc.reduceat(values, starts, dtype=dtype)
        both = absent[has] > 0
        beside = result[has]
        result[has] = parts
        where = np.flatnonzero(has)[both]
        result[where] = ufunc(parts[both], beside[both])
    return result


def _fills_reduced(
    ufunc: np.ufunc, fill: Array, counts: IntArray, dtype: npt.DTypeLike | None = None
) -> Array:
    """Return reductions of `counts` equal elements; for none the identity, or the element."""
    kind = np.asarray(ufunc.reduce(np.zeros(1, fill.dtype), dtype=dtype)).dtype
    one = np.asarray(ufunc.reduce(fill.reshape(1), dtype=dtype)).astype(kind)
    name = ufunc.__name__
    with np.errstate(all="ignore"):
        if name == "add":
            # An empty sum is zero, also of infinities.
            # Counts of the type of the sum: beside others NumPy would go through floats.
            times = np.maximum(counts, 1).astype(kind if kind.kind in "iu" else np.int64)
            found = np.where(counts > 0, one * times, np.zeros((), kind)).astype(kind)
        elif name == "multiply":
            found = np.power(one, counts.astype(kind) if kind.kind in "iu" else counts).astype(kind)
        elif name == "bitwise_xor":
            found = np.where(counts % 2 == 1, one, np.zeros((), kind))
        else:
            found = np.full(len(counts), one, kind)
    empty = counts == 0
    if empty.any() and ufunc.identity is not None:
        found[empty] = ufunc.reduce(np.empty(0, fill.dtype), dtype=dtype)
    return found


def reduce_present(ufunc: np.ufunc, tiles: "PresentTiles[Any]", initial: object) -> Array:
    """Return the reduction of each tile of a grid, as an array over it. O(present elements + tiles).

    Raises
    ------
    ExtentError
        If a tile is empty, and the ufunc has no identity.
    """
    pattern, partitions = tiles.pattern, tiles.pattern.tiling.partitions
    with memory_for(pattern.tiling.grid.size, "numbers, one for each tile"):
        return _reduce_tiles(ufunc, tiles, pattern, partitions, initial)


def _reduce_tiles(
    ufunc: np.ufunc,
    tiles: "PresentTiles[Any]",
    pattern: "BlockPattern[Any]",
    partitions: "tuple[Partition, ...]",
    initial: object,
) -> Array:
    check_reducible(ufunc, 1, tiles.fill.dtype)
    volumes = np.ones((), np.int64)
    for partition in partitions:
        volumes = np.multiply.outer(volumes, partition.sizes)
    if initial is None and pattern.tiling.grid.size:
        check_filled(ufunc, [partition.sizes > 0 for partition in partitions], "tile")
    sizes, which = np.unique(volumes.reshape(-1), return_inverse=True)
    if ufunc.__name__ in _KNOWN:
        alike = _fills_reduced(ufunc, tiles.fill, sizes)
    else:
        # An empty tile has the identity; without one, `initial` replaces it below.
        known = ufunc.identity is not None
        parts = [ufunc.reduce(np.full(n if known else max(n, 1), tiles.fill)) for n in sizes.tolist()]
        alike = np.array(parts, dtype=parts[0].dtype if parts else tiles.fill.dtype)
    neutral = None if initial is None else fit_initial(initial, alike.dtype)
    if neutral is not None:
        alike = ufunc(alike, neutral)
        alike[sizes == 0] = neutral
    result = alike[which.reshape(-1)]
    present = reduce_runs(ufunc, tiles.values(), pattern.offsets(), initial)
    result[pattern.ordinals()] = present
    return result.reshape(pattern.tiling.grid.extents)
