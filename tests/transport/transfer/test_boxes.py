"""Runs of a box as boxes."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.transport.transfer._boxes import boxes_of_run


@given(st.lists(st.integers(1, 5), min_size=0, max_size=4), st.data())
def test_boxes_have_the_elements_of_the_run_in_order_and_are_few(extents, data):
    size = math.prod(extents)
    first = data.draw(st.integers(0, size - 1))
    count = data.draw(st.integers(1, size - first))
    array = np.arange(size).reshape(extents)
    found = list(boxes_of_run(extents, first, count))
    assert [number for key, _ in found for number in array[(*key, ...)].reshape(-1)] == [
        *range(first, first + count)
    ]
    assert [array[(*key, ...)].size for key, _ in found] == [each for _, each in found]
    assert len(found) <= max(2 * len(extents) - 1, 1)
