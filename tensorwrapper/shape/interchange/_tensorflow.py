"""Shapes as rows of rows of boxes: what TensorFlow, Awkward Array and Arrow make of ragged arrays.

Their text, ``[2, (3, 1), 5]``, has one entry per mode: an extent, or the lengths of all rows.
"""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Final, NoReturn, SupportsIndex, cast, final

import numpy as np

from tensorwrapper._arguments import check_kind_of
from tensorwrapper._arrays import frozen_array
from tensorwrapper._integers import MAX_INT64, to_counts
from tensorwrapper._memory import memory_for
from tensorwrapper._tokenizer import excerpt
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    ParseError,
    RankError,
    SizeOverflowError,
    TensorWrapperError,
)
from tensorwrapper.shape.boxes._smooth import SmoothCommon, make_smooth
from tensorwrapper.shape.interchange._row_partitions import RowPartition
from tensorwrapper.shape.kinds._encodings import splits_at
from tensorwrapper.shape.kinds._jagged import JaggedCommon
from tensorwrapper.shape.kinds._nested import Flat
from tensorwrapper.shape.rows._dependencies import is_uniform
from tensorwrapper.shape.rows._partition import Partition
from tensorwrapper.shape.rows._written_numbers import MAX_SPREAD
from tensorwrapper.shape.text._assembly import Assembly
from tensorwrapper.typing import Extents, IntArray

# Possessive, and each matched where the one before ended: nothing is read twice.
_NUMBER: Final = r"(?:0|[1-9][0-9]{0,99}+)(?![0-9])"
_ITEM: Final = re.compile(
    rf"\s*+(?:({_NUMBER})|\(\s*+((?:{_NUMBER}\s*+(?:,\s*+{_NUMBER}\s*+)*+(?:,\s*+)?+)?+)\))\s*+([,\]])",
    re.ASCII,
)
_OPEN: Final = re.compile(r"\s*+\[\s*+(\]\s*+)?+", re.ASCII)
_FEW: Final = 100  # lengths of rows that repr shows


@final
@value_class(repr=False)
class RowPartitions:
    """The nested rows of boxes of a shape, as in TensorFlow's ``DynamicRaggedShape``.

    Without partitions it is a box. Partitions with one row length at the end become modes of the boxes, so
    each shape has one encoding.

    Parameters
    ----------
    partitions
        The partition of each mode after the first, up to the last one with rows of different lengths.
    inner_shape
        Number of values of the last partition (without partitions: the first extent), and the extents of each
        value.

    Raises
    ------
    ExtentError
        If the number of rows of a partition differs from the number of values of the one before.

    Examples
    --------
    >>> rows = RowPartitions([RowPartition.from_row_lengths([3, 1])], (4, 5))
    >>> rows, rows == RowPartitions.parse("[2, (3, 1), 5]")
    (RowPartitions.parse('[2, (3, 1), 5]'), True)
    """

    partitions: tuple[RowPartition, ...]
    inner_shape: Extents

    def __init__(self, partitions: Iterable[RowPartition], inner_shape: Iterable[SupportsIndex]) -> None:
        given, inner = tuple(partitions), to_counts(inner_shape, "an inner shape")
        _check_partitions(given, inner)
        while given and (length := given[-1].uniform_row_length) is not None:
            inner = (given[-1].nrows, length, *inner[1:])
            given = given[:-1]
        object.__setattr__(self, "partitions", given)
        object.__setattr__(self, "inner_shape", inner)

    @classmethod
    def parse(cls, text: str) -> "RowPartitions":
        """Return the partitions of an untrusted text; O(length).

        Raises
        ------
        ParseError
            If it is not such a text, or not a valid shape; the message has the position.
        """
        if not isinstance(cast("object", text), str):
            raise ConversionError(f"row partitions are parsed from text, not from {type(text).__name__}")
        items = _read_items(text)
        try:
            return _of_items(items)
        except TensorWrapperError as error:
            raise ParseError(f"{excerpt(text, 0)} makes no shape: {error}") from error

    @property
    def rank(self) -> int:
        """The number of modes."""
        return len(self.partitions) + len(self.inner_shape)

    @property
    def static_lengths(self) -> tuple[int | None, ...]:
        """The extent of each mode, ``None`` where rows have different lengths."""
        inner = self.inner_shape[1:] if self.partitions else self.inner_shape
        first = (self.partitions[0].nrows,) if self.partitions else ()
        return (*first, *[p.uniform_row_length for p in self.partitions], *inner)

    def __str__(self) -> str:
        return self._text(None)

    def __repr__(self) -> str:
        # For very many rows this is a summary, which `parse` refuses.
        return f"RowPartitions.parse({self._text(_FEW)!r})"

    def _text(self, most: int | None) -> str:
        items = list(map(str, self.static_lengths))
        for mode, partition in enumerate(self.partitions, 1):
            if partition.uniform_row_length is None:
                lengths: list[int] = partition.row_lengths[:most].tolist()
                text = f"{', '.join(map(str, lengths))}{',' * (partition.nrows == 1)}"
                items[mode] = f"({text}{', ...' * (len(lengths) < partition.nrows)})"
        return f"[{', '.join(items)}]"


