"""Which elements tensors hold, and how numbers and arrays become elements of a type."""

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer.copies._copy import copy_elements
from tensorwrapper.buffer.strings._checks import fit_string
from tensorwrapper.errors import ConversionError, DTypeError, ExtentMismatchError, SizeOverflowError
from tensorwrapper.typing import Array, StringKind, WriteCasting

__all__ = [
    "check_dtype",
    "check_write",
    "contains_value",
    "convert_elements",
    "fit_extents",
    "fit_number",
    "holds_strings",
    "kind_of",
]

_KINDS = "biufcmM"
"""Kinds of element that a tensor can hold: bool, integers, floats, complex, and times."""


def check_dtype(dtype: "np.dtype[Any]") -> None:
    """Raise unless tensors can hold elements of this type."""
    # bfloat16, float8 and their kin have the kind of structures, and nothing of them.
    if dtype.kind not in _KINDS and dtype.type.__module__ != "ml_dtypes":
        text = "; strings() makes tensors of text and bytes" if dtype.kind in "SUTO" else ""
        raise DTypeError(
            f"elements of type {dtype} are not supported: allowed are bool, integers, floats, complex "
            f"numbers, datetime64 and timedelta64, and the types of ml_dtypes{text}"
        )
    if dtype.kind == "M" and np.datetime_data(dtype)[0] == "generic":
        raise DTypeError("times of type datetime64 count no unit: datetime64[s] is one that does")


def holds_strings(dtype: "np.dtype[Any]") -> bool:
    """Tell whether elements are strings: text, which is StringDType, or bytes, which are objects."""
    return dtype.kind in "TO"


def kind_of(dtype: "np.dtype[Any]") -> StringKind:
    """Return what the strings of a dtype for them are: bytes, which are objects, or text."""
    return "binary" if dtype.kind == "O" else "utf8"


def fit_number(value: object, dtype: "np.dtype[Any]", what: str) -> Array:
    """Return a number, or a string, as an array of rank 0 of this type, if the type can say it.

    Raises
    ------
    SizeOverflowError
        If the number is not in the type's range.
    DTypeError
        If it is a float, and the elements are integers.
    ConversionError
        If it is no number at all, or not-a-number where the type has none.
    """
    if dtype.kind in "TO":
        return fit_string(value, dtype, what)
    if type(value) is float and dtype.char == "d":
        return np.array(value, dtype=dtype)  # whatever it is, and nothing else has to be looked at
    try:
        given = np.asarray(value).dtype.kind
        apart = given + dtype.kind in ("fb", "cb", "cf")
        with np.errstate(all="ignore"):
            number = np.array(np.nan if apart else value, dtype=dtype)
    except OverflowError as error:
        raise SizeOverflowError(f"{what}={value!r} does not fit elements of type {dtype}") from error
    except (TypeError, ValueError) as error:
        raise ConversionError(f"{what}={value!r} is nothing that elements of type {dtype} can be") from error
    if given in "fc" and dtype.kind in "iu" and np.ndim(cast("Any", value)) == 0 and bool(value == value):  # noqa: PLR0124
        raise DTypeError(f"{what}={value!r} has another kind than elements of type {dtype}")
    # NumPy reads text as a number, None as not-a-number, and takes any object for true.
    if dtype.kind not in "mM" and (value is None or given in "SUT" or given + dtype.kind == "Ob"):
        raise ConversionError(f"{what}={value!r} is nothing that elements of type {dtype} can be")
    if number.ndim:
        raise ConversionError(f"{what} must be one number, not an array of {number.shape}")
    if apart:
        raise DTypeError(f"{what}={value!r} has another kind than elements of type {dtype}")
    infinite = (
        dtype.kind in "fc" and given in "iufc" and bool(np.isinf(number) & np.isfinite(np.asarray(value)))
    )
    times = given in "mM" and dtype.kind in "mM" and _turned_back(np.asarray(value), number)
    if infinite or times or (dtype.kind in "biu" and given in "biu" and bool(np.asarray(value) != number)):
        raise SizeOverflowError(f"{what}={value!r} does not fit elements of type {dtype}")
    return number


