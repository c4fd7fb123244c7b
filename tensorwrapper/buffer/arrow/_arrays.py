"""Arrow's arrays of numbers and of lists, taken over through the C data interface; pyarrow is not needed."""

import ctypes
import json
import math
import operator
from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast, final

import numpy as np

from tensorwrapper._arrays import concatenated_ranges, frozen_array, splits_of
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.arrow._c import ArrowSchema, ForeignArray, first_pointer, metadata_of, pointer_in
from tensorwrapper.buffer.arrow._strings import (
    STRING_FORMATS,
    ArrowArrayLike,
    ArrowStreamLike,
    read_arrow_strings,
    read_stream,
)
from tensorwrapper.buffer.copies._copy import copy_elements, index_elements
from tensorwrapper.buffer.strings._bitmap import Marks, unpack_marks
from tensorwrapper.buffer.strings._checks import check_offsets
from tensorwrapper.buffer.strings._data import StringData
from tensorwrapper.errors import ConversionError, DTypeError, ExtentError
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import usable_names
from tensorwrapper.typing import Array, IntArray, NullRows

_NUMBERS: Final = {
    b"c": "i1", b"C": "u1", b"s": "i2", b"S": "u2", b"i": "i4", b"I": "u4", b"l": "i8", b"L": "u8",
    b"e": "f2", b"f": "f4", b"g": "f8",
    b"tss:": "M8[s]", b"tsm:": "M8[ms]", b"tsu:": "M8[us]", b"tsn:": "M8[ns]",
    b"tdD": "i4", b"tdm": "M8[ms]",
    b"tDs": "m8[s]", b"tDm": "m8[ms]", b"tDu": "m8[us]", b"tDn": "m8[ns]",
}  # fmt: skip
"""Arrow's words for elements that NumPy has as they are. Times of a zone are not among them."""

_OFFSETS: Final = {b"+l": 4, b"+L": 8, b"+vl": 4, b"+vL": 8}
"""Arrow's words for lists of any length, and how many bytes an offset has."""

_VIEWS: Final = (b"+vl", b"+vL")
"""List types with the start and the length of each list."""

_DAYS: Final = np.dtype("M8[D]")
_EXTENSION: Final = b"ARROW:extension:name"
_METADATA: Final = b"ARROW:extension:metadata"
_CELLS: Final = b"arrow.variable_shape_tensor"
_CELL_FIELDS: Final = (b"data", b"shape")

_CALLS: Final = {
    b"n": "cast(pa.float64()) says of what type nothing is",
    b"d:": "cast(pa.float64()) has floats of decimals",
    b"tt": "cast(pa.int32()) or cast(pa.int64()) counts the units of a time of day",
    b"ts": "cast(pa.timestamp('{unit}')) drops the zone",
    b"+r": "pyarrow.compute.run_end_decode() has all elements of runs",
    b"w:": "cast(pa.binary()) has strings of bytes",
}
"""Conversions of other types to elements of tensors."""

_MOST_LEVELS: Final = 64
_MOST_COLUMNS: Final = 1 << 20

_Level: TypeAlias = IntArray | int
"""The lists of one level: offsets from 0 on, or the length that all have."""
_Elements: TypeAlias = tuple[Array | StringData, Marks | None]
"""Elements, and which of them are not nulls, unless all are or they say it themselves."""
_Span: TypeAlias = tuple[int, int]
"""The first of some items, and how many they are."""
_Found: TypeAlias = tuple[list[_Level], Array | StringData, Marks | None]


@final
@frozen(eq=False)
class ArrowValues:
    """Contents of an Arrow array: the number of items, the levels of lists, and all elements."""

    count: int
    levels: list[_Level]
    elements: Array | StringData
    valid: Marks | None = None
    """Validity of numbers and times; None if all are valid. Strings have their own."""
    permutation: tuple[int, ...] = ()
    """Order of the last modes of tensors; none if it is that of the storage."""
    names: tuple[str | None, ...] = ()
    """Names of the last modes of tensors, in that order."""
    cells: IntArray | None = None
    """Stored extents of tensors of several shapes, a row each; then there are no levels."""