def _check_partitions(partitions: tuple[RowPartition, ...], inner: Extents) -> None:
    wrong = [p for p in partitions if not isinstance(cast("object", p), RowPartition)]
    if wrong:
        raise ConversionError(f"partitions are of the class RowPartition, unlike {wrong[0]!r}")
    if not partitions:
        return
    if not inner:
        raise RankError("the inner shape below a partition starts with the number of its values, but is ()")
    for level, (above, below) in enumerate(pairwise(partitions)):
        if above.nvals != below.nrows:
            raise ExtentError(
                f"partition {level} has {above.nvals} values, but the next has {below.nrows} rows"
            )
    if partitions[-1].nvals != inner[0]:
        raise ExtentError(
            f"the last partition has {partitions[-1].nvals} values, but the inner shape {inner} starts with "
            f"{inner[0]}"
        )


# Shapes.


def partitions_of_rows(shape: Flat) -> RowPartitions:
    """Return the rows of a shape without layers, for any origin; O(rows)."""
    if isinstance(shape, SmoothCommon):
        return RowPartitions((), shape.extents)
    rows, rank = shape.rows, shape.rank
    # From the last mode on, as each question is O(rows); the first rows are a partition in any case.
    last = next((mode for mode in range(rank - 1, 1, -1) if not is_uniform(rows, mode)), 1)
    found: list[RowPartition] = []
    count = shape.extent(0)
    for mode in range(1, last + 1):
        if mode < last and is_uniform(rows, mode):
            level = RowPartition.from_uniform_row_length(_extent_of(shape, mode), count)
        else:
            level = RowPartition(count, None, Partition(frozen_array(splits_at(rows, mode))))
        found.append(level)
        count = level.nvals
    return RowPartitions(found, (count, *[_extent_of(shape, mode) for mode in range(last + 1, rank)]))


def splits_of_even_rows(shape: Flat, parts: RowPartitions) -> dict[int, IntArray]:
    """Return the splits of rows of one length, by the mode above; none of a box. O(rows)."""
    if isinstance(shape, SmoothCommon):
        return {}
    rows, lengths = shape.rows, parts.static_lengths[1:]
    even = (mode for mode in range(rows.outer_rank) if lengths[mode] is not None)
    return {mode: frozen_array(splits_at(rows, mode + 1)) for mode in even}


def _extent_of(shape: JaggedCommon, mode: int) -> int:
    """Return the extent of a uniform mode, 0 if no prefix leads there."""
    return shape.extent_bounds(mode)[1]


