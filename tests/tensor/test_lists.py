"""Nested lists of numbers: boxes and cells, as deep as they have modes."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.tensor._lists import nest_box


@pytest.mark.parametrize("extents", [(), (3,), (2, 3), (2, 1, 3), (0,), (2, 0), (0, 3), (2, 0, 3)])
def test_a_box_is_numpys_lists(extents):
    array = np.arange(np.prod(extents, dtype=int)).reshape(extents)

    assert nest_box(array.reshape(-1).tolist(), extents) == array.tolist()


@pytest.mark.parametrize(
    "lists", [[[1, 2], [], [3]], [[[1], []], [], [[2, 3]]], [[[[1, 2]], []], [[[3]], [[4, 5]]]]]
)
def test_rows_are_the_lists_that_they_were_made_of(lists):
    assert tw.jagged(lists).tolist() == lists
