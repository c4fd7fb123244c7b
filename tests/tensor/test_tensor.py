"""Tensors over nested shapes: the elements of layers are views, and lie together in memory."""

import pickle
from typing import get_args, get_origin

import numpy as np
import pytest
from hypothesis import given

import tensorwrapper as tw
from tensorwrapper import Layout, Shape
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import ReadOnlyError
from tensorwrapper.tensor import Tensor
from tensorwrapper.testing import nested_shapes
from tensorwrapper.typing import Rank2

MATRIX_OF_VECTORS = Shape.nested(Shape(2, 3, 4), layers=(2, 1))


@given(nested_shapes())
def test_a_nested_tensor_has_the_elements_of_the_flat_one(shape):
    flat = np.arange(shape.size)
    t = tw.from_buffer(flat, shape)
    u = tw.from_buffer(flat, shape.flatten())
    assert t.shape == shape
    assert t.tolist() == u.tolist()
    assert t.elements().tolist() == flat.tolist()
    assert str(t) == str(u)
    assert t.copy().shape == shape
    assert t.copy().array_equal(t)
    again = pickle.loads(pickle.dumps(t))
    assert again.shape == shape
    assert again.array_equal(t)
    t.assign(t.copy())
    assert flat.tolist() == list(range(shape.size))
    t[...] = 7
    assert set(flat.tolist()) <= {7}


@given(nested_shapes())
def test_the_elements_of_a_layer_are_views(shape):
    t = tw.from_buffer(np.arange(shape.size), shape)
    u = tw.from_buffer(np.arange(shape.size), shape.flatten())
    found = []
    for index, element in t.cells():
        assert element.shape == shape.element(index)
        assert element.array_equal(t.element(index))
        found += element.elements().tolist()
    assert found == u.elements().tolist()


def test_an_order_per_layer_keeps_each_element_in_one_piece():
    layout = Layout(MATRIX_OF_VECTORS, orders=["F", "C"])
    t = tw.from_buffer(np.arange(24), MATRIX_OF_VECTORS, layout=layout)
    with count_copies() as count:
        vector = t.element((0, 1))
        assert vector.elements().tolist() == [8, 9, 10, 11]
    assert count.copies == 0
    vector.assign(0)
    assert t.tolist()[0] == [[0, 1, 2, 3], [0, 0, 0, 0], [16, 17, 18, 19]]
    assert t.copy().tolist() == t.tolist()
    assert np.asarray(t).shape == (2, 3, 4)


def test_zeros_and_functions_over_nested_shapes():
    t = tw.zeros(MATRIX_OF_VECTORS, dtype="i4")
    assert (t.shape, t.size) == (MATRIX_OF_VECTORS, 24)
    filled = tw.full(MATRIX_OF_VECTORS, lambda block: sum(block.origin), dtype="i8")
    assert filled.shape == MATRIX_OF_VECTORS


def test_a_repeating_view_of_a_nested_tensor_is_read_only():
    t = tw.zeros(MATRIX_OF_VECTORS).gather(0, [0, 0])
    with pytest.raises(ReadOnlyError):
        t.assign(1)


def test_a_tensor_has_a_type_with_and_without_its_rank():
    assert get_origin(Tensor[np.float64]) is Tensor
    assert get_args(Tensor[np.float64]) == (np.float64,)
    assert get_args(Tensor[np.float64, Rank2]) == (np.float64, Rank2)
