"""Nested lists of numbers: boxes and cells, as deep as they have modes."""

import numpy as np
import pytest

import tensorwrapper as tw


@pytest.mark.parametrize("extents", [(), (3,), (2, 3), (2, 1, 3), (0,), (2, 0), (0, 3), (2, 0, 3)])
def test_a_box_is_numpys_lists(extents):
    array = np.arange(np.prod(extents, dtype=int)).reshape(extents)

    assert tw.as_tensor(array).tolist() == array.tolist()


@pytest.mark.parametrize(
    "lists", [[[1, 2], [], [3]], [[[1], []], [], [[2, 3]]], [[[[1, 2]], []], [[[3]], [[4, 5]]]]]
)
def test_rows_are_the_lists_that_they_were_made_of(lists):
    assert tw.jagged(lists).tolist() == lists
