"""Order within rows: sorted elements, the positions that sort them, ranks, and the first of them."""

from typing import Any, Final, Literal, TypeAlias, cast

import numpy as np

from tensorwrapper._arrays import as_truths, concatenated_ranges, numpy_kind, splits_of
from tensorwrapper._compiled import sorted_in
from tensorwrapper.errors import ConversionError, DTypeError
from tensorwrapper.tensor.rows._reduce import reduce_runs
from tensorwrapper.tensor.within._groups import SHORT, Columns, each_row, row_blocks
from tensorwrapper.typing import Array, IntArray

RankMethod: TypeAlias = Literal["average", "min", "max", "dense", "ordinal"]
"""Rank of equal elements, by SciPy's names."""

RANK_METHODS: Final = ("average", "min", "max", "dense", "ordinal")

_PART: Final = 1 << 17  # elements that are ordered, or ranked, at a time.

_NETWORKS: Final = {
    1: "",
    2: "01",
    3: "02 01 12",
    4: "02 13 01 23 12",
    5: "03 14 02 13 01 24 12 34 23",
    6: "05 13 24 12 34 03 25 01 23 45 12 34",
    7: "06 23 45 02 14 36 01 25 34 12 46 23 45 12 34 56",
    8: "02 13 46 57 04 15 26 37 01 23 45 67 24 35 14 36 12 34 56",
}
"""Pairs of places which, put in order one after the other, sort so many elements."""

_PAIRS: Final = {n: [(int(pair[0]), int(pair[1])) for pair in text.split()] for n, text in _NETWORKS.items()}


def keys_of(flat: Array, *, descending: bool = False) -> Array:
    """Return elements whose order, NaN and NaT last, is that of others, or its reverse.

    Raises
    ------
    DTypeError
        If elements of the type have no order.
    """
    kind = numpy_kind(flat.dtype)
    if kind in "mM":
        # Unsigned, with NaT as the greatest: it is the least of the integers beneath.
        numbers = flat.view(np.dtype(np.int64).newbyteorder(flat.dtype.byteorder))
        keys = numbers.astype(np.int64).view(np.uint64) ^ np.uint64(1 << 63)
        return cast("Array", ~keys if descending else keys - np.uint64(1))
    if kind == "V" and flat.dtype.names is None and flat.dtype.itemsize <= 8:
        # Numbers that NumPy does not know: those of ml_dtypes, all of which are numbers of 64 bits.
        try:
            flat = flat.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DTypeError(f"elements of {flat.dtype} have no order") from error
    elif kind not in "biufc":
        raise DTypeError(f"elements of {flat.dtype} have no order")
    flat = as_truths(flat)  # NumPy compares their bytes, of which any but 0 is true
    if not descending:
        return flat
    given: Any = flat
    reversed_: Array = ~given if flat.dtype.kind in "biu" else -given
    return reversed_


def _exchange(columns: Columns) -> Columns:
    spare = np.empty_like(columns[0])
    for a, b in _PAIRS[len(columns)]:
        np.minimum(columns[a], columns[b], out=spare)
        np.maximum(columns[a], columns[b], out=columns[b])
        columns[a], spare = spare, columns[a]
    return columns


def _places(columns: Columns) -> Columns:
    """Return for each element how many come before it: the smaller ones, and equal ones at earlier places."""
    last, size = len(columns) - 1, len(columns[0])
    found = [np.full(size, last - place, np.int8) for place in range(len(columns))]
    for later, column in enumerate(columns):
        for earlier in range(later):
            before = np.less_equal(columns[earlier], column).view(np.int8)
            found[later] += before
            found[earlier] -= before
    return cast("Columns", found)


def _places_in_rows(rows: Array) -> Array:
    """Return the same of rows along the last axis."""
    order = _stable_order(rows)
    found = np.empty_like(order)
    if rows.ndim == 1:
        found[order] = np.arange(len(rows), dtype=found.dtype)
    else:
        found[np.arange(len(rows))[:, None], order] = np.arange(rows.shape[1], dtype=found.dtype)
    return found


