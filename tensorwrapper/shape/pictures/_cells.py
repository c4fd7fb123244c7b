"""Pictures of cells: rectangles to one scale, in a grid or at their origins, and histograms of sizes."""

from collections.abc import Sequence
from math import ceil, log10
from typing import Final

import numpy as np
import numpy.typing as npt

from tensorwrapper.drawing import (
    EDGE,
    FAINT,
    FILL,
    INK,
    MUTED,
    Axis,
    Drawing,
    Group,
    Line,
    Mark,
    Path,
    Point,
    Rectangle,
    Text,
    count_text,
    framed,
    index_text,
    note,
    range_text,
    text_width,
)
from tensorwrapper.shape.pictures._boxes import PLOT
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import IntArray

MOST_CELLS: Final = 180
"""Cells up to which each is drawn; of more, only their sizes are counted."""
_CELL = 24.0  # pixels per index at most
_ROW = 6  # cells up to which all are side by side
_GAP = 5.0
_LABEL = 13.0
_SEEN = 1.5  # pixels of the shortest side
_BINS = 30
_DECADES = 100.0  # from this ratio of sizes on they are counted on a logarithmic scale
_HUGE = 1e300
_CHART: Final[Point] = (300.0, 110.0)


def draw_cells(rows: Rows, *, title: str) -> Drawing:
    """Return the picture of a shape, not without elements, whose cells are few and of rank 2."""
    (a, b), columns = rows.leaves, rows.columns
    extents, starts = columns.leaf_extents(a, b), columns.leaf_starts(a, b)
    prefixes = rows.prefixes_of(rows.outer_rank, np.arange(a, b, dtype=np.int64))
    texts = [
        f"cell {index_text(prefix)}: {h} x {w}{f' at ({y}, {x})' if y or x else ''}"
        for prefix, (h, w), (y, x) in zip(prefixes.tolist(), extents.tolist(), starts.tolist(), strict=True)
    ]
    sizes = " x ".join([range_text(int(side.min()), int(side.max())) for side in extents.T])
    notes = [f"{count_text(b - a)} cells of {sizes}, to one scale"]
    if (starts != starts[0]).any():
        return _draw_in_place(rows, extents, starts, texts, notes, title)
    if rows.outer_rank == 2:
        places = prefixes - prefixes.min(axis=0)
    else:
        columns_shown = _columns_for(b - a, extents)
        places = np.stack(np.divmod(np.arange(b - a), columns_shown), axis=1)
    return _draw_in_grid(places, prefixes, extents, texts, notes, title)


def _draw_in_place(
    rows: Rows, extents: IntArray, starts: IntArray, texts: Sequence[str], notes: Sequence[str], title: str
) -> Drawing:
    (*_, high, wide), (*_, top, left) = rows.box()
    scale = min(PLOT[0] / wide, PLOT[1] / high, _CELL)
    size = (max(wide * scale, _SEEN), max(high * scale, _SEEN))
    corners = (starts - np.array([top, left])).tolist()
    marks: list[Mark] = [Rectangle(0.0, 0.0, *size, "none", "", "edge", MUTED)]
    for (y, x), (h, w), text in zip(corners, extents.tolist(), texts, strict=True):
        if h and w:
            sides = (max(w * scale, _SEEN), max(h * scale, _SEEN))
            marks.append(Rectangle(x * scale, y * scale, *sides, FILL, text, "cell", EDGE, 0.6))
    first = rows.rank - 2
    return framed(
        marks,
        size,
        across=Axis(left, left + wide, size[0], f"mode {first + 1}", cells=False),
        down=Axis(top, top + high, size[1], f"mode {first}", cells=False),
        notes=[*notes, "each where it lies"],
        title=title,
    )


def _columns_for(count: int, extents: IntArray) -> int:
    """Return the number of cells side by side that makes all as large as possible."""
    high, wide = (max(int(n), 1) for n in extents.max(axis=0))

    if count <= _ROW:
        return count

    def scale(columns: int) -> float:
        lines = ceil(count / columns)
        return min((PLOT[0] / columns - _GAP) / wide, (PLOT[1] / lines - _GAP - _LABEL) / high)

    return max(range(1, count + 1), key=lambda columns: (min(scale(columns), _CELL), columns))


