"""The parts of a view in normal form that read sources, and the source reads of a plan."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import gcd, prod
from typing import Any, cast

import numpy as np

from tensorwrapper._arrays import different
from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.layout import Layout, Stride, Table
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.expressions._traversal import changed, operands_first
from tensorwrapper.selection.sources._source import Source
from tensorwrapper.selection.transforms._transform import layout_at, maps_of, of_maps
from tensorwrapper.typing import Array, IntArray


def is_away(view: Expression) -> bool:
    """Return True if a part of a view reads a source that is not in this process."""
    node = view.node
    return node.source is not None and node.tensor is None


def source_of(leaf: Expression) -> Source:
    """Return the source of a part of a view."""
    return cast("Source", leaf.node.source)


def leaves_of(view: Expression) -> list[Expression]:
    """Return the parts of a view in normal form that read sources; one that is used many times once."""
    if not view.node.made_of:
        return [view] if view.node.source is not None else []
    return [own for own in operands_first([view]) if own.node.source is not None]


def leaves_read(view: Expression) -> list[Expression]:
    """Return the parts of a view in normal form whose elements it has: all but masks in memory."""
    if not view.node.made_of:
        return [view] if view.node.source is not None else []
    return [own for own in operands_first([view], parts=_without_mask) if own.node.source is not None]


def _without_mask(view: Expression) -> tuple[Expression, ...]:
    masks, operands = view.node.masks, view.node.operands
    if any(is_away(leaf) for mask in masks for leaf in leaves_of(mask)):
        return operands
    return operands[len(masks) :]


def mapped(view: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return a view in normal form with each part that reads a source as `change` returns it."""
    return changed(view, lambda own: None if own.node.source is None else change(own))


def distinct_size(layout: Layout[Any]) -> int:
    """Return how many elements a layout reaches, counted mode by mode: an upper bound if modes overlap."""
    maps = maps_of(layout)
    count = layout.shape.size if maps is None else prod([axis.distinct_count() for axis in maps[1]])
    least, greatest = layout.bounds()
    return min(count, greatest + 1 - least)


def is_sparse(view: Expression) -> bool:
    """Return True if a view in normal form reads a sparse tensor. O(parts)."""
    return any(
        leaf.node.tensor is not None and leaf.node.tensor.buffer.fill_value is not None
        for leaf in leaves_of(view)
    )


def is_number(view: Expression) -> bool:
    """Return True if a box is one dense element, stretched: beside sparse tensors it has no entries."""
    if not view.is_box or not view.shape.size:
        return False
    least, greatest = view.layout.bounds()
    return least == greatest and not is_sparse(view)


def sparse_unread(view: Expression, normal: Expression) -> Array | None:
    """Return the fill of a view of sparse tensors without any of their elements; otherwise None.

    That is a view without elements, or of a constant around: a view of sparse operands is sparse, even if it
    reads nothing of them. O(nodes) for such views, O(1) for others.
    """
    if view.shape.size and not normal.node.is_constant:
        return None
    for own in operands_first([view], parts=_made_of):
        tensor = own.node.tensor
        if tensor is not None and tensor.is_sparse:
            value = getattr(normal.node, "value", None) if view.shape.size else tensor.fill_value
            return cast("Array", np.asarray(value))
    return None


def _made_of(view: Expression) -> "list[Expression]":
    """Return the operands of a view, and the original that it was optimized from."""
    return [*view.node.operands, *([] if view.written is None else [view.written])]


_LISTED = 1 << 22  # places, or elements, up to which each may be listed to need fewer bytes
_WINDOW = 1 << 26  # places of which it is marked at a time which are reached, where they are more
_MARKED = 1 << 28  # places that are looked at for that
_AT_ONCE = 1 << 20  # of them at once

_Span = tuple[int, int, int, Layout[Any]]
"""The first and the last place of a layout, how many it reaches at most, and the layout."""


def is_listed(count: int) -> bool:
    """Return True if places, or elements, are few enough to look at each one to need fewer bytes."""
    return count <= _LISTED


def bytes_together(buffer: BufferCommon[Any], layouts: Sequence[Layout[Any]]) -> int:
    """Return how many bytes of elements layouts reach in a buffer, each once, as `places_together` does.

    For sparse tensors only stored elements count; for strings their text.
    """
    if buffer.fill_value is not None:
        stored = [own.offsets_of_ordinals(buffer.stored_of(own.implementation)[0]) for own in layouts]
        return len(different(np.concatenate(stored))) * buffer.dtype.itemsize
    if not holds_strings(buffer.dtype):
        return places_together(layouts) * buffer.dtype.itemsize
    filled = [own for own in layouts if own.shape.size]
    if len(filled) == 1 and filled[0].is_injective:
        return _text_bytes(buffer, filled[0])
    reached = _reached(filled)
    if reached is not None:
        return sum([bytes_at(buffer, places) for places in reached])
    return sum([_text_bytes(buffer, own) for own in filled])


