"""Pictures of layouts of every kind: the offsets in the cells, where they stand, and how many there are."""

import itertools
import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pictures import SVG, Picture

from tensorwrapper.drawing import count_text
from tensorwrapper.layout import Layout, Swizzle, compose, tiled_divide, zipped_divide
from tensorwrapper.shape import Shape, Tiling

MOST = 300
GRIDS = {
    "scalar": Layout(Shape(), offset=7),
    "row": Layout(Shape(10, origin=(-3,))),
    "F": Layout(Shape(4, 6, origin=(-1, 10)), order="F"),
    "descending": Layout(Shape(3, 4), ascend=(False, True)),
    "padded": Layout(Shape(3, 4), strides=(6, 1)),
    "negative offsets": Layout(Shape(3, 4), strides=(-6, 1)),
    "rotated": Layout(Shape(4, 6)).rotate((1, 2)),
    "gathered": Layout(Shape(4, 6)).gather(1, [5, 0, 5]),
    "wrapped": Layout(Shape(4, 4)).pad([(1, 1), (2, 0)], boundary="wrap"),
    "repeated": Layout(Shape(2, 3)).repeat((2, 2)),
    "tile-major": Layout.tiled(Tiling([2, 2, 1], [3, 3], origin=(5, 0)), order="F"),
    "tiles seen": Layout(Shape(5, 6)).as_tiled(Tiling([2, 2, 1], [3, 3])),
    "packed tiles": Layout(Shape.tiled([2, 1], [2, 2])),
    "lex": Layout.parse("((2,2),(2,4)):((1,8),(2,16))"),
    "colex": Layout.parse("((2,2),(2,4)):((1,8),(2,16))", order="colex"),
    "one mode": Layout.parse("((2,3)):((1,2))"),
    "leaf": Layout.parse("8:2"),
    "composite": compose(Swizzle(2, 0, 2), Layout.parse("(4,4):(4,1)")),
    "divided": zipped_divide(Layout.parse("(4,6):(6,1)"), (2, 3)),
    "panels": Layout(Shape(3, 4, 5, origin=(1, 0, 2))),
    "panels of a division": tiled_divide(Layout.parse("(4,6):(6,1)"), (2, 3)),
    "nested": Layout(Shape.nested(Shape(2, 3, 2, 2), layers=(2, 2))),
    "nested rows": Layout(Shape.nested(Shape.jagged([[1], [2, 3]]), layers=(1, 2))),
    "nested panels": Layout(Shape.nested(Shape(2, 3, 4), layers=(1, 2))),
    "tiles in panels": Layout(Shape.tiled([2, 1], [2, 2], [3])),
    "rows": Layout(Shape.jagged([3, 1, 0, 4]), offset=5),
    "deep rows": Layout(Shape.jagged([[1], [2, 3], [3, 1, 2]])),
    "rows with origins": Layout(Shape.jagged([3, 2])[1:]),
    "cells": Layout(Shape.jagged([Shape(2, 3), Shape(1, 2)])),
    "triangle": Layout(Shape.triangular(5)),
}
LARGE = {
    "10 million squared": Layout(Shape(10**7, 10**7)),
    "beyond 64 bits": Layout(Shape(2**50, 2**50)),
    "one long mode": Layout(Shape(10**15)).rotate([3]),
    "thin": Layout(Shape(2, 10**9), order="F"),
    "panels": Layout(Shape(300, 40, 50)),
    "many panels": Layout(Shape(10**6, 2, 2)),
    "a million rows": Layout(Shape.jagged(np.arange(10**6) % 13)),
    "long rows": Layout(Shape.jagged([10**9, 5, 10**12])),
    "tiles": Layout.tiled(Tiling([1000] * 1000, [64] * 1000)),
    "tiles seen": Layout(Shape(10**6, 64_000)).as_tiled(Tiling([1000] * 1000, [64] * 1000)),
    "packed tiles": Layout(Shape.tiled([1000] * 1000, [64] * 1000)),
    "hierarchical": Layout.parse("((1000,1000),(1000,1000)):((1,1000000),(1000,1000000000))"),
    "composite": compose(Swizzle(3, 0, 3), Layout.parse("(100000,100000):(100000,1)")),
    "broadcast": Layout(Shape(1, 10**7)).broadcast((10**7, 10**7)),
    "many modes": Layout(Shape(*[10] * 12)),
}


