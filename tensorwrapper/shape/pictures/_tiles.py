"""Pictures of tiled boxes: the box with its boundaries; shaded by their density where they are many."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from tensorwrapper.drawing import (
    EDGE,
    Axis,
    Drawing,
    Mark,
    ModeBar,
    Path,
    Point,
    Rectangle,
    Swatch,
    Text,
    bar_lengths,
    count_text,
    draw_bars,
    framed,
    ramp,
    range_text,
    text_width,
)
from tensorwrapper.shape.pictures._boxes import BAR, PLOT, fitted, scale_note
from tensorwrapper.shape.rows._partition import Partition
from tensorwrapper.typing import Index

_Floats = npt.NDArray[np.float64]

MOST_LINES: Final = 180
"""Tiles of a mode up to which every boundary is a line; of more, their density is shown."""
MOST_TILES: Final = 180
"""Number of tiles up to which each is a separate mark."""
_ROOM: Final = (PLOT[0], 1.25 * PLOT[1])
_THIN = 24.0  # pixels of a side at least: its boundaries are to be seen
_STRIP = 2  # pixels of a strip of one density at least
_EACH = 8  # boundaries in a strip on average at least: with fewer, strips would show how pixels fall
_LEVELS = 8
_FILL, _DENSE = ramp(0.22), ramp(0.9)
_FINE = 10.0  # pixels between boundaries below which their lines are fine


def draw_tiles(
    partitions: Sequence[Partition], grid_origin: Index, modes: Sequence[str], *, title: str
) -> Drawing:
    """Return the picture of a nonempty box that is cut into tiles.

    Parameters
    ----------
    partitions
        The partition of each mode, at least one.
    grid_origin
        The number of the first tile in each mode.
    modes
        The text beside each mode.
    """
    if len(partitions) > 2:
        return _draw_bars(partitions, modes, title)
    room = _ROOM[:1] if len(partitions) == 1 else _ROOM[::-1]
    sides, to_scale = fitted([p.extent for p in partitions], room, _THIN)
    # One mode is drawn as a box whose mode 0 is not cut.
    width, height = sides[-1], BAR if len(sides) == 1 else sides[0]
    cuts = [_cuts(p, side) for p, side in zip(partitions, sides, strict=True)]
    marks: list[Mark] = [Rectangle(0.0, 0.0, width, height, _FILL, title, "box")]
    marks += _tile_marks(partitions, grid_origin, cuts, height)
    marks += _boundaries(cuts[-1], (width, height), across=True)
    if len(cuts) == 2:
        marks += _boundaries(cuts[0], (width, height), across=False)
    marks.append(Rectangle(0.0, 0.0, width, height, "none", "", "edge", EDGE))
    axes = [
        Axis(p.origin, p.end, side, mode, cells=False)
        for p, side, mode in zip(partitions, sides, modes, strict=True)
    ]
    dense = any(p.count > MOST_LINES for p in partitions)
    return framed(
        marks,
        (width, height),
        across=axes[-1],
        down=axes[0] if len(axes) == 2 else None,
        legend=[Swatch(_DENSE, "darker: more boundaries between tiles")] if dense else [],
        notes=scale_note(to_scale=to_scale),
        title=title,
    )


def mode_texts(partitions: Sequence[Partition], names: Sequence[str]) -> list[str]:
    """Return for each mode how many tiles it has, and how large they are."""
    return [
        f"{name}: {count_text(p.count)} tiles of {range_text(*p.bounds())}"
        for name, p in zip(names, partitions, strict=True)
    ]


def _cuts(partition: Partition, length: float) -> _Floats:
    """Return the positions of the marks of a mode, in pixels."""
    cuts: _Floats = partition.starts / partition.extent * length
    return cuts


def _tile_marks(
    partitions: Sequence[Partition], grid_origin: Index, cuts: Sequence[_Floats], height: float
) -> list[Mark]:
    """Return one mark per tile with elements, if the tiles are few, and its number where there is room."""
    if np.prod([float(p.count) for p in partitions]) > MOST_TILES:
        return []
    down = np.array([0.0, height]) if len(partitions) == 1 else cuts[0]
    across = cuts[-1]
    sizes = [p.sizes.tolist() for p in partitions]
    marks: list[Mark] = []
    for k, m in np.ndindex(len(down) - 1, len(across) - 1):
        place = (m,) if len(partitions) == 1 else (k, m)
        extents = [side[number] for side, number in zip(sizes, place, strict=True)]
        if not all(extents):
            continue
        x, y = float(across[m]), float(down[k])
        size = (float(across[m + 1]) - x, float(down[k + 1]) - y)
        number = ", ".join([str(n + start) for n, start in zip(place, grid_origin, strict=True)])
        text = f"tile ({number}): {' x '.join(map(str, extents))}"
        marks.append(Rectangle(x, y, *size, _FILL, text, "tile"))
        if size[0] > text_width(number, 9.0) + 4.0 and size[1] > 14.0:
            marks.append(Text(x + size[0] / 2, y + size[1] / 2 + 3.0, number, 9.0, EDGE, "middle"))
    return marks


def _boundaries(cuts: _Floats, size: Point, *, across: bool) -> list[Mark]:
    """Return lines at `cuts`, or strips that are the darker the more cuts there are."""
    if len(cuts) > MOST_LINES + 1:
        return _strips(cuts, size, across=across)
    ends = np.unique(cuts[1:-1]).tolist()
    runs = tuple([((c, 0.0), (c, size[1])) if across else ((0.0, c), (size[0], c)) for c in ends])
    fine = (size[0] if across else size[1]) < _FINE * len(ends)
    return [Path(runs, stroke=ramp(0.5) if fine else EDGE, name="boundary")] if runs else []


def _strips(cuts: _Floats, size: Point, *, across: bool) -> list[Mark]:
    length = size[0] if across else size[1]
    count = max(min(int(length / _STRIP), len(cuts) // _EACH), 1)
    places = np.minimum(cuts[1:-1] * (count / length), count - 1).astype(np.intp)
    density = np.bincount(places, minlength=count)
    levels = np.ceil(density / density.max() * _LEVELS).astype(np.intp)
    pitch = length / count
    marks: list[Mark] = []
    for level in range(1, _LEVELS + 1):
        runs = [
            _strip(k * pitch, pitch, size, across=across) for k in np.flatnonzero(levels == level).tolist()
        ]
        if runs:
            # Strips of both modes cross, so they let each other through.
            opacity = 0.05 + 0.35 * level / _LEVELS
            text = f"up to {int(density[levels == level].max())} boundaries in each strip"
            marks.append(Path(tuple(runs), _DENSE, closed=True, name="density", title=text, opacity=opacity))
    return marks


def _strip(place: float, pitch: float, size: Point, *, across: bool) -> tuple[Point, ...]:
    if across:
        return ((place, 0.0), (place + pitch, 0.0), (place + pitch, size[1]), (place, size[1]))
    return ((0.0, place), (size[0], place), (size[0], place + pitch), (0.0, place + pitch))


def _draw_bars(partitions: Sequence[Partition], modes: Sequence[str], title: str) -> Drawing:
    lengths = bar_lengths([p.extent for p in partitions])
    bars: list[ModeBar] = []
    for partition, length, mode in zip(partitions, lengths, modes, strict=True):
        label, _, text = mode.partition(": ")
        lines = _boundaries(_cuts(partition, length), (length, 14.0), across=True)
        bars.append(ModeBar(label, length, f"{count_text(partition.extent)} in {text}", tuple(lines)))
    return draw_bars(bars, title=title)
