"""TF_STRING: the string tensors of TensorFlow up to 2.3, as its C API has them.

For n elements, a table of n offsets (64 bits, little-endian), then the data: each element as a varint, its
length in bytes, and its bytes. An offset says where an element's varint begins, counted from the end of the
table. TensorFlow's own reader does not check that an element ends within the data; this one does.
"""

import codecs
from typing import Final, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import concatenated_ranges, frozen_array, splits_of
from tensorwrapper._integers import to_count
from tensorwrapper.buffer.strings._bitmap import Bytes
from tensorwrapper.buffer.strings._bytes import spread_bytes, sum_of_lengths, to_bytes_array
from tensorwrapper.buffer.strings._data import StringData
from tensorwrapper.errors import BufferSizeError, ConversionError, ReadOnlyError, StringDataError
from tensorwrapper.typing import Array, BufferLike, IntArray, StringKind

LONGEST: Final = 10  # bytes that 64 bits take


def varint_size(value: int) -> int:
    """Return how many bytes one number takes."""
    return max((value.bit_length() + 6) // 7, 1)


def varint_sizes(values: IntArray) -> IntArray:
    """Return how many bytes each number takes; none is negative."""
    sizes = np.ones(len(values), dtype=np.int64)
    greatest = int(values.max(initial=0))
    for bits in range(7, 63, 7):
        if greatest >> bits == 0:
            break
        sizes += values >= 1 << bits
    return sizes


def write_varints(target: Bytes, places: IntArray, values: IntArray) -> None:
    """Write each number to `target`, its first byte at its place."""
    while len(values):
        more = values >= 0x80
        target[places] = (values & 0x7F) | (more.astype(np.int64) << 7)
        places, values = places[more] + 1, values[more] >> 7


def read_varints(data: Bytes, places: IntArray) -> tuple[npt.NDArray[np.uint64], IntArray, int]:
    """Return the numbers that begin at these places, their sizes, and which is the first that is none.

    The third is the number of places if all are numbers. A number must end within the data, in its tenth
    byte at the latest, and fit into 64 bits. The result of a place without a number has no meaning.
    """
    byte = data[places]
    values = (byte & 0x7F).astype(np.uint64)
    sizes = np.ones(len(places), dtype=np.int64)
    bad = len(places)
    going = np.flatnonzero(byte >= 0x80)
    for k in range(1, LONGEST):
        if not len(going):
            break
        at = places[going] + k
        inside = at < len(data)
        if not inside.all():
            bad = min(bad, int(going[~inside][0]))
            going, at = going[inside], at[inside]
        byte = data[at]
        values[going] |= (byte & 0x7F).astype(np.uint64) << np.uint64(7 * k)
        sizes[going] = k + 1
        # Nine bytes hold 63 bits: the tenth has one bit, and nothing may follow it.
        overflows = byte > 1 if k == LONGEST - 1 else np.zeros(len(byte), dtype=np.bool_)
        if overflows.any():
            bad = min(bad, int(going[overflows][0]))
        going = going[byte >= 0x80]
    return values, sizes, bad


_MAX_BYTES: Final = 2**30


def encode_tf_strings(strings: StringData) -> Bytes:
    """Return the elements as TF_STRING: offsets that ascend, no gaps, every length in its shortest form.

    Parameters
    ----------
    strings
        Text or bytes. The shape of a tensor is not part of TF_STRING; elements go last mode fastest.

    Returns
    -------
    array of uint8
        ``8 * n`` bytes of offsets, then lengths and bytes; it has the buffer protocol. For no elements it
        is empty.

    Raises
    ------
    ConversionError
        If `strings` are not `StringData`, or an element is null: TF_STRING has no nulls, and
        `StringData.fill_null` replaces them.

    Examples
    --------
    >>> encode_tf_strings(StringData.from_list(["foobar"])).tobytes().hex()
    '000000000000000006666f6f626172'
    """
    given = cast("object", strings)
    if not isinstance(given, StringData):
        raise ConversionError(
            f"strings must be StringData, such as StringData.from_list(...), not {type(given).__name__}"
        )
    if strings.null_count:
        k = int(np.argmin(strings.is_valid()))
        raise ConversionError(
            f"element {k} is a null, as are {strings.null_count} of {len(strings)}, and TF_STRING has no "
            "nulls: fill_null(value) replaces them"
        )
    count, lengths = len(strings), strings.lengths()
    sizes = varint_sizes(lengths)
    places = splits_of(sizes + lengths)
    encoded = np.empty(8 * count + int(places[-1]), dtype=np.uint8)
    encoded[: 8 * count].view("<u8")[:] = places[:-1]
    data = encoded[8 * count :]
    short = len(sizes) == 0 or int(sizes.max()) == 1
    taken = places[:-1] if short else concatenated_ranges(places[:-1], sizes)
    spread_bytes(strings.pack().data, taken, data)
    write_varints(data, places[:-1], lengths)
    return encoded


def decode_tf_strings(
    buffer: BufferLike | Array,
    count: SupportsIndex,
    *,
    encoding: str | None = None,
    strict: bool = True,
    max_bytes: SupportsIndex = _MAX_BYTES,
) -> StringData:
    """Return the elements of a TF_STRING buffer; their bytes stay where they are in it, uncopied.

    Parameters
    ----------
    buffer
        Anything with the buffer protocol. It must not change afterwards.
    count
        How many elements: the product of the tensor's extents; 1 for a scalar.
    encoding
        None: the elements are bytes, of kind binary. ``"utf-8"``: they are text, which is checked.
    strict
        Whether to accept only the output of `encode_tf_strings`. If not, all input is accepted that
        TensorFlow accepts safely: offsets in any order, elements that share bytes, gaps, bytes at the end,
        and lengths in more bytes than they need.
    max_bytes
        How long all elements may be together, if that is more than the buffer has: elements that share
        bytes can be far longer than the buffer, and would be when they are copied.

    Raises
    ------
    StringDataError
        If the table is cut short, an offset or an element leaves the data, a length is not a varint, the
        elements are too long together, text is not UTF-8, or, if strict, the form is not canonical.
    ConversionError
        If the encoding is another.

    Examples
    --------
    >>> buffer = bytes.fromhex("000000000000000006666f6f626172")
    >>> decode_tf_strings(buffer, 1).to_list(), decode_tf_strings(buffer, 1, encoding="utf-8").to_list()
    ([b'foobar'], ['foobar'])
    """
    kind = _kind_of(encoding)
    n, limit = to_count(count, "count"), to_count(max_bytes, "max_bytes")
    raw = to_bytes_array(buffer, "a TF_STRING buffer")
    if n and len(raw) < 8 * n:
        raise StringDataError(
            "Malformed TF_STRING tensor; too short to hold number of elements: "
            f"{n} offsets take {8 * n} bytes, and there are {len(raw)}"
        )
    data = raw[8 * n :]
    heads, starts, stops = _find_runs(raw[: 8 * n], data)
    lengths = stops - starts
    if strict:
        _check_canonical(heads, starts, stops, len(data))
    total = sum_of_lengths(lengths)
    if total > max(limit, len(data)):
        raise StringDataError(
            f"the elements share bytes and are {total} bytes long together, from {len(data)} bytes of data; "
            f"allowed by max_bytes are {limit}"
        )
    strings = StringData("binary", data, frozen_array(starts), frozen_array(stops))
    return strings if kind == "binary" else strings.as_utf8()


def _kind_of(encoding: str | None) -> StringKind:
    if encoding is None:
        return "binary"
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, TypeError):
        name = ""
    if name != "utf-8":
        raise ConversionError(
            f"encoding must be 'utf-8', or None for bytes, not {encoding!r}: text of another encoding is "
            "decoded from the bytes, element by element"
        )
    return "utf8"


