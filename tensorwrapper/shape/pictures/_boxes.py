"""Pictures of smooth shapes: a bar, a box, a box in space, or one bar per mode; to scale."""

from collections.abc import Sequence
from typing import Final

from tensorwrapper.drawing import (
    ACCENT,
    EDGE,
    FILL,
    MUTED,
    PAPER,
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
    note,
    ramp,
    text_width,
)
from tensorwrapper.typing import Extents, Index

MOST_MARKS: Final = 300
"""How many marks a picture of a shape has at most, however large the shape is."""
PLOT: Final[Point] = (420.0, 300.0)
"""How wide and high a plot may be, in pixels."""
BAR: Final = 26.0
"""How high the bar of a shape of rank 1 is."""
_CELL = 28.0  # pixels per index at most: a shape with few indices makes a small picture
_LEAST = 8.0  # pixels of a side that would otherwise not be seen
_LINES = 6.0  # pixels between lines from which on single indices are drawn
_SLOPE = 0.42  # of a length that leads away, what is seen of it to the right and down


def draw_few(size: int, rank: int, extents: str, *, title: str) -> Drawing:
    """Return the picture of a shape of rank 0, or without elements: a few words."""
    lines = ["no elements", f"extents {extents}"] if rank else [f"scalar: {size} element, its index is ()"]
    return note(lines, title=title)


def draw_box(extents: Extents, origin: Index, *, title: str) -> Drawing:
    """Return the picture of a box that has modes and elements."""
    if len(extents) < 3:
        return _draw_flat(extents, origin, title)
    if len(extents) == 3:
        return _draw_solid(extents, origin, title)
    lengths = bar_lengths(extents)
    bars = [
        ModeBar(f"mode {k}", length, f"{count_text(extent)}{_from_text(start)}")
        for k, (length, extent, start) in enumerate(zip(lengths, extents, origin, strict=True))
    ]
    return draw_bars(bars, title=title)


def fitted(extents: Sequence[int], room: Sequence[float], least: float = _LEAST) -> tuple[list[float], bool]:
    """Return the sides of a box in `room`, and whether all are to scale: none is shorter than `least`."""
    # Integers beyond the floats may be divided by one another, and nothing else.
    longest = max(extents)
    parts = [extent / longest for extent in extents]
    spaces = [space / part for part, space in zip(parts, room, strict=True) if part]
    unit = min([_CELL * min(longest, 10**6), *spaces])
    sides = [max(part * unit, least) for part in parts]
    return sides, all(part * unit >= least for part in parts)


def _from_text(start: int) -> str:
    return f", from {count_text(start)}" if start else ""


def _mode_axis(mode: int, extents: Extents, origin: Index, length: float) -> Axis:
    end = origin[mode] + extents[mode]
    return Axis(origin[mode], end, length, f"mode {mode}, extent {count_text(extents[mode])}")


def _origin_key(origin: Index) -> list[Swatch]:
    text = ", ".join(map(count_text, origin)) + ("," if len(origin) == 1 else "")
    return [Swatch(ACCENT, f"origin ({text})")]


def _origin_mark(size: Sequence[float]) -> Rectangle:
    side = min(6.0, *size)
    return Rectangle(0.0, 0.0, side, side, ACCENT, "origin", "origin")


def scale_note(*, to_scale: bool) -> list[str]:
    """Return the note below a picture that could not be drawn to scale."""
    return [] if to_scale else ["not to scale: what would be too thin to see is drawn thicker"]


def _places(extent: int, length: float) -> list[float]:
    """Return the places between the indices along one side, where there is room for lines."""
    return [k / extent * length for k in range(1, extent)] if extent <= length / _LINES else []


def _grid(width: float, height: float, across: list[float], down: list[float]) -> list[Mark]:
    runs = [((x, 0.0), (x, height)) for x in across] + [((0.0, y), (width, y)) for y in down]
    return [Path(tuple(runs), stroke=PAPER, name="unit")] if runs else []


def _draw_flat(extents: Extents, origin: Index, title: str) -> Drawing:
    sides, to_scale = fitted(extents, (PLOT[0],) if len(extents) == 1 else (PLOT[1], PLOT[0]))
    width, height = sides[-1], BAR if len(sides) == 1 else sides[0]
    down = None if len(sides) == 1 else _mode_axis(0, extents, origin, height)
    lines = _grid(
        width, height, _places(extents[-1], width), [] if down is None else _places(extents[0], height)
    )
    return framed(
        [
            Rectangle(0.0, 0.0, width, height, FILL, title, "box"),
            *lines,
            Rectangle(0.0, 0.0, width, height, "none", "", "edge", EDGE),
            _origin_mark((width, height)),
        ],
        (width, height),
        across=_mode_axis(len(extents) - 1, extents, origin, width),
        down=down,
        legend=_origin_key(origin),
        notes=scale_note(to_scale=to_scale),
        title=title,
    )


def _draw_solid(extents: Extents, origin: Index, title: str) -> Drawing:
    """Return a box in space: mode 0 leads away from the reader, to the right and down."""
    label = f"mode 0, extent {count_text(extents[0])}"
    # The receding mode takes half of both other sides, so that all three have room.
    room = (min(PLOT) / 2 / _SLOPE, PLOT[1] * 0.6, PLOT[0] * 0.6)
    (long, height, width), to_scale = fitted(extents, room)
    away = long * _SLOPE
    bottom = ((0.0, height), (width, height), (width + away, height + away), (away, height + away))
    side = ((width, 0.0), (width + away, away), (width + away, height + away), (width, height))
    # Sheets may be closer than cells, because two of their sides are visible.
    sheets = [d / 2 for d in _places(extents[0], 2 * away)]
    edges = [((d, height + d), (width + d, height + d), (width + d, d)) for d in sheets]
    marks: list[Mark] = [
        Path((bottom,), ramp(0.62), EDGE, closed=True, name="face"),
        Path((side,), ramp(0.48), EDGE, closed=True, name="face"),
        *([Path(tuple(edges), stroke=PAPER, name="unit")] if edges else []),
        Rectangle(0.0, 0.0, width, height, FILL, title, "box"),
        *_grid(width, height, _places(extents[2], width), _places(extents[1], height)),
        Rectangle(0.0, 0.0, width, height, "none", "", "edge", EDGE),
        _origin_mark((width, height)),
        Text(width + away / 2 + 8.0, away / 2, label, 11.0),
    ]
    first, last = count_text(origin[0]), count_text(origin[0] + extents[0] - 1)
    if away > 30.0:
        marks.append(Text(width + 7.0, 5.0, first, 10.0, MUTED))
        marks.append(Text(width + away + 7.0, away + 1.0, last, 10.0, MUTED))
    return framed(
        marks,
        (width + max(away / 2 + 8.0 + text_width(label), away + 7.0 + text_width(last)), height + away),
        across=_mode_axis(2, extents, origin, width),
        down=_mode_axis(1, extents, origin, height),
        legend=_origin_key(origin),
        notes=scale_note(to_scale=to_scale),
        title=title,
    )
