"""Check that written parts of a view are distinct places of memory: no element may be written twice."""

from collections.abc import Hashable, Iterable
from itertools import combinations
from typing import TypeAlias

import numpy as np

from tensorwrapper.errors import LayoutError, ReadOnlyError
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.selection.writing._targets import WriteTarget
from tensorwrapper.typing import IntArray

__all__ = ["check_distinct"]

_PAIRED = 16  # parts that reach into one another, up to which each is compared with each

Span: TypeAlias = "tuple[Hashable, int, int, WriteTarget]"
"""The memory of a part, where it begins and ends in it, and the part."""


def check_distinct(targets: Iterable[WriteTarget]) -> None:
    """Raise `ReadOnlyError` if two elements share a place, of one part or of two.

    Parts of one memory are distinct if their ranges do not meet; others are compared by their layouts, and
    many of them by their sorted addresses. O(parts log parts), plus O(elements log elements) for such parts.
    """
    spans: list[Span] = []
    for target in targets:
        layout = target.tensor.layout
        if not layout.is_injective:
            mode = layout.implementation.repeated_mode()
            modes = "modes overlap" if mode is None else f"mode {mode} repeats"
            raise ReadOnlyError(
                f"{target.where}: {modes}, so indices share an element: accumulate_into() adds"
            )
        if layout.shape.size:
            spans.append(_span(target))
    spans.sort(key=lambda span: (str(span[0]), span[1]))
    cluster: list[Span] = []
    end = 0
    for span in spans:
        if cluster and (span[0] != cluster[0][0] or span[1] >= end):
            _check_cluster(cluster)
            cluster = []
        end = max(end, span[2]) if cluster else span[2]
        cluster.append(span)
    _check_cluster(cluster)


def _span(target: WriteTarget) -> Span:
    buffer, (least, greatest) = target.tensor.buffer, target.tensor.layout.bounds()
    memory = buffer.memory
    if memory is not None:
        # In bytes: buffers over one array are different objects.
        start, size = memory.ctypes.data, buffer.dtype.itemsize
        return "memory", start + size * least, start + size * (greatest + 1), target
    return id(buffer), least, greatest + 1, target


def _check_cluster(cluster: list[Span]) -> None:
    """Raise if parts whose ranges meet have an element in common."""
    if len(cluster) < 2:
        return
    if len(cluster) <= _PAIRED and len({TensorSource(span[3].tensor) for span in cluster}) == 1:
        try:
            parts = [span[3] for span in cluster]
            for one, other in combinations(parts, 2):
                if one.tensor.layout.overlaps(other.tensor.layout):
                    raise _shared(one, other)
        except LayoutError:
            pass  # Not decided by rule: the addresses tell.
        else:
            return
    size = cluster[0][3].tensor.dtype.itemsize if cluster[0][0] == "memory" else 1
    places = [_places(span) for span in cluster]
    together = np.concatenate(places)
    order = np.argsort(together, kind="stable")
    near = np.flatnonzero(np.diff(together[order]) < size)
    if len(near):
        marks = np.cumsum([len(own) for own in places])
        numbers: list[int] = np.searchsorted(marks, order[near[0] : near[0] + 2], "right").tolist()
        first, second = sorted(numbers)
        raise _shared(cluster[first][3], cluster[second][3])


def _places(span: Span) -> IntArray:
    kind, start, _, target = span
    layout = target.tensor.layout
    places = layout.to_numpy().reshape(-1)
    if kind != "memory":
        return places
    size = target.tensor.dtype.itemsize
    return places * np.int64(size) + np.int64(start - size * layout.bounds()[0])


def _shared(one: WriteTarget, other: WriteTarget) -> ReadOnlyError:
    return ReadOnlyError(
        f"{one.where} and {other.where} share an element of a source: accumulate_into() adds to it"
    )
