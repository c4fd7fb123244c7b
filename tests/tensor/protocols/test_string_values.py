"""Strings as users have them: nested, flat, or none."""

import copy
import pickle

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape

TEXT = np.dtypes.StringDType()


NULLABLE = np.dtypes.StringDType(na_object=None)


@pytest.mark.parametrize(
    "shape",
    [
        Shape(2, 3, origin=(1, 1)),
        Shape.jagged([1, 0, 5]),
        Shape.tiled([1, 1], [3]),
        Shape.nested(Shape(2, 3), layers=(1, 1)),
        Shape.from_cells((2,), [(1, 2), (2, 2)]),
    ],
)
def test_a_flat_sequence_has_the_elements_of_any_shape(shape):
    tensor = tw.strings(list("abcdef"), shape=shape)

    assert tensor.shape == shape
    assert tensor.elements().tolist() == list("abcdef")
    for same in (tensor.copy(), copy.copy(tensor), copy.deepcopy(tensor), pickle.loads(pickle.dumps(tensor))):
        assert same.shape == shape
        assert same.array_equal(tensor)
    assert tensor.is_valid().shape == tensor.byte_lengths().shape == shape


def test_the_kind_of_nothing_and_of_nulls_is_what_is_asked_for():
    assert tw.strings([]).dtype == TEXT
    assert tw.strings([], kind="binary").dtype == object
    assert tw.strings([None, None]).dtype == NULLABLE
    assert tw.strings([None], kind="binary").to_string_data().kind == "binary"
    assert tw.strings(np.array([None]), kind="binary").to_string_data().kind == "binary"