def picture(layout):
    return Picture(layout.to_svg())


def cells(drawn):
    """The cells with their index and offset, and the text that stands in each."""
    texts = {
        (round(float(e.get("x")) + x), round(float(e.get("y")) + y)): e.text
        for e, x, y in drawn.marks
        if e.text
    }
    found = []
    for box in drawn.boxes("cell"):
        index, offset = re.fullmatch(r"index (.+) at offset (-?\d+)", box.title).groups()
        entries = tuple(int(n) for n in re.findall(r"-?\d+", index))
        text = texts[round(box.x + box.width / 2), round(box.y + box.height / 2 + 3.5)]
        found.append((box, entries, int(offset), text))
    return found


@pytest.mark.parametrize("name", GRIDS)
def test_every_cell_of_a_small_layout_has_its_offset(name):
    layout = GRIDS[name]
    found = cells(picture(layout))

    assert len(found) == layout.shape.size
    assert len({index for _, index, _, _ in found}) == layout.shape.size
    for _, index, offset, text in found:
        assert layout.offset_of(index) == offset
        assert text == count_text(offset)


@pytest.mark.parametrize("name", LARGE)
def test_a_large_layout_is_drawn_in_part_and_truly(name):
    layout = LARGE[name]
    svg = layout.to_svg()
    drawn = Picture(svg)

    assert len(drawn.marks) <= MOST
    assert len(svg) < 60_000
    found = cells(drawn)
    assert bool(found) == (layout.shape.rank < 5 or layout.is_tiled)
    for _, index, offset, text in found:
        assert layout.offset_of(index) == offset
        assert text == count_text(offset)
    if found:
        assert drawn.runs("gap") or "..." in drawn.texts
        assert "dots: positions that are left out" in drawn.texts


extents = st.one_of(st.integers(0, 20), st.integers(0, 10**12))


@given(st.lists(extents, max_size=5), st.data())
def test_no_picture_has_too_many_marks(sizes, data):
    strides = data.draw(st.lists(st.integers(-(10**6), 10**6), min_size=len(sizes), max_size=len(sizes)))
    origin = data.draw(st.lists(st.integers(-(10**9), 10**9), min_size=len(sizes), max_size=len(sizes)))
    layout = Layout(Shape.smooth(sizes, origin=origin), strides=strides)
    drawn = picture(layout)

    assert len(drawn.marks) <= MOST
    for box in drawn.all_boxes():
        assert min(box.x, box.y) >= -0.1
        assert box.right <= drawn.width + 0.1
        assert box.bottom <= drawn.height + 0.1
    for _, index, offset, _ in cells(drawn):
        assert layout.offset_of(index) == offset


@given(st.lists(st.integers(0, 40), min_size=1, max_size=40))
def test_no_picture_of_rows_has_too_many_marks(lengths):
    layout = Layout(Shape.jagged(lengths))
    drawn = picture(layout)

    assert len(drawn.marks) <= MOST
    for _, index, offset, _ in cells(drawn):
        assert layout.offset_of(index) == offset


def test_cells_stand_in_rows_and_columns_with_their_indices_beside_them():
    drawn = picture(GRIDS["F"])
    found = cells(drawn)
    width, height = found[0][0].width, found[0][0].height
    left, top = min(box.x for box, *_ in found), min(box.y for box, *_ in found)

    for box, (i, j), _, _ in found:
        assert box.x == pytest.approx(left + (j - 10) * width, abs=0.05)
        assert box.y == pytest.approx(top + (i + 1) * height, abs=0.05)
    assert {"mode 0, extent 4", "mode 1, extent 6", "strides 1, 4", "offsets 0 to 23, pale to dark"} <= set(
        drawn.texts
    )
    labels = [t for t in drawn.texts if re.fullmatch(r"-?\d+", t)]
    assert labels.count("-1") == 1
    assert labels.count("15") == 2  # an index of mode 1, and an offset


