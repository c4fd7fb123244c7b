"""Pictures of boxes with too many modes for axes: one bar per mode, the first at the top."""

from collections.abc import Sequence
from typing import Final, final

from tensorwrapper._value_class import frozen
from tensorwrapper.drawing._color import INK, MUTED, ramp
from tensorwrapper.drawing._frame import framed, text_width
from tensorwrapper.drawing._svg import Drawing, Group, Mark, Rectangle, Text

FILL: Final = ramp(0.3)
"""Fill colour of elements."""
EDGE: Final = ramp(0.8)
"""The lines around elements."""

_BARS = 24  # modes that are drawn one by one
_LONGEST = 260.0  # pixels of the longest of several bars


@final
@frozen
class ModeBar:
    """One mode in a picture that has a bar for each; `marks` are drawn on the bar, from its left end."""

    label: str
    length: float
    text: str
    marks: tuple[Mark, ...] = ()


def bar_lengths(extents: Sequence[int]) -> list[float]:
    """Return how long the bars of modes are: to scale, but never too short to be seen."""
    longest = max(*extents, 1)
    return [max(extent / longest * _LONGEST, 2.0) for extent in extents]


def draw_bars(bars: Sequence[ModeBar], *, title: str, notes: Sequence[str] = ()) -> Drawing:
    """Return a picture with one bar per mode, the first at the top."""
    shown, pitch, height = bars[:_BARS], 22.0, 14.0
    left = max(text_width(bar.label) for bar in shown) + 6.0
    marks: list[Mark] = []
    for row, bar in enumerate(shown):
        y = row * pitch
        marks.append(Text(left - 6.0, y + 11.0, bar.label, 11.0, INK, "end"))
        marks.append(Rectangle(left, y, bar.length, height, FILL, f"{bar.label}: {bar.text}", "bar", EDGE))
        if bar.marks:
            marks.append(Group(bar.marks, left, y))
        marks.append(Text(left + bar.length + 7.0, y + 11.0, bar.text, 11.0, MUTED))
    width = max(left + bar.length + 7.0 + text_width(bar.text) for bar in shown)
    hidden = [f"and {len(bars) - _BARS} more modes"] if len(bars) > _BARS else []
    return framed(marks, (width, pitch * len(shown) - 6.0), notes=[*hidden, *notes], title=title)
