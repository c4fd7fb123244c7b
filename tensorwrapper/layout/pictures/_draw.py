"""Pictures of layouts: a grid of cells with the offset in each; small, however large the layout is."""

import itertools
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Final

from tensorwrapper._displays import html_block
from tensorwrapper.drawing import (
    MUTED,
    Axis,
    Drawing,
    Group,
    Mark,
    ModeBar,
    Text,
    bar_lengths,
    count_text,
    draw_bars,
    framed,
    note,
    text_width,
)
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.pictures._grid import (
    HEIGHT,
    Cell,
    Grid,
    Paint,
    cell_width,
    grid_marks,
    grid_of_rows,
    shown,
)
from tensorwrapper.layout.pictures._sides import CutSide, PlainSide, Side, rule_text, sides_of
from tensorwrapper.shape.lowlevel import short_text

_MARKS: Final = 280  # rectangles and texts of cells and labels, at most; lines and notes are a few more
_LONGEST: Final = 16  # positions of a side that are drawn, at most
_ROOM: Final = 760.0  # pixels in which panels are side by side
_APART: Final = 22.0  # pixels between panels
_FEW: Final = 1 << 16  # elements up to which questions that may go through all of them are answered
_NO_SIDE: Final = PlainSide("", (), (), ())


def draw_layout(layout: LayoutCommon) -> Drawing:
    """Return a picture of a layout, of at most 300 marks.

    The cells of a box are drawn as a row, a grid or one grid per index of mode 0; those of a jagged shape as
    rows. Only the ends of long modes are drawn. More than three modes are one bar each.
    """
    shape = layout.shape
    title = f"layout of {shape.kind} shape {short_text(str(shape))}"
    if not shape.size:
        return note(["no elements", f"shape {short_text(str(shape))}"], title=title)
    sides = sides_of(layout)
    if sides is None:
        return _draw_rows(layout.without_layers(), title)
    if len(sides) > 3:
        lengths = bar_lengths([side.extent for side in sides])
        bars = [
            ModeBar(f"mode {mode}", length, side.title.partition(", ")[2])
            for mode, (side, length) in enumerate(zip(sides, lengths, strict=True))
        ]
        text = rule_text(layout)
        return draw_bars(bars, title=title, notes=[short_text(text)] if text else [])
    return _draw_panels(layout, sides, title) if len(sides) == 3 else _draw_grid(layout, sides, title)


def _draw_grid(layout: LayoutCommon, sides: Sequence[Side], title: str) -> Drawing:
    both = [_NO_SIDE, _NO_SIDE, *sides][-2:]
    down, across = [
        shown(side.extent, most) for side, most in zip(both, _limits(layout, sides, both), strict=True)
    ]
    grid = _grid(layout, sides, both, (down, across), ())
    cells = list(grid.cells.values())
    paint, width = Paint.of(cells), _width(cells, grid)
    size = (len(grid.columns) * width, len(grid.rows) * HEIGHT)
    axes = [
        Axis(0, len(names), length, side.title, names=tuple(names)) if side.title else None
        for side, names, length in zip(both, (grid.rows, grid.columns), size[::-1], strict=True)
    ]
    return framed(
        grid_marks(grid, paint, width),
        size,
        across=axes[1],
        down=axes[0],
        notes=_notes(layout, cells, paint, cut=bool(grid.gaps)),
        title=title,
    )


def _draw_panels(layout: LayoutCommon, sides: Sequence[Side], title: str) -> Drawing:
    limits = _limits(layout, sides, sides)
    chosen = [shown(side.extent, most) for side, most in zip(sides, limits, strict=True)]
    grids = [
        None if place is None else _grid(layout, sides, sides[1:], (chosen[1], chosen[2]), (place,))
        for place in chosen[0]
    ]
    drawn = [grid for grid in grids if grid is not None]
    cells = [cell for grid in drawn for cell in grid.cells.values()]
    paint, width = Paint.of(cells), _width(cells, *drawn)
    labels = max([text_width(name, 10.0) for name in drawn[0].rows]) + 6.0
    size = (len(drawn[0].columns) * width, len(drawn[0].rows) * HEIGHT)
    beside = max(int((_ROOM - labels) / (size[0] + _APART)), 1)
    pitch = size[1] + 16.0 + _APART
    marks: list[Mark] = []
    for number, (grid, place) in enumerate(zip(grids, chosen[0], strict=True)):
        x, y = labels + number % beside * (size[0] + _APART), number // beside * pitch + 26.0
        if grid is None or place is None:
            marks.append(Text(x + size[0] / 2, y + size[1] / 2, "...", 14.0, MUTED, "middle"))
            continue
        heading = f"mode 0 at {sides[0].label(place)}"
        panel = _panel_labels(grid, width, heading, rows=not number % beside)
        marks.append(Group((*panel, *grid_marks(grid, paint, width)), x, y))
    lines = ceil(len(grids) / beside)
    right = labels + min(beside, len(grids)) * (size[0] + _APART) - _APART
    cut = any(None in places for places in chosen)
    return framed(
        marks,
        (right, lines * pitch - _APART + 10.0),
        notes=_notes(layout, cells, paint, cut=cut),
        title=title,
    )


def _panel_labels(grid: Grid, width: float, heading: str, *, rows: bool) -> list[Mark]:
    """Return the text above one of several grids, and optionally at its left."""
    labels: list[Mark] = [Text(0.0, -15.0, heading, 10.0, MUTED)]
    for k, name in enumerate(grid.columns):
        labels.append(Text((k + 0.5) * width, -3.0, name, 9.0, MUTED, "middle"))
    for k, name in enumerate(grid.rows if rows else ()):
        labels.append(Text(-5.0, (k + 0.5) * HEIGHT + 3.5, name, 10.0, MUTED, "end"))
    return labels