@pytest.mark.parametrize("name", ["F", "descending", "padded", "rotated", "colex", "rows"])
def test_later_in_memory_is_darker(name):
    found = sorted((offset, box.fill) for box, _, offset, _ in cells(picture(GRIDS[name])))
    brightness = [sum(int(fill[k : k + 2], 16) for k in (1, 3, 5)) for _, fill in found]

    assert brightness == sorted(brightness, reverse=True)
    assert len(set(brightness)) > len(brightness) // 2


@pytest.mark.parametrize("name", ["tile-major", "packed tiles"])
def test_tiles_that_are_kept_together_have_a_colour_each(name):
    layout = GRIDS[name]
    tilings = {"tile-major": Tiling([2, 2, 1], [3, 3], origin=(5, 0)), "packed tiles": Tiling([2, 1], [2, 2])}
    fills = {}
    for box, index, _, _ in cells(picture(layout)):
        tile = index[:2] if layout.shape.rank == 4 else tilings[name].tile_of(index)
        fills.setdefault(tile, set()).add(box.fill)

    assert all(len(own) == 1 for own in fills.values())
    assert len(set.union(*fills.values())) == len(fills) == tilings[name].grid.size


def test_tiles_that_are_only_seen_are_coloured_by_offset():
    drawn = picture(GRIDS["tiles seen"])

    assert len({box.fill for box, *_ in cells(drawn)}) > 6
    assert len(drawn.runs("outer")) == 2 + 1


def lines(drawn):
    """Where lines stand, in cells, by how heavy they are: (weight, across or down) to places."""
    box = drawn.boxes("cell")[0]
    left, top = min(b.x for b in drawn.boxes("cell")), min(b.y for b in drawn.boxes("cell"))
    found = {}
    for element, x, y in drawn.marks:
        if element.get("class") == "outer":
            for run in Picture.boxes_of(element, x, y):
                upright = run.width == 0
                place = (run.x - left) / box.width if upright else (run.y - top) / box.height
                key = (float(element.get("stroke-width")), "column" if upright else "row")
                found.setdefault(key, []).append(round(place, 2))
    return found


def test_lines_stand_where_outer_modes_go_on():
    # Mode 0 is (2,2), mode 1 is (2,4): row-major the last leaf is the faster, colex the first.
    assert lines(picture(GRIDS["lex"])) == {(1.5, "row"): [2], (1.5, "column"): [4]}
    assert lines(picture(GRIDS["colex"])) == {(1.5, "row"): [2], (1.5, "column"): [2, 4, 6]}
    assert lines(picture(GRIDS["nested"])) == {(1.5, "row"): [2], (1.5, "column"): [2, 4]}
    assert lines(picture(GRIDS["tile-major"])) == {(1.5, "row"): [2, 4], (1.5, "column"): [3]}
    assert lines(picture(GRIDS["F"])) == {}


def test_lines_are_heavier_the_further_out():
    layout = Layout.parse("((2,2,2),1):((4,2,1),0)")

    assert lines(picture(layout)) == {(1.5, "row"): [2, 6], (2.5, "row"): [4]}


@pytest.mark.parametrize(
    ("layout", "shared"),
    [
        (Layout(Shape(4, 3)), set()),
        (Layout(Shape(1, 4)).broadcast((3, 4)), {0, 1, 2, 3}),
        (Layout(Shape(6)).gather(0, [5, 0, 5, 2]), {5}),
        (Layout(Shape(4)).sliding_window(0, 2), {1, 2}),
    ],
)
def test_places_that_several_indices_share_are_hatched(layout, shared):
    drawn = picture(layout)
    hatched = drawn.runs("repeated")
    for box, _, offset, _ in cells(drawn):
        inside = [
            run
            for run in hatched
            if box.x - 0.1 <= run[0][0] <= run[1][0] <= box.right + 0.1
            and box.y - 0.1 <= run[1][1]
            and run[0][1] <= box.bottom + 0.1
        ]
        assert bool(inside) == (offset in shared)
    assert ("hatched: offsets that several indices share" in drawn.texts) == bool(shared)


