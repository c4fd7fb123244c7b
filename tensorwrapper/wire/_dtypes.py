"""Element types on the wire: NumPy's kind character and the bytes per element, always little-endian."""

from typing import Any

import numpy as np

from tensorwrapper.errors import LocalProtocolError, RemoteProtocolError

__all__ = ["known_dtype", "read_dtype", "write_dtype"]

_WORDS = {"b": (1,), "c": (8, 16), "f": (2, 4, 8), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8)}
# x86 long doubles: ten bytes that count and six of padding, on no other machine the same.
_LONG = {("f", 16): np.longdouble, ("c", 32): np.clongdouble}

_READ = {(kind, word): np.dtype(f"<{kind}{word}") for kind, words in _WORDS.items() for word in words}
_WRITE: "dict[np.dtype[Any], tuple[str, int, np.dtype[Any]]]" = {
    dtype: (kind, word, dtype) for (kind, word), dtype in _READ.items()
}


def read_dtype(kind: object, word: object, where: str, *, allow_longdouble: bool) -> "np.dtype[Any]":
    """Return the NumPy type that a foreign label names; only pairs on a fixed list are taken."""
    if not isinstance(kind, str):
        raise RemoteProtocolError("schema", f"dtype of {where} must be text")
    if type(word) is not int:
        raise RemoteProtocolError("schema", f"word of {where} must be an integer")
    dtype = _READ.get((kind, word))
    if dtype is not None:
        return dtype
    if allow_longdouble and (kind, word) in _LONG:
        long = np.dtype(_LONG[kind, word])
        if long.itemsize == word:
            return long
    raise RemoteProtocolError("unsupported", f"{where} has elements {kind[:16]!r} of {word} bytes")


def known_dtype(dtype: "np.dtype[Any]") -> "tuple[str, int, np.dtype[Any]] | None":
    """Return what `write_dtype` does for a type that is written as it is, None for any other."""
    return _WRITE.get(dtype)


def write_dtype(
    dtype: "np.dtype[Any]", where: str, *, allow_longdouble: bool
) -> "tuple[str, int, np.dtype[Any]]":
    """Return the kind character, the bytes per element, and the type to write in."""
    known = _WRITE.get(dtype)
    if known is not None:
        return known
    little = dtype.newbyteorder("<")
    if (dtype.kind, dtype.itemsize) in _READ:
        return dtype.kind, dtype.itemsize, little
    if (dtype.kind, dtype.itemsize) in _LONG:
        if allow_longdouble:
            return dtype.kind, dtype.itemsize, little
        raise LocalProtocolError(
            "unsupported",
            f"{where} has long doubles, which few machines can read; allow_longdouble=True sends them",
        )
    raise LocalProtocolError("unsupported", f"{where} has elements of type {dtype}, which TENS cannot name")
