"""Pictures of shards: the index and every operand side by side, the blocks in each, one shard marked."""

from typing import NamedTuple, final

from tensorwrapper.drawing import ACCENT, INK, Axis, Drawing, Group, Mark, Path, Rectangle, framed, ramp
from tensorwrapper.sharding._boxes import Box, BoxTable, box_text

_PLOT = 170.0  # pixels of the longest side of all panels
_LEAST = 12.0  # pixels of a side that would otherwise not be seen
_MOST = 200  # boxes that are outlined in a panel


class Panel(NamedTuple):
    """A box with other boxes in it, one of which is marked."""

    title: str
    whole: Box
    boxes: BoxTable
    chosen: int


def draw_panels(panels: list[Panel], title: str) -> Drawing:
    """Return panels side by side at one scale; of boxes of over two modes the last two are drawn."""
    longest = max([1, *[extent for panel in panels for extent in panel.whole.extents[-2:]]])
    right, height = 0.0, 0.0
    marks: list[Mark] = []
    for panel in panels:
        drawing = _panel(panel, _PLOT / longest)
        marks.append(Group(drawing.marks, right, 0.0))
        right += drawing.width
        height = max(height, drawing.height)
    return Drawing(right, height, tuple(marks), title)


def _panel(panel: Panel, scale: float) -> Drawing:
    rank = panel.whole.rank
    sides = [_Side(panel.whole, mode, scale) for mode in range(max(rank - 2, 0), rank)]
    down = sides[0] if len(sides) > 1 else None
    across = sides[-1] if sides else None
    size = (across.length if across else _LEAST, down.length if down else _LEAST)
    marks: list[Mark] = [Rectangle(0.0, 0.0, *size, ramp(0.12), box_text(panel.whole), "whole")]
    shown = [panel.boxes[k] for k in range(min(len(panel.boxes), _MOST))]
    if len(panel.boxes):
        chosen = panel.boxes[panel.chosen]
        marks.append(
            Rectangle(*_place(chosen, across, down, size), ACCENT, box_text(chosen), "chosen", opacity=0.55)
        )
    # Shards that read the same box have one outline.
    places = dict.fromkeys([_place(box, across, down, size) for box in shown if box.size])
    outlines = [_corners(*place) for place in places]
    if outlines:
        marks.append(Path(tuple(outlines), stroke=INK, width=1.0, closed=True, name="boxes"))
    notes = [panel.title]
    if len(panel.boxes) > _MOST:
        notes.append(f"{_MOST} of {len(panel.boxes)} boxes")
    return framed(
        marks, size, across=across.axis() if across else None, down=down.axis() if down else None, notes=notes
    )


@final
class _Side:
    """One mode of a panel in pixels."""

    __slots__ = ("extent", "first", "length", "mode")

    first: int
    extent: int

    def __init__(self, whole: Box, mode: int, scale: float) -> None:
        self.mode = mode
        self.first, self.extent = whole.origin[mode], whole.extents[mode]
        self.length = max(self.extent * scale, _LEAST)

    def at(self, index: int) -> float:
        place = (index - self.first) * self.length / max(self.extent, 1)
        return min(max(place, 0.0), self.length)

    def axis(self) -> Axis:
        return Axis(self.first, self.first + self.extent, self.length, f"mode {self.mode}", cells=False)


def _place(
    box: Box, across: _Side | None, down: _Side | None, size: tuple[float, float]
) -> tuple[float, float, float, float]:
    """Return left, top, width and height of a box."""
    left, right, top, bottom = 0.0, size[0], 0.0, size[1]
    if across is not None:
        start = box.origin[across.mode]
        left, right = across.at(start), across.at(start + box.extents[across.mode])
    if down is not None:
        start = box.origin[down.mode]
        top, bottom = down.at(start), down.at(start + box.extents[down.mode])
    return left, top, right - left, bottom - top


def _corners(left: float, top: float, width: float, height: float) -> tuple[tuple[float, float], ...]:
    return ((left, top), (left + width, top), (left + width, top + height), (left, top + height))
