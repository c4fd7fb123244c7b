"""Projections: Tapestry's tables row by row, and against going over every index."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tensorwrapper import Shape
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    JaggedModeError,
    ParseError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.sharding import IndexMap, Projection

P = Projection(IndexMap([[1, 0], [0, 1], [1, 1]], (10, 20, 30)), (4, 4, 1))


@st.composite
def cases(draw, most=3, extent=4):
    """A projection and a box of its indices: signs mixed, zero columns, empty boxes."""
    inputs, outputs = draw(st.integers(0, most)), draw(st.integers(0, most))
    numbers = st.integers(-3, 3)
    matrix = draw(
        st.lists(st.lists(numbers, min_size=inputs, max_size=inputs), min_size=outputs, max_size=outputs)
    )
    offset = draw(st.lists(st.integers(-9, 9), min_size=outputs, max_size=outputs))
    extents = draw(st.lists(st.integers(0, 3), min_size=outputs, max_size=outputs))
    sizes = draw(st.lists(st.integers(0, extent), min_size=inputs, max_size=inputs))
    origin = draw(st.lists(st.integers(-5, 5), min_size=inputs, max_size=inputs))
    return Projection(IndexMap(matrix, offset, input_rank=inputs), extents), Shape.smooth(
        sizes, origin=origin
    )


def brute(projection, box):
    """Return the bounding corners of the boxes of all indices of a box that is not empty."""
    boxes = [projection(index) for index in box.indices()]
    low = [min(starts) for starts in zip(*[b.origin for b in boxes], strict=True)]
    high = [
        max(ends)
        for ends in zip(*[map(sum, zip(b.origin, b.extents, strict=True)) for b in boxes], strict=True)
    ]
    return Shape.from_bounds(low, high)


# The tables.


def test_an_index_touches_a_box():
    assert P((5, 6)) == Shape(4, 4, 1, origin=(15, 26, 41))


def test_a_box_of_indices_touches_a_box():
    assert P.of_box(Shape.from_bounds((5, 6), (7, 8))) == Shape(5, 5, 3, origin=(15, 26, 41))


def test_an_empty_box_touches_nothing_at_a_place():
    assert P.of_box(Shape(0, 0, origin=(5, 6))) == Shape(0, 0, 0, origin=(15, 26, 41))
    assert P.of_box(Shape(0, 9, origin=(5, 6))) == Shape(0, 0, 0, origin=(15, 26, 41))


def test_a_translated_projection_touches_the_same_elsewhere():
    assert P.translate((1, 2, 3)) == Projection(IndexMap(P.matrix, (11, 22, 33)), (4, 4, 1))


def test_entries_before_those_of_the_map_have_extent_1():
    assert P.broadcast((100, 20, 5, 6)) == Shape(1, 1, 4, 4, 1, origin=(100, 20, 15, 26, 41))
    assert P.broadcast((5, 6)) == P((5, 6))


def test_there_are_as_many_extents_as_outputs():
    with pytest.raises(RankError, match=r"the map has 3 outputs, but there are 2 extents: \(4, 4\)"):
        Projection(P.index_map, (4, 4))


def transposed(rows, offset, extents):
    """Return a projection of a matrix whose rows are the inputs."""
    return Projection(IndexMap(np.array(rows).T, offset), extents)


def test_a_matrix_whose_rows_are_inputs_is_transposed():
    p = transposed([[2, 0, 1], [0, 1, 1]], (-1, -1, 0), (2, 2, 1))

    assert p((3, 2)) == Shape.from_bounds((5, 1, 5), (7, 3, 6))


def test_signs_may_be_mixed():
    p = transposed([[-2, 0, 1], [0, 1, 1]], (-1, -1, 0), (1, 1, 1))

    assert p.of_box(Shape.from_bounds((1, 1), (3, 2))) == Shape.from_bounds((-5, 0, 2), (-2, 1, 4))
    # The box of two corners only would be [0, 1).
    assert Projection("(i, j) -> (i - j)").of_box(Shape(3, 3)) == Shape.from_bounds((-2,), (3,))


def test_overlaps_and_gaps_of_neighbours():
    p = transposed([[1, 0, 1], [0, 2, 1]], (0, 0, 0), (1, 1, 4))

    assert [p.overlaps(c) for c in (0, 1)] == [(0, 1, 3), (1, 0, 3)]
    assert [p.gaps(c) for c in (0, -1)] == [(0, 0, 0), (0, 1, 0)]
    with pytest.raises(RankError, match="mode 2 does not exist"):
        p.overlaps(2)


# Against every index.


@given(cases())
def test_the_box_of_a_box_is_the_smallest_around_what_its_indices_touch(case):
    projection, box = case
    touched = projection.of_box(box)

    if box.size:
        assert touched == brute(projection, box)
    else:
        assert touched == Shape.smooth([0] * projection.output_rank, origin=projection.index_map(box.origin))


@given(cases())
def test_what_neighbours_share_is_counted(case):
    projection, box = case
    for c in range(projection.input_rank):
        index = box.origin
        step = tuple(i + (k == c) for k, i in enumerate(index))
        shared = projection(index).intersect(projection(step))

        assert projection.marginal_overlap(c) == shared.size == math.prod(projection.overlaps(c))
        for d, gap in enumerate(projection.gaps(c)):
            a, b = sorted((projection(x).origin[d], projection(x).extents[d]) for x in (index, step))
            assert gap == max(0, b[0] - a[0] - a[1])


@given(cases(), st.data())
def test_many_boxes_are_projected_as_each_is(case, data):
    projection, _ = case
    rank = projection.input_rank
    row = st.tuples(*[st.integers(-5, 5)] * rank)
    origins = data.draw(st.lists(row, max_size=6))
    extents = [data.draw(st.tuples(*[st.integers(0, 4)] * rank)) for _ in origins]
    tables = [np.array(t, dtype=np.int64).reshape(len(origins), rank) for t in (origins, extents)]
    low, spans = projection.of_boxes(*tables)

    assert low.shape == spans.shape == (len(origins), projection.output_rank)
    for o, e, a, s in zip(origins, extents, low.tolist(), spans.tolist(), strict=True):
        assert projection.of_box(Shape.smooth(e, origin=o)) == Shape.smooth(s, origin=a)


@given(st.lists(st.sampled_from([-(2**62), -(2**40), -1, 0, 1, 2**40, 2**62, 2**70]), min_size=4, max_size=4))
def test_many_boxes_never_wrap(numbers):
    a, b, start, extent = numbers
    projection = Projection(IndexMap([[a]], (b,)), (abs(start),))
    origins, extents = [[min(start, 2**62)]], [[min(abs(extent), 2**61)]]
    wanted = projection.of_box(Shape.smooth(extents[0], origin=origins[0]))
    try:
        low, spans = projection.of_boxes(origins, extents)
    except SizeOverflowError:
        # Refused by bounds that are a little wider than the box.
        reach = abs(a) * extents[0][0] + projection.extents[0] + abs(b)
        assert max(abs(wanted.origin[0]), reach) > 2**60
        return
    assert Shape.smooth(spans[0].tolist(), origin=low[0].tolist()) == wanted


def test_boxes_of_any_size_are_projected_one_by_one():
    far = Projection("(i) -> (1000000000000000000000*i)", (5,)).of_box(Shape(10**30))

    assert far.extents == ((10**30 - 1) * 10**21 + 5,)


@given(cases(extent=3))
@example((Projection("(i, j) -> (2*i + 3*j)", (1,)), Shape(3, 3)))
@example((Projection("(i, j) -> (2*i + 2*j)", (1,)), Shape(3, 3)))
@example((Projection("(i, j) -> (i, i + 3*j)", (1, 2)), Shape(3, 3)))
@example((Projection("(i) -> (5*i)", (0,)), Shape(3)))
def test_waste_is_what_no_index_touches(case):
    projection, box = case
    touched = {place for index in box.indices() for place in projection(index).indices()}

    # Where boxes of single indices are empty, those around them are not, and nothing of them is touched.
    assert projection.waste(box) == (projection.of_box(box).size - len(touched) if box.size else 0)


def test_runs_that_touch_keep_the_gaps_inside_them():
    # Input 1 leaves every second place free, and input 0 puts such runs side by side.
    assert Projection("(i, j) -> (3*i + 2*j)").waste((3, 2)) == 9 - 6


def test_waste_of_any_size_is_known_where_steps_nest():
    far = 10**30

    assert Projection(IndexMap([[far, 2]]), (1,)).waste((5, 4)) == 4 * far + 7 - 20
    with pytest.raises(SizeOverflowError, match="counted one by one"):
        Projection("(i, j) -> (i + 100000000*j, j)").waste((5, 4))


# Refusals, values, text.


def test_what_cannot_be_projected_is_refused():
    with pytest.raises(RankError, match="range has rank 3, but the projection takes 2"):
        P.of_box(Shape(1, 2, 3))
    with pytest.raises(JaggedModeError, match="must be a box"):
        P.of_box(Shape.jagged([1, 2]))
    with pytest.raises(RankError, match="two tables"):
        P.of_boxes([[1, 2]], [[1, 2], [3, 4]])
    with pytest.raises(ExtentError, match="negative, but one is -1"):
        P.of_boxes([[1, 2]], [[1, -1]])
    with pytest.raises(ExtentError, match="negative"):
        Projection("(i) -> (i)", (-1,))
    with pytest.raises(ConversionError, match="an IndexMap or its text"):
        Projection(5)
    with pytest.raises(ConversionError, match="extents must be an integer"):
        Projection("(i) -> (i)", (1.0,))


@given(cases())
def test_a_projection_is_a_value_with_a_text(case):
    projection, _ = case
    for same in (
        Projection.parse(str(projection)),
        pickle.loads(pickle.dumps(projection)),
        eval(repr(projection)),
    ):
        assert same == projection
        assert hash(same) == hash(projection)


@pytest.mark.parametrize(
    "text",
    ["(i) -> (i) by (1, 2)", "(i) -> (i) by (-1)", "(i) -> (i) by 2", "(i) -> (i) by (1) x", "by (1)", ""],
)
def test_a_text_that_is_no_projection_is_refused(text):
    with pytest.raises(ParseError):
        Projection.parse(text)


def test_examples_of_operations_read_what_they_should():
    m, n = 10, 12
    index = Shape(m, n)
    x = Projection("(m, n) -> (m - 10, 0)", (1, 5))
    y = Projection("(m, n) -> (0, n)", (5, 1))
    t = Projection("(i, j) -> (i + 200, j + 50)")
    rows = Projection("(i) -> (i, 0)", (1, n))

    assert x.of_box(index) == Shape(10, 5, origin=(-10, 0))
    assert y.of_box(index) == Shape(5, 12)
    assert t.of_box(Shape(10, 5)) == Shape(10, 5, origin=(200, 50))
    assert rows.of_box(Shape(m)) == index
    assert Projection("(b, i, j) -> (0, j)").of_box(Shape(4, 5, 6)) == Shape(1, 6)


def test_marginal_overlap_is_what_an_index_and_the_next_read():
    conv = Projection("(n, y, x) -> (n, y, 2*x)", (1, 3, 5))
    boxes = {index: set(conv(index).indices()) for index in itertools.product(range(2), repeat=3)}

    for mode in range(3):
        step = tuple(int(mode == k) for k in range(3))
        assert conv.marginal_overlap(mode) == len(boxes[0, 0, 0] & boxes[step])