def check_write(
    value: object,
    dtype: "np.dtype[Any]",
    *,
    casting: WriteCasting = "same_kind",
    weak: bool | None = None,
) -> Array:
    """Return a value as an array that may be written into elements of a type: what it cannot hold is refused.

    Arrays and NumPy's numbers are cast within their kind, as NumPy's ``same_kind``; Python's numbers, and
    lists of them, have no type of their own, so their values decide. A value that is cast is looked at.

    Parameters
    ----------
    value
        A number, an array, or lists of numbers.
    casting
        ``"unsafe"`` casts as NumPy does, whatever is lost.
    weak
        Whether an array was made of Python's numbers; found out if it is not said.

    Raises
    ------
    DTypeError
        If the kinds differ: floats into integers, complex numbers into floats, text into numbers.
    SizeOverflowError
        If an integer is not in the range of the type, or a finite number would become infinite.
    """
    array = _array_of(value, dtype)
    given = array.dtype
    if given.kind in "SUTO" and type(value) is not int and casting != "unsafe":
        raise DTypeError(f"elements of type {given} do not go into elements of type {dtype}")
    if type(value) is int and given.kind == "O":
        raise SizeOverflowError(f"{value} does not fit elements of type {dtype}")
    if given == dtype or casting == "unsafe":
        return array
    if np.can_cast(given, dtype, "safe"):
        # A finer unit of time holds fewer years.
        if given.kind in "mM" and _turned_back(array, array.astype(dtype)):
            raise SizeOverflowError(f"there are times of {given} that do not fit elements of type {dtype}")
        return array
    if weak is None:
        weak = isinstance(value, list | tuple | int | float | complex) and not isinstance(value, np.generic)
    # Lists of nothing have no type either, whatever NumPy makes of them.
    fits = not array.size or (given.kind in "biu" and dtype.kind in "biuf")
    if not (_is_within_kind(given, dtype) or (weak and fits)):
        raise DTypeError(
            f"elements of type {given} do not go into elements of type {dtype}: only within one kind, or to "
            'a wider one; astype() converts, assign(value, casting="unsafe") takes what is lost'
        )
    with np.errstate(over="ignore"):
        fitted = array.astype(dtype)
    if given.kind in "biu" and dtype.kind in "biu":
        lost = fitted != array if given.kind != "b" else np.zeros(0, np.bool_)
        what = "integers"
    else:
        lost = np.isinf(fitted) & np.isfinite(array)
        what = "numbers"
    if lost.any():
        number = array.reshape(-1)[int(np.argmax(lost.reshape(-1)))]
        raise SizeOverflowError(
            f"there are {what} that do not fit elements of type {dtype}, the first is {number}"
        )
    return fitted


def _turned_back(array: Array, fitted: Array) -> bool:
    """Tell whether a cast of times has lost any of them: not one comes back as it was."""
    times = cast("npt.NDArray[np.datetime64]", array)
    return bool((~np.isnat(times) & (fitted.astype(array.dtype) != array)).any())


def _array_of(value: object, dtype: "np.dtype[Any]") -> Array:
    if isinstance(value, np.ma.MaskedArray):
        raise ConversionError("a masked array would lose its mask; filled() has an array")
    if isinstance(value, np.ndarray):
        return cast("Array", value)
    try:
        array: Array = np.asarray(value)
        # Times are written as text, which is none of NumPy's own.
        return np.array(value, dtype) if dtype.kind in "mM" and array.dtype.kind == "U" else array
    except OverflowError as error:
        raise SizeOverflowError(
            f"there are integers that do not fit elements of type {dtype}: {error}"
        ) from error
    except ValueError as error:
        raise ExtentMismatchError(f"a {type(value).__name__} is no box of numbers: {error}") from error


def _is_within_kind(given: "np.dtype[Any]", dtype: "np.dtype[Any]") -> bool:
    """Tell whether a cast stays within a kind; NumPy knows no kind of the small floats of others."""
    if "ml_dtypes" in (given.type.__module__, dtype.type.__module__):
        return given.kind in "biufV" and (dtype.kind in "fcV" or dtype.type.__module__ == "ml_dtypes")
    return np.can_cast(given, dtype, "same_kind")


def convert_elements(
    array: Array, dtype: "np.dtype[Any]", *, checked: bool = True, copy: bool = True
) -> Array:
    """Return the elements as ones of this type, without gaps, in memory of their own.

    Without `copy` elements that surely fit are returned as they are, whatever their type.

    Raises
    ------
    SizeOverflowError
        If they are checked and one is not in the range of the type; else integers wrap round as NumPy's.
    ConversionError
        If one is a null, and the type has no place for it.
    """
    if array.dtype.kind == "T" and hasattr(array.dtype, "na_object") and not hasattr(dtype, "na_object"):
        nulls = array.reshape(-1).tolist().count(None)
        if nulls:  # NumPy would write the word None.
            raise ConversionError(f"{nulls} elements are nulls, which {dtype} has no place for")
    fitted = _fit_elements(array, dtype) if checked else array
    return copy_elements(array, dtype) if copy and fitted is array else fitted