def arrays_from_arrow(
    source: ArrowArrayLike | ArrowStreamLike, null_rows: NullRows = "refuse"
) -> list[ArrowValues]:
    """Return the elements of an Arrow array and its levels of lists, of a stream those of each array.

    Nothing is copied but truth values and nulls, which Arrow packs into bits, days, and lists that lie in
    another order than their elements. The elements keep the Arrow array alive, and cannot be written to.

    Raises
    ------
    ConversionError
        If a list is a null, and `null_rows` does not say that it is empty; if numbers of the array contradict
        each other; if it is a table.
    DTypeError
        If NumPy has no such elements.
    """
    if not isinstance(source, ArrowArrayLike):
        return list(read_stream(source, lambda schema, take: _values_of(schema, take, null_rows)))
    schema_capsule, array_capsule = source.__arrow_c_array__()
    schema = ArrowSchema.from_address(pointer_in(schema_capsule, b"arrow_schema"))
    if not schema.release:
        raise ConversionError("the Arrow schema was released before it came here")
    return [_values_of(schema, lambda: ForeignArray(pointer_in(array_capsule, b"arrow_array")), null_rows)]


def _values_of(
    schema: ArrowSchema, take: "Callable[[], ForeignArray | None]", null_rows: NullRows
) -> ArrowValues:
    """Return the contents of an array; without one, as in an empty stream, those of an empty array."""
    if schema.format == b"+s":
        said = metadata_of(schema)
        if said.get(_EXTENSION) == _CELLS:
            return _cells_of(schema, said.get(_METADATA, b""), take(), null_rows)
        names = [ArrowSchema.from_address(child).name or b"" for child in _children_of(schema)]
        shown = ", ".join([repr(name.decode(errors="replace")) for name in names[:20]])
        raise ConversionError(
            f"a table of Arrow, or an array of structs, is one tensor for each of its columns ({shown}): "
            "take one, table['name'] or array.field('name')"
        )
    reader = _Reader(null_rows)
    array = take()
    first, count = (0, 0) if array is None else _range_of(array)
    levels, elements, valid = reader.read(schema, array, first, count, 0)
    return ArrowValues(count, levels, elements, valid, reader.permutation, reader.names)


def _children_of(schema: ArrowSchema) -> list[int]:
    if not schema.n_children or not schema.children:
        return []
    count = min(max(schema.n_children, 0), _MOST_COLUMNS)
    return list((ctypes.c_void_p * count).from_address(schema.children))


def _cells_of(
    schema: ArrowSchema, text: bytes, array: ForeignArray | None, null_rows: NullRows
) -> ArrowValues:
    """Return tensors of several shapes: Arrow stores a list of elements and the extents of each."""
    fields = [ArrowSchema.from_address(child) for child in _children_of(schema)]
    if tuple([own.name for own in fields]) != _CELL_FIELDS:
        raise ConversionError(
            f"tensors of Arrow have the fields 'data' and 'shape', not {len(fields)} others"
        )
    reader = _Reader(null_rows)
    first, count = (0, 0) if array is None else _range_of(array)
    there = None if array is None else reader.valid_rows(array, first, count)
    parts: list[_Found] = []
    for number, field in enumerate(fields):
        child = None if array is None else array.child(number, 2)
        begin, available = (0, 0) if child is None else _range_of(child)
        if first + count > available and count:
            raise ConversionError(f"{first + count} tensors of Arrow have {available} entries of a field")
        parts.append(reader.read(field, child, begin + first, count, 1))
    (levels, elements, valid), (rank, extents, unsaid) = parts
    if len(levels) != 1 or not isinstance(levels[0], np.ndarray):
        raise ConversionError("the elements of a tensor of Arrow are one list")
    if (
        len(rank) != 1
        or not isinstance(rank[0], int)
        or isinstance(extents, StringData)
        or unsaid is not None
    ):
        raise ConversionError("the extents of a tensor of Arrow are a list of as many numbers for each")
    splits, table = levels[0], extents.reshape(count, rank[0]).astype(np.int64)
    if there is not None:
        table *= there[:, np.newaxis]
        found = _lists_of(splits[:-1], np.diff(splits) * there, int(splits[-1]), ([], elements, valid))
        splits, (elements, valid) = cast("IntArray", found[0][0]), found[1:]
    _check_cells(table, np.diff(splits))
    order, names = _order_and_names(text, table)
    return ArrowValues(count, [], elements, valid, order, names, table)


