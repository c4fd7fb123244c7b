"""The parts of a box that a layout over its row-major addresses selects: one list of positions per mode."""

import math
from typing import NamedTuple

import numpy as np

from tensorwrapper.layout import LayoutCommon
from tensorwrapper.shape import Symmetry
from tensorwrapper.typing import Extents, IntArray

_MOST_MODES = 8  # of a symmetry


class BoxPart(NamedTuple):
    """Positions along each mode of a box, and the mode of the layout that goes along them."""

    positions: tuple[IntArray, ...]
    """The selected positions of each mode of the box: one, if the mode is pinned."""

    modes: tuple[int | None, ...]
    """Mode of the layout for each mode of the box; None for a pinned mode."""

    def columns(self, rank: int) -> tuple[IntArray, ...]:
        """Return the positions as arrays that broadcast to the extents of the layout, of so many modes.

        Without modes they have one of extent 1.
        """
        found: list[IntArray] = []
        for positions, mode in zip(self.positions, self.modes, strict=True):
            shape = [1] * max(rank, 1)
            if mode is not None:
                shape[mode] = len(positions)
            found.append(positions.reshape(shape))
        return tuple(found)


def part_of(layout: LayoutCommon, extents: Extents) -> BoxPart | None:
    """Return the part of a box that a layout selects; None if modes are merged, repeated or joined. O(sum).

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> part = part_of(Layout((3, 4))[::-1, 2].implementation, (3, 4))
    >>> [own.tolist() for own in part.positions], part.modes
    ([[2, 1, 0], [2]], (0, None))
    """
    plain = layout.without_layers()
    if not plain.has_mode_maps or not plain.shape.size:
        return None
    base, axes = plain.mode_maps("a part")
    offsets = [axis.offsets() for axis in axes]
    first = base + sum(int(own[0]) for own in offsets)
    strides = [math.prod(extents[mode + 1 :]) for mode in range(len(extents))]
    starts = [first // stride % extent for stride, extent in zip(strides, extents, strict=True)]
    positions = [np.array([start], np.int64) for start in starts]
    modes: list[int | None] = [None] * len(extents)
    for number, own in enumerate(offsets):
        if len(own) == 1:
            continue
        steps = own - own[0]
        mode = _mode_of(steps, starts, strides, extents)
        if mode is None or modes[mode] is not None:
            return None
        positions[mode], modes[mode] = starts[mode] + steps // strides[mode], number
    return BoxPart(tuple(positions), tuple(modes))


def _mode_of(steps: IntArray, starts: list[int], strides: list[int], extents: Extents) -> int | None:
    """Return the mode of a box along which offsets step, counted from the first of them."""
    for mode, (start, stride, extent) in enumerate(zip(starts, strides, extents, strict=True)):
        if stride and steps.any() and not (steps % stride).any():
            places = start + steps // stride
            if places.min() >= 0 and places.max() < extent:
                return mode
    return None


def symmetry_of_part(symmetry: Symmetry, part: BoxPart, layout: LayoutCommon) -> Symmetry | None:
    """Return the symmetry of a part of a box, in the modes of the layout; None beyond 8 modes."""
    shape = layout.without_layers().shape
    if shape.rank > _MOST_MODES:
        return None
    selections: list[object] = [
        int(own[0]) if mode is None else (own.tobytes(), shape.origin[mode])
        for own, mode in zip(part.positions, part.modes, strict=True)
    ]
    kept = [mode for mode in part.modes if mode is not None]
    alone = [mode for mode in range(shape.rank) if mode not in kept]
    wide = symmetry.select(*selections).widen(shape.rank)
    order = [*kept, *alone]
    return wide.permute(sorted(range(shape.rank), key=order.__getitem__))