def _draw_in_grid(
    places: IntArray,
    prefixes: IntArray,
    extents: IntArray,
    texts: Sequence[str],
    notes: Sequence[str],
    title: str,
) -> Drawing:
    n_lines, n_columns = (int(n) + 1 for n in places.max(axis=0))
    high, wide = (max(int(n), 1) for n in extents.max(axis=0))
    across, down = PLOT[0] / n_columns, PLOT[1] / n_lines
    labels = min(across, down) > 2.2 * _LABEL
    below = _LABEL if labels else 0.0
    gap = min(_GAP, across / 4, down / 4)
    scale = min((across - gap) / wide, (down - gap - below) / high, _CELL)
    pitch = max(wide * scale, 20.0 if labels else 0.0) + gap, high * scale + gap + below
    marks: list[Mark] = []
    empty: list[tuple[Point, ...]] = []
    for place, prefix, (h, w), text in zip(
        places.tolist(), prefixes.tolist(), extents.tolist(), texts, strict=True
    ):
        x, y = place[1] * pitch[0], place[0] * pitch[1] + below
        if labels:
            marks.append(Text(x, y - 3.0, index_text(prefix), 9.0, MUTED))
        if h and w:
            sides = (max(w * scale, _SEEN), max(h * scale, _SEEN))
            marks.append(Rectangle(x, y, *sides, FILL, text, "cell", EDGE))
        else:
            empty.append(((x, y + 1.0), (x + 4.0, y + 1.0)))
    if empty:
        marks.append(
            Path(tuple(empty), stroke=MUTED, width=1.5, name="empty", title="cells without elements")
        )
    return framed(marks, (n_columns * pitch[0], n_lines * pitch[1] - gap), notes=notes, title=title)


def draw_volumes(rows: Rows, *, title: str) -> Drawing:
    """Return a histogram: how many cells of a shape that is not empty have how many elements; O(cells)."""
    (a, b), even = rows.leaves, rows.columns.even
    if even is not None:
        return note(
            [f"{count_text(b - a)} cells", f"each of {' x '.join(map(count_text, even))}"], title=title
        )
    extents = rows.columns.leaf_extents(a, b)
    # As floats: the volume of a cell may be beyond 64 bits; beyond the floats, all are alike.
    with np.errstate(over="ignore"):
        volumes: npt.NDArray[np.float64] = np.multiply.reduce(extents, axis=1, dtype=np.float64)
    volumes = np.minimum(volumes, _HUGE)
    filled = volumes[volumes > 0.0]
    least, most = float(filled.min()), float(filled.max())
    empty = f", {count_text(b - a - len(filled))} of them empty" if len(filled) < b - a else ""
    cells = f"{count_text(b - a)} cells{empty}"
    if least == most:
        return note([cells, f"each of {count_text(int(most))} elements"], title=title)
    logarithmic = most / least > _DECADES
    places = np.log(filled) if logarithmic else filled
    low, high = float(places.min()), float(places.max())
    bins = np.minimum((places - low) / (high - low) * _BINS, _BINS - 1).astype(np.intp)
    counts = np.bincount(bins, minlength=_BINS)
    labels = _decades(least, most) if logarithmic else _numbers(int(least), int(most))
    what = "elements per cell, logarithmic" if logarithmic else "elements per cell"
    return _draw_counts(counts, labels, what, cells, title)


def _numbers(least: int, most: int) -> list[tuple[float, str]]:
    return Axis(least, most, _CHART[0], cells=False).labels(upright=False)


def _decades(least: float, most: float) -> list[tuple[float, str]]:
    """Return powers of ten and their positions on a logarithmic scale, as many as have room."""
    low, high = log10(least), log10(most)
    powers = range(ceil(low), int(high) + 1)
    unit = _CHART[0] / (high - low)
    texts = [count_text(10**k) for k in powers]
    step = ceil((max(map(text_width, texts)) + 6.0) / unit)
    return [((k - low) * unit, text) for k, text in zip(powers, texts, strict=True)][::step]


def _draw_counts(
    counts: npt.NDArray[np.intp], labels: Sequence[tuple[float, str]], what: str, cells: str, title: str
) -> Drawing:
    (width, height), greatest = _CHART, int(counts.max())
    step = width / len(counts)
    marks: list[Mark] = []
    for k, number in enumerate(counts.tolist()):
        if number:
            tall = number / greatest * height
            text = f"{count_text(number)} of the cells"
            marks.append(Rectangle(k * step, height - tall, step - 1.0, tall, FILL, text, "bin"))
    marks.append(Line(0.0, height, width, height, MUTED))
    for place, label in labels:
        marks.append(Line(place, height, place, height + 4.0, MUTED))
        marks.append(Text(place, height + 15.0, label, 10.0, MUTED, "middle"))
    marks.append(Text(width / 2, height + 30.0, what, 11.0, INK, "middle"))
    marks.append(Line(-1.0, 0.0, -1.0, height, FAINT))
    marks.append(Text(6.0, 9.0, f"{count_text(greatest)} cells", 10.0, MUTED))
    margin = max(text_width(label) for _, label in labels) / 2
    chart = Group(tuple(marks), margin, 0.0)
    return framed([chart], (width + 2 * margin, height + 34.0), notes=[cells], title=title)
