"""One number for each row: extremes and where they are, means, variances, quantiles."""

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import numpy_kind
from tensorwrapper._compiled import places_of, reduced
from tensorwrapper.tensor.rows._reduce import reduce_box
from tensorwrapper.tensor.within._groups import SHORT, Columns, number_of_each, row_blocks
from tensorwrapper.tensor.within._order import keys_of, sort
from tensorwrapper.typing import Array, IntArray


def place_of_extreme(flat: Array, splits: IntArray, which: Literal["max", "min"]) -> IntArray:
    """Return the first position of the extreme of each row, or of NaN; 0 of an empty row. O(n)."""
    keys: Array = flat
    if numpy_kind(flat.dtype) not in "biuf":
        # NaT, which wins, is the greatest key in both orders.
        keys, which = keys_of(flat, descending=which == "min"), "max"
    found = places_of(which, keys, splits)
    if found is not None:
        return found
    out = np.zeros(len(splits) - 1, np.int64)
    if len(flat) > SHORT * len(out) and keys.dtype.kind != "c":
        _from_extremes(keys, splits, np.maximum if which == "max" else np.minimum, out)
        return out
    lost = keys.dtype.kind in "fc" and bool(np.isnan(keys).any())
    columns = None if lost or keys.dtype.kind == "c" else (_last_max if which == "max" else _last_min)
    find = np.argmax if which == "max" else np.argmin
    number_of_each(keys, splits, lambda rows: find(rows, axis=-1), out, columns)
    return out


def _from_extremes(keys: Array, splits: IntArray, extreme: np.ufunc, out: IntArray) -> None:
    """Write where the extremes of rows are: they are found first, all at once."""
    for first, last in row_blocks(splits):
        marks = splits[first : last + 1]
        part, own = keys[marks[0] : marks[-1]], marks - marks[0]
        counts = np.diff(own)
        filled = np.flatnonzero(counts)
        if not len(filled):
            continue
        begins = own[:-1][filled]
        best = extreme.reduceat(part, begins)
        hits = np.equal(part, np.repeat(best, counts[filled]))
        if keys.dtype.kind == "f" and np.isnan(best).any():
            hits |= np.isnan(part)
        places = np.flatnonzero(hits)
        out[first + filled] = places[np.searchsorted(places, begins)] - begins


def _places(columns: Columns, better: np.ufunc, extreme: np.ufunc) -> Array:
    best, place = columns[0], np.zeros(len(columns[0]), np.int8)
    for number, column in enumerate(columns[1:], 1):
        # The last place that was better than all before it.
        np.maximum(place, better(column, best).view(np.int8) * np.int8(number), out=place)
        extreme(best, column, out=best)
    return place


def _last_max(columns: Columns) -> Array:
    return _places(columns, np.greater, np.maximum)


def _last_min(columns: Columns) -> Array:
    return _places(columns, np.less, np.minimum)


def means(array: Array, marks: Sequence[IntArray], dtype: npt.DTypeLike | None = None) -> Array:
    """Return the mean of each tile that marks along each mode cut out, or of each row of a flat array.

    The mean of an empty tile is NaN, or NaT. O(n).
    """
    counts = tile_sizes(marks)
    kind, element = numpy_kind(array.dtype), array.dtype
    computed = dtype
    if computed is None and kind in "biuV":
        computed = np.float64
    elif computed is None and element.char == "e":
        computed = np.float32  # NumPy adds halves as floats, and rounds once.
    sums = reduce_box(np.add, array, marks, None, what="row", dtype=computed)
    with np.errstate(invalid="ignore", divide="ignore"):
        if kind == "m":
            result: Array = (sums / np.maximum(counts, 1)).astype(sums.dtype)
            result[(counts == 0) | np.isnat(sums)] = np.timedelta64("NaT")
            return result
        found = np.true_divide(sums, counts)
    target = np.dtype(dtype) if dtype is not None else _type_of_means(element)
    return found.astype(target, copy=False)


def _type_of_means(element: "np.dtype[Any]") -> "np.dtype[Any]":
    """Return the type of elements that have fractions, also of ml_dtypes; else that of Python's floats."""
    kind = numpy_kind(element)
    has_fractions = kind in "fc" or (kind == "V" and bool(np.array(0.5).astype(element)))
    return element.newbyteorder("=") if has_fractions else np.dtype(np.float64)


def variances(array: Array, marks: Sequence[IntArray], ddof: float) -> Array:
    """Return the mean square of how far the elements of each tile, or row, are from their mean. O(n).

    The sum of squares is divided by the number of elements less `ddof`, as NumPy does it; of fewer it is
    NaN, or infinite.
    """
    element = array.dtype
    few = array.ndim == 1 and len(array) <= SHORT * len(marks[0])
    if few and numpy_kind(element) == "f" and element.char != "e":
        return _short_variances(array, marks[0], ddof)
    work = _type_of_squares(element)
    # An infinity gives NaN without a warning, as in short rows.
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):

        def apart(part: Array, own: Sequence[IntArray]) -> Array:
            return cast("Array", np.subtract(part, spread(means(part, own), own)))

        sums = _sums_of_squares(array, marks, work, apart)
        found = sums / np.maximum(tile_sizes(marks) - ddof, 0)
    target = _real(_type_of_means(element))
    return cast("Array", found.astype(target, copy=False))


def norms(array: Array, marks: Sequence[IntArray]) -> Array:
    """Return the root of the sum of squares of the elements of each tile, or row. O(n)."""
    found = np.sqrt(_sums_of_squares(array, marks, _type_of_squares(array.dtype), lambda part, _: part))
    return cast("Array", found.astype(_real(_type_of_means(array.dtype)), copy=False))


