"""NumPy's three kinds of strings: fixed-width bytes (S), fixed-width text (U), and StringDType (T)."""

from itertools import repeat
from operator import is_
from typing import Any, Final, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import splits_of
from tensorwrapper._error_text import brief
from tensorwrapper._integers import MAX_INT64
from tensorwrapper.buffer.copies._copy import copy_elements
from tensorwrapper.buffer.strings._bitmap import Bytes
from tensorwrapper.buffer.strings._bytes import BATCH, fill_rows, leading_marks, to_bytes_array
from tensorwrapper.buffer.strings._data import StringData
from tensorwrapper.buffer.strings._utf8 import continues_character
from tensorwrapper.errors import ConversionError, SizeOverflowError, StringDataError
from tensorwrapper.typing import Array, IntArray

NumpyStrings: TypeAlias = Literal["S", "U", "T"]
"""NumPy's kinds of strings by the letter of their dtype: bytes, text, text of any length."""

_UCS4: Final = 4  # bytes of a character of U


def strings_from_numpy(array: npt.ArrayLike) -> StringData:
    """Return the elements of an array of strings, last mode fastest.

    Parameters
    ----------
    array
        Of dtype S (gives kind binary; the bytes are not copied if the array has no gaps), U or StringDType
        (kind utf8), or object with str, bytes and None.

    Notes
    -----
    S and U have no lengths: NumPy fills short elements with NULs and takes NULs at the end for filling, so
    an element that ended with NULs has lost them before it comes here. StringDType keeps them. Its missing
    values become nulls; but if they are stated to be a string, NumPy itself gives that string for them.

    Raises
    ------
    ConversionError
        If the array holds something else.
    StringDataError
        If text has a lone surrogate.

    Examples
    --------
    >>> strings_from_numpy(np.array(["a", "hé"])).lengths().tolist()
    [1, 3]
    >>> strings_from_numpy(np.array([b"ab", b"c"])).stops.tolist()
    [2, 3]
    """
    given: npt.NDArray[Any] = np.asarray(array)
    kind = given.dtype.kind
    if kind == "S":
        return _from_s(given)
    if kind == "U":
        return _from_u(given)
    if kind == "T":
        return _from_t(given)
    if kind == "O":
        return StringData.from_list(given.reshape(-1).tolist())
    raise ConversionError(
        f"an array of {given.dtype} has no strings: allowed are S, U, StringDType, and object with str, "
        "bytes and None"
    )


def _from_s(array: npt.NDArray[np.bytes_]) -> StringData:
    width = array.dtype.itemsize
    flat = (array if array.flags.c_contiguous else copy_elements(array)).reshape(-1)
    starts = np.arange(0, len(flat) * width, width) if width else np.zeros(len(flat), dtype=np.int64)
    stops = starts + np.strings.str_len(flat)
    data = to_bytes_array(flat.view(np.uint8) if flat.size and width else b"", "the data")
    return StringData.from_ranges(starts, stops, data, "binary")


