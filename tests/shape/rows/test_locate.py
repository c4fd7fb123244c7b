"""Going over jagged shapes whose lines are long, and finding runs of consecutive indices."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.shape import Shape

LENGTHS = st.lists(st.sampled_from([0, 1, 2, 17, 40]), min_size=1, max_size=8)


@st.composite
def long_shapes(draw):
    """Shapes with short and long lines, which are gone over in two ways, and views of them."""
    lengths = draw(LENGTHS)
    kind = draw(st.sampled_from(["rows", "starts", "cells", "deep", "even"]))
    if kind == "rows":
        shape = Shape.jagged(lengths, origin=(draw(st.integers(-3, 3)), 5))
    elif kind == "starts":
        starts = draw(st.lists(st.integers(-3, 3), min_size=len(lengths), max_size=len(lengths)))
        shape = Shape.from_cells((len(lengths),), [(n,) for n in lengths], origins=[(o,) for o in starts])
    elif kind == "cells":
        heights = draw(st.lists(st.integers(0, 3), min_size=len(lengths), max_size=len(lengths)))
        table = list(zip(heights, lengths, strict=True))
        shape = Shape.from_cells((len(lengths),), table, origins=[(k, -k) for k in range(len(lengths))])
    elif kind == "deep":
        shape = Shape.jagged([lengths, lengths[:1], lengths[1:], lengths])
    else:
        shape = Shape.from_cells((len(lengths),), np.full((len(lengths), 2), (2, 40)))
    start = draw(st.integers(0, 2))
    first = shape.origin_at(())
    if draw(st.booleans()) and start < shape.extent_at(()):
        shape = shape[first + start :]
    return shape


def one_by_one(shape):
    return [shape.index(k) for k in range(shape.size)]


@given(long_shapes())
def test_a_walk_gives_the_indices_one_by_one(shape):
    assert list(shape.indices()) == one_by_one(shape)
    assert list(Shape.nested(shape, layers=(1, shape.rank - 1)).indices()) == one_by_one(shape)


@given(long_shapes(), st.data())
def test_consecutive_ordinals_are_those_found_one_by_one(shape, data):
    expected = one_by_one(shape)
    start = data.draw(st.integers(0, shape.size))
    stop = data.draw(st.integers(start, shape.size))
    for step in (1, -1, 2):
        ordinals = np.arange(shape.size)[start:stop][::step]
        found = shape.indices_at(ordinals)
        assert list(map(tuple, found.tolist())) == [expected[k] for k in ordinals]


@pytest.mark.parametrize(
    "shape",
    [
        Shape.jagged(np.r_[np.zeros(3000, dtype=int), 100, np.zeros(3000, dtype=int), 100]),
        Shape.jagged(np.r_[40, np.ones(200, dtype=int), 0, 90]),
        Shape.jagged(np.full(3000, 20))[7:2900],
        Shape.from_cells((1500, 2), np.tile([(1, 20), (0, 3), (2, 30)], (1000, 1)), origins=[(4, -4)] * 3000),
    ],
)
def test_more_lines_than_are_made_at_a_time(shape):
    expected = one_by_one(shape)
    assert list(shape.indices()) == expected
    assert list(map(tuple, shape.indices().to_numpy().tolist())) == expected
    assert list(map(tuple, shape.indices_at(np.arange(90, 170)).tolist())) == expected[90:170]


def test_a_line_longer_than_memory_is_begun_at_once():
    shape = Shape.jagged([10**12, 3])
    assert list(itertools.islice(shape.indices(), 3)) == [(0, 0), (0, 1), (0, 2)]
    assert list(shape.indices()[10**12 :]) == [(1, 0), (1, 1), (1, 2)]
