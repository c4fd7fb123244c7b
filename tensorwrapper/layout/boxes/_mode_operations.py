"""Operations on modes as objects, which each family of layouts implements.

Each operation also maps the modes of the result to those of the layout, for layers and names.
"""

from collections.abc import Iterable
from typing import Any, SupportsIndex, TypeAlias

import numpy.typing as npt

from tensorwrapper._integers import new_modes, to_counts
from tensorwrapper.layout.boxes._common import LayoutCommon, ModeOperation
from tensorwrapper.layout.boxes._modes import (
    Boundary,
    PadWidths,
    broadcast,
    diagonal,
    gather,
    merge_modes,
    pad,
    repeat,
    repeat_each,
    rotate,
    sliding_window,
    split_mode,
    squeeze,
    unsqueeze,
)
from tensorwrapper.layout.boxes._moved_tiles import (
    repeated_box,
    repeated_each_box,
    rotated_box,
    squeezed_box,
    unsqueezed_box,
)
from tensorwrapper.layout.boxes._whole_rows import repeated, repeated_each, rotated
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import mode_of

_Modes: TypeAlias = "list[int | None]"


def _behind(layout: LayoutCommon, shape: Shape[Any]) -> _Modes:
    return [*[None] * (shape.rank - layout.rank), *range(layout.rank)]


def _left(layout: LayoutCommon, modes: Iterable[int] | None) -> _Modes:
    if modes is None:
        return [mode for mode, extent in enumerate(layout.shape.extents) if extent != 1]
    gone = {mode_of(mode, layout.rank) for mode in modes}
    return [mode for mode in range(layout.rank) if mode not in gone]


def _with_new(layout: LayoutCommon, mode: SupportsIndex) -> _Modes:
    number = mode_of(mode, layout.rank + 1)
    return [*range(number), None, *range(number, layout.rank)]


def _without(layout: LayoutCommon, first: SupportsIndex, second: SupportsIndex) -> _Modes:
    return [*_left(layout, [int(first), int(second)]), None]


def _in_place(layout: LayoutCommon, first: SupportsIndex, last: SupportsIndex, count: int) -> _Modes:
    """Return the modes of a layout, of which `count` others stand for those from the first to the last."""
    a, b = mode_of(first, layout.rank), mode_of(last, layout.rank)
    same = a == b and count == 1
    return [*range(a), *([a] if same else [None] * count), *range(b + 1, layout.rank)]


def padding(widths: PadWidths, boundary: Boundary) -> ModeOperation:
    """Return `pad` as an operation."""
    return ModeOperation("pad", lambda layout: pad(layout, widths, boundary))


def rotation(shifts: Iterable[SupportsIndex]) -> ModeOperation:
    """Return `rotate` as an operation."""
    return ModeOperation(
        "rotate",
        lambda layout: rotate(layout, shifts),
        of_cells=lambda layout: rotated(layout, shifts),
        of_tiles=lambda layout: rotated_box(layout, shifts),
    )


def repetition(times: Iterable[SupportsIndex]) -> ModeOperation:
    """Return `repeat` as an operation."""
    return ModeOperation(
        "repeat",
        lambda layout: repeat(layout, times),
        of_cells=lambda layout: repeated(layout, times),
        of_tiles=lambda layout: repeated_box(layout, times),
    )


def repetition_of_each(mode: SupportsIndex, times: SupportsIndex) -> ModeOperation:
    """Return `repeat_each` as an operation."""
    return ModeOperation(
        "repeat_each",
        lambda layout: repeat_each(layout, mode, times),
        of_cells=lambda layout: repeated_each(layout, mode, times),
        of_tiles=lambda layout: repeated_each_box(layout, mode, times),
    )


def gathering(mode: SupportsIndex, positions: npt.ArrayLike) -> ModeOperation:
    """Return `gather` as an operation, which cells know as well."""
    return ModeOperation(
        "gather",
        lambda layout: gather(layout, mode, positions),
        of_cells=lambda layout: layout.gather(mode, positions),
    )


def broadcasting(shape: Shape[Any]) -> ModeOperation:
    """Return `broadcast` as an operation."""
    return ModeOperation(
        "broadcast", lambda layout: broadcast(layout, shape), modes=lambda layout: _behind(layout, shape)
    )


def squeezing(modes: Iterable[int] | None) -> ModeOperation:
    """Return `squeeze` as an operation."""
    return ModeOperation(
        "squeeze",
        lambda layout: squeeze(layout, modes),
        of_tiles=lambda layout: squeezed_box(layout, modes),
        modes=lambda layout: _left(layout, modes),
    )


def unsqueezing(mode: SupportsIndex) -> ModeOperation:
    """Return `unsqueeze` as an operation."""
    return ModeOperation(
        "unsqueeze",
        lambda layout: unsqueeze(layout, mode),
        of_tiles=lambda layout: unsqueezed_box(layout, mode),
        modes=lambda layout: _with_new(layout, mode),
    )


def unsqueezed(layout: LayoutCommon, modes: Iterable[SupportsIndex]) -> LayoutCommon:
    """Return the layout with several new modes of extent 1, numbered by their positions in the result."""
    for mode in new_modes(modes, layout.rank):
        layout = layout.change(unsqueezing(mode))
    return layout


def window_sliding(mode: SupportsIndex, length: SupportsIndex) -> ModeOperation:
    """Return `sliding_window` as an operation."""
    return ModeOperation(
        "sliding_window",
        lambda layout: sliding_window(layout, mode, length),
        modes=lambda layout: [*range(layout.rank), None],
    )


def diagonal_of(first: SupportsIndex, second: SupportsIndex) -> ModeOperation:
    """Return `diagonal` as an operation."""
    return ModeOperation(
        "diagonal",
        lambda layout: diagonal(layout, first, second),
        modes=lambda layout: _without(layout, first, second),
    )


def splitting(mode: SupportsIndex, extents: Iterable[SupportsIndex]) -> ModeOperation:
    """Return `split_mode` as an operation."""
    counts = to_counts(extents, "extents")
    return ModeOperation(
        "split_mode",
        lambda layout: split_mode(layout, mode, counts),
        modes=lambda layout: _in_place(layout, mode, mode, len(counts)),
    )


def merging(first: SupportsIndex, last: SupportsIndex) -> ModeOperation:
    """Return `merge_modes` as an operation."""
    return ModeOperation(
        "merge_modes",
        lambda layout: merge_modes(layout, first, last),
        modes=lambda layout: _in_place(layout, first, last, 1),
    )
