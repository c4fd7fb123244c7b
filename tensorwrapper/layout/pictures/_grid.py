"""Grids of cells with an offset in each, as marks."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, final

from tensorwrapper._value_class import frozen
from tensorwrapper.drawing import (
    INK,
    MUTED,
    PAPER,
    Mark,
    Path,
    Point,
    Rectangle,
    Text,
    count_text,
    index_text,
    ramp,
    text_width,
)
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.typing import Index

HEIGHT: Final = 22.0
"""Of a cell, in pixels."""
_TEXT: Final = 10.0
_WIDTH: Final = 26.0
_HATCH: Final = 6.0  # pixels between the lines over a repeated place
_DARK: Final = 0.56  # from this place of the ramp on a text is light


@final
@frozen
class Cell:
    """An element: its index, its offset, and the number of its tile if it is coloured by that."""

    index: Index
    offset: int
    tile: tuple[int, ...] | None = None


@final
@frozen
class Grid:
    """Cells by row and column of the drawing, with the lines and gaps between them.

    Lines are given by the following row or column and by their weight, gaps by the positions of omissions.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    cells: Mapping[tuple[int, int], Cell]
    row_lines: Mapping[int, int]
    column_lines: Mapping[int, int]
    gaps: Sequence[tuple[int, int]]


def shown(extent: int, most: int) -> list[int | None]:
    """Return the positions that are drawn: all, or the first and the last with None between them.

    Examples
    --------
    >>> shown(4, 6), shown(1000, 6)
    ([0, 1, 2, 3], [0, 1, 2, 3, None, 998, 999])
    """
    if extent <= most:
        return list(range(extent))
    last = most // 3
    return [*range(most - last), None, *range(extent - last, extent)]


@final
@frozen
class Paint:
    """The colours of cells, by offset or by tile, and which offsets occur more than once."""

    shades: Mapping[object, float]
    repeated: frozenset[int]

    @classmethod
    def of(cls, cells: Iterable[Cell]) -> "Paint":
        """Return the colours: the earlier in memory the paler."""
        first: dict[object, int] = {}
        counts: Counter[int] = Counter()
        for cell in cells:
            key = _key(cell)
            first[key] = min(first.get(key, cell.offset), cell.offset)
            counts[cell.offset] += 1
        ordered = sorted(first, key=lambda key: first[key])
        step = 0.68 / max(len(ordered) - 1, 1)
        shades = {key: 0.07 + step * place for place, key in enumerate(ordered)}
        return cls(shades, frozenset(offset for offset, number in counts.items() if number > 1))

    def shade(self, cell: Cell) -> float:
        """Return the place of a cell's colour on the ramp."""
        return self.shades[_key(cell)]


def _key(cell: Cell) -> object:
    return cell.offset if cell.tile is None else cell.tile


def cell_width(cells: Iterable[Cell]) -> float:
    """Return how wide cells must be for their offsets."""
    return max([_WIDTH, *[text_width(count_text(cell.offset), _TEXT) + 6.0 for cell in cells]])


def grid_marks(grid: Grid, paint: Paint, width: float) -> list[Mark]:
    """Return the marks of a grid, whose first cell begins at (0, 0)."""
    marks: list[Mark] = []
    hatched: list[tuple[Point, ...]] = []
    for (row, column), cell in grid.cells.items():
        x, y = column * width, row * HEIGHT
        shade = paint.shade(cell)
        text = f"index {index_text(cell.index)} at offset {cell.offset}"
        marks.append(Rectangle(x, y, width, HEIGHT, ramp(shade), text, "cell", PAPER))
        if cell.offset in paint.repeated:
            hatched += _hatch(x, y, width)
    if hatched:
        marks.append(Path(tuple(hatched), stroke=MUTED, width=0.7, name="repeated", opacity=0.55))
    for (row, column), cell in grid.cells.items():
        ink = PAPER if paint.shade(cell) > _DARK else INK
        x, y = (column + 0.5) * width, row * HEIGHT + HEIGHT / 2 + 3.5
        marks.append(Text(x, y, count_text(cell.offset), _TEXT, ink, "middle"))
    return marks + _gap_marks(grid, width) + _lines(grid, width)


