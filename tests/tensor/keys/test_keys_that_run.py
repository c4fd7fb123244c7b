"""A running iterator is a key of points: it leads to elements, and goes on behind them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import IndexTypeError, TensorWrapperError

SHAPES = [
    Shape(2, 3),
    Shape(2, 3, origin=(5, -1)),
    Shape(0, 3),
    Shape(),
    Shape.jagged([2, 0, 3]),
    Shape.jagged([Shape(2, 1), Shape(0, 3), Shape(1, 2)]),
    Shape.triangular(3),
    Shape.nested(Shape.jagged([2, 0, 1]), layers=(1, 1)),
]


@given(shape=st.sampled_from(SHAPES), order=st.sampled_from(["C", "F"]), data=st.data())
def test_it_leads_to_the_elements_that_are_left(shape, order, data):
    if order == "F" and not shape.flatten().is_box:
        order = "C"
    numbers = np.arange(shape.size)
    kinds = [tw.from_buffer(numbers, shape), sel.as_view(tw.from_buffer(numbers, shape))]
    first = data.draw(st.integers(0, shape.size))
    for tensor in kinds:
        it = shape.indices(order=order).iterator()
        it.position = first
        expected = [shape.ordinal(index) for index in it]
        it.position = first
        found = tensor.vindex[it]
        assert found.tolist() == expected
        assert (it.remaining, it.position) == (0, shape.size)
        it.position = first
        tensor.vindex[it] = -1
        assert np.flatnonzero(numbers == -1).tolist() == sorted(expected)
        numbers[:] = np.arange(shape.size)


def test_it_stays_where_it_was_when_it_leads_outside():
    t = tw.as_tensor(np.arange(6).reshape(2, 3))
    for tensor in (t, sel.as_view(t)):
        it = Shape(3, 3).indices().iterator()
        next(it)
        with pytest.raises(TensorWrapperError):
            tensor.vindex[it]
        assert it.position == 1
        with pytest.raises(IndexTypeError, match="list_iterator"):
            tensor.vindex[iter([0, 1])]


def test_text_and_sparse_elements_are_led_to():
    it = Shape(2).indices().iterator()
    assert tw.strings(["ab", "c"]).vindex[it].tolist() == ["ab", "c"]
    s = tw.sparse([[0, 1], [2, 2]], [1.0, 2.0], (3, 3))
    assert s.vindex[s.shape.indices().iterator()].to_dense().tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 2]
