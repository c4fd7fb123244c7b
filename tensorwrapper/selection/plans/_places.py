"""How many places of a memory several layouts reach together, each counted once, and their bytes."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tensorwrapper._arrays import different
from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.layout import Layout, Table
from tensorwrapper.layout.lowlevel import over_box, wrap_layout
from tensorwrapper.selection.plans._leaves import distinct_size
from tensorwrapper.typing import IntArray

__all__ = ["bytes_at", "bytes_together", "places_together"]

_LISTED = 1 << 22  # places up to which those of layouts whose runs overlap are listed

_Span = tuple[int, int, int, Layout[Any]]


def bytes_together(buffer: BufferCommon[Any], layouts: Sequence[Layout[Any]]) -> int:
    """Return how many bytes of elements layouts reach in a buffer, each once, as `places_together` does.

    Of what is sparse only stored elements count; of strings it is their text.
    """
    if buffer.fill_value is not None:
        stored = [own.offsets_of_ordinals(buffer.stored_of(own.implementation)[0]) for own in layouts]
        return len(different(np.concatenate(stored))) * buffer.dtype.itemsize
    if not holds_strings(buffer.dtype):
        return places_together(layouts) * buffer.dtype.itemsize
    if len(layouts) > 1 and sum([own.shape.size for own in layouts]) <= _LISTED:
        return bytes_at(
            buffer, different(np.concatenate([own.offsets_of_ordinals(_ordinals(own)) for own in layouts]))
        )
    return sum([_text_bytes(buffer, own) for own in layouts])


def bytes_at(buffer: BufferCommon[Any], places: IntArray) -> int:
    """Return how many bytes the elements of a buffer at some places have, none of which comes twice."""
    if not len(places):
        return 0
    table = wrap_layout(over_box((len(places),), (0,), 0, (Table(places),)))
    if holds_strings(buffer.dtype):
        return _text_bytes(buffer, table)
    return buffer.count_stored(table.implementation) * buffer.dtype.itemsize


def _text_bytes(buffer: BufferCommon[Any], layout: Layout[Any]) -> int:
    if layout.shape.size <= _LISTED and not layout.is_injective:
        return bytes_at(buffer, different(layout.offsets_of_ordinals(_ordinals(layout))))
    return int(np.maximum(buffer.strings_of(layout.implementation).lengths(), 0).sum())


def places_together(layouts: Iterable[Layout[Any]]) -> int:
    """Return how many places layouts reach; exact, but where more than four million are in each other's way.

    Then places that several of them reach may count several times, as do those of one whose modes overlap.
    O(n log n) in the layouts where they reach runs, or lie apart.
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
    counts = [count for _, _, count, _ in cluster]
    if len(cluster) == 1:
        return counts[0]
    if all(high - low + 1 == count for low, high, count, _ in cluster):
        return end - cluster[0][0] + 1
    if sum([layout.shape.size for *_, layout in cluster]) > _LISTED:
        return min(sum(counts), end - cluster[0][0] + 1)
    places = np.concatenate([layout.offsets_of_ordinals(_ordinals(layout)) for *_, layout in cluster])
    return len(different(places))


def _ordinals(layout: Layout[Any]) -> Any:  # noqa: ANN401 - an array of integers
    return np.arange(layout.shape.size, dtype=np.int64)
