"""SVG documents read back: marks with their names and absolute places."""

import re
import xml.etree.ElementTree as ET
from typing import NamedTuple

import pytest

SVG = "{http://www.w3.org/2000/svg}"
DRAWN = {f"{SVG}{name}" for name in ("rect", "line", "path", "text")}


class Box(NamedTuple):
    """A rectangle, or one run of a path, by its bounds."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    title: str

    @property
    def right(self):
        return self.x + self.width

    @property
    def bottom(self):
        return self.y + self.height

    @property
    def area(self):
        return self.width * self.height


class Picture:
    """What a test asks a picture."""

    def __init__(self, svg: str) -> None:
        self.root = ET.fromstring(svg)
        self.width, self.height = (float(self.root.get(side)) for side in ("width", "height"))
        self.marks = [(e, x, y) for e, x, y in _placed(self.root, 0.0, 0.0) if e.tag in DRAWN]

    @property
    def label(self):
        return self.root.get("aria-label")

    @property
    def texts(self):
        return [e.text for e, _, _ in self.marks if e.tag == f"{SVG}text"]

    def boxes(self, name):
        """All rectangles, and the runs of all paths, of this name."""
        return [box for e, x, y in self.marks if e.get("class") == name for box in _boxes_of(e, x, y)]

    @staticmethod
    def boxes_of(element, x, y):
        """The boxes of one mark, whose own zero lies at (x, y)."""
        return list(_boxes_of(element, x, y))

    def runs(self, name):
        """The points of all runs of the paths of this name."""
        return [
            [(x + a, y + b) for a, b in run]
            for e, x, y in self.marks
            if e.get("class") == name and e.tag == f"{SVG}path"
            for run in _runs_of(e)
        ]

    def all_boxes(self):
        return [box for e, x, y in self.marks for box in _boxes_of(e, x, y)]


def _placed(element, x, y):
    """Every element with where its origin lies."""
    for child in element:
        moved = re.fullmatch(r"translate\((\S+) (\S+)\)", child.get("transform", ""))
        place = (x + float(moved[1]), y + float(moved[2])) if moved else (x, y)
        yield child, *place
        yield from _placed(child, *place)


def _runs_of(path):
    for part in path.get("d").split("M")[1:]:
        yield [tuple(map(float, point.split())) for point in part.rstrip("Z").split("L")]


def _boxes_of(element, x, y):
    fill = element.get("fill")
    title = element.findtext(f"{SVG}title") or ""
    if element.tag == f"{SVG}rect":
        a, b, width, height = (float(element.get(k)) for k in ("x", "y", "width", "height"))
        yield Box(x + a, y + b, width, height, fill, title)
    elif element.tag == f"{SVG}line":
        a, b, c, d = (float(element.get(k)) for k in ("x1", "y1", "x2", "y2"))
        yield Box(x + min(a, c), y + min(b, d), abs(c - a), abs(d - b), fill, title)
    elif element.tag == f"{SVG}path":
        for run in _runs_of(element):
            low, high = map(min, zip(*run, strict=True)), map(max, zip(*run, strict=True))
            (a, b), (c, d) = low, high
            yield Box(x + a, y + b, c - a, d - b, fill, title)


NEAR = 0.03  # pixels: documents have two decimals


def picture(shape):
    return Picture(shape.to_svg())


def one(boxes):
    (box,) = boxes
    return box


def near(value):
    return pytest.approx(value, abs=NEAR)
