"""Pictures: what they show, and what they refuse."""

import itertools
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pictures import Picture

from tensorwrapper import Tiling
from tensorwrapper.cli._tile_picture import MOST_SHADES, draw_tiling
from tensorwrapper.drawing import (
    Axis,
    Drawing,
    Line,
    Path,
    Rectangle,
    Text,
    count_text,
    layer_color,
    log_color,
    ramp,
    stacked,
    ticks,
)
from tensorwrapper.errors import ExtentError, RankError

SVG = "{http://www.w3.org/2000/svg}"


def test_tiles_are_drawn_to_scale_and_empty_ones_left_out():
    root = ET.fromstring(draw_tiling(Tiling([1, 0, 3], [2, 2])).to_svg())
    boxes = root.findall(f"{SVG}rect")

    assert len(boxes) == 4
    assert float(boxes[2].get("height")) == pytest.approx(3 * float(boxes[0].get("height")))


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


@pytest.mark.parametrize(
    ("first", "end", "most", "expected"),
    [
        (0, 10, 5, [0, 2, 4, 6, 8, 10]),
        (0, 10, 4, [0, 5, 10]),
        (3, 1003, 5, [3, 200, 400, 600, 800, 1003]),
        (-5, 5, 2, [-5, 0, 5]),
        (7, 7, 9, [7]),
        (0, 10**40, 3, [0, 5 * 10**39, 10**40]),
        (0, 1, 5, [0, 1]),
        (9, 21, 3, [9, 15, 21]),
    ],
)
def test_ticks_are_round_numbers_between_the_ends(first, end, most, expected):
    assert ticks(first, end, most) == expected


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**9), st.integers(1, 30))
def test_ticks_ascend_and_are_about_as_many_as_asked_for(first, extent, most):
    marks = ticks(first, first + extent, most)
    steps = {b - a for a, b in itertools.pairwise(marks[1:-1])}

    assert marks == sorted(set(marks))
    assert (marks[0], marks[-1]) == (first, first + extent)
    assert len(marks) <= most + 2
    assert len(steps) <= 1


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (-1234, "-1,234"), (10**12, "1.00e12"), (-(2**100), "-1.27e30"), (10**4000, "1.00e4000")],
)
def test_counts_of_any_size_are_short(number, text):
    assert count_text(number) == text


@pytest.mark.parametrize("names", [(), ("a", "bb")])
def test_an_axis_names_its_indices_or_numbers_them(names):
    labels = Axis(5, 7, 60.0, names=names).labels(upright=False)

    assert labels == [(15.0, names[0] if names else "5"), (45.0, names[1] if names else "6")]


@given(
    st.integers(-(10**15), 10**15),
    st.integers(0, 10**15),
    st.integers(1, 600),
    st.booleans(),
    st.booleans(),
)
def test_the_numbers_of_an_axis_do_not_touch(first, extent, length, upright, cells):
    labels = Axis(first, first + extent, float(length), cells=cells).labels(upright=upright)
    room = [10.0 if upright else 0.55 * 10.0 * len(text) for _, text in labels]

    assert labels
    assert all(0 <= place <= length for place, _ in labels)
    for (a, b), (x, y) in zip(
        itertools.pairwise([p for p, _ in labels]), itertools.pairwise(room), strict=True
    ):
        assert b - a >= (x + y) / 2


def test_layers_have_shades_of_their_own():
    for layers in range(1, 7):
        shades = [layer_color(k, layers) for k in range(layers)]
        brightness = [sum(int(c[k : k + 2], 16) for k in (1, 3, 5)) for c in shades]

        assert len(set(shades)) == layers
        assert brightness == sorted(brightness, reverse=True)


def test_colours_run_from_pale_to_dark_and_grey_below():
    assert ramp(-1.0) == ramp(0.0) == "#f7fbff"
    assert log_color(1.0, 1e-8, 1.0) == ramp(1.0)
    assert log_color(1e-9, 1e-8, 1.0) == log_color(float("nan"), 1e-8, 1.0) == "#f2f2f2"


def test_other_ranks_and_wrong_magnitudes_are_refused():
    with pytest.raises(RankError, match="rank 2, not 1"):
        draw_tiling(Tiling([1]))
    with pytest.raises(ExtentError, match=r"\(1, 1\) tiles"):
        draw_tiling(Tiling([1], [1]), magnitudes=np.zeros((2, 2)))


def test_tiles_have_the_colour_of_their_magnitude_and_the_scale_is_shown():
    magnitudes = np.array([[1.0, 1e-4], [1e-9, np.nan]])
    drawn = Picture(draw_tiling(Tiling([1, 2], [3, 4]), magnitudes=magnitudes, title="S").to_svg())

    assert [t.fill for t in drawn.boxes("tile")] == [ramp(1.0), ramp(0.5), "#f2f2f2", "#f2f2f2"]
    assert {"S", "1e-08", "1", "logarithmic"} <= set(drawn.texts)
    assert [b.fill for b in drawn.boxes("scale")] == sorted(
        {b.fill for b in drawn.boxes("scale")}, reverse=True
    )


def test_of_very_many_tiles_runs_have_the_colour_of_the_greatest():
    magnitudes = np.full((200, 3), 1e-9)
    magnitudes[150, 2] = 1.0
    magnitudes[10, 0] = np.nan
    drawn = Picture(draw_tiling(Tiling([1] * 200, [70] * 3), magnitudes=magnitudes).to_svg())
    dark = [t for t in drawn.boxes("tile") if t.fill != "#f2f2f2"]

    assert len(drawn.boxes("tile")) == MOST_SHADES * 3
    assert [(t.fill, t.title) for t in dark] == [(ramp(1.0), "tiles (150 to 152, 2), 3 x 70")]


def test_coarser_lines_are_drawn_over_finer_ones():
    shells = Tiling([1, 1, 2], [2, 2])
    root = ET.fromstring(draw_tiling(shells, coarse=shells.coarsen([2, 1], [2])).to_svg())
    lines = [(line.get("stroke"), line.get("stroke-width")) for line in root.findall(f"{SVG}line")]

    assert lines == [("#b0b0b0", "0.5")] * 7 + [("#303030", "1.5")] * 5
