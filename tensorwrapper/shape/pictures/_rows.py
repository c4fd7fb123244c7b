"""Pictures of rows: one bar each, from its origin to its end, or bands of many rows.

A band says of its rows where some row has indices (pale), where every row has (dark), and the mean (a
line). Bands are made by array operations, so ten million rows cost a few passes over their extents.
"""

import itertools
from typing import Final, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.drawing import (
    ACCENT,
    MUTED,
    Axis,
    Drawing,
    Mark,
    Path,
    Point,
    Rectangle,
    Swatch,
    count_text,
    framed,
    index_text,
    ramp,
    range_text,
)
from tensorwrapper.shape.kinds._triangular import Triangular
from tensorwrapper.shape.pictures._boxes import PLOT
from tensorwrapper.shape.rows._columns import Origins
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import IntArray

_Floats = npt.NDArray[np.float64]

MOST_BANDS: Final = 180
"""Number of rows up to which each has a bar; more are drawn as this many bands."""
_PITCH = 18  # pixels from row to row at most
_HEIGHT = 360  # pixels: two for each band, so that bands meet at whole pixels
_CELL = 28.0  # pixels per index at most
_EVERY, _SOME, _MEAN = ramp(0.45), ramp(0.18), ACCENT
_NAMED = 24  # rows up to which the whole index of each is printed beside it
_GROUPS = 40  # rows of mode 0 up to which they are marked at the side


@final
@frozen(eq=False)
class Bands:
    """Runs of rows; all places are relative to the first index of the bounding box."""

    edges: IntArray
    """Where each band begins, and the end of the last."""
    least: IntArray
    """The extent of the shortest row of each band."""
    most: IntArray
    """The extent of the longest."""
    low: _Floats
    """The first index of each row or band."""
    high: _Floats
    """Where the last index of any row ends."""
    every_low: _Floats
    """Where all rows have begun; from `every_high` on some have ended. No index is in all if that is less."""
    every_high: _Floats
    mean_high: _Floats
    """The mean of where rows end, or NaN if no row of the band has an index."""

    @property
    def count(self) -> int:
        """The number of bands."""
        return len(self.low)


