"""Arrow's arrays of numbers and of lists, taken over through the C data interface; pyarrow is not needed."""

from typing import Final, TypeAlias, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.arrow._c import ArrowSchema, ForeignArray, first_pointer, pointer_in
from tensorwrapper.buffer.arrow._strings import STRING_FORMATS, ArrowArrayLike, read_arrow_strings
from tensorwrapper.buffer.copies._copy import copy_elements
from tensorwrapper.buffer.strings._bitmap import unpack_marks
from tensorwrapper.buffer.strings._checks import check_offsets
from tensorwrapper.buffer.strings._data import StringData
from tensorwrapper.errors import ConversionError, DTypeError
from tensorwrapper.typing import Array, IntArray

__all__ = ["ArrowValues", "arrays_from_arrow"]

_NUMBERS: Final = {
    b"c": "i1", b"C": "u1", b"s": "i2", b"S": "u2", b"i": "i4", b"I": "u4", b"l": "i8", b"L": "u8",
    b"e": "f2", b"f": "f4", b"g": "f8",
    b"tss:": "M8[s]", b"tsm:": "M8[ms]", b"tsu:": "M8[us]", b"tsn:": "M8[ns]",
    b"tDs": "m8[s]", b"tDm": "m8[ms]", b"tDu": "m8[us]", b"tDn": "m8[ns]",
}  # fmt: skip
"""Arrow's words for elements that NumPy has as they are. Times of a zone are not among them."""

_OFFSETS: Final = {b"+l": 4, b"+L": 8}
"""Arrow's words for lists of any length, and how many bytes an offset has."""

_MOST_LEVELS: Final = 64

_Level: TypeAlias = IntArray | int
"""The lists of one level: offsets from 0 on, or the length that all have."""


@final
@frozen(eq=False)
class ArrowValues:
    """What an Arrow array holds: how many items, the lists that they are, and the elements of all."""

    count: int
    levels: list[_Level]
    elements: Array | StringData


def arrays_from_arrow(source: ArrowArrayLike) -> ArrowValues | None:
    """Return the elements of an Arrow array and its levels of lists; None for a table.

    Nothing is copied but truth values, which Arrow packs into bits. The elements keep the Arrow array alive,
    and cannot be written to.

    Raises
    ------
    ConversionError
        If there is a null, except among strings and times (NaT); if numbers of the array contradict each
        other.
    DTypeError
        If NumPy has no such elements.
    """
    schema_capsule, array_capsule = source.__arrow_c_array__()
    schema = ArrowSchema.from_address(pointer_in(schema_capsule, b"arrow_schema"))
    if not schema.release:
        raise ConversionError("the Arrow schema was released before it came here")
    if schema.format == b"+s":
        return None
    array = ForeignArray(pointer_in(array_capsule, b"arrow_array"))
    first, count = _range_of(array)
    outer = count
    levels: list[_Level] = []
    while (width := _OFFSETS.get(schema.format)) or (schema.format or b"").startswith(b"+w:"):
        if len(levels) == _MOST_LEVELS:
            raise ConversionError(f"an Arrow array of lists has at most {_MOST_LEVELS} levels")
        _check_nulls(array, first, count)
        child = array.child()
        if schema.n_children != 1 or not schema.children:
            raise ConversionError(f"an Arrow schema of lists has one child, not {schema.n_children}")
        begin, available = _range_of(child)
        level: _Level
        if width:
            level, low, high = _read_offsets(array, width, first, count)
        else:
            level = _size_of(schema.format)
            low, high = first * level, (first + count) * level
            if high > available:
                raise ConversionError(f"{first + count} lists of {level} do not lie in {available} elements")
        levels.append(level)
        schema, array = ArrowSchema.from_address(first_pointer(schema.children)), child
        first, count = begin + low, high - low
    return ArrowValues(outer, levels, _read_elements(schema, array, first, count))


def _range_of(array: ForeignArray) -> tuple[int, int]:
    """Return where the elements of an array begin in its memory, and how many there are."""
    first, count = array.structure.offset, array.structure.length
    if first < 0 or count < 0:
        raise ConversionError(f"an Arrow array cannot have {count} elements from element {first} on")
    return first, count


def _size_of(form: bytes) -> int:
    """Return how long the lists are that all have one length."""
    digits = form[3:]
    # As `int` takes a sign, spaces and underscores, and Arrow does not.
    if not digits.isdigit() or len(digits) > 18:
        raise DTypeError(f"Arrow's format {form[:40].decode(errors='replace')!r} has no length of lists")
    return int(digits)


def _read_offsets(array: ForeignArray, width: int, first: int, count: int) -> tuple[IntArray, int, int]:
    """Return offsets from 0 on, and from where to where they reach in the elements."""
    if not count:
        return np.zeros(1, dtype=np.int64), 0, 0
    memory = array.memory(1, (count + 1) * width, first * width)
    offsets: IntArray = memory.view(f"i{width}").astype(np.int64, copy=False)
    check_offsets(offsets, array.child().structure.length)
    low, high = int(offsets[0]), int(offsets[-1])
    return frozen_array(offsets - low if low else offsets), low, high


def _read_elements(schema: ArrowSchema, array: ForeignArray, first: int, count: int) -> Array | StringData:
    form: bytes = schema.format or b""
    if schema.dictionary:
        raise DTypeError("a dictionary of elements is decoded first: dictionary_decode() in pyarrow")
    if form in STRING_FORMATS:
        return read_arrow_strings(array, *STRING_FORMATS[form], first, count)
    name = _NUMBERS.get(form)
    if name is None and form != b"b":
        raise DTypeError(
            f"Arrow's format {form.decode(errors='replace')!r} is not of elements that tensors hold: allowed "
            "are bool, integers, floats, times without a zone, strings, and lists of these"
        )
    if name is None or name[0] not in "mM":
        _check_nulls(array, first, count)
    if name is None:
        return copy_elements(unpack_marks(array.memory(1, (first + count + 7) // 8), first, count))
    dtype = np.dtype(name)
    elements = array.memory(1, count * dtype.itemsize, first * dtype.itemsize).view(dtype)
    if dtype.kind in "mM" and (valid := _valid_of(array, first, count)) is not None:
        elements = copy_elements(elements)
        elements[~valid] = np.datetime64("NaT") if dtype.kind == "M" else np.timedelta64("NaT")
    return elements


def _valid_of(array: ForeignArray, first: int, count: int) -> "npt.NDArray[np.bool_] | None":
    """Return which elements are no nulls, where there may be some."""
    given = array.structure
    if not count or not given.null_count or given.n_buffers < 1 or not given.buffers[0]:
        return None
    return unpack_marks(array.memory(0, (first + count + 7) // 8), first, count)


def _check_nulls(array: ForeignArray, first: int, count: int) -> None:
    valid = _valid_of(array, first, count)
    nulls = 0 if valid is None else count - int(np.count_nonzero(valid))
    if nulls:
        raise ConversionError(
            f"{nulls} of {count} elements of the Arrow array are nulls, which only strings can be: fill or "
            "drop them first (fill_null() or drop_null() in pyarrow)"
        )
