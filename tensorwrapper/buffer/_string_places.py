"""What buffers of strings hold of a layout: starts and stops are moved, the bytes stay where they are."""

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from tensorwrapper.buffer._common import BufferCommon
from tensorwrapper.buffer._places import address_batches
from tensorwrapper.buffer._strings import Strings
from tensorwrapper.buffer.copies._copy import copy_elements
from tensorwrapper.buffer.strings._data import StringData
from tensorwrapper.buffer.strings._merge import replace_strings
from tensorwrapper.buffer.strings._numpy import NumpyStrings, strings_to_numpy
from tensorwrapper.errors import ConversionError, DTypeError
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Array, IntArray

__all__ = [
    "addresses_of",
    "check_box",
    "collect_strings",
    "equal_strings",
    "in_strings",
    "pack_strings",
    "place_strings",
    "refuse_strings",
    "strings_as_array",
    "strings_of",
]


def addresses_of(batches: Iterator[IntArray]) -> IntArray:
    """Return addresses that come in batches as one flat array."""
    parts = [batch.reshape(-1) for batch in batches]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype=np.int64), *parts])


def strings_of(held: LayoutCommon, buffer: Strings) -> StringData:
    """Return the elements in row-major order; the bytes are shared, O(1) where the elements lie so."""
    size, strings = held.shape.size, buffer.stored
    if not size:
        return strings.slice(0, 0)
    if held.is_contiguous:
        return strings.slice(held.offset, held.offset + size)
    return strings.take(addresses_of(address_batches(held)))


def collect_strings(batches: Iterator[IntArray], buffer: Strings) -> Strings:
    """Return a buffer of the elements at addresses that come in batches; the bytes are shared."""
    return Strings(buffer.stored.take(addresses_of(batches)), nullable=buffer.nullable)


def pack_strings(held: LayoutCommon, buffer: Strings) -> Strings:
    """Return a buffer of these elements, packed in row-major order; bytes that never change may be shared."""
    packed = strings_of(held, buffer).pack()
    if packed.data.base is not None and len(packed.data) < len(buffer.stored.data):
        # A part would keep all of the memory alive.
        data = copy_elements(packed.data)
        data.flags.writeable = False
        packed = StringData._over_offsets(
            packed.kind, data, cast("IntArray", packed.offsets), packed.validity
        )
    return Strings(packed, nullable=buffer.nullable)


def place_strings(held: LayoutCommon, buffer: Strings, target: LayoutCommon, size: int) -> Strings:
    """Return a buffer of so many elements, with these where another layout puts them and "" elsewhere."""
    strings = strings_of(held, buffer)
    nowhere = np.zeros(size, dtype=np.int64)
    empty = StringData.from_ranges(nowhere, nowhere, b"", buffer.kind)
    placed = replace_strings(empty, addresses_of(address_batches(target)), strings)
    return Strings(placed, nullable=buffer.nullable)


def equal_strings(
    mine: tuple[LayoutCommon, BufferCommon[Any]], theirs: tuple[LayoutCommon, BufferCommon[Any]]
) -> bool:
    """Tell whether two tensors of one shape, of which one is of strings, have equal elements."""
    (a, one), (b, other) = mine, theirs
    if not isinstance(one, Strings) or not isinstance(other, Strings):
        return False
    return strings_of(a, one).equals(strings_of(b, other))


def in_strings(held: LayoutCommon, buffer: Strings, value: object) -> bool:
    """Tell whether an element is this str or these bytes, or (None) a null."""
    strings = strings_of(held, buffer)
    if value is None:
        return strings.null_count > 0
    if not isinstance(value, str if buffer.kind == "utf8" else bytes):
        return False
    # A lone surrogate becomes bytes that are no UTF-8, which no element has.
    wanted = value if isinstance(value, bytes) else value.encode(errors="surrogatepass")
    # Only elements of as many bytes are looked at.
    places = np.flatnonzero((strings.lengths() == len(wanted)) & strings.is_valid())
    if not wanted or not len(places):
        return len(places) > 0
    table = strings.take(places).pack().data.reshape(len(places), len(wanted))
    return bool((table == np.frombuffer(wanted, dtype=np.uint8)).all(axis=1).any())


def check_box(shape: Shape[Any]) -> None:
    """Raise unless a shape is a box, which an array can have."""
    if shape.kind != "smooth":
        raise ConversionError(
            f"a tensor of shape {shape} is no array: to_padded() fills it, cells() has its parts"
        )


def strings_as_array(
    held: LayoutCommon,
    buffer: Strings,
    dtype: "np.dtype[Any] | None",
    copy: bool | None,  # noqa: FBT001 - as NumPy's protocol has it
) -> Array:
    """Return the elements of a box as an array of their own dtype, or of another one for strings.

    Raises
    ------
    ConversionError
        If the shape is no box, no copy is to be made, or the dtype has no place for a null or a last NUL.
    DTypeError
        If the dtype is none for strings.
    """
    check_box(held.shape)
    if copy is False:
        raise ConversionError("strings become an array only by a copy; copy=False cannot be kept")
    strings = strings_of(held, buffer)
    if dtype is None and buffer.kind == "binary" and strings.null_count:
        # NumPy asks in this way too when it wants S or U, and would then write "None".
        raise ConversionError(
            f"{strings.null_count} elements are nulls: fill_null(value) says what stands for them, "
            "and dtype=object has None"
        )
    return _as_dtype(strings, buffer, buffer.dtype if dtype is None else dtype).reshape(held.shape.extents)


def _as_dtype(strings: StringData, buffer: Strings, dtype: "np.dtype[Any]") -> Array:
    if dtype == buffer.dtype:
        return buffer.array_of(strings)
    if dtype.kind not in "SUTO":
        raise DTypeError(
            f"strings do not become elements of type {dtype}: allowed are S, U, StringDType, object"
        )
    if dtype.kind == "O":
        objects = np.empty(len(strings), dtype=np.object_)
        objects[:] = cast("Any", strings.to_list())
        return objects
    if dtype.kind == "T" and strings.null_count and not hasattr(dtype, "na_object"):
        raise ConversionError(f"{strings.null_count} elements are nulls, which {dtype} has no place for")
    array = strings_to_numpy(strings, cast("NumpyStrings", dtype.kind))
    if dtype.kind in "SU" and 0 < dtype.itemsize < array.dtype.itemsize:
        raise ConversionError(f"the longest element needs {array.dtype}; {dtype} would cut it")
    return array if dtype.kind in "SU" and not dtype.itemsize else copy_elements(array, dtype)


def refuse_strings(buffer: BufferCommon[Any], what: str) -> None:
    """Raise if the elements are strings, with which `what` cannot be done."""
    if isinstance(buffer, Strings):
        raise DTypeError(f"{what} needs numbers, and the elements are strings of kind {buffer.kind!r}")
