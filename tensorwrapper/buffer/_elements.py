"""Element types of tensors, and broadcasting of values to their extents."""

from typing import Any, cast

import numpy as np

from tensorwrapper._arrays import shown_array
from tensorwrapper.errors import ConversionError, DTypeError, ExtentMismatchError
from tensorwrapper.typing import Array, StringKind

_KINDS = "biufcmM"
"""Kinds of element that a tensor can hold: bool, integers, floats, complex, and times."""


def check_dtype(dtype: "np.dtype[Any]") -> None:
    """Raise unless tensors can hold elements of this type."""
    # bfloat16, float8 and their kin have the kind of structures, and nothing of them.
    is_small = dtype.type.__module__ == "ml_dtypes"
    if is_small and "complex" in dtype.name:
        # NumPy takes them for real numbers: it finds no imaginary parts.
        raise DTypeError(f"elements of type {dtype} are not supported: astype(np.complex64) holds them")
    if dtype.kind not in _KINDS and not is_small:
        text = "; tw.strings(...) makes tensors of text and bytes" if dtype.kind in "SUTO" else ""
        raise DTypeError(
            f"elements of type {dtype} are not supported: allowed are bool, integers, floats, complex "
            f"numbers, datetime64 and timedelta64, and the types of ml_dtypes{text}"
        )
    if dtype.kind == "M" and np.datetime_data(dtype)[0] == "generic":
        raise DTypeError("times of type datetime64 count no unit: datetime64[s] is one that does")
    if dtype.kind == "m" and not dtype.isnative and np.datetime_data(dtype)[0] == "generic":
        # NumPy itself adds and compares their bytes in the wrong order.
        raise DTypeError(
            f"durations of type {dtype} have no unit, and NumPy does not swap their bytes: "
            f"array.view('{dtype.str}[s]') gives them one"
        )
    if dtype.kind in "mM" and not np.datetime_data(dtype)[1]:
        raise DTypeError(f"times of type {dtype} count steps of no length: datetime64[s] counts seconds")


def holds_strings(dtype: "np.dtype[Any]") -> bool:
    """Return True if elements are strings: text, which is StringDType, or bytes, which are objects."""
    return dtype.kind in "TO"


def kind_of(dtype: "np.dtype[Any]") -> StringKind:
    """Return the kind of the strings of a dtype: bytes, which are objects, or text."""
    return "binary" if dtype.kind == "O" else "utf8"


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
    """Return True if a number is among the elements; refuse other values, except None, which never is."""
    if value is None:
        return False
    if shown_array(value).ndim:
        raise ConversionError(f"`in` asks for one element, not for a {type(value).__name__}")
    try:
        return bool(np.any(elements == cast("Any", value)))
    except OverflowError:
        return False
    except (TypeError, ValueError) as error:
        raise ConversionError(f"a {type(value).__name__} is not an element: {error}") from error
