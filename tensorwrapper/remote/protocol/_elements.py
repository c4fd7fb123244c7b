"""Elements in messages: the allowed types, and strings as two frames."""

import re
import zlib
from itertools import pairwise
from typing import Any, Final, cast

import numpy as np

from tensorwrapper._arrays import are_truths, as_truths
from tensorwrapper.errors import ConversionError, RemoteProtocolError, RequestRefusedError
from tensorwrapper.typing import Array, IntArray
from tensorwrapper.wire.lowlevel import small_dtype, write_logical

__all__ = [
    "bytes_of",
    "dtype_of",
    "dtype_text",
    "fill_bytes",
    "fill_of",
    "is_small",
    "pack_bytes",
    "pack_strings",
    "unpack_bytes",
    "unpack_strings",
]

_STRING: Final = "string"
_NULLABLE: Final = "nullable string"
NULLABLE: Final = "nullable "
"""Prefix of the type of nullable numbers."""
VALID: Final = "valid"
"""Requested type for the validity of nullable elements."""
PRESENT: Final = "present"
"""Requested type for a tensor in blocks: the numbers of its present tiles, one after the other."""
STORED: Final = "stored"
"""The same: the elements of its present tiles, one after the other. Of a symmetric box the packed ones."""
UNIQUE: Final = "unique"
"""Requested type for symmetric tiles: the elements of the stored ones, one tile of each orbit."""
LINES: Final = (PRESENT, STORED, UNIQUE)
"""Requested types in place of a type of elements, with elements one after the other."""
_TEXTS: Final["dict[str, np.dtype[Any]]"] = {
    _STRING: cast("Any", np.dtypes.StringDType()),
    _NULLABLE: cast("Any", np.dtypes.StringDType(na_object=None)),
}
_PLAIN: Final = frozenset(
    ["|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16"]
)
_LENGTH: Final = np.dtype("<u4")
_NULL: Final = 2**32 - 1
"""Length of a missing string."""

_TIME: Final = re.compile(r"<[mM]8(\[([1-9][0-9]{0,8})?(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?")


_HEAD: Final = 2**14
_PAYS: Final = 1.2
"""Least factor by which packing must make an answer smaller."""


def bytes_of(array: Array) -> memoryview:
    """Return the bytes of an array without gaps; only truth values of other bytes than 0 and 1 are copied."""
    return memoryview(cast("Any", as_truths(array).view(np.uint8)))


def is_small(dtype: "np.dtype[Any]") -> bool:
    """Return True if elements are of a type of ml_dtypes, as bfloat16 is."""
    return dtype.type.__module__ == "ml_dtypes"


def dtype_text(dtype: "np.dtype[Any]") -> str:
    """Return how a type of elements is called on the wire.

    Raises
    ------
    ConversionError
        If elements of that type cannot travel.
    """
    if dtype.kind == "T":
        return _NULLABLE if hasattr(dtype, "na_object") else _STRING
    text = dtype.newbyteorder("<").str
    if is_small(dtype):
        # NumPy's names of these types are those of others.
        small = write_logical(dtype)
        if small is not None:
            return small
    elif text in _PLAIN or dtype.kind in "mM":
        return text
    raise ConversionError(f"elements of type {dtype} do not travel")


def may_be_null(text: str) -> bool:
    """Return True if numbers of a type that a server names may be nulls."""
    return text.startswith(NULLABLE) and text not in _TEXTS


def dtype_of(text: str) -> "np.dtype[Any]":
    """Return the type of elements that a server names, without the word for nulls.

    Raises
    ------
    RemoteProtocolError
        If there is none.
    """
    if text in _TEXTS:
        return _TEXTS[text]
    text = text.removeprefix(NULLABLE)
    small = small_dtype(text)
    if small is not None:
        return small
    # NumPy evaluates unknown names, so only known ones are passed to it.
    if text in _PLAIN or _TIME.fullmatch(text):
        try:
            return np.dtype(text).newbyteorder("=")
        except (TypeError, ValueError):
            pass
    raise RemoteProtocolError("unsupported", f"a server has elements of the unknown type {text[:40]!r}")


def fill_bytes(value: object, dtype: "np.dtype[Any]") -> bytes:
    """Return the bytes of the fill of a sparse tensor as they travel: those of one element, little-endian.

    Examples
    --------
    >>> fill_bytes(np.array(2, ">i2"), np.dtype(">i2")).hex()
    '0200'
    """
    return np.asarray(value, dtype).astype(dtype.newbyteorder("<")).tobytes()


