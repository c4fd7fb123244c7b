"""The repr of shapes: the call that makes the value, cut short beyond 1000 numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.shape import Shape
from tensorwrapper.shape.text._repr import _call, shape_repr
from tensorwrapper.shape.text._text import SHOWN
from tensorwrapper.testing import shapes
from tests.support.shape.shape_texts import TEXTS


@pytest.mark.parametrize(("shape", "text"), TEXTS, ids=[text[:60] for _, text in TEXTS])
def test_the_repr_of_each_kind_evaluates(shape, text):
    if "..." not in repr(shape):
        assert eval(repr(shape), {"Shape": Shape}) == shape
    else:
        assert shape.extent_at(()) >= 2000, text


@given(shapes())
def test_the_repr_of_a_small_shape_evaluates(shape):
    assert eval(repr(shape), {"Shape": Shape}) == shape


def test_reprs_of_1000_numbers_evaluate_and_of_1001_do_not():
    assert repr(Shape.jagged([1] * 1000)) == f"Shape.jagged({[1] * 1000})"
    assert repr(Shape.jagged([1] * 1001)) == f"Shape.jagged([{'1, ' * 12}...])"
    assert repr(Shape.tiled([1] * 1000)) == f"Shape.tiled({[1] * 1000})"
    assert "..." in repr(Shape.tiled([1] * 1001))
    assert "..." in repr(Shape.jagged([[]] * 1001))


@given(st.integers(1001, 1100), st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 50))
def test_many_rows_are_written_by_the_short_way_as_by_the_general_one(count, first, start, skipped):
    lengths = np.arange(count + skipped) % 5
    shape = Shape.jagged(lengths)[skipped:].translate_to((first, start))
    for own in (shape, shape[...], Shape.jagged(lengths)):
        implementation = own.implementation
        assert shape_repr(implementation) == _call(implementation, SHOWN)
