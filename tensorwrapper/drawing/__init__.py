"""SVG primitives; the floors above draw their own values with them."""

from tensorwrapper.drawing._color import log_color, ramp
from tensorwrapper.drawing._svg import Drawing, Line, Mark, Rectangle, Text

__all__ = ["Drawing", "Line", "Mark", "Rectangle", "Text", "log_color", "ramp"]
