"""SVG documents as values: a few elements, written as text. Standard library only."""

from collections.abc import Iterable
from typing import TypeAlias, final
from xml.sax.saxutils import escape, quoteattr

import attrs

__all__ = ["Drawing", "Line", "Mark", "Rectangle", "Text"]


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _element(name: str, attributes: dict[str, str], inner: str = "") -> str:
    text = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    return f"<{name}{text}>{inner}</{name}>" if inner else f"<{name}{text}/>"


@final
@attrs.frozen
class Rectangle:
    """A filled box; ``title`` is what a browser shows under the pointer."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    title: str = ""

    def to_svg(self) -> str:
        """Return the element."""
        box = {"x": self.x, "y": self.y, "width": self.width, "height": self.height}
        attributes = {key: _number(value) for key, value in box.items()} | {"fill": self.fill}
        return _element("rect", attributes, f"<title>{escape(self.title)}</title>" if self.title else "")


@final
@attrs.frozen
class Line:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    stroke: str
    width: float = 1.0

    def to_svg(self) -> str:
        """Return the element."""
        ends = {"x1": self.x1, "y1": self.y1, "x2": self.x2, "y2": self.y2}
        attributes = {key: _number(value) for key, value in ends.items()}
        return _element("line", attributes | {"stroke": self.stroke, "stroke-width": _number(self.width)})


@final
@attrs.frozen
class Text:
    """A line of text that starts at a point."""

    x: float
    y: float
    text: str
    size: float = 12.0

    def to_svg(self) -> str:
        """Return the element."""
        attributes = {"x": _number(self.x), "y": _number(self.y), "font-size": _number(self.size)}
        return _element("text", attributes | {"font-family": "sans-serif"}, escape(self.text))


Mark: TypeAlias = Rectangle | Line | Text
"""What a drawing is made of."""


@final
@attrs.frozen
class Drawing:
    """Marks on a canvas of a given size, drawn in order.

    Examples
    --------
    >>> print(Drawing(20, 10, (Rectangle(0, 0, 20, 10, "#fff"),)).to_svg())
    <svg xmlns="http://www.w3.org/2000/svg" width="20" height="10" viewBox="0 0 20 10">
    <rect x="0" y="0" width="20" height="10" fill="#fff"/>
    </svg>
    """

    width: float
    height: float
    marks: tuple[Mark, ...]

    def to_svg(self) -> str:
        """Return the document."""
        width, height = _number(self.width), _number(self.height)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}">'
        )
        return "\n".join([head, *_lines(self.marks), "</svg>"])


def _lines(marks: Iterable[Mark]) -> Iterable[str]:
    return (mark.to_svg() for mark in marks)