def test_three_modes_are_one_grid_per_index_of_the_first():
    drawn = picture(GRIDS["panels"])
    panels = {}
    for box, index, _, _ in cells(drawn):
        panels.setdefault(index[0], []).append(box)

    assert sorted(panels) == [1, 2, 3]
    assert {"mode 0 at 1", "mode 0 at 2", "mode 0 at 3"} <= set(drawn.texts)
    spans = [(min(b.x for b in own), max(b.right for b in own)) for _, own in sorted(panels.items())]
    assert all(before[1] < after[0] for before, after in itertools.pairwise(spans))


def test_more_modes_are_one_bar_each():
    drawn = picture(Layout(Shape(2, 3, 4, 5)))

    assert [box.width / 2 for box in drawn.boxes("bar")] == pytest.approx(
        [drawn.boxes("bar")[0].width / 4 * n for n in (2, 3, 4, 5)], rel=0.01
    )
    assert "strides 60, 20, 5, 1" in drawn.texts


def test_rows_of_a_jagged_shape_stand_where_they_lie():
    layout = Layout(Shape.from_cells((3,), [(3,), (2,), (1,)], origins=[(0,), (4,), (2,)]))
    found = {index: box for box, index, _, _ in cells(picture(layout))}
    left, width = found[0, 0].x, found[0, 0].width

    for (_, column), box in found.items():
        assert box.x == pytest.approx(left + column * width, abs=0.05)
    assert found[0, 0].y < found[1, 4].y < found[2, 2].y


def test_rows_under_different_outer_indices_are_kept_apart():
    assert len(picture(GRIDS["deep rows"]).runs("outer")) == 2


@pytest.mark.parametrize(
    "layout", [Layout(Shape(0, 3)), Layout(Shape.jagged([0, 0])), Layout.parse("(0,2):(1,1)")]
)
def test_nothing_is_a_few_words(layout):
    drawn = picture(layout)

    assert not drawn.boxes("cell")
    assert "no elements" in drawn.texts


def test_of_many_rows_those_at_the_ends_may_be_empty():
    drawn = picture(Layout(Shape.jagged([0] * 30 + [2] + [0] * 30)))

    assert not drawn.boxes("cell")
    assert "no elements in what is drawn" in drawn.texts


def test_a_picture_says_what_it_shows():
    assert picture(GRIDS["F"]).label == "layout of smooth shape (4, 6)@(-1, 10)"
    assert picture(GRIDS["rows"]).label == "layout of jagged shape (4, 3|1|0|4)"


def facts(layout):
    root = ET.fromstring(layout._repr_html_())
    return {row[0].text: row[1].text for row in root.iter("tr")}


@pytest.mark.parametrize("name", [*GRIDS, *LARGE])
def test_notebooks_show_text_facts_and_picture(name):
    layout = {**LARGE, **GRIDS}[name]
    html = layout._repr_html_()
    root = ET.fromstring(html)

    assert root.tag == "div"
    text = root.findtext("code")
    assert str(layout).startswith(text.removesuffix("..."))
    assert len(text) <= 100
    assert layout.to_svg() in html
    assert facts(layout)["elements"] == count_text(layout.shape.size)
    assert root.find(f".//{SVG}svg") is not None


def test_what_notebooks_tell():
    assert facts(GRIDS["padded"]) == {
        "shape": "(3, 4)",
        "elements": "12",
        "strides": "(6, 1)",
        "offsets": "0 to 15",
        "injective": "yes",
        "contiguous": "no",
    }
    assert facts(GRIDS["repeated"])["injective"] == "no"
    assert facts(GRIDS["colex"])["ordinals"] == "colex: the first mode fastest"
    assert facts(Layout(Shape(0, 3)))["offsets"] == "none"


def test_text_of_a_layout_is_no_markup():
    html = Layout(Shape(3)).rotate([1])._repr_html_()

    assert "&lt;Layout of Shape(3)" in html
    assert "<Layout" not in html


def test_the_far_end_of_a_long_mode_is_drawn():
    indices = [index for _, index, _, _ in cells(picture(Layout(Shape(10**7, 10**7))))]

    assert {(0, 0), (10**7 - 1, 0), (0, 10**7 - 1), (10**7 - 1, 10**7 - 1)} <= set(indices)
    assert math.isqrt(len(indices)) >= 9
