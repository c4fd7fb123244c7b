"""A shape compared with what is no shape: a tuple of extents is the box that it says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw

SHAPES = [
    tw.Shape(2, 3),
    tw.Shape(2, 3, origin=(1, 0)),
    tw.Shape(2, 3).named("x", "y"),
    tw.Shape(),
    tw.Shape.jagged([3, 1]),
    tw.Shape.nested(tw.Shape(2, 3), layers=(1, 1)),
]


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
@given(st.one_of(st.sampled_from([[2, 3], []]), st.lists(st.integers(0, 4), max_size=3)))
def test_a_tuple_or_a_list_is_the_shape_that_it_says(shape, extents):
    same = shape == tw.as_shape(extents)
    for said in (tuple(extents), extents):
        assert (shape == said) == (said == shape) == same
        assert (shape != said) == (said != shape) == (not same)
    assert not same or hash(shape) == hash(tuple(extents))
    assert shape != [tuple(extents)]


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
@pytest.mark.parametrize("other", [None, 2, "(2, 3)", {2, 3}, Ellipsis], ids=repr)
def test_what_nobody_takes_for_a_shape_is_another(shape, other):
    assert shape != other
    assert other != shape
