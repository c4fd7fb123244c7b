"""Checks of foreign string data, before its offsets are used."""

from typing import Any, cast, get_args

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array
from tensorwrapper._error_text import brief
from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import ConversionError, OutOfBoundsError, StringDataError, TensorWrapperError
from tensorwrapper.typing import Array, IntArray, StringKind


def check_kind(kind: object) -> None:
    """Raise unless `kind` is one of the two."""
    if kind not in get_args(StringKind):
        raise StringDataError(f"kind must be 'utf8' or 'binary', not {brief(kind)}")


def to_int64_array(values: npt.ArrayLike, what: str) -> IntArray:
    """Return integers of any type as a read-only array of int64 and rank 1; no copy if they are one."""
    try:
        array = cast("npt.NDArray[np.generic]", np.asarray(values))
    except ValueError as error:
        raise ConversionError(f"{what} must be a row of integers: {error}") from error
    if array.size == 0 and not isinstance(values, np.ndarray):
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise ConversionError(f"{what} must be a row of integers, not {array.dtype} of extents {array.shape}")
    greatest = int(cast("npt.NDArray[np.integer[Any]]", array).max(initial=0))
    if greatest > MAX_INT64:
        raise StringDataError(f"{what} reach {greatest}, which 64 bits with a sign do not hold")
    return frozen_array(np.ascontiguousarray(array, dtype=np.int64))


def check_offsets(
    offsets: IntArray, size: int, *, error: type[TensorWrapperError] = StringDataError, what: str = "bytes"
) -> None:
    """Raise `error` unless the offsets ascend from 0 or later to at most the end of the data."""
    if not len(offsets):
        raise error("there must be one offset more than elements: at least one")
    first, last = int(offsets[0]), int(offsets[-1])
    if first < 0:
        raise error(f"offsets must not be negative, but the first is {first}")
    falls = offsets[1:] < offsets[:-1]
    if falls.any():
        k = int(np.argmax(falls))
        raise error(
            f"offsets must not descend, but element {k} would reach from {offsets[k]} to {offsets[k + 1]}"
        )
    if last > size:
        k = int(np.argmax(offsets[1:] > size)) if len(offsets) > 1 else 0
        raise error(
            f"offsets must end within the data, but element {k} reaches beyond its {size} {what}; "
            f"the last offset is {last}"
        )


def check_ranges(starts: IntArray, stops: IntArray, nbytes: int) -> None:
    """Raise unless every element starts at 0 or later, stops no earlier, and within the data."""
    if len(starts) != len(stops):
        raise StringDataError(f"there are {len(starts)} starts and {len(stops)} stops: they must be as many")
    bad = (starts < 0) | (stops < starts) | (stops > nbytes)
    if bad.any():
        k = int(np.argmax(bad))
        raise StringDataError(
            f"element {k} would reach from byte {starts[k]} to byte {stops[k]}, but the data has the bytes "
            f"0 to {nbytes}, and no element stops before it starts"
        )


def check_positions(positions: IntArray, count: int) -> None:
    """Raise unless all positions are of one of `count` elements."""
    if len(positions) and (int(positions.min()) < 0 or int(positions.max()) >= count):
        k = int(np.argmax((positions < 0) | (positions >= count)))
        raise OutOfBoundsError(f"position {positions[k]} (number {k}) is not that of one of {count} elements")


def string_dtype(kind: StringKind, *, nullable: bool) -> "np.dtype[np.generic]":
    """Return the type of NumPy's elements for strings of this kind; text of any length needs StringDType."""
    if kind == "binary":
        return np.dtype(np.object_)
    text = np.dtypes.StringDType(na_object=None) if nullable else np.dtypes.StringDType()
    return cast("np.dtype[np.generic]", text)


def fit_string(value: object, dtype: "np.dtype[Any]", what: str) -> Array:
    """Return one string as an array of rank 0 of a type that `string_dtype` gives.

    Raises
    ------
    ConversionError
        If it is not a string of this kind, or a null where there are none.
    StringDataError
        If it has a lone surrogate.
    """
    holds_strings = dtype.kind == "T"
    if value is None:
        fits = not holds_strings or hasattr(dtype, "na_object")
    else:
        fits = isinstance(value, str if holds_strings else bytes)
    if not fits:
        raise ConversionError(
            f"{what}={value!r} does not match the elements, which are {'str' if holds_strings else 'bytes'}"
        )
    element: Array = np.empty((), dtype=dtype)
    try:
        element[...] = cast("Any", value)
    except UnicodeEncodeError as error:
        raise StringDataError(f"{what}={value!r}: a lone surrogate is not a character") from error
    return element