def _find_runs(table: Bytes, data: Bytes) -> tuple[IntArray, IntArray, IntArray]:
    """Return where the varint of each element starts, and where its bytes start and stop, all checked."""
    offsets = table.view("<u8")
    # Compared without a sign, as offsets are: beyond 63 bits they are out of range, not before the data.
    outside = offsets >= len(data)
    reached = int(np.argmax(outside)) if outside.any() else len(offsets)
    heads = offsets[:reached].astype(np.int64)
    lengths, sizes, bad = read_varints(data, heads)
    starts = heads + sizes
    # A varint that is none may seem to end beyond the data; it is found as such before its length counts.
    room = (len(data) - starts).clip(0).astype(np.uint64)
    too_long = lengths > room
    if too_long.any():
        bad = min(bad, int(np.argmax(too_long)))
    if bad < reached:
        raise StringDataError(
            f"invalid string encoding or truncated src buffer: element {bad}, at byte {heads[bad]} of "
            f"{len(data)}, is not a length and as many bytes"
        )
    if reached < len(offsets):
        raise StringDataError(
            f"Malformed TF_STRING tensor; element {reached} out of range: its offset is {offsets[reached]}, "
            f"and the data has {len(data)} bytes"
        )
    return heads, starts, starts + lengths.astype(np.int64)


