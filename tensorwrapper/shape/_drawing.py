"""Pictures of tilings."""

import numpy as np
import numpy.typing as npt

from tensorwrapper.drawing import Drawing, Line, Mark, Rectangle, Text, log_color
from tensorwrapper.errors import ExtentError, RankError
from tensorwrapper.shape._tiling import Tiling

__all__ = ["draw_tiling"]

_SIDE = 720.0
_MARGIN = 24.0


def draw_tiling(
    tiling: Tiling,
    *,
    magnitudes: npt.NDArray[np.float64] | None = None,
    coarse: Tiling | None = None,
    least: float = 1e-8,
    title: str = "",
) -> Drawing:
    """Return a picture of a tiling of rank 2, tiles to scale.

    Parameters
    ----------
    tiling
        What to draw; mode 0 goes down, mode 1 to the right.
    magnitudes
        One number per tile, drawn as its colour on a logarithmic scale; tiles under `least` stay grey.
    coarse
        A coarser tiling of the same box, drawn as heavier lines.
    title
        A line of text above.
    """
    if tiling.rank != 2:
        raise RankError(f"a picture shows tilings of rank 2, not {tiling.rank}")
    grid = tiling.grid.extents
    if magnitudes is not None and magnitudes.shape != grid:
        raise ExtentError(f"{grid} tiles need as many magnitudes, not {magnitudes.shape}")
    shades = np.full(grid, np.nan) if magnitudes is None else magnitudes
    rows, columns = (marks - marks[0] for marks in tiling.marks)
    scale = _SIDE / max(int(rows[-1]), int(columns[-1]), 1)
    greatest = float(np.nanmax(shades)) if magnitudes is not None and magnitudes.size else least
    top = _MARGIN + (16.0 if title else 0.0)
    marks: list[Mark] = [Text(_MARGIN, _MARGIN, title, 14.0)] if title else []
    for (k, m), shade in np.ndenumerate(shades):
        height, width = int(rows[k + 1] - rows[k]), int(columns[m + 1] - columns[m])
        if height and width:
            y, x = top + float(rows[k]) * scale, _MARGIN + float(columns[m]) * scale
            note = f"tile ({k}, {m}), {height} x {width}"
            fill = "#ffffff" if magnitudes is None else log_color(float(shade), least, greatest)
            marks.append(Rectangle(x, y, width * scale, height * scale, fill, note))
    marks += _grid_lines(tiling, top, scale, "#b0b0b0", 0.5)
    if coarse is not None:
        marks += _grid_lines(coarse, top, scale, "#303030", 1.5)
    size = [float(side[-1]) * scale for side in (columns, rows)]
    return Drawing(size[0] + 2 * _MARGIN, size[1] + top + _MARGIN, tuple(marks))


def _grid_lines(tiling: Tiling, top: float, scale: float, stroke: str, width: float) -> list[Mark]:
    rows, columns = (((marks - marks[0]) * scale).tolist() for marks in tiling.marks)
    right, bottom = _MARGIN + columns[-1], top + rows[-1]
    across: list[Mark] = [Line(_MARGIN, top + y, right, top + y, stroke, width) for y in rows]
    return across + [Line(_MARGIN + x, top, _MARGIN + x, bottom, stroke, width) for x in columns]
