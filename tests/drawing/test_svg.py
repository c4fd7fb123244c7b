"""SVG documents: what their elements are written as, and what XML cannot hold."""

import xml.etree.ElementTree as ET

from tensorwrapper.drawing import (
    Drawing,
    Line,
    Path,
    Rectangle,
    Text,
    stacked,
)

SVG = "{http://www.w3.org/2000/svg}"


def test_text_is_escaped():
    text = Drawing(1, 1, (Text(0, 0, "a < b & c"), Rectangle(0, 0, 1, 1, '"', "<")), 'x"<').to_svg()
    root = ET.fromstring(text)

    assert root.find(f"{SVG}text").text == "a < b & c"
    assert root.find(f"{SVG}rect").get("fill") == '"'
    assert root.find(f"{SVG}title").text == root.get("aria-label") == 'x"<'


def test_what_xml_cannot_hold_is_replaced():
    text = Drawing(1, 1, (Text(0, 0, "a\x00b\x1bc\ufffed\N{BELL}\ud800\tz"),)).to_svg()

    assert ET.fromstring(text).find(f"{SVG}text").text == "a\ufffdb\ufffdc\ufffdd\N{BELL}\ufffd\tz"


def test_edges_are_crisp_but_those_of_sloping_and_of_hair_lines():
    upright = Path((((0, 0), (0, 5), (3, 5)), ((1, 1), (2, 1))), stroke="#000")
    sloping = Path((((0, 0), (1, 2)),), stroke="#000")
    root = ET.fromstring(Drawing(9, 9, (upright, sloping, Line(0, 0, 1, 0, "#000", 0.5))).to_svg())

    assert root.get("shape-rendering") == "crispEdges"
    assert [p.get("shape-rendering") for p in root.findall(f"{SVG}path")] == [None, None, "auto"]
    assert root.find(f"{SVG}line").get("shape-rendering") == "auto"


def test_a_path_has_all_its_runs():
    path = Path((((0, 0), (0.5, 1)), ((2, 2), (-0.001, 4))), "#fff", closed=True, opacity=0.25)
    element = ET.fromstring(path.to_svg())

    assert element.get("d") == "M0 0L0.5 1ZM2 2L0 4Z"
    assert element.get("opacity") == "0.25"


def test_groups_move_what_is_in_them_and_stacks_what_is_below():
    box = Drawing(10, 20, (Rectangle(0, 0, 1, 1, "#000"),))
    wide = Drawing(30, 5, ())
    drawing = stacked([box, wide])
    groups = ET.fromstring(drawing.to_svg()).findall(f"{SVG}g")

    assert (drawing.width, drawing.height) == (30, 25)
    assert [g.get("transform") for g in groups] == ["translate(0 0)", "translate(0 20)"]
    assert groups[0].find(f"{SVG}rect") is not None