def fill_of(raw: bytes, dtype: "np.dtype[Any]") -> Array:
    """Return the element that `fill_bytes` wrote, as an array of rank 0.

    Raises
    ------
    RemoteProtocolError
        If they are not element of this type.
    """
    if dtype.kind == "T" or len(raw) != dtype.itemsize:
        raise RemoteProtocolError("size", f"a fill of {len(raw)} bytes is no element of type {dtype}")
    found: Array = np.frombuffer(raw, dtype.newbyteorder("<"))
    if not are_truths(found):
        raise RemoteProtocolError("integrity", "a bool is neither 0 nor 1")
    return found.astype(dtype).reshape(())


def pack_strings(texts: Array, most: int) -> tuple[memoryview, memoryview]:
    """Return the lengths of strings in UTF-8, and their bytes one after the other; nulls have none."""
    # The bytes are at least as many as the characters: check these before encoding.
    count = 0 if hasattr(texts.dtype, "na_object") else int(np.strings.str_len(cast("Any", texts)).sum())
    if count > most:
        raise RequestRefusedError("limit", f"{count} characters are too many for one answer")
    found = texts.reshape(-1).tolist()
    encoded = [b"" if text is None else text.encode() for text in found]
    lengths = np.array([len(text) for text in encoded], dtype=np.int64)
    if int(lengths.sum()) > most:
        raise RequestRefusedError(
            "limit", f"{int(lengths.sum())} bytes of strings are too many for one answer"
        )
    if None in found:
        lengths[[text is None for text in found]] = _NULL
    return bytes_of(lengths.astype(_LENGTH)), memoryview(b"".join(encoded))


def pack_bytes(data: memoryview) -> memoryview | None:
    """Return bytes packed by zlib, as fast as it can; None if that makes hardly less of them."""
    # The beginning tells whether it is worth the rest.
    head = data[:_HEAD]
    if len(zlib.compress(head, 1)) * _PAYS > head.nbytes:
        return None
    packed = zlib.compress(data, 1)
    return memoryview(packed) if len(packed) * _PAYS <= data.nbytes else None


def unpack_bytes(data: memoryview, nbytes: int) -> memoryview:
    """Unpack bytes that were packed by zlib; no more than `nbytes` are ever made.

    Raises
    ------
    RemoteProtocolError
        If they are others, or fewer, or more.
    """
    reader = zlib.decompressobj()
    try:
        found = reader.decompress(data, max(nbytes, 1))
    except zlib.error as error:
        raise RemoteProtocolError("integrity", f"what came is not packed by zlib: {error}") from error
    if len(found) != nbytes or not reader.eof or reader.unused_data or reader.unconsumed_tail:
        raise RemoteProtocolError("size", f"expected {nbytes} bytes of packed elements, and got others")
    return memoryview(found)


def unpack_strings(lengths: memoryview, data: memoryview, count: int, dtype: "np.dtype[Any]") -> Array:
    """Return so many strings, of a type that may have nulls or not.

    Raises
    ------
    RemoteProtocolError
        If lengths and bytes disagree, they are not UTF-8, or one is missing where none may.
    """
    if lengths.nbytes != count * _LENGTH.itemsize:
        raise RemoteProtocolError("size", f"{lengths.nbytes} bytes are no lengths of {count} strings")
    counts = np.frombuffer(lengths, _LENGTH)
    nulls: IntArray = np.flatnonzero(counts == _NULL)[: None if hasattr(dtype, "na_object") else 0]
    if len(nulls):
        counts = counts.copy()
        counts[nulls] = 0
    ends = np.cumsum(counts, dtype=np.int64)
    if (int(ends[-1]) if count else 0) != data.nbytes:
        raise RemoteProtocolError(
            "size", f"strings have {data.nbytes} bytes, and their lengths say otherwise"
        )
    raw, starts = bytes(data), [0, *ends.tolist()]
    try:
        texts = [raw[a:b].decode() for a, b in pairwise(starts)]
    except UnicodeDecodeError as error:
        raise RemoteProtocolError("integrity", f"a string is not UTF-8: {error.reason}") from error
    found: Array = np.array(texts, dtype)
    if len(nulls):
        found[nulls] = cast("Any", None)
    return found