def shape_of_partitions(parts: RowPartitions) -> Flat:
    """Return the shape of rows; O(rows).

    Raises
    ------
    SizeOverflowError
        If an extent of the cells does not fit into 64 bits, or the rows into memory.
    """
    check_kind_of(parts, RowPartitions, "rows are given as RowPartitions")
    if not parts.partitions:
        return make_smooth(parts.inner_shape, (0,) * len(parts.inner_shape))
    # A few numbers can describe any number of rows of one length, even without elements.
    with memory_for(sum([level.nrows for level in parts.partitions]), "rows"):
        return _jagged_of(parts)


def _jagged_of(parts: RowPartitions) -> Flat:
    assembly = Assembly.of_rows(parts.partitions[0].nrows)
    *upper, leaf = parts.partitions
    for level in upper:
        assembly.unroll(_lengths(level))
    # The last rows are cells: boxes of different lengths and, below that, of one shape.
    inner = parts.inner_shape[1:]
    if max(inner, default=0) > MAX_INT64:
        raise SizeOverflowError(f"an extent of a cell must fit into 64 bits, and {max(inner)} does not")
    table = np.empty((leaf.nrows, 1 + len(inner)), dtype=np.int64)
    table[:, 0] = leaf.row_lengths
    table[:, 1:] = inner
    assembly.table_of_cells(table)
    return assembly.build(None)


def _lengths(level: RowPartition) -> IntArray:
    return frozen_array(level.row_lengths)


# Text.


def _read_items(text: str) -> list[int | IntArray]:
    opening = _OPEN.match(text)
    if opening is None:
        _refuse(text, 0, "'['")
    items: list[int | IntArray] = []
    end, closed = opening.end(), opening[1] is not None
    while not closed:
        item = _ITEM.match(text, end)
        if item is None:
            _refuse(
                text, end, "an extent of at most 100 digits, or lengths in parentheses, and then ',' or ']'"
            )
        items.append(int(item[1]) if item[1] is not None else _numbers(text, end, item[2]))
        end, closed = item.end(), item[3] == "]"
    if text[end:].strip():
        _refuse(text, end, "the end")
    return items


def _numbers(text: str, at: int, piece: str) -> IntArray:
    numbers = [int(number) for number in piece.rstrip(", \t\r\n\f\v").split(",")] if piece.strip() else []
    try:
        return np.array(numbers, dtype=np.int64)
    except OverflowError as error:
        raise ParseError(f"{excerpt(text, at)} has a length that does not fit into 64 bits") from error


def _of_items(items: list[int | IntArray]) -> RowPartitions:
    """Return the rows that entries, one per mode, describe."""
    if not items:
        return RowPartitions((), ())
    first, *others = items
    if not isinstance(first, int):
        raise ParseError("the first mode has one extent")
    ragged = [k for k, item in enumerate(others) if not isinstance(item, int)]
    last = ragged[-1] + 1 if ragged else 0
    partitions: list[RowPartition] = []
    count = first
    written = sum([1 if isinstance(item, int) else len(item) for item in others])
    for mode, item in enumerate(others[:last], 1):
        if isinstance(item, int):
            if count > written + MAX_SPREAD:
                # Rows without values: the lengths below are empty, whatever the number of rows.
                raise SizeOverflowError(f"the extent {item} of mode {mode} stands for {count} rows")
            level = RowPartition.from_uniform_row_length(item, count)
        elif len(item) != count:
            raise ExtentError(f"mode {mode} has {len(item)} lengths for {count} rows")
        else:
            level = RowPartition.from_row_lengths(item)
        partitions.append(level)
        count = level.nvals
    return RowPartitions(partitions, (count, *[item for item in others[last:] if isinstance(item, int)]))


def _refuse(text: str, at: int, allowed: str) -> NoReturn:
    raise ParseError(
        f"{excerpt(text, at)} is not a list of row partitions: at position {at} only {allowed} may stand"
    )
