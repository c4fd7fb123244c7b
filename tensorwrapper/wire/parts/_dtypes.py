"""Element types on the wire: NumPy's kind character and the bytes per element, always little-endian.

Types that TENS cannot name are sent as integers of the same size; the key ``logical`` names the type.
"""

import importlib
import re
from typing import Any

import numpy as np

from tensorwrapper._json_fields import Field
from tensorwrapper.errors import LocalProtocolError
from tensorwrapper.wire._protocol_errors import Refusal

_WORDS = {"b": (1,), "c": (8, 16), "f": (2, 4, 8), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8)}
# x86 long doubles: ten bytes that count and six of padding, on no other machine the same.
_LONG = {("f", 16): np.longdouble, ("c", 32): np.clongdouble}

_LONGEST = 64
"""Characters of a name; beyond, it is not a mistake but an attempt to make us repeat it."""

_MOMENT = re.compile(r"(datetime64|timedelta64)\[(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\]", re.ASCII)
_SMALL = {
    "bfloat16": 2,
    "float8_e3m4": 1,
    "float8_e4m3": 1,
    "float8_e4m3b11fnuz": 1,
    "float8_e4m3fn": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2": 1,
    "float8_e5m2fnuz": 1,
    "float8_e8m0fnu": 1,
}
"""Floats of ml_dtypes in which all bytes are values."""

_READ = {(kind, word): np.dtype(f"<{kind}{word}") for kind, words in _WORDS.items() for word in words}
_READ["?", 0] = np.dtype("V0")
_WRITE: "dict[np.dtype[Any], tuple[str, int, np.dtype[Any]]]" = {
    dtype: (kind, word, dtype) for (kind, word), dtype in _READ.items()
}


def read_dtype(description: Field, *, allow_longdouble: bool) -> "np.dtype[Any] | Refusal":
    """Return the NumPy type that a foreign description names; only pairs on a fixed list are taken.

    The type ``?`` of 0 bytes, of tensors without elements, is one of NumPy's without bytes.
    """
    kind, word = description["dtype"].text(most=_LONGEST), description["word"].integer()
    dtype = _READ.get((kind, word))
    if dtype is None and allow_longdouble and (kind, word) in _LONG:
        long = np.dtype(_LONG[kind, word])
        dtype = long if long.itemsize == word else None
    if dtype is None:
        return Refusal("unsupported", f"{description} has elements {kind[:16]!r} of {str(word)[:24]} bytes")
    return dtype


def plain_dtype(kind: str, word: int) -> "np.dtype[Any] | None":
    """Return the NumPy type of a pair on the fixed list, if its elements have bytes; else None."""
    return _READ.get((kind, word)) if word else None


known_dtype = _WRITE.get
"""Returns the result of `write_dtype` for a type that is written unchanged, None for any other."""


def write_dtype(
    dtype: "np.dtype[Any]", where: str, *, allow_longdouble: bool
) -> "tuple[str, int, np.dtype[Any]]":
    """Return the kind character, the bytes per element, and the type to write in."""
    known = _WRITE.get(dtype)
    if known is not None:
        return known
    little = dtype.newbyteorder("<")
    if write_logical(dtype) is not None:
        return ("i" if dtype.kind in "mM" else "u"), dtype.itemsize, little
    if (dtype.kind, dtype.itemsize) in _READ:
        return dtype.kind, dtype.itemsize, little
    if (dtype.kind, dtype.itemsize) in _LONG:
        if allow_longdouble:
            return dtype.kind, dtype.itemsize, little
        raise LocalProtocolError(
            "unsupported",
            f"{where} has long doubles, which few machines can read: astype('f8') has doubles, and "
            "wire.encode(..., allow_longdouble=True) writes them as they are",
        )
    raise LocalProtocolError("unsupported", f"{where} has elements of type {dtype}, which TENS cannot name")


def write_logical(dtype: "np.dtype[Any]") -> str | None:
    """Return the value of the key ``logical`` for a type that TENS cannot name; None for others."""
    if dtype.kind in "mM":
        name = dtype.newbyteorder("=").name
        # Units may have a factor, which few readers would expect.
        return name if _MOMENT.fullmatch(name) else None
    if dtype.type.__module__ == "ml_dtypes" and dtype.name in _SMALL:
        return dtype.name
    return None


def small_dtype(name: str) -> "np.dtype[Any] | None":
    """Return the float of ml_dtypes of a name; None if it is not on the list, or without that package."""
    if name not in _SMALL:
        return None
    try:
        found: np.dtype[Any] = np.dtype(getattr(importlib.import_module("ml_dtypes"), name))
    except (ImportError, AttributeError):
        return None
    return found


def read_logical(description: Field, dtype: "np.dtype[Any]") -> "np.dtype[Any] | Refusal | None":
    """Return the type that the foreign key ``logical`` names; only names on a fixed list are accepted."""
    if description["logical"].value is None:
        return None
    name = description["logical"].text()
    if _MOMENT.fullmatch(name) and dtype == np.dtype("<i8"):
        return np.dtype(name).newbyteorder("<")
    if _SMALL.get(name) == dtype.itemsize and dtype.kind == "u":
        small = small_dtype(name)
        if small is None:
            return Refusal(
                "unsupported", f"{description} has elements of type {name}, which needs the package ml_dtypes"
            )
        return small
    return Refusal("unsupported", f"{description} has the logical type {name[:_LONGEST]!r} over {dtype}")
