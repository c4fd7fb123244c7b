"""SVG documents as values: a few elements, written as text. Standard library only."""

import itertools
from typing import Final, Literal, TypeAlias, final

import attrs

from tensorwrapper._error_text import escaped
from tensorwrapper._value_class import frozen
from tensorwrapper.drawing._color import INK, PAPER

Point: TypeAlias = tuple[float, float]
"""A place, in pixels to the right and down."""

_FONTS: Final = "system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"
# In dark mode light and dark change places, so that text on a colour stays readable.
_STYLE: Final = (
    "<style>@media (prefers-color-scheme:dark){"
    ".tensorwrapper-picture{filter:invert(.9) hue-rotate(180deg)}"
    ".tensorwrapper .tensorwrapper-picture,.tensorwrapper-picture svg{filter:none}}</style>"
)


def _number(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _element(name: str, attributes: dict[str, str], inner: str = "") -> str:
    text = "".join(f' {key}="{escaped(value)}"' for key, value in attributes.items() if value)
    return f"<{name}{text}>{inner}</{name}>" if inner else f"<{name}{text}/>"


def _titled(title: str) -> str:
    return f"<title>{escaped(title)}</title>" if title else ""


@final
@frozen
class Rectangle:
    """A filled box; ``title`` is the tooltip of a browser, ``name`` names its meaning."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    title: str = ""
    name: str = ""
    stroke: str = ""
    opacity: float = 1.0

    def to_svg(self) -> str:
        """Return the element."""
        box = {"x": self.x, "y": self.y, "width": self.width, "height": self.height}
        attributes = {"class": self.name} | {key: _number(value) for key, value in box.items()}
        attributes |= {"fill": self.fill, "stroke": self.stroke, "fill-opacity": _part(self.opacity)}
        return _element("rect", attributes, _titled(self.title))


def _part(opacity: float) -> str:
    return "" if opacity == 1.0 else _number(opacity)


@final
@frozen
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
        attributes |= {"stroke": self.stroke, "stroke-width": _number(self.width)}
        # A crisp line of less than a pixel is not drawn at all by some.
        return _element("line", attributes | {"shape-rendering": "auto" if self.width < 1.0 else ""})


@final
@frozen
class Path:
    """Runs of straight lines as one mark: a polygon, a staircase, a grid, many boxes.

    Parameters
    ----------
    runs
        Each run is drawn from its first point to its last.
    closed
        Whether each run goes back to where it began.
    """

    runs: tuple[tuple[Point, ...], ...]
    fill: str = "none"
    stroke: str = ""
    width: float = 1.0
    closed: bool = attrs.field(default=False, kw_only=True)
    title: str = attrs.field(default="", kw_only=True)
    name: str = attrs.field(default="", kw_only=True)
    opacity: float = attrs.field(default=1.0, kw_only=True)

    def to_svg(self) -> str:
        """Return the element."""
        end = "Z" if self.closed else ""
        data = "".join(
            [f"M{'L'.join(f'{_number(x)} {_number(y)}' for x, y in run)}{end}" for run in self.runs]
        )
        attributes = {"class": self.name, "d": data, "fill": self.fill, "stroke": self.stroke}
        if self.stroke:
            attributes["stroke-width"] = _number(self.width)
        # The document asks for crisp edges, which make a sloping line a staircase.
        attributes["shape-rendering"] = "" if self._is_upright() else "auto"
        return _element("path", attributes | {"opacity": _part(self.opacity)}, _titled(self.title))

    def _is_upright(self) -> bool:
        pairs = itertools.chain.from_iterable(map(itertools.pairwise, self.runs))
        return all(a[0] == b[0] or a[1] == b[1] for a, b in pairs)


@final
@frozen
class Text:
    """A line of text at a point, which is its start, its middle or its end."""

    x: float
    y: float
    text: str
    size: float = 12.0
    fill: str = INK
    anchor: Literal["start", "middle", "end"] = "start"
    upwards: bool = attrs.field(default=False, kw_only=True)
    """True if it is read from the bottom to the top."""

    def to_svg(self) -> str:
        """Return the element."""
        x, y = _number(self.x), _number(self.y)
        attributes = {"x": x, "y": y, "font-size": _number(self.size), "fill": self.fill}
        attributes["text-anchor"] = "" if self.anchor == "start" else self.anchor
        attributes["transform"] = f"rotate(-90 {x} {y})" if self.upwards else ""
        return _element("text", attributes, escaped(self.text))


@final
@frozen
class Group:
    """Marks that are moved together, to the right and down."""

    marks: "tuple[Mark, ...]"
    right: float = 0.0
    down: float = 0.0

    def to_svg(self) -> str:
        """Return the element."""
        inner = "\n".join(["", *[mark.to_svg() for mark in self.marks], ""])
        return _element("g", {"transform": f"translate({_number(self.right)} {_number(self.down)})"}, inner)


Mark: TypeAlias = Rectangle | Line | Path | Text | Group
"""An element of a drawing."""


@final
@frozen
class Drawing:
    """Marks on a canvas of a given size, drawn in order on light paper.

    Parameters
    ----------
    width, height
        The canvas, in pixels.
    marks
        The marks, the first at the bottom.
    title
        Description of the drawing in words: for screen readers, and as a tooltip.

    Examples
    --------
    >>> print(Drawing(20, 10, (Rectangle(0, 0, 9, 10, "#000"),), "a box").to_svg())  # doctest: +ELLIPSIS
    <svg xmlns="http://www.w3.org/2000/svg" width="20" height="10" viewBox="0 0 20 10" ...>
    <title>a box</title>
    <style>...</style>
    <path class="paper" d="M0 0L20 0L20 10L0 10Z" fill="#ffffff"/>
    <rect x="0" y="0" width="9" height="10" fill="#000"/>
    </svg>
    """

    width: float
    height: float
    marks: tuple[Mark, ...]
    title: str = ""

    def _repr_html_(self) -> str:
        """Return the SVG for notebooks."""
        return self.to_svg()

    def to_svg(self) -> str:
        """Return the document."""
        width, height = _number(self.width), _number(self.height)
        attributes = {
            "xmlns": "http://www.w3.org/2000/svg",
            "width": width,
            "height": height,
            "viewBox": f"0 0 {width} {height}",
            "class": "tensorwrapper-picture",
            "style": "max-width:100%;height:auto",
            "role": "img",
            "aria-label": self.title,
            "font-family": _FONTS,
            "shape-rendering": "crispEdges",
        }
        corners = ((0.0, 0.0), (self.width, 0.0), (self.width, self.height), (0.0, self.height))
        paper = Path((corners,), PAPER, closed=True, name="paper")
        lines = [_titled(self.title), _STYLE, *[mark.to_svg() for mark in (paper, *self.marks)]]
        return _element("svg", attributes, "\n".join(["", *[line for line in lines if line], ""]))