def _hatch(x: float, y: float, width: float) -> list[tuple[Point, ...]]:
    """Return slanting lines over one cell, cut off at its edges."""
    runs: list[tuple[Point, ...]] = []
    place = _HATCH
    while place < width + HEIGHT:
        start, end = max(place - HEIGHT, 0.0), min(place, width)
        runs.append(((x + start, y + place - start), (x + end, y + place - end)))
        place += _HATCH
    return runs


def _gap_marks(grid: Grid, width: float) -> list[Mark]:
    """Return three dots at each place where something is left out, as one mark."""
    runs: list[tuple[Point, ...]] = []
    for row, column in grid.gaps:
        x, y = (column + 0.5) * width, (row + 0.5) * HEIGHT
        for shift in (-5.0, 0.0, 5.0):
            left, top = x + shift - 0.8, y - 0.8
            runs.append(((left, top), (left + 1.6, top), (left + 1.6, top + 1.6), (left, top + 1.6)))
    return [Path(tuple(runs), MUTED, closed=True, name="gap", title="left out")] if runs else []


def _lines(grid: Grid, width: float) -> list[Mark]:
    """Return lines where outer modes or tiles begin, the heavier the further out, and the edge."""
    right, bottom = len(grid.columns) * width, len(grid.rows) * HEIGHT
    by_weight: dict[int, list[tuple[Point, ...]]] = {}
    for row, weight in grid.row_lines.items():
        by_weight.setdefault(weight, []).append(((0.0, row * HEIGHT), (right, row * HEIGHT)))
    for column, weight in grid.column_lines.items():
        by_weight.setdefault(weight, []).append(((column * width, 0.0), (column * width, bottom)))
    return [
        Path(tuple(runs), stroke=INK, width=0.5 + weight, name="outer")
        for weight, runs in sorted(by_weight.items())
    ]


def grid_of_rows(layout: LayoutCommon, most_rows: int, marks: int) -> tuple[Grid, str, str]:
    """Return a grid of a layout with elements over a jagged shape, and the titles of its sides.

    Of many rows, and of long ones, the first and the last are taken; nothing is as long as the shape.
    """
    shape = layout.shape
    last = shape.rank - 1
    # One index of the leading modes names a row.
    leading = shape.leading(last)
    down = shown(leading.size, most_rows)
    prefixes: list[Index | None] = [None if place is None else leading.index(place) for place in down]
    runs = [(0, 0) if p is None else (shape.origin_at(p), shape.extent_at(p)) for p in prefixes]
    filled = [(start, start + extent) for start, extent in runs if extent]
    low, high = min([a for a, _ in filled], default=0), max([b for _, b in filled], default=0)
    across = shown(high - low, max(min(16, (marks - len(down)) // (2 * len(down) + 1)), 4))
    cells: dict[tuple[int, int], Cell] = {}
    gaps: list[tuple[int, int]] = []
    for i, (prefix, (start, extent)) in enumerate(zip(prefixes, runs, strict=True)):
        for j, place in enumerate(across):
            if prefix is None:
                gaps.append((i, j))
            elif place is None:
                first, end = _left_out(across, j)
                if start < low + end and low + first < start + extent:
                    gaps.append((i, j))
            elif start <= low + place < start + extent:
                index = (*prefix, low + place)
                cells[i, j] = Cell(index, layout.offset_of(index))
    lines = {
        i: 1
        for i, (before, prefix) in enumerate(itertools.pairwise(prefixes), 1)
        if before is not None and prefix is not None and before[:-1] != prefix[:-1]
    }
    grid = Grid(
        ["..." if prefix is None else index_text(prefix) for prefix in prefixes],
        ["..." if place is None else count_text(low + place) for place in across],
        cells,
        lines,
        {},
        gaps,
    )
    outer = "mode 0" if last == 1 else f"modes 0 to {last - 1}"
    return grid, f"{outer}, {count_text(leading.size)} rows", f"mode {last}"


def _left_out(places: list[int | None], gap: int) -> tuple[int, int]:
    """Return the first position that a gap stands for, and the one after the last."""
    before, after = places[gap - 1], places[gap + 1]
    return (before or 0) + 1, after or 0