def _from_u(array: npt.NDArray[np.str_]) -> StringData:
    flat = array.reshape(-1)
    rows = max(BATCH // max(array.dtype.itemsize, 1), 1)
    counts: IntArray = np.strings.str_len(flat)
    lengths = np.zeros(len(flat), dtype=np.int64)
    pieces: list[bytes] = []
    for k in range(0, len(flat), rows):
        codes = _characters(flat[k : k + rows])
        inside = leading_marks(counts[k : k + rows], codes.shape[1])
        try:
            pieces.append(codes[inside].astype("<u4").tobytes().decode("utf-32-le").encode())
        except UnicodeDecodeError as error:
            element = k + int(np.flatnonzero(inside)[error.start // _UCS4]) // codes.shape[1]
            raise StringDataError(
                f"element {element} has a lone surrogate, or a number that is not a character: {error.reason}"
            ) from error
        lengths[k : k + rows] = inside.sum(axis=1)
        for least in (0x80, 0x800, 0x10000):  # from here on a character takes one byte more
            longer = codes >= least
            if not longer.any():
                break
            lengths[k : k + rows] += longer.sum(axis=1)
    return StringData._over_offsets("utf8", to_bytes_array(b"".join(pieces), "the data"), splits_of(lengths))


def _characters(flat: npt.NDArray[np.str_]) -> npt.NDArray[np.uint32]:
    """Return the numbers of the characters, a row for each element; NUL fills the rows."""
    width = flat.dtype.itemsize // _UCS4
    if not width:
        return np.zeros((len(flat), 0), dtype=np.uint32)
    native = np.ascontiguousarray(flat, dtype=flat.dtype.newbyteorder("="))
    return native.view(np.uint32).reshape(len(flat), width)


def _from_t(array: npt.NDArray[Any]) -> StringData:
    items = array.reshape(-1).tolist()
    missing: object = getattr(array.dtype, "na_object", None)
    if missing is not None and not isinstance(missing, str):
        objects = np.empty(len(items), dtype=np.object_)
        objects[:] = items
        objects[np.fromiter(map(is_, items, repeat(missing)), dtype=np.bool_, count=len(items))] = None
        items = objects.tolist()
    return StringData.from_list(items, kind="utf8")


def strings_to_numpy(strings: StringData, dtype: NumpyStrings) -> Array:
    """Return the elements as an array of rank 1 of one of NumPy's kinds of strings: a copy.

    Parameters
    ----------
    strings
        Of kind binary for S, of kind utf8 for U and T.
    dtype
        ``"S"`` and ``"U"``: as wide as the longest element needs, for all elements: n times that, and four
        times more for U. ``"T"``: StringDType, whose missing value is None if there are nulls.

    Raises
    ------
    ConversionError
        If the kinds do not agree; if an element is a null, for S and U; if one ends with a NUL, for S and
        U, which would lose it.

    Examples
    --------
    >>> strings_to_numpy(StringData.from_list(["a", "hé"]), "U")
    array(['a', 'hé'], dtype='<U2')
    >>> strings_to_numpy(StringData.from_list(["a", None]), "T")
    array(['a', None], dtype=StringDType(na_object=None))
    """
    needed = {"S": "binary", "U": "utf8", "T": "utf8"}.get(str(dtype))
    if needed is None:
        raise ConversionError(f"dtype must be 'S', 'U' or 'T', not {brief(dtype)}")
    if strings.kind != needed:
        raise ConversionError(
            f"NumPy's {dtype} takes kind {needed!r}, and the elements are of kind {strings.kind!r}: "
            "as_binary() and as_utf8() turn one into the other"
        )
    if dtype == "T":
        text = np.dtypes.StringDType(na_object=None) if strings.null_count else np.dtypes.StringDType()
        return cast("Array", np.array(strings.to_list(), dtype=text))
    packed = strings.pack()
    _check_padded(packed, dtype)
    offsets = splits_of(packed.lengths())
    return _to_s(packed.data, offsets) if dtype == "S" else _to_u(packed.data, offsets)


def _check_padded(packed: StringData, dtype: NumpyStrings) -> None:
    """Raise if filling the elements up with NULs would lose something."""
    if packed.null_count:
        k = int(np.argmin(packed.is_valid()))
        raise ConversionError(
            f"element {k} is a null, and NumPy's {dtype} has none: fill_null(value) says what stands for "
            "nulls; StringDType has them"
        )
    filled = np.flatnonzero(packed.lengths())
    ends = filled[packed.data[packed.stops[filled] - 1] == 0]
    if len(ends):
        raise ConversionError(
            f"element {ends[0]} ends with a NUL, which NumPy's {dtype} takes for filling and would lose"
        )


def _check_table(count: int, width: int, itemsize: int) -> None:
    if count * width * itemsize > MAX_INT64:
        raise SizeOverflowError(
            f"{count} elements as wide as the longest, {width}, are more bytes than 64 bits can count"
        )


def _to_s(data: Bytes, offsets: IntArray) -> npt.NDArray[np.bytes_]:
    lengths = np.diff(offsets)
    count, width = len(lengths), max(int(lengths.max(initial=0)), 1)
    _check_table(count, width, 1)
    table = np.zeros((count, width), dtype=np.uint8)
    rows = max(BATCH // width, 1)
    for k in range(0, count, rows):
        stop = min(k + rows, count)
        fill_rows(table[k:stop], lengths[k:stop], data[offsets[k] : offsets[stop]])
    return table.reshape(-1).view(f"S{width}")


def _to_u(data: Bytes, offsets: IntArray) -> npt.NDArray[np.str_]:
    lengths = np.zeros(len(offsets) - 1, dtype=np.int64)
    filled = np.flatnonzero(np.diff(offsets))
    if len(filled):
        # Empty elements are left out: to reduceat a row without bytes is the byte where it begins.
        lengths[filled] = np.add.reduceat(~continues_character(data), offsets[filled], dtype=np.int64)
    count, width = len(lengths), max(int(lengths.max(initial=0)), 1)
    _check_table(count, width, _UCS4)
    table = np.zeros((count, width), dtype=np.uint32)
    rows = max(BATCH // (_UCS4 * width), 1)
    for k in range(0, count, rows):
        stop = min(k + rows, count)
        text = data[offsets[k] : offsets[stop]].tobytes().decode()
        fill_rows(table[k:stop], lengths[k:stop], np.frombuffer(text.encode("utf-32-le"), "<u4"))
    return table.reshape(-1).view(f"U{width}")
