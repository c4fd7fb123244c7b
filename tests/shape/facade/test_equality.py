"""A shape compared with what is no shape: never a silent False where a tuple of extents was meant."""

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError

SHAPES = [
    tw.Shape(2, 3),
    tw.Shape(2, 3, origin=(1, 0)),
    tw.Shape(2, 3).named("x", "y"),
    tw.Shape(),
    tw.Shape.jagged([3, 1]),
    tw.Shape.nested(tw.Shape(2, 3), layers=(1, 1)),
]


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
@given(st.lists(st.integers(0, 4), max_size=3))
def test_a_tuple_or_a_list_raises_on_either_side(shape, extents):
    for given_ in (tuple(extents), extents, [tuple(extents)]):
        for compare in (operator.eq, operator.ne):
            for operands in ((shape, given_), (given_, shape)):
                with pytest.raises(ConversionError, match="never equal to a"):
                    compare(*operands)


@given(st.lists(st.integers(0, 4), max_size=3), st.lists(st.integers(0, 4), max_size=3))
def test_what_the_error_advises_compares(mine, theirs):
    s = tw.Shape(*mine)
    with pytest.raises(ConversionError) as caught:
        _ = s == tuple(theirs)
    extents, shapes = str(caught.value).split("`")[1::2]

    assert eval(extents) == eval(shapes) == (mine == theirs)


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
@pytest.mark.parametrize("other", [None, 2, "(2, 3)", {2, 3}, Ellipsis], ids=repr)
def test_what_nobody_takes_for_a_shape_is_another(shape, other):
    assert shape != other
    assert other != shape
