"""Pictures of tilings with a number for each tile, as its colour."""

import itertools
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from tensorwrapper.drawing import (
    INK,
    MUTED,
    PAPER,
    Drawing,
    Group,
    Line,
    Mark,
    Rectangle,
    Text,
    log_color,
    ramp,
    text_width,
)
from tensorwrapper.errors import ExtentError, RankError
from tensorwrapper.shape import Tiling
from tensorwrapper.typing import IntArray

MOST_SHADES: Final = 64
"""Up to this many tiles per mode each have a colour; beyond, runs of tiles share one."""
_SIDE = 720.0
_MARGIN = 24.0
_STEPS = 24  # of the colour bar


def draw_tiling(
    tiling: Tiling,
    *,
    magnitudes: npt.NDArray[np.float64] | None = None,
    coarse: Tiling | None = None,
    least: float = 1e-8,
    title: str = "",
) -> Drawing:
    """Return a picture of a tiling of rank 2, tiles to scale.

    If a mode has more than `MOST_SHADES` tiles, runs are drawn as one, in the colour of the largest number.

    Parameters
    ----------
    tiling
        The tiling; mode 0 goes down, mode 1 to the right.
    magnitudes
        One number per tile, drawn as its colour on a logarithmic scale; tiles under `least` stay grey.
    coarse
        A coarser tiling of the same box, drawn as heavier lines.
    least
        Lower end of the colour scale.
    title
        A line of text above.

    Raises
    ------
    RankError
        If the rank is not 2.
    ExtentError
        If there is not one magnitude per tile.
    """
    if tiling.rank != 2:
        raise RankError(f"a picture shows tilings of rank 2, not {tiling.rank}")
    grid = tiling.grid.extents
    if magnitudes is not None and magnitudes.shape != grid:
        raise ExtentError(f"{grid} tiles need as many magnitudes, not {magnitudes.shape}")
    top = _MARGIN + (16.0 if title else 0.0)
    runs, starts = _runs(tiling)
    scale = _SIDE / max(*[int(side[-1]) for side in starts], 1)
    bottom, right = (top + float(starts[0][-1]) * scale, _MARGIN + float(starts[1][-1]) * scale)
    marks: list[Mark] = [Text(_MARGIN, _MARGIN, title, 14.0)] if title else []
    shades: npt.NDArray[np.float64] = np.full([len(side) - 1 for side in starts], np.nan)
    if magnitudes is not None and magnitudes.size:
        shades = np.asarray(magnitudes, dtype=np.float64)
        for mode in range(2):
            shades = np.fmax.reduceat(shades, runs[mode][:-1], axis=mode)
        greatest = float(np.fmax.reduce(shades, axis=None, initial=least))
        marks.append(Group(_color_bar(least, greatest), _MARGIN, bottom + 10.0))
        right, bottom = max(right, _MARGIN + 260.0), bottom + 32.0
        fills = [log_color(shade, least, greatest) for shade in shades.ravel().tolist()]
    else:
        fills = [PAPER] * shades.size
    marks += _tiles(runs, starts, fills, top, scale)
    marks += _grid_lines(starts, top, scale, "#b0b0b0", 0.5)
    if coarse is not None:
        marks += _grid_lines(_runs(coarse)[1], top, scale, "#303030", 1.5)
    width = max(right, _MARGIN + text_width(title, 14.0)) + _MARGIN
    return Drawing(width, bottom + _MARGIN, tuple(marks), title)


def _runs(tiling: Tiling) -> tuple[list[IntArray], list[IntArray]]:
    """Return the boundaries to draw in each mode, with runs of similar size, and their positions."""
    runs: list[IntArray] = []
    for count in tiling.grid.extents:
        shown = min(count, MOST_SHADES)
        runs.append(np.arange(shown + 1, dtype=np.int64) * count // max(shown, 1))
    return runs, [p.starts[run] for p, run in zip(tiling.partitions, runs, strict=True)]


def _tiles(
    runs: list[IntArray], starts: list[IntArray], fills: list[str], top: float, scale: float
) -> Iterator[Mark]:
    rows, columns = (side.tolist() for side in starts)
    places = itertools.product(range(len(rows) - 1), range(len(columns) - 1))
    for (k, m), fill in zip(places, fills, strict=True):
        height, width = rows[k + 1] - rows[k], columns[m + 1] - columns[m]
        if height and width:
            text = f"{_tile_text(runs, (k, m))}, {height} x {width}"
            x, y = _MARGIN + columns[m] * scale, top + rows[k] * scale
            yield Rectangle(x, y, width * scale, height * scale, fill, text, "tile")


def _tile_text(runs: list[IntArray], place: tuple[int, int]) -> str:
    ends = [(int(run[k]), int(run[k + 1]) - 1) for run, k in zip(runs, place, strict=True)]
    text = ", ".join([str(a) if a == b else f"{a} to {b}" for a, b in ends])
    return f"tile ({text})" if all(a == b for a, b in ends) else f"tiles ({text})"


def _grid_lines(starts: list[IntArray], top: float, scale: float, stroke: str, width: float) -> list[Mark]:
    downs, rights = ((side * scale).tolist() for side in starts)
    right, bottom = _MARGIN + rights[-1], top + downs[-1]
    across: list[Mark] = [Line(_MARGIN, top + y, right, top + y, stroke, width) for y in downs]
    return across + [Line(_MARGIN + x, top, _MARGIN + x, bottom, stroke, width) for x in rights]


def _color_bar(least: float, greatest: float) -> tuple[Mark, ...]:
    step = 180.0 / _STEPS
    bar: list[Mark] = [
        Rectangle(k * step, 0.0, step, 9.0, ramp(k / (_STEPS - 1)), "", "scale") for k in range(_STEPS)
    ]
    return (
        *bar,
        Text(0.0, 21.0, f"{least:.0e}", 10.0, MUTED),
        Text(180.0, 21.0, f"{greatest:.2g}", 10.0, MUTED, "end"),
        Text(190.0, 9.0, "logarithmic", 10.0, INK),
    )
