"""Arrow's arrays of strings, taken over through the C data interface; pyarrow is not needed."""

import ctypes
from collections.abc import Callable, Iterator
from typing import Final, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer.arrow._c import (
    ArrowArray,
    ArrowSchema,
    ArrowStream,
    ForeignArray,
    pointer_in,
    release,
)
from tensorwrapper.buffer.strings._bitmap import Bytes
from tensorwrapper.buffer.strings._bytes import join_bytes
from tensorwrapper.buffer.strings._data import StringData
from tensorwrapper.errors import ConversionError, StringDataError
from tensorwrapper.typing import IntArray, StringKind

_T = TypeVar("_T")

_INLINE: Final = 12  # bytes of a short string that a view holds itself
_VIEW: Final = 16  # bytes of a view: its length, and the string or where it is

STRING_FORMATS: Final[dict[bytes, tuple[StringKind, int]]] = {
    b"u": ("utf8", 4),
    b"z": ("binary", 4),
    b"U": ("utf8", 8),
    b"Z": ("binary", 8),
    b"vu": ("utf8", 0),
    b"vz": ("binary", 0),
}
"""Arrow's format strings, the kind of their elements, and the bytes of an offset; views have none."""


@runtime_checkable
class ArrowArrayLike(Protocol):
    """An object that exports one Arrow array: of pyarrow, nanoarrow, DuckDB, or `StringData`."""

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Return the capsules of a schema and of an array."""
        ...


class ArrowStreamLike(Protocol):
    """An object that exports Arrow arrays one after the other: chunked arrays, the series of Polars."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the capsule of a stream."""
        ...


def strings_from_arrow(source: ArrowArrayLike | ArrowStreamLike) -> StringData:
    """Return the elements of an Arrow array of strings or bytes, with its nulls.

    The bytes are not copied: the result keeps the Arrow array alive, and releases it when it is the last to
    use it. Offsets of 32 bits are widened, which copies them. A ``string_view`` array is copied if its bytes
    are in several buffers, and so are chunks that are joined.

    Parameters
    ----------
    source
        Of type string, large_string, binary, large_binary, string_view or binary_view.

    Raises
    ------
    ConversionError
        If `source` does not speak Arrow's C data interface, or has elements of another type.
    StringDataError
        If the offsets are not in order, or text is not UTF-8.

    Examples
    --------
    >>> words = StringData.from_list(["a", None, "hé"])
    >>> strings_from_arrow(words) == words
    True
    """
    if isinstance(source, ArrowArrayLike):
        schema_capsule, array_capsule = source.__arrow_c_array__()
        schema = ArrowSchema.from_address(pointer_in(schema_capsule, b"arrow_schema"))
        return _strings_of(schema, lambda: ForeignArray(pointer_in(array_capsule, b"arrow_array")))
    return StringData.concat(list(read_stream(source, _strings_of)))


def _strings_of(schema: ArrowSchema, take: Callable[[], ForeignArray | None]) -> StringData:
    kind, width = _type_of(schema)
    array = take()
    if array is None:
        return StringData.from_list([], kind=kind)
    return read_arrow_strings(array, kind, width, array.structure.offset, array.structure.length)


def _type_of(schema: ArrowSchema) -> tuple[StringKind, int]:
    if not schema.release:
        raise ConversionError("the Arrow schema was released before it came here")
    if schema.dictionary:
        raise ConversionError(
            "a dictionary of strings is decoded first: dictionary_decode() in pyarrow, cast(pl.String) in "
            "Polars"
        )
    found = STRING_FORMATS.get(schema.format)
    if found is None:
        raise ConversionError(
            f"Arrow's format {schema.format.decode(errors='replace')!r} is not that of strings: allowed are "
            "string (u), binary (z), large_string (U), large_binary (Z), string_view (vu), binary_view (vz)"
        )
    return found