def _fit_elements(array: Array, dtype: "np.dtype[Any]") -> Array:
    """Return an array of this type, or as it is if that surely fits; fractions are dropped, nothing wraps.

    Raises
    ------
    SizeOverflowError
        If an element is not in the range of the type, or a finite one would become infinite.
    """
    if array.dtype.kind in "mM" or dtype.kind in "mM":
        return _fit_times(array, dtype)
    if np.can_cast(array.dtype, dtype, casting="safe"):
        return array
    if array.dtype.kind == "c" and dtype.kind in "biuf":
        numbers_of_two = cast("npt.NDArray[np.complexfloating[Any, Any]]", array)
        if bool(np.any(numbers_of_two.imag)):
            raise DTypeError(
                f"elements of {array.dtype} have imaginary parts, which type {dtype} cannot hold"
            )
        real: Array = numbers_of_two.real
        fitted = _fit_elements(real, dtype)
        # The real parts are a view, and may be of a narrower type.
        return copy_elements(real, dtype) if fitted is real else fitted
    with np.errstate(all="ignore"):
        fitted = copy_elements(array, dtype)
    whole = np.trunc(cast("npt.NDArray[np.floating[Any]]", array)) if array.dtype.kind == "f" else array
    numbers = array.dtype.kind in "biufc"
    wrapped = dtype.kind in "iu" and numbers and not np.array_equal(fitted, whole)
    if wrapped or (dtype.kind in "fc" and numbers and bool((np.isinf(fitted) & np.isfinite(array)).any())):
        raise SizeOverflowError(f"there are elements of {array.dtype} that do not fit type {dtype}")
    return fitted


def _fit_times(array: Array, dtype: "np.dtype[Any]") -> Array:
    """Return times as of this type, or as numbers of it, or numbers as times of it.

    A coarser unit drops fractions; a finer one has fewer years. No number but NaN is no time, and no time at
    all is no number but NaN.
    """
    given = array.dtype
    if given == dtype or "b" in (given.kind, dtype.kind) or not {given.kind, dtype.kind} <= {*"mMiuf"}:
        return array
    with np.errstate(all="ignore"):
        fitted = copy_elements(array, dtype)
    if given.kind in "mM":
        if dtype.kind in "mM":
            # NumPy rounds what is near the least time down past it: the sign tells.
            past = (array.astype(np.int64) < 0) & (fitted.astype(np.int64) >= 0)
            finer = np.can_cast(given, dtype, casting="safe")
            lost = _turned_back(array, fitted) if finer else bool(past.any())
        else:
            nowhere = np.isnat(cast("npt.NDArray[np.datetime64]", array))
            if dtype.kind == "f":
                fitted = np.where(nowhere, np.array(np.nan, dtype), fitted)
                lost = bool(np.isinf(fitted).any())
            else:
                lost = bool(nowhere.any()) or not np.array_equal(fitted, array.astype(np.int64))
    else:
        no_number = np.isnan(array) if given.kind == "f" else np.zeros(array.shape, np.bool_)
        whole = np.trunc(array) if given.kind == "f" else array
        wrong = (fitted.astype(np.int64) != whole) | np.isnat(cast("npt.NDArray[np.datetime64]", fitted))
        lost = bool((wrong & ~no_number).any())
    if lost:
        raise SizeOverflowError(f"there are elements of {given} that do not fit type {dtype}")
    return fitted


def fit_extents(values: Array, extents: tuple[int, ...]) -> Array:
    """Return values that broadcast to `extents`, without leading modes of extent 1 that are too many.

    Raises
    ------
    ExtentMismatchError
        If they do not broadcast.
    """
    extra = values.ndim - len(extents)
    if extra > 0 and values.shape[:extra] == (1,) * extra:
        values = values.reshape(values.shape[extra:])
    pairs = zip(reversed(values.shape), reversed(extents), strict=False)
    if values.ndim > len(extents) or any(mine not in {1, wanted} for mine, wanted in pairs):
        raise ExtentMismatchError(
            f"a value of extents {values.shape} does not broadcast to a tensor of extents {extents}"
        )
    return values


def contains_value(elements: Array, value: object) -> bool:
    """Tell whether a number is among elements; what is no number is refused, and None is among none."""
    if value is None:
        return False
    if np.ndim(cast("Any", value)):
        raise ConversionError(f"`in` asks for one element, not for a {type(value).__name__}")
    try:
        return bool(np.any(elements == cast("Any", value)))
    except OverflowError:
        return False
    except (TypeError, ValueError) as error:
        raise ConversionError(f"a {type(value).__name__} is no element: {error}") from error
