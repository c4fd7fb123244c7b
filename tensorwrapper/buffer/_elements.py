"""Which elements tensors hold, and how numbers and arrays become elements of a type."""

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer.copies._copy import copy_elements
from tensorwrapper.buffer.strings._checks import fit_string
from tensorwrapper.errors import ConversionError, DTypeError, SizeOverflowError
from tensorwrapper.typing import Array, StringKind

__all__ = [
    "check_dtype",
    "check_numbers",
    "convert_elements",
    "fit_elements",
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


def holds_strings(dtype: "np.dtype[Any]") -> bool:
    """Tell whether elements are strings: text, which is StringDType, or bytes, which are objects."""
    return dtype.kind in "TO"


def kind_of(dtype: "np.dtype[Any]") -> StringKind:
    """Return what the strings of a dtype for them are: bytes, which are objects, or text."""
    return "binary" if dtype.kind == "O" else "utf8"


def check_numbers(dtype: "np.dtype[Any]", what: str) -> None:
    """Raise if elements are strings, with which `what` cannot be done."""
    if holds_strings(dtype):
        raise DTypeError(f"{what} needs numbers, and the elements are strings of kind {kind_of(dtype)!r}")


def fit_number(value: object, dtype: "np.dtype[Any]", what: str) -> Array:
    """Return a number, or a string, as an array of rank 0 of this type, if the type can say it.

    Raises
    ------
    SizeOverflowError
        If the number is not an integer of the type's range.
    ConversionError
        If it is no number at all, or not-a-number where the type has none.
    """
    if dtype.kind in "TO":
        return fit_string(value, dtype, what)
    try:
        given = np.asarray(value).dtype.kind
        number = np.array(value, dtype=dtype)
    except OverflowError as error:
        raise SizeOverflowError(f"{what}={value!r} does not fit elements of type {dtype}") from error
    except (TypeError, ValueError) as error:
        raise ConversionError(f"{what}={value!r} is nothing that elements of type {dtype} can be") from error
    # NumPy reads text as a number, None as not-a-number, and takes any object for true.
    if dtype.kind not in "mM" and (value is None or given in "SUT" or given + dtype.kind == "Ob"):
        raise ConversionError(f"{what}={value!r} is nothing that elements of type {dtype} can be")
    if number.ndim:
        raise ConversionError(f"{what} must be one number, not an array of {number.shape}")
    if dtype.kind in "iu" and bool(np.asarray(value) != number):
        raise SizeOverflowError(f"{what}={value!r} does not fit elements of type {dtype}")
    return number


def fit_elements(array: Array, dtype: "np.dtype[Any]") -> Array:
    """Return an array of this type, or as it is if that surely fits; fractions are dropped, nothing wraps.

    Raises
    ------
    SizeOverflowError
        If an element is not in the range of the type.
    """
    if np.can_cast(array.dtype, dtype, casting="safe"):
        return array
    with np.errstate(invalid="ignore"):
        fitted = copy_elements(array, dtype)
    whole = np.trunc(cast("npt.NDArray[np.floating]", array)) if array.dtype.kind == "f" else array
    if dtype.kind in "iu" and not np.array_equal(fitted, whole):
        raise SizeOverflowError(f"there are elements of {array.dtype} that do not fit type {dtype}")
    return fitted


def convert_elements(array: Array, dtype: "np.dtype[Any]", *, checked: bool = True) -> Array:
    """Return the elements as ones of this type, without gaps, in memory of their own.

    Raises
    ------
    SizeOverflowError
        If they are checked and one is not in the range of the type; else integers wrap round as NumPy's.
    """
    fitted = fit_elements(array, dtype) if checked else array
    return copy_elements(array, dtype) if fitted is array else fitted
