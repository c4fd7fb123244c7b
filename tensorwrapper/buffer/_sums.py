"""Values added to elements, several to one: sums that the type cannot hold are refused, as writes are."""

from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer._casts import check_write, convert_elements, integer_range, kind_of_numbers
from tensorwrapper.buffer.copies._copy import copy_elements
from tensorwrapper.errors import DTypeError, SizeOverflowError
from tensorwrapper.typing import Array, IntArray, WriteCasting


def add_at(flat: Array, places: IntArray, values: Array, casting: WriteCasting = "same_kind") -> None:
    """Add each value to the element at its place, which may be that of other values too.

    O(values); where sums may come near the ends of the type, O(values log values). Raises what `check_sums`
    does; then nothing was added.
    """
    given: Any = check_sums(flat, places, values, casting)
    with np.errstate(all="ignore" if casting == "unsafe" else None):
        np.add.at(flat, places, given)


def check_sums(flat: Array, places: IntArray, values: Array, casting: WriteCasting = "same_kind") -> Array:
    """Return values as elements to add; casts and sums of ``"unsafe"`` have the losses of NumPy's.

    Raises
    ------
    DTypeError
        If values are of another kind than the elements, whose sums they would not have, or are dates.
    SizeOverflowError
        If a value or a sum is not in the range of the type, or finite numbers would become infinite.
    """
    dtype = flat.dtype
    if dtype.kind == "M":
        raise DTypeError(f"dates of type {dtype} are not added up: durations are, of type m8")
    if casting == "unsafe":
        with np.errstate(all="ignore"):
            return values if values.dtype == dtype else copy_elements(values, dtype)
    given = check_write(values, dtype)
    small = dtype.type.__module__ == "ml_dtypes"
    if dtype.kind == "m" or small or (dtype.kind in "iufc" and _may_overflow(flat, places, given)):
        distinct, which = np.unique(places, return_inverse=True)
        check = _check_small if small else _CHECKS.get(dtype.kind, _check_floats)
        check(flat[distinct], which.reshape(-1), given, dtype)
    return given


def _may_overflow(flat: Array, places: IntArray, values: Array) -> bool:
    """Return True if a sum could approach the limits of the type, by the sum of all magnitudes."""
    if not values.size:
        return False
    dtype = flat.dtype
    most = np.iinfo(cast("Any", dtype)).max if dtype.kind in "iu" else np.finfo(cast("Any", dtype)).max
    with np.errstate(all="ignore"):
        added = np.abs(values.astype(np.complex128 if dtype.kind == "c" else np.float64)).sum()
        here = np.abs(flat[places].astype(added.dtype if dtype.kind != "c" else np.complex128)).max()
        # Unsigned sums never fall; signed ones have as much room below.
        return not bool(added + here < float(most) / 2)


def _check_durations(old: Array, which: IntArray, values: Array, dtype: "np.dtype[Any]") -> None:
    one, other = _units_of(old), _units_of(values)
    if _may_overflow(one, which, other):
        _check_integers(one, which, other, dtype)


def _units_of(durations: Array) -> Array:
    """Return how many units durations are; 0 for those that are not time, and stay none."""
    numbers: Array = durations.astype(np.int64)
    numbers[np.isnat(cast("npt.NDArray[np.timedelta64]", durations))] = 0
    return numbers


def _check_small(old: Array, which: IntArray, values: Array, dtype: "np.dtype[Any]") -> None:
    """Check sums of a type of ml_dtypes in one that holds them all: some have no infinity and saturate."""
    wide = np.int64 if kind_of_numbers(dtype) == "i" else np.float64
    sums, added = old.astype(wide), values.astype(wide)
    finite = np.isfinite(sums)
    np.add.at(sums, which, cast("Any", added))
    np.logical_and.at(finite, which, np.isfinite(added))
    convert_elements(sums[finite], dtype)


def _check_integers(old: Array, which: IntArray, values: Array, dtype: "np.dtype[Any]") -> None:
    # In two halves, of which each sum fits 64 bits.
    halves: list[Any] = []
    for number in (old, values):
        wide: Any = number if number.dtype.itemsize == 8 else number.astype(np.int64)
        halves += [(wide >> 32).astype(np.int64), (wide & 0xFFFFFFFF).astype(np.int64)]
    high, low, more_high, more_low = halves
    np.add.at(high, which, more_high)
    np.add.at(low, which, more_low)
    high += low >> 32
    low &= 0xFFFFFFFF
    least, most = [divmod(end, 1 << 32) for end in integer_range(dtype)]
    below = (high < least[0]) | ((high == least[0]) & (low < least[1]))
    above = (high > most[0]) | ((high == most[0]) & (low > most[1]))
    if (below | above).any():
        first = int(np.flatnonzero(below | above)[0])
        total = (int(high[first]) << 32) + int(low[first])
        raise SizeOverflowError(f"the sum {total} does not fit elements of type {dtype}")


def _check_floats(old: Array, which: IntArray, values: Array, dtype: "np.dtype[Any]") -> None:
    sums: Any = old.copy()
    finite = np.isfinite(old)
    with np.errstate(all="ignore"):
        np.add.at(sums, which, cast("Any", values))
    np.logical_and.at(finite, which, np.isfinite(values))
    if (finite & ~np.isfinite(sums)).any():
        raise SizeOverflowError(f"a sum of finite numbers leaves the range of {dtype}")


_CHECKS: Final = {"m": _check_durations, "i": _check_integers, "u": _check_integers}
"""Checks of the sums of elements by kind, beside floats and the types of ml_dtypes."""