def _is_plain(flat: Array) -> bool:
    """Return True if the lesser and the greater of two elements are those two, bit by bit."""
    if flat.dtype.kind in "biu":
        return True
    return flat.dtype.kind == "f" and not (np.isnan(flat).any() or (np.signbit(flat) & (flat == 0)).any())


def sort(flat: Array, splits: IntArray, *, descending: bool = False) -> Array:
    """Return the elements of each row in order, NaN last. O(n log n)."""
    if numpy_kind(flat.dtype) not in "biufc":
        found: Array = flat[argsort(flat, splits, descending=descending) + _starts(splits)]
        return found
    keys = keys_of(flat, descending=descending)
    found = np.empty_like(keys)
    done = sorted_in(found, keys, splits)
    columns = _exchange if not done and _is_plain(keys) else None
    each_row(keys, splits, lambda rows: np.sort(rows, axis=-1), found, columns, done)
    if descending:
        np.invert(found, out=found) if found.dtype.kind in "biu" else np.negative(found, out=found)
    return found


def _starts(splits: IntArray) -> IntArray:
    """Return for each element where its row begins."""
    return np.repeat(splits[:-1], np.diff(splits))


def positions(splits: IntArray) -> IntArray:
    """Return for each element its position in its row."""
    return concatenated_ranges(np.zeros(len(splits) - 1, np.int64), np.diff(splits))


def argsort(flat: Array, splits: IntArray, *, descending: bool = False) -> IntArray:
    """Return the positions within each row that sort it; equal elements keep their order. O(n log n)."""
    out = np.empty(len(flat), np.int64)
    ascending = keys_of(flat)
    done = 0
    for first, last in row_blocks(splits, _PART):
        own, part = _own_rows(splits, first, last)
        done = sorted_in(out[part], keys_of(flat[part], descending=descending), own, places=True)
        if not done:
            break
    if not done and int(np.diff(splits).max(initial=0)) <= SHORT and _has_order(ascending):
        # Where each element of a short row goes is counted, and says which one comes to a place.
        for first, last in row_blocks(splits, _PART):
            own, part = _own_rows(splits, first, last)
            places, starts = _ordinals(keys_of(flat[part], descending=descending), own), _starts(own)
            places += starts
            out[part][places] = np.arange(len(places), dtype=np.int64) - starts
        return out
    each_row(flat, splits, lambda rows: _stable_order(keys_of(rows, descending=descending)), out, None, done)
    return out


def _own_rows(splits: IntArray, first: int, last: int) -> tuple[IntArray, slice]:
    """Return where some rows begin and end among their elements, and which elements these are."""
    marks = splits[first : last + 1]
    return marks - marks[0], slice(int(marks[0]), int(marks[-1]))


def _stable_order(rows: Array) -> IntArray:
    """Return the positions that sort rows along the last axis; equal elements keep their order.

    NumPy sorts floats three times faster if equal ones may change places. They get their order back by a sort
    of integers: the number of the distinct element, and the position.
    """
    if rows.dtype.kind != "f" or rows.dtype.itemsize not in (4, 8):
        return np.argsort(rows, axis=-1, kind="stable")
    order = np.argsort(rows, axis=-1)
    ordered: Any = np.take_along_axis(rows, order, axis=-1)
    same = ordered[..., 1:] == ordered[..., :-1]
    lost = np.isnan(ordered)
    same |= lost[..., 1:] & lost[..., :-1]
    if same.any():
        length = rows.shape[-1]
        keys = np.zeros(rows.shape, np.int64)
        np.cumsum(~same, axis=-1, out=keys[..., 1:])
        keys *= length
        keys += order
        keys.sort(axis=-1)
        order = np.remainder(keys, length)
    return order


