"""Arrow arrays as elements and a shape: lists in lists are jagged modes."""

from typing import Any, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import splits_of
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import ArrowArrayLike, ArrowStreamLike, StringData
from tensorwrapper.buffer.lowlevel import ArrowValues, arrays_from_arrow, join_elements
from tensorwrapper.shape import ArrowList, Shape
from tensorwrapper.typing import Array, IntArray, NullRows


@final
@frozen(eq=False)
class ArrowRows:
    """Elements of an Arrow array, or of several in a row, in the shape of the modes as they are stored."""

    elements: Array | StringData
    valid: "npt.NDArray[np.bool_] | None"
    """Validity of numbers and times; None if all are valid. Strings have their own."""
    shape: Shape[Any]
    order: tuple[int, ...] | None
    """The order in which the modes are meant; None is the one that they have."""


def read_arrow(value: ArrowArrayLike | ArrowStreamLike, null_rows: NullRows = "refuse") -> ArrowRows:
    """Return elements and shape of an Arrow array, or of several in a row, and the order of its modes.

    Raises
    ------
    ConversionError
        If a row is a null, and `null_rows` does not say that it is empty; if it is a table.
    DTypeError
        If tensors have no such elements.
    """
    found = arrays_from_arrow(value, null_rows)
    values = found[0] if len(found) == 1 else _joined(found)
    count, levels = values.count, values.levels
    offsets = [level for level in levels if isinstance(level, np.ndarray)]
    shape: Shape[Any]
    if values.cells is not None:
        shape = Shape.from_cells((count,), values.cells)
    elif not offsets:
        shape = Shape.smooth([count, *(int(level) for level in levels)])
    elif len(offsets) == len(levels):
        shape = Shape.from_offsets(*offsets, validate=False, copy=False)
    else:
        lists = [
            ArrowList("large_list", level)
            if isinstance(level, np.ndarray)
            else ArrowList("fixed_size_list", list_size=level)
            for level in levels
        ]
        shape = Shape.from_arrow(lists, count)
    inner = len(values.permutation)
    outer = shape.rank - inner
    order = (*range(outer), *[outer + mode for mode in values.permutation]) if inner else None
    return ArrowRows(values.elements, values.valid, _named(shape, values, order), order)


def _named(shape: Shape[Any], values: ArrowValues, order: tuple[int, ...] | None) -> Shape[Any]:
    if not any(values.names):
        return shape
    names: list[str | None] = [None] * shape.rank
    outer = shape.rank - len(values.names)
    for mode, name in enumerate(values.names):
        names[outer + mode if order is None else order[outer + mode]] = name
    return shape.named(*names)


def _joined(parts: list[ArrowValues]) -> ArrowValues:
    """Join arrays of one type, copying elements."""
    first = parts[0]
    levels: list[IntArray | int] = []
    for level, own in enumerate(first.levels):
        found = [part.levels[level] for part in parts]
        if isinstance(own, int) and all(isinstance(other, int) for other in found):
            levels.append(own)
            continue
        # Where nulls were empty rows, others may have kept one length.
        lengths = [
            np.diff(other) if isinstance(other, np.ndarray) else np.full(_count_at(part, level), other)
            for part, other in zip(parts, found, strict=True)
        ]
        levels.append(splits_of(np.concatenate(lengths)))
    elements: Array | StringData
    valid: npt.NDArray[np.bool_] | None = None
    if isinstance(first.elements, StringData):
        elements = StringData.concat([cast("StringData", part.elements) for part in parts])
    else:
        arrays = [cast("Array", part.elements) for part in parts]
        elements = join_elements(arrays, arrays[0].dtype)
        if any(part.valid is not None for part in parts):
            valid = np.concatenate(
                [
                    np.ones(len(array), np.bool_) if part.valid is None else part.valid
                    for part, array in zip(parts, arrays, strict=True)
                ]
            )
    count = sum(part.count for part in parts)
    tables = [part.cells for part in parts if part.cells is not None]
    cells = np.concatenate(tables) if tables else None
    return ArrowValues(count, levels, elements, valid, first.permutation, first.names, cells)


def _count_at(part: ArrowValues, depth: int) -> int:
    """Return how many lists an array has at a level."""
    count = part.count
    for level in part.levels[:depth]:
        count = int(level[-1]) if isinstance(level, np.ndarray) else count * level
    return count