def _draw_rows(layout: LayoutCommon, title: str) -> Drawing:
    grid, down, across = grid_of_rows(layout, _LONGEST - 2, _MARKS)
    cells = list(grid.cells.values())
    paint, width = Paint.of(cells), _width(cells, grid)
    size = (len(grid.columns) * width, len(grid.rows) * HEIGHT)
    return framed(
        grid_marks(grid, paint, width),
        size,
        across=Axis(0, len(grid.columns), size[0], across, names=tuple(grid.columns)),
        down=Axis(0, len(grid.rows), size[1], down, names=tuple(grid.rows)),
        notes=_notes(layout, cells, paint, cut=bool(grid.gaps)),
        title=title,
    )


def _limits(layout: LayoutCommon, sides: Sequence[Side], drawn: Sequence[Side]) -> list[int]:
    """Return how many positions of each side that is drawn may be, so that the picture stays small."""
    ends = [(0, max(side.extent - 1, 0)) for side in sides]
    corners = [_cell(layout, list(zip(sides, places, strict=True))) for places in itertools.product(*ends)]
    most = [min(side.extent, _LONGEST) for side in drawn]
    most[-1] = min(most[-1], max(int(_ROOM / cell_width(corners)), 5))
    while _marks(most) > _MARKS:
        most[most.index(max(most))] -= 1
    return most


def _marks(most: Sequence[int]) -> int:
    """Return about how many marks so many positions are."""
    *panels, down, across = most
    count = panels[0] if panels else 1
    return count * (2 * down * across + down + across + 3)


def _grid(
    layout: LayoutCommon,
    sides: Sequence[Side],
    drawn: Sequence[Side],
    chosen: tuple[list[int | None], list[int | None]],
    lead: tuple[int, ...],
) -> Grid:
    """Return the grid over the last two of the sides that are drawn, at positions `lead` of those before."""
    down, across = chosen
    first = list(zip(sides, lead, strict=False))
    cells = {
        (i, j): _cell(layout, [*first, (drawn[0], row), (drawn[1], column)])
        for i, row in enumerate(down)
        for j, column in enumerate(across)
        if row is not None and column is not None
    }
    names = [
        ["..." if place is None else side.label(place) for place in places]
        for side, places in zip(drawn, chosen, strict=True)
    ]
    lines = [_line_weights(side, places) for side, places in zip(drawn, chosen, strict=True)]
    gaps = [
        (i, j)
        for i, row in enumerate(down)
        for j, column in enumerate(across)
        if row is None or column is None
    ]
    return Grid(names[0], names[1], cells, lines[0], lines[1], gaps)


def _cell(layout: LayoutCommon, places: Sequence[tuple[Side, int]]) -> Cell:
    """Return the cell at a position of every side."""
    index = [0] * sum([len(side.slots) for side, _ in places])
    for side, place in places:
        for slot, entry in zip(side.slots, side.entries(place), strict=True):
            index[slot] = entry
    numbers = [side.tile(place) for side, place in places if isinstance(side, CutSide)]
    # Tiles of a view have no separate place in memory, and so no colour.
    tile = tuple(numbers) if numbers and layout.tiled is None else None
    return Cell(tuple(index), layout.offset_of(index), tile)


def _line_weights(side: Side, places: Sequence[int | None]) -> Mapping[int, int]:
    weights = {
        k: min(side.weight(place), 3) for k, place in enumerate(places) if place is not None and place and k
    }
    return {k: weight for k, weight in weights.items() if weight}


def _width(cells: Sequence[Cell], *grids: Grid) -> float:
    names = [text_width(name, 10.0) + 6.0 for grid in grids for name in grid.columns]
    return max([cell_width(cells), *names])


def _notes(layout: LayoutCommon, cells: Sequence[Cell], paint: Paint, *, cut: bool) -> list[str]:
    if not cells:
        return ["no elements in what is drawn", "dots: positions that are left out"]
    offsets = [cell.offset for cell in cells]
    ends = f"{count_text(min(offsets))} to {count_text(max(offsets))}"
    by_tile = any(cell.tile is not None for cell in cells)
    text = rule_text(layout)
    notes = [short_text(text)] if text else []
    colors = "a colour per tile" if by_tile else "pale to dark"
    notes.append(f"offsets {ends}{' where drawn' if cut else ''}, {colors}")
    if paint.repeated:
        notes.append("hatched: offsets that several indices share")
    if cut:
        notes.append("dots: positions that are left out")
    return notes


def layout_html(layout: LayoutCommon, text: str) -> str:
    """Return what notebooks show of a layout, of which `text` is the text."""
    shape = layout.shape
    facts = [("shape", short_text(str(shape))), ("elements", count_text(shape.size))]
    strides, order = layout.mode_strides, layout.ordinal_order
    if strides is not None and not layout.has_ordinals:
        facts.append(("strides", short_text(str(strides))))
    if layout.has_ordinals:
        facts.append(("ordinals", f"{order}: the {'last' if order == 'lex' else 'first'} mode fastest"))
    if shape.size <= _FEW or strides is not None:
        facts += _answers(layout)
    return html_block(short_text(text), facts, draw_layout(layout).to_svg())


def _answers(layout: LayoutCommon) -> list[tuple[str, str]]:
    least, greatest = layout.bounds()
    answers = [("injective", layout.is_injective), ("contiguous", layout.is_contiguous)]
    return [
        ("offsets", f"{count_text(least)} to {count_text(greatest)}" if layout.span else "none"),
        *[(name, "yes" if answer else "no") for name, answer in answers],
    ]
