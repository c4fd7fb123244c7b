"""Reductions of tiles, cells and rows by ufuncs, with the empty ones right (``reduceat`` alone is not)."""

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._compiled import reduced
from tensorwrapper.buffer.lowlevel import check_dtype, fit_number
from tensorwrapper.errors import ConversionError, DTypeError, ExtentError, LayoutError
from tensorwrapper.tensor.rows._short_runs import sums_of_short_runs
from tensorwrapper.typing import Array, Index, IntArray


def fit_initial(initial: object, dtype: "np.dtype[np.generic]") -> Array:
    """Return ``initial=`` of a reduction as an element of its result, an array of rank 0.

    As in NumPy it is cast to the type of the result, and does not change it. A value that does not fit is
    refused: NumPy would drop fractions. For truth values its truth counts.

    Raises
    ------
    DTypeError, SizeOverflowError, ConversionError
        As `fit_number`.
    """
    given: Any = initial
    truth = dtype.kind == "b" and isinstance(initial, complex | float | int | np.number)
    return fit_number(bool(given) if truth else given, dtype, "initial")


def check_filled(
    ufunc: np.ufunc, filled: list[npt.NDArray[np.bool_]], what: str, place: "Index | None" = None
) -> None:
    """Raise if an empty reduction has no answer; `filled` marks the parts with elements along each mode.

    `place` names the first empty one, where `filled` is of all of them in one line.

    Raises
    ------
    ExtentError
        If one is empty, and the ufunc has no identity.
    """
    if ufunc.identity is None and not all(own.all() for own in filled):
        place = place or tuple(int(np.argmin(own)) if not own.all() else 0 for own in filled)
        raise ExtentError(f"{what} {place} is empty and {ufunc.__name__} has no identity: give initial=")


def reduce_box(
    ufunc: np.ufunc,
    array: Array,
    marks: Sequence[IntArray],
    initial: object,
    *,
    what: str = "tile",
    dtype: npt.DTypeLike | None = None,
) -> Array:
    """Return one number per tile of an array that is cut at `marks` (from 0) along each mode.

    Linear in the elements: one pass per mode, each over the result of the pass before. ``what`` and ``dtype``
    are those of `reduce_runs`.
    """
    if array.ndim == 1:
        return reduce_runs(ufunc, array, marks[0], initial, what=what, dtype=dtype)
    check_reducible(ufunc, array.ndim, array.dtype)
    filled = [m[1:] > m[:-1] for m in marks]
    result = array
    for mode in range(array.ndim - 1, -1, -1):
        starts = marks[mode][:-1][filled[mode]]
        if len(starts):
            result = ufunc.reduceat(result, starts, axis=mode, dtype=dtype)
        else:
            result = result[(slice(None),) * mode + (slice(0, 0),)]
    if not result.size:
        result = result.astype(ufunc.reduceat(np.zeros(1, array.dtype), [0], dtype=dtype).dtype)
    return _with_empty(ufunc, result, array.dtype, filled, initial, what=what, dtype=dtype)


def reduce_last(ufunc: np.ufunc, array: Array, initial: object) -> Array:
    """Return one number per row along the last mode of an array, as a flat array."""
    check_reducible(ufunc, 1, array.dtype)
    *outer, length = array.shape
    filled = np.full(math.prod(outer), length > 0)
    if length and len(filled):
        result = np.asarray(ufunc.reduce(array, axis=-1)).reshape(-1)
    else:
        result = ufunc.reduceat(np.zeros(1, array.dtype), [0])[:0]
    return _with_empty(ufunc, result, array.dtype, [filled], initial, what="row")


def reduce_runs(
    ufunc: np.ufunc,
    flat: Array,
    offsets: IntArray,
    initial: object,
    *,
    what: str = "tile",
    dtype: npt.DTypeLike | None = None,
) -> Array:
    """Return one number per run ``flat[offsets[k]:offsets[k + 1]]``; linear in the elements.

    ``what`` names a run in errors, ``dtype`` is the type of the computation.
    """
    check_reducible(ufunc, 1, flat.dtype)
    none: Array = np.zeros(1, flat.dtype)
    found = reduced(ufunc, flat, offsets, ufunc.reduceat(none, [0], dtype=dtype).dtype)
    if found is not None and ufunc is np.add and initial is None:
        return found
    filled = offsets[1:] > offsets[:-1]
    if found is not None:
        return _with_empty(ufunc, found[filled], flat.dtype, [filled], initial, what=what)
    if ufunc is np.add and initial is None:
        sums = sums_of_short_runs(flat, offsets, dtype)
        if sums is not None:
            return sums
    starts = offsets[:-1][filled]
    source, places = (flat, starts) if len(starts) else (none, [0])
    result = ufunc.reduceat(source, places, dtype=dtype)
    return _with_empty(ufunc, result[: len(starts)], flat.dtype, [filled], initial, what=what, dtype=dtype)


def check_reducible(ufunc: np.ufunc, rank: int, dtype: "np.dtype[np.generic]") -> None:
    """Raise for what reduces no elements of a type in any order."""
    if not isinstance(cast("object", ufunc), np.ufunc):
        raise ConversionError(f"tiles and rows are reduced by a ufunc such as np.add, not by {ufunc!r}")
    if ufunc.nin != 2 or ufunc.nout != 1 or ufunc.signature is not None:
        raise ConversionError(f"{ufunc.__name__} does not reduce: it needs two inputs and one output")
    trial: Array = np.ones((1,) * max(rank, 2), np.bool_ if _is_logical(ufunc) else np.int64)
    try:
        # NumPy itself knows which ufuncs may take the modes in any order.
        ufunc.reduce(trial, axis=None)
    except ValueError as error:
        raise LayoutError(
            f"{ufunc.__name__} depends on the order of the elements, which tiles and rows leave open: {error}"
        ) from error
    try:
        ufunc.reduce(np.zeros(1, dtype))
    except TypeError as error:
        raise DTypeError(f"{ufunc.__name__} does not reduce elements of type {dtype}: {error}") from error


def _is_logical(ufunc: np.ufunc) -> bool:
    return ufunc.__name__.startswith("logical")


def _with_empty(
    ufunc: np.ufunc,
    result: Array,
    given: "np.dtype[np.generic]",
    filled: list[npt.NDArray[np.bool_]],
    initial: object,
    *,
    what: str = "tile",
    dtype: npt.DTypeLike | None = None,
) -> Array:
    """Return the numbers of all tiles: the reduced ones, and for empty tiles the empty reduction."""
    check_dtype(result.dtype)
    if ufunc in (np.gcd, np.hypot):
        # An element by itself comes without its sign, too: NumPy begins with their identity, which is 0.
        result = np.abs(result)
    neutral: Array | None = None
    if initial is not None:
        neutral = fit_initial(initial, result.dtype)
        result = ufunc(result, neutral)
    # Without tiles in one mode there are none at all, whatever is in the other modes.
    if all(f.all() for f in filled) or not all(map(len, filled)):
        return result
    if neutral is None:
        check_filled(ufunc, filled, what)
        # Not ufunc.identity: that of bitwise_and is -1, which unsigned integers do not have. Nor the identity
        # in the type of the elements: all bits of a narrow integer are few of a wide one.
        neutral = ufunc.reduce(np.empty(0, given), dtype=dtype)
    full = np.full(tuple(len(f) for f in filled), neutral, dtype=result.dtype)
    full[np.ix_(*filled)] = result
    return full
