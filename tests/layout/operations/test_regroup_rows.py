"""Rows of layouts counted as one and dealt anew: the offsets stay as they were, in the same order."""

import numpy as np
import pytest

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import ExtentError, RankError


def test_lengths_may_say_to_which_prefix_they_belong():
    layout = Layout(Shape.jagged([3, 0, 2]))
    parents = np.array([0, 2, 2, 3])

    dealt = layout.split_rows([1, 2, 2], 1, parents=parents)

    assert dealt.shape == Shape.jagged([[1, 2], [], [2]])
    assert [dealt.offset_of(index) for index in dealt.shape.indices()] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("lengths", "mode", "error", "text"),
    [
        ([1, 1], 0, ExtentError, "2"),
        ([[1, 4]], 0, RankError, r"counts form one axis, not an array of shape \(1, 2\)"),
        ([5], 1, RankError, "mode 1"),
    ],
)
def test_what_does_not_add_up_is_refused(lengths, mode, error, text):
    with pytest.raises(error, match=text):
        Layout(Shape(5)).split_rows(lengths, mode)
