"""SVG primitives; the floors above draw their own values with them."""

from typing import TYPE_CHECKING

from tensorwrapper._lazy import lazy_names

if TYPE_CHECKING:
    from tensorwrapper.drawing._bars import EDGE, FILL, ModeBar, bar_lengths, draw_bars
    from tensorwrapper.drawing._color import (
        ACCENT,
        EMPTY,
        FAINT,
        INK,
        MUTED,
        PAPER,
        layer_color,
        log_color,
        ramp,
    )
    from tensorwrapper.drawing._frame import Axis, Swatch, framed, note, stacked, text_width
    from tensorwrapper.drawing._grid import draw_grid
    from tensorwrapper.drawing._numbers import bytes_text, count_text, index_text, range_text, ticks
    from tensorwrapper.drawing._svg import Drawing, Group, Line, Mark, Path, Point, Rectangle, Text

__all__ = [
    "ACCENT",
    "EDGE",
    "EMPTY",
    "FAINT",
    "FILL",
    "INK",
    "MUTED",
    "PAPER",
    "Axis",
    "Drawing",
    "Group",
    "Line",
    "Mark",
    "ModeBar",
    "Path",
    "Point",
    "Rectangle",
    "Swatch",
    "Text",
    "bar_lengths",
    "bytes_text",
    "count_text",
    "draw_bars",
    "draw_grid",
    "framed",
    "index_text",
    "layer_color",
    "log_color",
    "note",
    "ramp",
    "range_text",
    "stacked",
    "text_width",
    "ticks",
]

if not TYPE_CHECKING:  # type checkers use the imports above
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_bars": ("EDGE", "FILL", "ModeBar", "bar_lengths", "draw_bars"),
            "_color": (
                "ACCENT",
                "EMPTY",
                "FAINT",
                "INK",
                "MUTED",
                "PAPER",
                "layer_color",
                "log_color",
                "ramp",
            ),
            "_frame": ("Axis", "Swatch", "framed", "note", "stacked", "text_width"),
            "_grid": ("draw_grid",),
            "_numbers": ("bytes_text", "count_text", "index_text", "range_text", "ticks"),
            "_svg": ("Drawing", "Group", "Line", "Mark", "Path", "Point", "Rectangle", "Text"),
        },
    )