def bytes_at(buffer: BufferCommon[Any], places: IntArray) -> int:
    """Return the size in bytes of the elements of a buffer at distinct places."""
    if not len(places):
        return 0
    table = layout_at(places)
    if holds_strings(buffer.dtype):
        return _text_bytes(buffer, table)
    return buffer.count_stored(table.implementation) * buffer.dtype.itemsize


def _text_bytes(buffer: BufferCommon[Any], layout: Layout[Any]) -> int:
    return int(np.maximum(buffer.strings_of(layout.implementation).lengths(), 0).sum())


def places_together(layouts: Iterable[Layout[Any]]) -> int:
    """Return how many places layouts reach, each once.

    O(n log n) in the layouts where they reach runs, or do not overlap; else each place is visited. If that
    takes more than 2^28 visits, places that several of them reach may count several times.
    """
    spans: list[_Span] = []
    for layout in layouts:
        if layout.shape.size:
            low, high = layout.bounds()
            spans.append((low, high, distinct_size(layout), layout))
    spans.sort(key=lambda span: span[:2])
    total = 0
    cluster: list[_Span] = []
    end = -1
    for span in spans:
        if cluster and span[0] > end:
            total += _together(cluster, end)
            cluster = []
        cluster.append(span)
        end = max(end, span[1]) if len(cluster) > 1 else span[1]
    return total + (_together(cluster, end) if cluster else 0)


def _together(cluster: Sequence[_Span], end: int) -> int:
    """Return how many places layouts reach whose hulls overlap, up to the place `end`."""
    layouts = [layout for *_, layout in cluster]
    if len(cluster) == 1 and (count := _count_of(layouts[0])) is not None:
        return count
    if all(high - low + 1 == most and _count_of(own) == most for low, high, most, own in cluster):
        return end - cluster[0][0] + 1
    reached = _reached(layouts)
    if reached is not None:
        return sum(map(len, reached))
    return min(sum([most for _, _, most, _ in cluster]), end - cluster[0][0] + 1)


def _count_of(layout: Layout[Any]) -> int | None:
    """Return how many places one layout reaches; None if no rule tells it."""
    if _is_product(layout):
        return distinct_size(layout)
    maps = maps_of(layout)
    moves = [] if maps is None else [axis for axis in maps[1] if axis.extent > 1]
    steps = sorted([(abs(own.step), own.extent) for own in moves if isinstance(own, Stride) and own.step])
    if maps is None or not all(isinstance(own, Stride) for own in moves):
        return None
    # If no mode steps over more than the finer ones reach, there is a place at each multiple of the common
    # divisor of all steps, as for overlapping windows.
    common, reach = gcd(*[step for step, _ in steps]), 0
    for step, extent in steps:
        if step // common > reach + 1:
            return None
        reach += step // common * (extent - 1)
    return reach + 1


def _is_product(layout: Layout[Any]) -> bool:
    """Return True if places that differ in a mode differ, so that they are counted mode by mode."""
    maps = maps_of(layout)
    if maps is None:
        return layout.is_injective
    moving = [own for own in [axis.distinct() for axis in maps[1]] if len(own) > 1]
    if len(moving) < 2:
        return True
    axes = [Table(np.asarray(own, dtype=np.int64)).simplify()[1] for own in moving]
    return of_maps(0, axes).is_injective


def _reached(layouts: Sequence[Layout[Any]]) -> "Iterator[IntArray] | None":
    """Return an iterator over the distinct places of layouts, ascending; None if this takes too long.

    Few places are listed; many are marked in a bounded window at a time.
    """
    size = sum([own.shape.size for own in layouts])
    if is_listed(size):
        listed = [own.offsets_of_ordinals(np.arange(own.shape.size, dtype=np.int64)) for own in layouts]
        return iter([different(np.concatenate(listed))] if listed else [])
    ends = [own.bounds() for own in layouts]
    low, high = min([a for a, _ in ends]), max([b for _, b in ends])
    windows = range(low, high + 1, _WINDOW)
    return _marked(layouts, windows) if size * len(windows) <= _MARKED else None


def _marked(layouts: Sequence[Layout[Any]], windows: range) -> Iterator[IntArray]:
    for begin in windows:
        marks = np.zeros(min(_WINDOW, windows.stop - begin), dtype=np.bool_)
        for layout in layouts:
            for first in range(0, layout.shape.size, _AT_ONCE):
                last = min(first + _AT_ONCE, layout.shape.size)
                places = layout.offsets_of_ordinals(np.arange(first, last, dtype=np.int64)) - begin
                if len(windows) > 1:
                    places = places[(places >= 0) & (places < len(marks))]
                marks[places] = True
        for first in range(0, len(marks), _AT_ONCE):
            yield np.flatnonzero(marks[first : first + _AT_ONCE]) + (begin + first)