def read_stream(
    source: object, read: Callable[[ArrowSchema, Callable[[], ForeignArray | None]], _T]
) -> Iterator[_T]:
    """Yield the results of `read` for each array of a stream; for an empty one the result for None."""
    call = getattr(source, "__arrow_c_stream__", None)
    if call is None:
        raise ConversionError(
            f"{type(source).__name__} has neither __arrow_c_array__ nor __arrow_c_stream__: "
            "it is not an Arrow array"
        )
    capsule = call()
    stream = ArrowStream.from_address(pointer_in(capsule, b"arrow_array_stream"))
    address = ctypes.addressof(stream)
    if not stream.release:
        raise ConversionError("the Arrow stream was released, or another consumer has read it")
    schema = ArrowSchema()
    try:
        _check_call(stream, stream.get_schema(address, ctypes.addressof(schema)))
        empty = True
        while True:
            array = ArrowArray()
            _check_call(stream, stream.get_next(address, ctypes.addressof(array)))
            if not array.release:
                break
            empty = False
            foreign = ForeignArray(ctypes.addressof(array))
            yield read(schema, lambda foreign=foreign: foreign)  # type: ignore[misc]
        if empty:
            yield read(schema, lambda: None)
    finally:
        release(schema)
        release(stream)


def _check_call(stream: ArrowStream, code: int) -> None:
    if code:
        text = stream.get_last_error(ctypes.addressof(stream)) or b""
        raise ConversionError(f"the Arrow stream failed with code {code}: {text.decode(errors='replace')}")


def read_arrow_strings(
    array: ForeignArray, kind: StringKind, width: int, first: int, count: int
) -> StringData:
    """Return `count` elements of one array, from element `first` of its memory on; the result owns it."""
    given = array.structure
    if first < 0 or count < 0:
        raise StringDataError(f"an Arrow array cannot have {count} elements from element {first} on")
    if given.n_buffers < 3:
        raise StringDataError(f"an Arrow array of strings has 3 buffers or more, not {given.n_buffers}")
    validity = None
    if given.null_count and given.buffers[0]:
        validity = array.memory(0, (first + count + 7) // 8)
    if not width:
        starts, stops, data = _read_views(array, first, count)
        return StringData.from_ranges(starts, stops, data, kind, validity=validity, validity_offset=first)
    # Arrays without elements may come without any offset.
    nbytes = (count + 1) * width if count else 0
    offsets = array.memory(1, nbytes, first * width).view(f"i{width}").astype(np.int64, copy=False)
    # Arrow does not say how long the data is: as long as the last offset says.
    data = array.memory(2, max(int(offsets[-1]), 0) if count else 0)
    return StringData.from_offsets(
        offsets if count else [0], data, kind, validity=validity, validity_offset=first
    )


def _read_views(array: ForeignArray, first: int, count: int) -> tuple[IntArray, IntArray, Bytes]:
    """Return starts and stops in the bytes of an array of views, and those bytes.

    A view contains a short string, or the position of a long one.
    """
    extra = array.structure.n_buffers - 3
    inline = array.memory(1, count * _VIEW, first * _VIEW)
    table: npt.NDArray[np.int32] = inline.view(np.int32).reshape(count, 4)
    sizes = array.memory(2 + extra, 8 * extra).view(np.int64)
    buffers = [array.memory(2 + k, int(sizes[k])) for k in range(extra)]
    lengths = table[:, 0].astype(np.int64)
    starts = np.arange(4, count * _VIEW, _VIEW)
    far = lengths > _INLINE
    if far.any():
        starts[far] = _places_of(table[far, 2], table[far, 3], lengths[far], sizes)
    used: list[Bytes] = [inline, *buffers]
    if far.all():
        used = buffers
    elif not far.any():
        used = [inline]
    else:
        starts[far] += len(inline)
    data = join_bytes(used)
    return starts, starts + lengths, data


def _places_of(
    buffers: npt.NDArray[np.int32], offsets: npt.NDArray[np.int32], lengths: IntArray, sizes: IntArray
) -> IntArray:
    """Return the positions of strings in the concatenation of all buffers."""
    outside = (buffers < 0) | (buffers >= len(sizes)) | (offsets < 0)
    if not outside.any():
        outside = offsets + lengths > sizes[buffers]
    if outside.any():
        k = int(np.argmax(outside))
        raise StringDataError(
            f"a view says buffer {buffers[k]}, bytes {offsets[k]} to {offsets[k] + lengths[k]}; "
            f"there are {len(sizes)} buffers"
        )
    begins = np.cumsum(sizes) - sizes
    return begins[buffers] + offsets