def _check_canonical(heads: IntArray, starts: IntArray, stops: IntArray, nbytes: int) -> None:
    """Raise unless the elements follow one another in the data, and their lengths have the shortest form."""
    expected = np.zeros(len(heads), dtype=np.int64)
    expected[1:] = stops[:-1]
    moved = heads != expected
    if moved.any():
        k = int(np.argmax(moved))
        raise StringDataError(
            f"element {k} is at byte {heads[k]} of the data, and not behind the one before it, at "
            f"{expected[k]}: strict=False accepts shared, reordered and spaced elements"
        )
    end = int(stops[-1]) if len(stops) else 0
    if end < nbytes:
        raise StringDataError(
            f"{nbytes - end} bytes follow the last element: strict=False accepts bytes at the end"
        )
    padded = starts - heads > varint_sizes(stops - starts)
    if padded.any():
        k = int(np.argmax(padded))
        raise StringDataError(
            f"the length of element {k}, {stops[k] - starts[k]}, is written in {starts[k] - heads[k]} bytes, "
            "which is not its shortest form: strict=False accepts it"
        )


def tf_string_size(nbytes: SupportsIndex) -> int:
    """Return how many bytes one element of `nbytes` bytes takes, with its length before it.

    Examples
    --------
    >>> tf_string_size(127), tf_string_size(128)
    (128, 130)
    """
    length = to_count(nbytes, "nbytes")
    return varint_size(length) + length


def encode_tf_string(value: str | BufferLike | Array) -> bytes:
    """Return one element as in the data of a TF_STRING: its length, a varint, and its bytes.

    Text is written as UTF-8.

    Examples
    --------
    >>> encode_tf_string("foobar").hex()
    '06666f6f626172'
    """
    payload = _payload(value)
    head = np.empty(varint_size(len(payload)), dtype=np.uint8)
    write_varints(head, np.zeros(1, dtype=np.int64), np.array([len(payload)]))
    return head.tobytes() + payload.tobytes()


def write_tf_string(value: str | BufferLike | Array, target: BufferLike | Array) -> int:
    """Write one element to the start of a writable buffer, and return how many bytes it took.

    Raises
    ------
    BufferSizeError
        If the buffer is too small; nothing is written then.
    ReadOnlyError
        If the buffer cannot be written to.
    """
    encoded = encode_tf_string(value)
    to_bytes_array(target, "the buffer to write to")
    room = memoryview(cast("bytearray", target)).cast("B")
    if room.readonly:
        raise ReadOnlyError(f"the {type(target).__name__} to write to is read-only")
    if len(room) < len(encoded):
        raise BufferSizeError(
            f"dst_len ({len(room)}) too small to encode a {len(_payload(value))}-byte string: "
            f"it takes {len(encoded)} bytes"
        )
    room[: len(encoded)] = encoded
    return len(encoded)


def decode_tf_string(buffer: BufferLike | Array, *, strict: bool = True) -> bytes:
    """Return the bytes of one element from the start of a buffer.

    Parameters
    ----------
    buffer
        A length, a varint, and as many bytes.
    strict
        Whether to refuse bytes behind the element and a length in more bytes than it needs.

    Raises
    ------
    StringDataError
        If the buffer is empty or does not have its declared length.

    Examples
    --------
    >>> decode_tf_string(bytes.fromhex("06666f6f626172"))
    b'foobar'
    """
    data = to_bytes_array(buffer, "a TF_STRING element")
    if not len(data):
        raise StringDataError("invalid string encoding or truncated src buffer: there are no bytes")
    heads, starts, stops = _find_runs(np.zeros(8, dtype=np.uint8), data)
    if strict:
        _check_canonical(heads, starts, stops, len(data))
    return data[starts[0] : stops[0]].tobytes()


def _payload(value: str | BufferLike | Array) -> Bytes:
    if isinstance(value, str):
        return StringData.from_list([value]).data
    return to_bytes_array(value, "an element")