def _ordinals(keys: Array, splits: IntArray) -> IntArray:
    """Return the place of each element among the sorted ones of its row."""
    out = np.empty(len(keys), np.int64)
    each_row(keys, splits, _places_in_rows, out, _places if _has_order(keys) else None)
    return out


def _has_order(keys: Array) -> bool:
    """Return True if of two elements one is at most the other: not so if one is NaN."""
    return keys.dtype.kind in "biu" or (keys.dtype.kind == "f" and not np.isnan(keys).any())


def _new(ordered: Array, splits: IntArray) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Tell which elements of sorted rows differ from the one before, or begin a row; NaN is one value."""
    new = np.empty(len(ordered), np.bool_)
    new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    if ordered.dtype.kind not in "biu":
        lost = np.not_equal(ordered, ordered)
        new[1:] &= ~(lost[1:] & lost[:-1])
    begins = splits[:-1]
    new[begins[begins < len(ordered)]] = True
    return new


def ranks(flat: Array, splits: IntArray, method: RankMethod) -> Array:
    """Return the rank of each element in its row, from 1 on. O(n log n).

    Raises
    ------
    ConversionError
        If there is no such method.
    """
    if method not in RANK_METHODS:
        raise ConversionError(f"rankdata(method=) is one of {', '.join(RANK_METHODS)}, not {method!r}")
    keys = keys_of(flat)
    if method == "ordinal":
        ordinals = _ordinals(keys, splits)
        ordinals += 1
        return ordinals
    order = argsort(flat, splits)
    # The ranks take the memory of the positions, which are read first.
    found: Array = order.view(np.float64) if method == "average" else order
    for first, last in row_blocks(splits, _PART):
        own, part = _own_rows(splits, first, last)
        found[part] = _ranks_of(keys[part], own, order[part], method)
    return found


def _ranks_of(keys: Array, splits: IntArray, positions: IntArray, method: RankMethod) -> Array:
    """Return the ranks of elements, given the positions that sort each row."""
    starts = _starts(splits)
    order = positions + starts
    size = len(keys)
    new = _new(keys[order], splits)
    firsts = np.flatnonzero(new)
    run = np.cumsum(new) - 1
    if method == "dense":
        # Of runs, the first of each row has number 1.
        begins = np.searchsorted(firsts, splits[:-1])
        ordered: Array = run - np.repeat(begins, np.diff(splits)) + 1
    else:
        least = firsts - starts[firsts] + 1
        greatest = np.append(firsts[1:], size) - starts[firsts]
        by_run: Array = least if method == "min" else greatest
        if method == "average":
            by_run = (least + greatest) / 2
        ordered = by_run[run]
    found: Array = np.empty(size, ordered.dtype)
    found[order] = ordered
    return found


def distinct(flat: Array, splits: IntArray) -> tuple[Array, Array, IntArray]:
    """Return the elements of each row in order, which of them are new, and where rows of these end."""
    ordered = sort(flat, splits)
    new = _new(ordered, splits)
    counts = reduce_runs(np.add, new.view(np.int8), splits, None, what="row", dtype=np.int64)
    return ordered, new, splits_of(cast("IntArray", counts))


def repeats(new: Array) -> IntArray:
    """Return how often each distinct element is there, given which ones of sorted rows are new."""
    firsts = np.flatnonzero(new)
    # In the memory of the first places: how far the next one is.
    np.subtract(firsts[1:], firsts[:-1], out=firsts[:-1])
    firsts[-1:] = len(new) - firsts[-1:]
    return firsts


def top(flat: Array, splits: IntArray, count: int, *, largest: bool) -> tuple[IntArray, IntArray]:
    """Return the positions of the first elements of each row in descending order, and how many they are."""
    order = argsort(flat, splits, descending=largest)
    kept = np.minimum(np.diff(splits), min(count, len(flat)))
    return order[concatenated_ranges(splits[:-1], kept)], splits_of(kept)
