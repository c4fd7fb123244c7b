"""Arrow arrays as elements and a shape: lists in lists are jagged modes."""

from typing import Any, TypeAlias, cast

import numpy as np

from tensorwrapper._arrays import splits_of
from tensorwrapper.buffer import ArrowArrayLike, ArrowStreamLike, StringData
from tensorwrapper.buffer.lowlevel import ArrowValues, arrays_from_arrow, join_elements
from tensorwrapper.shape import ArrowList, Shape
from tensorwrapper.typing import Array, IntArray

__all__ = ["read_arrow"]

Modes: TypeAlias = tuple[int, ...] | None


def read_arrow(value: ArrowArrayLike | ArrowStreamLike) -> tuple[Array | StringData, Shape[Any], Modes]:
    """Return elements and shape of an Arrow array, or of several in a row, and the order of its modes.

    The shape is that of the modes as they are stored; None is the order that they have.

    Raises
    ------
    ConversionError
        If there are nulls, except among strings; if it is a table.
    DTypeError
        If tensors have no such elements.
    """
    found = arrays_from_arrow(value)
    values = found[0] if len(found) == 1 else _joined(found)
    count, levels = values.count, values.levels
    offsets = [level for level in levels if isinstance(level, np.ndarray)]
    if not offsets:
        shape: Shape[Any] = Shape.smooth([count, *(int(level) for level in levels)])
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
    return values.elements, _named(shape, values, order), order


def _named(shape: Shape[Any], values: ArrowValues, order: Modes) -> Shape[Any]:
    if not any(values.names):
        return shape
    names: list[str | None] = [None] * shape.rank
    outer = shape.rank - len(values.names)
    for mode, name in enumerate(values.names):
        names[outer + mode if order is None else order[outer + mode]] = name
    return shape.named(*names)


def _joined(parts: list[ArrowValues]) -> ArrowValues:
    """Return several arrays of one type as one; the elements are copied."""
    first = parts[0]
    levels: list[IntArray | int] = []
    for level, own in enumerate(first.levels):
        if not isinstance(own, np.ndarray):
            levels.append(own)
            continue
        lengths = [np.diff(np.asarray(part.levels[level])) for part in parts]
        levels.append(splits_of(np.concatenate(lengths)))
    elements: Array | StringData
    if isinstance(first.elements, StringData):
        elements = StringData.concat([cast("StringData", part.elements) for part in parts])
    else:
        arrays = [cast("Array", part.elements) for part in parts]
        elements = join_elements(arrays, arrays[0].dtype)
    count = sum(part.count for part in parts)
    return ArrowValues(count, levels, elements, first.permutation, first.names)
