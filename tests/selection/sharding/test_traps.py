"""Tensor operations that Tapestry gets wrong, on ours: each row is a defect that must not come back."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import TensorWrapperError

ROWS = tw.as_tensor(np.arange(6).reshape(2, 3))


def test_an_ellipsis_stands_for_all_modes_that_are_left():
    assert ROWS[..., 0].tolist() == [0, 3]
    assert ROWS[..., ::2].tolist() == [[0, 2], [3, 5]]


def test_an_empty_slice_is_a_view():
    ten = tw.as_tensor(np.arange(10))

    assert ten[10:10].shape.extents == (0,)
    assert tw.as_tensor(np.zeros((0, 3)))[:].shape.extents == (0, 3)


def test_a_slice_of_one_element_is_squeezed_and_broadcast():
    one = tw.as_tensor(np.arange(10))[4:5]

    assert one.squeeze(0).item() == 4
    assert one.broadcast((3,)).tolist() == [4, 4, 4]


def test_a_mode_of_three_elements_is_not_squeezed_though_they_are_one():
    with pytest.raises(TensorWrapperError, match="3"):
        tw.as_tensor(np.array([7])).broadcast((3,)).squeeze(0)


@pytest.mark.parametrize(("extent", "wanted"), [(0, 5), (3, 5), (2, 4)])
def test_only_an_extent_of_one_is_broadcast(extent, wanted):
    with pytest.raises(TensorWrapperError):
        tw.as_tensor(np.zeros(extent)).broadcast((wanted,))


def test_one_element_is_broadcast_to_none():
    assert tw.as_tensor(np.array([7])).broadcast((0,)).shape.extents == (0,)


def test_rows_of_different_lengths_are_jagged_not_cut_short():
    assert tw.jagged([[1], [3, 4]]).tolist() == [[1], [3, 4]]


def test_a_step_back_without_a_stop_starts_at_the_first():
    assert ROWS[:, :2:2].tolist() == [[0], [3]]
