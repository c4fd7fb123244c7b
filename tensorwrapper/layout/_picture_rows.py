"""The rows of a jagged shape as a grid: each row where it lies along the last mode."""

import itertools

from tensorwrapper.drawing import count_text, index_text
from tensorwrapper.layout._common import LayoutCommon
from tensorwrapper.layout._picture_grid import Cell, Grid, shown
from tensorwrapper.typing import Index

__all__ = ["grid_of_rows"]


def grid_of_rows(held: LayoutCommon, most_rows: int, marks: int) -> tuple[Grid, str, str]:
    """Return a grid of a layout with elements over a jagged shape, and the titles of its sides.

    Of many rows, and of long ones, the first and the last are taken; nothing is as long as the shape.
    """
    shape = held.shape
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
                cells[i, j] = Cell(index, held.offset_of(index))
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
