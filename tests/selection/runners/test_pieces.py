"""Elements of a line that a layout selects are written from any window, and point by point."""

import tracemalloc

import numpy as np
import pytest

from tensorwrapper import Layout, Shape
from tensorwrapper.selection.runners._leaves import MemoryLeaf
from tensorwrapper.selection.runners._pieces import PlacedRunner, elements_at
from tests.support.selection.computed_line import Computed


@pytest.mark.parametrize("leaf", [MemoryLeaf, Computed])
def test_places_that_a_layout_selects(leaf):
    layout = Layout(Shape.jagged([3, 0, 2, 4]))[::-1]
    runner = PlacedRunner(leaf(np.arange(60, 69)), layout)
    expected = [65, 66, 67, 68, 63, 64, 60, 61, 62]
    out = np.empty(5, dtype=np.int64)
    runner.fill((slice(2, 7),), out)
    assert out.tolist() == expected[2:7]
    assert runner.points((np.array([8, 0]),)).tolist() == [62, 65]
    assert runner.extents == (9,)
    assert runner.dtype == np.int64


def test_a_few_places_of_memory_with_gaps_take_no_copy_of_all():
    memory, places = np.arange(2 * 10**6)[::2], np.array([5, 10**6 - 1, 5])
    for array in (memory, np.broadcast_to(np.int64(7), (10**6,))):
        tracemalloc.start()
        found = elements_at(MemoryLeaf(array), places)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found.tolist() == [array[k] for k in places]
        assert peak < 10**5
