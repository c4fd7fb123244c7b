"""Modes of boxes in tiles: turned round, repeated, added and dropped."""

from collections.abc import Iterable
from typing import Any, SupportsIndex

import numpy as np

from tensorwrapper._integers import to_count
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._modes import gather, per_mode, squeezable
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import make_smooth, mode_of, wrap
from tensorwrapper.typing import Index, IntArray


def rotated_box(layout: LayoutCommon, shifts: Iterable[SupportsIndex]) -> LayoutCommon:
    """Return the layout whose position j of a mode is position ``(j - shift) mod extent``."""
    origin = layout.shape.origin
    for mode, shift in enumerate(per_mode(shifts, layout.rank, "a rotation")):
        positions = _positions(layout, mode)
        if len(positions) and shift % len(positions):
            layout = _gathered(layout, mode, np.roll(positions, shift % len(positions)))
    return _moved(layout, origin)


def repeated_box(layout: LayoutCommon, times: Iterable[SupportsIndex]) -> LayoutCommon:
    """Return the layout with every mode repeated whole."""
    origin = layout.shape.origin
    for mode, given in enumerate(per_mode(times, layout.rank, "a repetition")):
        count = to_count(given, "a number of times")
        if count != 1:
            layout = _gathered(layout, mode, np.tile(_positions(layout, mode), count))
    return _moved(layout, origin)


def repeated_each_box(layout: LayoutCommon, mode: SupportsIndex, times: SupportsIndex) -> LayoutCommon:
    """Return the layout with every position of a mode repeated."""
    number, count = mode_of(mode, layout.rank), to_count(times, "a number of times")
    origin = layout.shape.origin
    return _moved(_gathered(layout, number, np.repeat(_positions(layout, number), count)), origin)


def unsqueezed_box(layout: LayoutCommon, mode: SupportsIndex) -> LayoutCommon:
    """Return the layout with a new mode of extent 1."""
    number, origin = mode_of(mode, layout.rank + 1), layout.shape.origin
    found = layout.at((*[slice(None)] * number, None))
    return _moved(found, (*origin[:number], 0, *origin[number:]))


def squeezed_box(layout: LayoutCommon, modes: Iterable[int] | None) -> LayoutCommon:
    """Return the layout without some modes of extent 1."""
    chosen, origin = squeezable(layout.shape.extents, modes), layout.shape.origin
    found = layout.at(tuple([0 if mode in chosen else slice(None) for mode in range(layout.rank)]))
    return _moved(found, tuple([start for mode, start in enumerate(origin) if mode not in chosen]))


def _positions(layout: LayoutCommon, mode: int) -> IntArray:
    return np.arange(layout.shape.extents[mode], dtype=np.int64)


def _gathered(layout: LayoutCommon, mode: int, positions: IntArray) -> LayoutCommon:
    # A box may have strides after one step.
    found = layout.gathered(mode, positions)
    return gather(layout, mode, positions) if found is None else found


def _moved(layout: LayoutCommon, origin: Index) -> LayoutCommon:
    shape: Shape[Any] = wrap(make_smooth(layout.shape.extents, origin))
    return layout.moved_to(shape)
