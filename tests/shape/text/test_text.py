"""The text of shapes: what `str` writes, `Shape.parse` reads; summaries; reprs that evaluate."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError
from tensorwrapper.shape import Shape, as_shape
from tensorwrapper.testing import jagged_shapes, shapes, tiled_shapes, triangular_shapes
from tests.support.shape.shape_texts import CELLS, DEEP, TEXTS, nest


@pytest.mark.parametrize(("shape", "text"), TEXTS, ids=[text[:60] for _, text in TEXTS])
def test_the_text_of_each_kind(shape, text):
    assert (str(shape), f"{shape}", f"{shape:full}") == (text, text, text)
    assert Shape.parse(text) == shape
    assert hash(Shape.parse(text)) == hash(shape)
    assert str(Shape.parse(text)) == text
    assert Shape.parse(text).layers == shape.layers


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (" ( 3 ,\t3 | 1|2\n)\r", "(3, 3|1|2)"),
        ("(3,3)@(+1,-0)", "(3, 3)@(1, 0)"),
        ("(3,3)@(0,0)", "(3, 3)"),
        ("()@()", "()"),
        ("(2,3|)", "(2, 3|3)"),
        ("(2,2|,3|1|2|0)", "(2, 2, 3|1|2|0)"),
        ("(3,10x20|)", "(3, 10x20)"),
        ("(2,1|2)@(0|,-1|-1)", "(2, 1|2)@(0, -1)"),
        ("tiled(5|,3)", "tiled(5, 3)"),
        ("tiled (3) @ (1,) layers (1,1)", "tiled(3)@(1,) layers (1, 1)"),
        ("triangular(3,strictly  upper)layers(2,)", "triangular(3, strictly upper) layers (2,)"),
        ("(10,20)layers(1,1)", "(10; 20)"),
        ("(10;20)", "(10; 20)"),
        ("(;)", "(; )"),
        ("(;;)", "(; ; )"),
    ],
)
def test_other_ways_to_write_a_shape(text, same):
    assert str(Shape.parse(text)) == same


# Laws.


@given(shapes())
def test_parse_is_the_inverse_of_str(shape):
    for text in (str(shape), format(shape, "full")):
        again = Shape.parse(text)
        assert again == shape
        assert hash(again) == hash(shape)
        assert (again.kind, again.layers) == (shape.kind, shape.layers)
        assert str(again) == text


@given(st.one_of(triangular_shapes(), tiled_shapes(), jagged_shapes(min_rank=3)), st.data())
def test_layers_over_every_kind(flat, data):
    marks = sorted(data.draw(st.lists(st.integers(0, flat.rank), max_size=4)))
    ends = [0, *marks, flat.rank]
    shape = nest(flat, *[b - a for a, b in pairwise(ends)])
    assert Shape.parse(str(shape)) == shape
    assert eval(repr(shape), {"Shape": Shape}) == shape


@given(shapes())
def test_white_space_is_free(shape):
    text = re.sub(r"([(),;|x@])", r"\t\1 \n", str(shape))
    assert Shape.parse(text) == shape


BIG = st.sampled_from([0, 1, 2, 2**31, 2**62 - 1])
SMALL_MOVES = st.sampled_from([0, 1, -1, 2**61, -(2**61)])


@given(st.data())
def test_extents_and_origins_up_to_64_bits(data):
    rank = data.draw(st.integers(2, 3))
    rows = data.draw(st.lists(st.tuples(*[BIG] * rank), min_size=1, max_size=3))
    starts = [data.draw(st.tuples(*[SMALL_MOVES] * rank)) for _ in rows]
    shape = Shape.from_cells((len(rows),), rows, origins=starts)
    moved = shape.translate_by([data.draw(SMALL_MOVES) for _ in range(rank + 1)])
    for s in (shape, moved):
        assert Shape.parse(str(s)) == s
        assert eval(repr(s), {"Shape": Shape}) == s


@given(st.lists(st.tuples(st.integers(0, 2**200), st.integers(-(2**200), 2**200)), max_size=4))
def test_boxes_have_numbers_of_any_size(modes):
    box = Shape.smooth([n for n, _ in modes], origin=[o for _, o in modes])
    assert Shape.parse(str(box)) == box
    assert eval(repr(box), {"Shape": Shape}) == box


def test_the_origin_of_what_is_not_there_does_not_bind_its_extent():
    # No index leads to the last mode, so that nothing would end beyond 64 bits.
    shape = Shape(3, 0, 2**62).as_jagged().translate_by((0, 0, 2**62))
    cells = Shape.jagged([Shape(0, 2**62), Shape(1, 5)]).translate_by((0, 0, 2**62))
    assert Shape.parse(str(shape)) == shape
    assert Shape.parse(str(cells)) == cells


def test_a_view_has_the_text_of_the_value():
    for view, value in [
        (CELLS[1], Shape(30, 40)),
        (CELLS.as_smooth(), Shape(3, 50, 60)),
        (DEEP[1:], Shape.jagged([[20, 30], [30, 10, 20]], origin=(1, 0, 0))),
        (nest(DEEP, 1, 2)[1:], nest(Shape.jagged([[20, 30], [30, 10, 20]], origin=(1, 0, 0)), 1, 2)),
    ]:
        assert (str(view), repr(view)) == (str(value), repr(value))


@pytest.mark.parametrize("spec", ["d", ">20", "Full", "full ", "r"])
def test_formats_that_there_are_not(spec):
    with pytest.raises(ConversionError, match=f'"full".*{re.escape(repr(spec))}'):
        format(Shape(2, 3), spec)


def test_a_shape_does_not_equal_its_text():
    assert Shape(2, 3) != "(2, 3)"
    assert as_shape((2, 3)) == Shape(2, 3)
