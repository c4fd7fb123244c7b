"""Pictures of shapes of every kind: what is drawn, where, and how large."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Shape, Tiling, as_shape
from tensorwrapper.drawing import PAPER
from tensorwrapper.shape import JaggedCommon
from tensorwrapper.shape.pictures._boxes import MOST_MARKS
from tests.support.pictures import NEAR, Picture, one, picture

# Boxes.


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (Shape(), "scalar"),
        (Shape(4, 0), "extents (4, 0)"),
        (Shape(0, origin=(3,)), "extents (0)"),
        (Shape.jagged([0, 0]), "extents (2, 0)"),
        (Shape.jagged([], rank=2), "no elements"),
        (Shape.tiled([0, 0], [3]), "no elements"),
        (Shape.nested(Shape(3, 0), layers=(1, 1)), "no elements"),
        (Shape.nested(Shape(), layers=(0, 0)), "scalar"),
        (Shape.triangular(0), "no elements"),
    ],
)
def test_what_has_nothing_to_draw_says_so(shape, words):
    drawn = picture(shape)

    assert any(words in text for text in drawn.texts)
    assert len(drawn.boxes("note")) == 1


# All.


def test_every_picture_stands_on_paper_of_its_own_and_says_what_it_shows():
    for shape in (Shape(2, 3), Shape.jagged([3, 1]), Shape.tiled([1, 2], [3]), Shape(), Shape(2, 2, 2, 2)):
        drawn = picture(shape)
        paper = one(drawn.boxes("paper"))

        assert paper[:5] == (0.0, 0.0, drawn.width, drawn.height, PAPER)
        assert drawn.marks[0][0].get("class") == "paper"
        assert drawn.root.get("role") == "img"
        assert f"{shape}" in drawn.label
        assert drawn.root.find("{http://www.w3.org/2000/svg}title").text == drawn.label


class Triangle(JaggedCommon):
    """A representation of a stranger: row k has k + 1 indices."""

    __slots__ = ()

    @property
    def rows(self):
        return Shape.jagged([1, 2, 3]).implementation.rows


def test_the_shape_of_a_stranger_is_drawn_as_ours_is():
    assert as_shape(Triangle()).to_svg() == Shape.jagged([1, 2, 3]).to_svg()
    assert "memory" not in as_shape(Triangle())._repr_html_()


EXTENTS = st.one_of(st.integers(0, 5), st.integers(0, 2000), st.just(10**30))


BOXES = st.lists(EXTENTS, max_size=6).flatmap(
    lambda extents: st.builds(
        lambda origin: Shape(*extents, origin=origin),
        st.tuples(*[st.integers(-(10**6), 10**6) for _ in extents]),
    )
)


LENGTHS = st.lists(st.integers(0, 30), max_size=300)


ROWS = st.one_of(
    st.builds(lambda rows: Shape.jagged(rows, rank=2), LENGTHS),
    st.builds(lambda rows: Shape.jagged(rows, rank=3), st.lists(st.lists(st.integers(0, 9), max_size=5))),
)


@st.composite
def cells(draw):
    outer = draw(st.lists(st.integers(0, 15), min_size=1, max_size=2))
    width = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    shape = (int(np.prod(outer)), width)
    most = draw(st.sampled_from([1, 4, 400, 2**40]))
    return Shape.from_cells(
        outer,
        rng.integers(0, most + 1, shape),
        origins=draw(st.sampled_from([None, rng.integers(-most, most + 1, shape)])),
    )


SIZES = st.lists(st.integers(0, 9), min_size=1, max_size=250)


TILINGS = st.builds(lambda sizes: Tiling(*sizes), st.lists(SIZES, min_size=1, max_size=3))


TRIANGLES = st.builds(
    lambda n, half, diagonal: Shape.triangular(n, half=half, diagonal=diagonal),
    st.sampled_from([0, 1, 2, 50, 500]),
    st.sampled_from(["lower", "upper"]),
    st.booleans(),
)


FLAT = st.one_of(BOXES, ROWS, cells(), st.builds(lambda t: t.shape, TILINGS), TRIANGLES)


@st.composite
def nested(draw):
    flat = draw(FLAT)
    cuts = sorted(draw(st.lists(st.integers(0, flat.rank), max_size=3)))
    return Shape.nested(flat, layers=[b - a for a, b in itertools.pairwise([0, *cuts, flat.rank])])


@given(st.one_of(FLAT, nested(), TILINGS))
def test_every_picture_is_well_formed_bounded_and_on_its_paper(value):
    svg = value.to_svg()
    drawn = Picture(svg)

    assert len(drawn.marks) <= MOST_MARKS
    assert len(svg) < 100_000
    for box in drawn.all_boxes():
        assert box.width >= 0
        assert box.height >= 0
        assert -NEAR <= box.x <= box.right <= drawn.width + NEAR
        assert -NEAR <= box.y <= box.bottom <= drawn.height + NEAR
    for mark, x, y in drawn.marks:
        if mark.text and not mark.get("transform"):
            wide = 0.55 * float(mark.get("font-size")) * len(mark.text)
            left = {"middle": wide / 2, "end": wide}.get(mark.get("text-anchor"), 0.0)
            start = x + float(mark.get("x")) - left
            assert -1.0 <= start <= start + wide <= drawn.width + 1.0, mark.text
            assert 0 <= y + float(mark.get("y")) <= drawn.height


@given(FLAT)
def test_pictures_are_made_the_same_twice(shape):
    assert shape.to_svg() == shape.to_svg()
    assert shape._repr_html_() == shape._repr_html_()


def test_shapes_load_no_drawing_until_one_is_asked_for():
    code = (
        "import sys, tensorwrapper as tw; s = tw.Shape(2); t = tw.Tiling([1])\n"
        "print(any('drawing' in m or '_picture' in m for m in sys.modules)); s.to_svg()\n"
        "print('tensorwrapper.drawing' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.split() == ["False", "True"]