def bands_of(extents: IntArray, origins: Origins, first: int, most: int = MOST_BANDS) -> Bands:
    """Return at least one row, in at most `most` bands of about as many rows each; O(rows).

    Parameters
    ----------
    extents
        Of each row.
    origins
        Where rows start: one number, or one per row.
    first
        Where the bounding box of the rows starts.
    most
        How many bands there may be.
    """
    n_rows = len(extents)
    count = min(n_rows, most)
    # In Python integers: rows that are all alike, and one in memory, may be more than the product allows.
    edges = np.array([k * n_rows // count for k in range(count + 1)], dtype=np.int64)
    cuts = edges[:-1]
    if isinstance(origins, int) and not extents.strides[0]:
        extents, cuts = extents[:count], np.arange(count)
    least, greatest = np.minimum.reduceat(extents, cuts), np.maximum.reduceat(extents, cuts)
    if isinstance(origins, int):
        start = np.full(count, float(origins - first))
        mean = np.add.reduceat(extents, cuts, dtype=np.float64) / np.diff(cuts, append=len(extents))
        return Bands(edges, least, greatest, start, start + greatest, start, start + least, start + mean)
    starts = _relative(origins, first)
    ends = starts + extents
    filled = extents > 0
    number = np.add.reduceat(filled, cuts, dtype=np.float64)
    number[number == 0.0] = np.nan
    low = np.minimum.reduceat(np.where(filled, starts, np.inf), cuts)
    high = np.maximum.reduceat(np.where(filled, ends, -np.inf), cuts)
    empty = ~np.isfinite(low)
    low[empty] = high[empty] = 0.0
    return Bands(
        edges,
        least,
        greatest,
        low,
        high,
        np.maximum.reduceat(starts, cuts),
        np.minimum.reduceat(ends, cuts),
        np.add.reduceat(np.where(filled, ends, 0.0), cuts) / number,
    )


def bands_of_triangle(triangle: Triangular, most: int = MOST_BANDS) -> Bands:
    """Return the rows of a triangle in bands, from its closed form; O(bands), however many rows it has."""
    count = min(triangle.n, most)
    marks = [k * triangle.n // count for k in range(count + 1)]
    first = triangle.bounding_box()[1][1]
    # From its first row to its last, a band only grows or only shrinks.
    rows = [((a,), (b - 1,)) for a, b in itertools.pairwise(marks)]
    extents = np.array([[triangle.extent_at(i) for i in pair] for pair in rows])
    low = np.array([[triangle.origin_at(i) - first for i in pair] for pair in rows], dtype=np.float64)
    high = low + extents
    return Bands(
        np.array(marks),
        extents.min(axis=1),
        extents.max(axis=1),
        low.min(axis=1),
        high.max(axis=1),
        low.max(axis=1),
        high.min(axis=1),
        high.mean(axis=1),
    )


def _relative(origins: IntArray, first: int) -> _Floats:
    # Exact where int64 holds the difference; where it does not, the picture is far coarser than a float.
    if int(origins.max()) - first <= MAX_INT64 and int(origins.min()) - first >= -MAX_INT64:
        return (origins - first).astype(np.float64)
    return origins.astype(np.float64) - float(first)


def draw_rows(rows: Rows, *, title: str) -> Drawing:
    """Return the picture of a shape, not without elements, whose unrolled modes lead to leaves of rank 1."""
    (a, b), outer = rows.leaves, rows.outer_rank
    stored = rows.columns.leaf_origins[0]
    extents, origin = rows.box()
    lengths = rows.columns.leaf_extents(a, b)[:, 0]
    bands = bands_of(lengths, stored if isinstance(stored, int) else stored[a:b], origin[-1])
    if bands.count < b - a:
        first = rows.first if outer == 1 else 0
        return draw_bands(bands, (origin[-1], extents[-1]), first=first, modes=outer, title=title)
    size = _size(bands, extents[-1])
    # The lines last, because rows would else cover them.
    marks = _single_rows(rows, bands, size) + _group_lines(rows, size)
    down = _row_axis(rows, size[1])
    across = _across(bands, (origin[-1], extents[-1]), size, outer)
    return framed(marks, size, across=across, down=down, title=title)


def draw_bands(bands: Bands, span: tuple[int, int], *, first: int, modes: int, title: str) -> Drawing:
    """Return the picture of bands of many rows.

    Parameters
    ----------
    bands
        What to draw.
    span
        Origin and extent of the bounding box in the last mode.
    first
        The number of the first row.
    modes
        How many modes number the rows.
    """
    size = _size(bands, span[1])
    n_rows = int(bands.edges[-1])
    names = "mode 0, extent" if modes == 1 else f"rows of modes {', '.join(map(str, range(modes)))}:"
    return framed(
        _banded_rows(bands, size, span[1], first),
        size,
        across=_across(bands, span, size, modes),
        down=Axis(first, first + n_rows, size[1], f"{names} {count_text(n_rows)}", cells=False),
        legend=_LEGEND,
        notes=(f"{bands.count} bands of {_band_rows(bands)} rows",),
        title=title,
    )


def _size(bands: Bands, extent: int) -> Point:
    width = min(PLOT[0], extent * _CELL) if extent < 1000 else PLOT[0]
    return width, float(min(max(_HEIGHT // bands.count, 2), _PITCH) * bands.count)


def _across(bands: Bands, span: tuple[int, int], size: Point, mode: int) -> Axis:
    lengths = range_text(int(bands.least.min()), int(bands.most.max()))
    return Axis(span[0], span[0] + span[1], size[0], f"mode {mode}, extent {lengths}")


_LEGEND = (Swatch(_EVERY, "in every row"), Swatch(_SOME, "in some rows"), Swatch(_MEAN, "mean end"))


def _band_rows(bands: Bands) -> str:
    rows = np.diff(bands.edges)
    return range_text(int(rows.min()), int(rows.max()))


def _row_axis(rows: Rows, height: float) -> Axis:
    (a, b), outer = rows.leaves, rows.outer_rank
    if outer == 1:
        return Axis(rows.first, rows.first + b - a, height, f"mode 0, extent {count_text(b - a)}")
    names: tuple[str, ...] = ()
    if b - a <= _NAMED:
        prefixes = rows.prefixes_of(outer, np.arange(a, b, dtype=np.int64))
        names = tuple([index_text(prefix) for prefix in prefixes.tolist()])
    modes = ", ".join(map(str, range(outer)))
    return Axis(0, b - a, height, f"rows of modes {modes}: {count_text(b - a)}", cells=False, names=names)


def _single_rows(rows: Rows, bands: Bands, size: Point) -> list[Mark]:
    (a, b), pitch, scale = rows.leaves, size[1] / bands.count, size[0] / rows.box()[0][-1]
    gap = 0.0 if pitch < 4.0 else 1.0 if pitch < 8.0 else 2.0 if pitch < 14.0 else 4.0
    prefixes = rows.prefixes_of(rows.outer_rank, np.arange(a, b, dtype=np.int64)).tolist()
    marks: list[Mark] = []
    empty: list[tuple[Point, ...]] = []
    for k, (leaf, prefix) in enumerate(zip(range(a, b), prefixes, strict=True)):
        (extent,), (start,) = rows.columns.leaf_box(leaf)
        x, y = float(bands.every_low[k]) * scale, k * pitch + gap / 2
        if extent:
            text = f"row {index_text(prefix)}: [{start}, {start + extent}), {extent} elements"
            marks.append(Rectangle(x, y, extent * scale, pitch - gap, _EVERY, text, "row"))
        else:
            empty.append(((x, y), (x, y + pitch - gap)))
    if empty:
        marks.append(Path(tuple(empty), stroke=MUTED, width=1.5, name="empty", title="rows without elements"))
    return marks


def _banded_rows(bands: Bands, size: Point, extent: int, first: int) -> list[Mark]:
    pitch, scale = size[1] / bands.count, size[0] / extent
    edges = [count_text(first + edge) for edge in bands.edges.tolist()]
    lasts = [count_text(first + edge - 1) for edge in bands.edges.tolist()]
    low, high = (bands.low * scale).tolist(), (bands.high * scale).tolist()
    marks: list[Mark] = []
    for k in range(bands.count):
        extents = range_text(int(bands.least[k]), int(bands.most[k]))
        text = f"rows {edges[k]} to {lasts[k + 1]}: extent {extents}"
        marks.append(Rectangle(low[k], k * pitch, high[k] - low[k], pitch, _SOME, text, "band"))
    every = [
        ((x, k * pitch), (end, k * pitch), (end, (k + 1) * pitch), (x, (k + 1) * pitch))
        for k, (x, end) in enumerate(
            zip((bands.every_low * scale).tolist(), (bands.every_high * scale).tolist(), strict=True)
        )
        if end > x
    ]
    if every:
        marks.append(Path(tuple(every), _EVERY, closed=True, name="every"))
    marks.append(_line(bands.mean_high * scale, pitch))
    return marks


def _line(places: _Floats, pitch: float) -> Path:
    """Return a line through the middles of bands, broken where a band has no place."""
    runs: list[list[Point]] = [[]]
    for k, x in enumerate(places.tolist()):
        if np.isfinite(x):
            runs[-1].append((x, (k + 0.5) * pitch))
        elif runs[-1]:
            runs.append([])
    return Path(tuple([tuple(run) for run in runs if run]), stroke=_MEAN, width=1.5, name="mean")


def _group_lines(rows: Rows, size: Point) -> list[Mark]:
    """Return lines between the rows under one index of mode 0 and those under the next."""
    if rows.count > _GROUPS or rows.outer_rank == 1:
        return []
    edges = np.arange(rows.start, rows.stop + 1)
    for depth in range(rows.depth, rows.columns.depth - 1):
        edges = rows.columns.splits[depth][edges]
    places = np.unique((edges[1:-1] - edges[0]) / (edges[-1] - edges[0]) * size[1])
    runs = tuple([((0.0, y), (size[0], y)) for y in places.tolist()])
    return [Path(runs, stroke=MUTED, name="group", title="mode 0 goes on")] if runs else []