def _check_cells(table: IntArray, sizes: IntArray) -> None:
    """Raise if the extents of a tensor are not those of its elements; no product leaves 64 bits."""
    is_empty = (table == 0).any(axis=1)
    product = np.where(is_empty, 0, 1)
    wrong = (table < 0).any(axis=1)
    for extents in np.where(is_empty[:, np.newaxis], 1, np.maximum(table, 1)).T:
        wrong |= product > sizes // extents
        product = np.where(wrong, 0, product * extents)
    wrong |= product != sizes
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ConversionError(
            f"tensor {k} of an Arrow array has the extents {table[k].tolist()}, and {sizes[k]} elements"
        )


def _order_and_names(text: bytes, table: IntArray) -> tuple[tuple[int, ...], tuple[str | None, ...]]:
    """Return the order and the names of modes, as the metadata of tensors of these extents say it."""
    try:
        said = json.loads(text or b"{}")
        names: object = said.pop("dim_names", None) or [None] * table.shape[1]
        order: list[int] = said.get("permutation") or list(range(table.shape[1]))
        # It raises for a wrong order, or for extents that should be equal.
        Shape.from_arrow_tensors(table, json.dumps(said))
        meant = [cast("list[object]", names)[mode] for mode in order]
    except (ValueError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise ConversionError(f"cannot read the metadata of an Arrow tensor: {error}") from error
    return () if order == sorted(order) else tuple(order), usable_names(meant)


class _Reader:
    """Reads an array level by level, and collects the schema's facts about its tensors."""

    def __init__(self, null_rows: NullRows) -> None:
        self.null_rows = null_rows
        self.permutation: tuple[int, ...] = ()
        self.names: tuple[str | None, ...] = ()

    def read(
        self, schema: ArrowSchema, array: ForeignArray | None, first: int, count: int, depth: int
    ) -> _Found:
        """Return the levels below, and the elements, of `count` items from `first` on."""
        form: bytes = schema.format or b""
        fixed = form.startswith(b"+w:")
        if form not in _OFFSETS and not fixed:
            return [], *_read_elements(schema, array, first, count)
        if depth == _MOST_LEVELS:
            raise ConversionError(f"an Arrow array of lists has at most {_MOST_LEVELS} levels")
        if schema.n_children != 1 or not schema.children:
            raise ConversionError(f"an Arrow schema of lists has one child, not {schema.n_children}")
        inner = ArrowSchema.from_address(first_pointer(schema.children))
        size = _size_of(form) if fixed else 0
        extents: list[_Level] = self._extents_of(schema, size) if fixed else [size]
        if array is None:
            levels, elements, valid = self.read(inner, None, 0, 0, depth + 1)
            return [*(extents if fixed else [np.zeros(1, dtype=np.int64)]), *levels], elements, valid
        if fixed:
            return self._of_one_length(inner, array, (first, count), extents, depth)
        return self._of_any_length(inner, array, (first, count), form, depth)

    def _of_one_length(
        self, inner: ArrowSchema, array: ForeignArray, items: _Span, extents: list[_Level], depth: int
    ) -> _Found:
        first, count = items
        size = math.prod(map(int, extents))
        there = self.valid_rows(array, first, count)
        child = array.child()
        begin, available = _range_of(child)
        low, high = first * size, (first + count) * size
        if high > available:
            raise ConversionError(f"{first + count} lists of {size} do not lie in {available} elements")
        found = self.read(inner, child, begin + low, high - low, depth + 1)
        if there is None:
            return [*extents, *found[0]], *found[1:]
        if len(extents) > 1:
            raise ConversionError(
                f"a null does not become an empty tensor of extents {extents}, as null_rows='empty' makes "
                "empty rows: drop_null() of pyarrow drops it"
            )
        return _lists_of(np.arange(count) * size, size * there, high - low, found)

    def _of_any_length(
        self, inner: ArrowSchema, array: ForeignArray, items: _Span, form: bytes, depth: int
    ) -> _Found:
        first, count = items
        there = self.valid_rows(array, first, count)
        child = array.child()
        begin, available = _range_of(child)
        if form in _VIEWS:
            starts, sizes = _read_views(array, _OFFSETS[form], first, count, available, there)
            low, high = int(starts.min(initial=available)), int((starts + sizes).max(initial=0))
            low = min(low, high)
            found = self.read(inner, child, begin + low, high - low, depth + 1)
            return _lists_of(starts - low, sizes, high - low, found)
        level, low, high = _read_offsets(array, _OFFSETS[form], first, count)
        found = self.read(inner, child, begin + low, high - low, depth + 1)
        if there is None:
            return [level, *found[0]], *found[1:]
        return _lists_of(level[:-1], np.diff(level) * there, high - low, found)

    def valid_rows(self, array: ForeignArray, first: int, count: int) -> Marks | None:
        """Return the validity of lists; None if all are valid."""
        valid = _valid_of(array, first, count)
        if valid is None or valid.all():
            return None
        if self.null_rows == "refuse":
            nulls = count - int(np.count_nonzero(valid))
            raise ConversionError(
                f"{nulls} of {count} rows of the Arrow array are nulls: null_rows='empty' makes empty rows "
                "of them, drop_null() of pyarrow drops them"
            )
        return valid

    def _extents_of(self, schema: ArrowSchema, size: int) -> list[_Level]:
        """Return the extents of tensors of one shape, which Arrow writes as lists of one length."""
        said = metadata_of(schema)
        if said.get(_EXTENSION) != b"arrow.fixed_shape_tensor":
            return [size]
        try:
            found: dict[str, list[Any]] = json.loads(said.get(_METADATA, b"{}"))
            extents = [operator.index(extent) for extent in found["shape"]]
            order: list[Any] = found.get("permutation") or list(range(len(extents)))
            names: list[Any] = found.get("dim_names") or [None] * len(extents)
            # Names are those of the modes as they are stored.
            meant: list[Any] = [names[mode] for mode in order]
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
            raise ConversionError(f"the metadata of an Arrow tensor says no shape: {error!r}") from error
        if (
            math.prod(extents) != size
            or any(extent < 0 for extent in extents)
            or sorted(order) != list(range(len(extents)))
            or len(names) != len(extents)
        ):
            raise ConversionError(
                f"Arrow tensors of shape {extents}, order {order} and names {names} are not lists of {size}"
            )
        self.permutation = () if order == sorted(order) else tuple(order)
        self.names = usable_names(meant)
        return list(extents)


def _lists_of(starts: IntArray, sizes: IntArray, items: int, found: _Found) -> _Found:
    """Return lists which begin there and are so long, one after the other; those in another order are copied.

    `items` counts the elements below, which `found` has.
    """
    levels, elements, valid = found
    splits = splits_of(sizes)
    if (starts == splits[:-1]).all() and splits[-1] == items:
        # Such lists are as others that have offsets.
        return [splits, *levels], elements, valid
    rows = concatenated_ranges(starts, sizes)
    taken: list[_Level] = []
    for level in levels:
        if isinstance(level, np.ndarray):
            lengths = np.diff(level)[rows]
            taken.append(splits_of(lengths))
            rows = concatenated_ranges(level[rows], lengths)
        else:
            taken.append(level)
            rows = concatenated_ranges(rows * level, np.full(len(rows), level, dtype=np.int64))
    valid = None if valid is None else valid[rows]
    chosen = elements.take(rows) if isinstance(elements, StringData) else index_elements(elements, (rows,))
    return [splits, *taken], chosen, None if valid is None or valid.all() else valid


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


def _read_views(
    array: ForeignArray, width: int, first: int, count: int, available: int, there: Marks | None
) -> tuple[IntArray, IntArray]:
    """Return where lists begin and how long they are; they may overlap and come in any order."""
    starts, sizes = [
        array.memory(buffer, count * width, first * width).view(f"i{width}").astype(np.int64, copy=False)
        for buffer in (1, 2)
    ]
    if there is not None:
        # The views of nulls are never used.
        starts, sizes = starts * there, sizes * there
    outside = (starts < 0) | (sizes < 0) | (starts > available - sizes)
    if outside.any():
        k = int(np.argmax(outside))
        raise ConversionError(
            f"list {k} of {sizes[k]} elements from {starts[k]} on is not in {available} elements"
        )
    return starts, sizes


def _read_offsets(array: ForeignArray, width: int, first: int, count: int) -> tuple[IntArray, int, int]:
    """Return offsets from 0 on, and from where to where they reach in the elements."""
    if not count:
        return np.zeros(1, dtype=np.int64), 0, 0
    memory = array.memory(1, (count + 1) * width, first * width)
    offsets: IntArray = memory.view(f"i{width}").astype(np.int64, copy=False)
    check_offsets(offsets, array.child().structure.length, error=ExtentError, what="elements")
    low, high = int(offsets[0]), int(offsets[-1])
    return frozen_array(offsets - low if low else offsets), low, high


def _read_elements(schema: ArrowSchema, array: ForeignArray | None, first: int, count: int) -> _Elements:
    form: bytes = schema.format or b""
    if schema.dictionary:
        raise DTypeError(
            "a dictionary of elements is decoded first: dictionary_decode() in pyarrow, cast(pl.String) in "
            "Polars"
        )
    if form in STRING_FORMATS:
        kind, width = STRING_FORMATS[form]
        if array is None:
            return StringData.from_list([], kind=kind), None
        return read_arrow_strings(array, kind, width, first, count), None
    if form == b"n" and not count:
        # The type of missing elements is unknown; NumPy uses float64 for an empty list.
        return np.empty(0), None
    name = _NUMBERS.get(form)
    if name is None and form != b"b":
        raise DTypeError(
            f"Arrow's format {form.decode(errors='replace')!r} is not of elements that tensors hold: allowed "
            f"are bool, integers, floats, times without a zone, strings, and lists of these{_advice(form)}"
        )
    dtype = np.dtype(name or np.bool_)
    in_bytes = form == b"c" and metadata_of(schema).get(_EXTENSION) == b"arrow.bool8"
    if array is None or not count:
        return np.empty(0, _DAYS if form == b"tdD" else np.bool_ if in_bytes else dtype), None
    valid = _valid_of(array, first, count)
    valid = None if valid is None or valid.all() else valid
    if name is None:
        return copy_elements(unpack_marks(array.memory(1, (first + count + 7) // 8), first, count)), valid
    memory = array.memory(1, count * dtype.itemsize, first * dtype.itemsize)
    if in_bytes:
        # Any other number is true as well, and NumPy's truth values are 0 and 1.
        return memory.view(np.bool_) if (memory <= 1).all() else memory != 0, valid
    return memory.view(dtype).astype(_DAYS) if form == b"tdD" else memory.view(dtype), valid


def _advice(form: bytes) -> str:
    """Return which call of pyarrow makes elements that tensors hold of others, if one does."""
    for start, call in _CALLS.items():
        if form.startswith(start):
            # A time with a zone goes on with its own unit: to count others might lose some.
            unit = {b"s": "s", b"m": "ms", b"u": "us", b"n": "ns"}.get(form[2:3], "us")
            return f"; {call.format(unit=unit)}"
    return ""


def _valid_of(array: ForeignArray, first: int, count: int) -> Marks | None:
    """Return which elements are not nulls, where there may be some."""
    given = array.structure
    if not count or not given.null_count or given.n_buffers < 1 or not given.buffers[0]:
        return None
    return unpack_marks(array.memory(0, (first + count + 7) // 8), first, count)