def tile_sizes(marks: Sequence[IntArray]) -> IntArray:
    """Return how many elements the tiles have that marks along each mode cut out."""
    found: IntArray = np.ones((), np.int64)
    for own in marks:
        found = np.multiply.outer(found, np.diff(own))
    return found


def spread(numbers: Array, marks: Sequence[IntArray]) -> Array:
    """Return a number for each element: that of its tile."""
    for mode, own in reversed(list(enumerate(marks))):
        numbers = np.repeat(numbers, np.diff(own), axis=mode)
    return numbers


def _type_of_squares(element: "np.dtype[Any]") -> "np.dtype[Any]":
    work: np.dtype[Any] = element.newbyteorder("=") if numpy_kind(element) in "fc" else np.dtype(np.float64)
    return np.dtype(np.float32) if work.char == "e" else work


def _sums_of_squares(
    array: Array,
    marks: Sequence[IntArray],
    work: "np.dtype[Any]",
    made: "Callable[[Array, Sequence[IntArray]], Array]",
) -> Array:
    """Return the sum of squares of each tile after a function of it, some tiles at a time."""
    first_marks, *others = marks
    sums = np.zeros([len(own) - 1 for own in marks], _real(work))
    for first, last in row_blocks(first_marks * max(math.prod(array.shape[1:]), 1)):
        begin, end = first_marks[first], first_marks[last]
        own = [first_marks[first : last + 1] - begin, *others]
        apart = made(array[begin:end].astype(work, copy=False), own)
        squares = np.square(apart) if work.kind == "f" else np.square(apart.real) + np.square(apart.imag)
        sums[first:last] = reduce_box(np.add, squares, own, None, what="row")
    return sums


def _real(dtype: "np.dtype[Any]") -> "np.dtype[Any]":
    """Return the type of the real part of elements."""
    one: Any = np.empty(0, dtype)
    found: np.dtype[Any] = one.real.dtype
    return found


def _short_variances(flat: Array, splits: IntArray, ddof: float) -> Array:
    """Return the same of rows most of which are short."""

    def of_columns(columns: Columns) -> Array:
        mean = _added(columns)
        mean /= len(columns)
        squares = [np.square(np.subtract(column, mean)) for column in columns]
        found: Array = _added(squares) / max(len(columns) - ddof, 0)
        return found

    out = np.full(len(splits) - 1, np.nan, flat.dtype.newbyteorder("="))
    with np.errstate(invalid="ignore", divide="ignore"), warnings.catch_warnings():
        # Rows of at most `ddof` elements give NaN, without a warning.
        warnings.simplefilter("ignore", RuntimeWarning)
        return number_of_each(
            flat, splits, lambda rows: np.var(cast("Any", rows), axis=-1, ddof=ddof), out, of_columns
        )


def _added(columns: Columns) -> Any:  # noqa: ANN401 - an array
    total: Any = columns[0].copy()
    for column in columns[1:]:
        total += column
    return total


def extremes(ufunc: np.ufunc, flat: Array, splits: IntArray) -> Array | None:
    """Return the extremes of rows most of which are short, any number for an empty one; None of others."""
    found = reduced(ufunc, flat, splits, flat.dtype)
    if found is not None or len(flat) > SHORT * len(splits) or numpy_kind(flat.dtype) not in "biuf":
        return found

    def of_columns(columns: Columns) -> Array:
        for column in columns[1:]:
            ufunc(columns[0], column, out=columns[0])
        return columns[0]

    out = np.empty(len(splits) - 1, flat.dtype.newbyteorder("="))
    return number_of_each(flat, splits, lambda rows: ufunc.reduce(rows, axis=-1), out, of_columns)


def quantiles(flat: Array, splits: IntArray, share: float | None) -> Array:
    """Return a quantile of each row, between two elements by their distance; the median for None.

    A row with NaN has NaN, and so has an empty row. O(n log n).
    """
    element = flat.dtype
    work = element.newbyteorder("=") if element.kind == "f" else np.dtype(np.float64)
    found = np.full(len(splits) - 1, np.nan, work)
    lengths = np.diff(splits)
    for first, last in row_blocks(splits):
        marks = splits[first : last + 1]
        own, counts = marks - marks[0], lengths[first:last]
        filled = np.flatnonzero(counts)
        ordered = sort(flat[marks[0] : marks[-1]], own)
        begins, ends = own[:-1][filled], own[1:][filled]
        if share is None:
            low: Any = ordered[begins + (counts[filled] - 1) // 2].astype(work)
            high: Any = ordered[begins + counts[filled] // 2].astype(work)
            middle: Array = (low + high) / work.type(2)
            numbers: Array = np.where(np.equal(low, high), cast("Array", low), middle)
        else:
            numbers = _between(ordered, begins, counts[filled], share, work)
        if element.kind == "f":
            greatest = ordered[ends - 1]
            numbers = np.where(np.isnan(greatest), greatest, numbers)
        found[first + filled] = numbers
    return found


def _between(
    ordered: Array, begins: IntArray, counts: IntArray, share: float, work: "np.dtype[Any]"
) -> Array:
    """Return the value at a share of the way from the first to the last sorted element."""
    at = (counts - 1) * share
    before = np.floor(at).astype(np.int64)
    rest = (at - before).astype(work)
    low = ordered[begins + before].astype(work)
    high = ordered[begins + np.minimum(before + 1, counts - 1)].astype(work)
    apart = high - low
    # From the nearer end, as NumPy does it: so the end itself is met.
    with np.errstate(invalid="ignore"):
        found: Array = np.where(rest >= 0.5, high - apart * (1 - rest), low + apart * rest)
    return np.where(low == high, low, found)
