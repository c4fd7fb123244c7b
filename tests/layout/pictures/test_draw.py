"""Pictures of layouts of every kind: the offsets in the cells, where they stand, and how many there are."""

import itertools
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.drawing import count_text
from tensorwrapper.layout import Layout, Swizzle, compose
from tensorwrapper.shape import Shape, Tiling
from tests.support.layout.grids import GRIDS, cells
from tests.support.pictures import SVG, Picture, picture

MOST = 300
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
