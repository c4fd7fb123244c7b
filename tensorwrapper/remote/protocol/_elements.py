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

_STRING: Final = "string"
_NULLABLE: Final = "nullable string"
NULLABLE: Final = "nullable "
"""Prefix of the type of nullable numbers."""
VALID: Final = "valid"
"""Requested type for the validity of nullable elements."""
PRESENT: Final = "present"
"""Requested type for a tensor in blocks: the numbers of its present tiles."""
STORED: Final = "stored"
"""Requested type for the elements of present tiles, or for the packed elements of a symmetric box."""
UNIQUE: Final = "unique"
"""Requested type for symmetric tiles: the elements of the stored tiles, one per orbit."""
LINES: Final = (PRESENT, STORED, UNIQUE)
"""Requested types that select flat data instead of a dtype."""
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
"""Minimum compression ratio for a compressed answer."""


def bytes_of(array: Array) -> memoryview:
    """Return the bytes of a contiguous array; copy only bools with bytes other than 0 and 1."""
    return memoryview(cast("Any", as_truths(array).view(np.uint8)))


def is_small(dtype: "np.dtype[Any]") -> bool:
    """Return True for dtypes of ml_dtypes, such as bfloat16."""
    return dtype.type.__module__ == "ml_dtypes"


def dtype_text(dtype: "np.dtype[Any]") -> str:
    """Return the name of a dtype in the protocol.

    Raises
    ------
    ConversionError
        If the protocol does not support the dtype.
    """
    if dtype.kind == "T":
        return _NULLABLE if hasattr(dtype, "na_object") else _STRING
    text = dtype.newbyteorder("<").str
    if is_small(dtype):
        # NumPy's names of these types are ambiguous.
        small = write_logical(dtype)
        if small is not None:
            return small
    elif text in _PLAIN or dtype.kind in "mM":
        return text
    raise ConversionError(f"cannot send elements of type {dtype}")


def may_be_null(text: str) -> bool:
    """Return True if a server's type name is that of nullable numbers."""
    return text.startswith(NULLABLE) and text not in _TEXTS


def dtype_of(text: str) -> "np.dtype[Any]":
    """Return the dtype of a server's type name, without the prefix for nulls.

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
    # NumPy evaluates unknown names, so pass only known ones.
    if text in _PLAIN or _TIME.fullmatch(text):
        try:
            return np.dtype(text).newbyteorder("=")
        except (TypeError, ValueError):
            pass
    raise RemoteProtocolError("unsupported", f"a server has elements of the unknown type {text[:40]!r}")


def fill_bytes(value: object, dtype: "np.dtype[Any]") -> bytes:
    """Return the fill of a sparse tensor in wire format: the little-endian bytes of one element.

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
        If the bytes are not an element of this dtype.
    """
    if dtype.kind == "T" or len(raw) != dtype.itemsize:
        raise RemoteProtocolError("size", f"a fill of {len(raw)} bytes is not an element of type {dtype}")
    found: Array = np.frombuffer(raw, dtype.newbyteorder("<"))
    if not are_truths(found):
        raise RemoteProtocolError("integrity", "a bool is neither 0 nor 1")
    return found.astype(dtype).reshape(())


def pack_strings(texts: Array, most: int) -> tuple[memoryview, memoryview]:
    """Return the lengths of strings in UTF-8, and their concatenated bytes; nulls have no bytes."""
    # Check the number of characters, a lower bound on the bytes, before encoding.
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
    """Return bytes compressed by fast zlib; None if compression hardly helps."""
    # Compress the beginning first, to estimate the ratio.
    head = data[:_HEAD]
    if len(zlib.compress(head, 1)) * _PAYS > head.nbytes:
        return None
    packed = zlib.compress(data, 1)
    return memoryview(packed) if len(packed) * _PAYS <= data.nbytes else None


def unpack_bytes(data: memoryview, nbytes: int) -> memoryview:
    """Decompress zlib data, never to more than `nbytes`.

    Raises
    ------
    RemoteProtocolError
        If the data are invalid, or have another size.
    """
    reader = zlib.decompressobj()
    try:
        found = reader.decompress(data, max(nbytes, 1))
    except zlib.error as error:
        raise RemoteProtocolError("integrity", f"the elements are not valid zlib data: {error}") from error
    if len(found) != nbytes or not reader.eof or reader.unused_data or reader.unconsumed_tail:
        raise RemoteProtocolError("size", f"compressed elements do not have {nbytes} bytes")
    return memoryview(found)


def unpack_strings(lengths: memoryview, data: memoryview, count: int, dtype: "np.dtype[Any]") -> Array:
    """Return `count` strings of a dtype, with or without nulls.

    Raises
    ------
    RemoteProtocolError
        If lengths and bytes disagree, a string is not UTF-8, or a null is not allowed.
    """
    if lengths.nbytes != count * _LENGTH.itemsize:
        raise RemoteProtocolError("size", f"{lengths.nbytes} bytes are not lengths of {count} strings")
    counts = np.frombuffer(lengths, _LENGTH)
    nulls: IntArray = np.flatnonzero(counts == _NULL)[: None if hasattr(dtype, "na_object") else 0]
    if len(nulls):
        counts = counts.copy()
        counts[nulls] = 0
    ends = np.cumsum(counts, dtype=np.int64)
    if (int(ends[-1]) if count else 0) != data.nbytes:
        raise RemoteProtocolError(
            "size", f"strings have {data.nbytes} bytes, which contradicts their lengths"
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
