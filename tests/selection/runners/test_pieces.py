"""Pieces of lines are written as lists of them are, from any window, and point by point."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape
from tensorwrapper.selection.runners import _pieces
from tensorwrapper.selection.runners._leaves import MemoryLeaf
from tensorwrapper.selection.runners._pieces import PiecesRunner, PlacedRunner, elements_at
from tests.support.selection.computed_line import Computed

LINES = [np.arange(40), np.arange(100, 140)]
CONSTANT = np.broadcast_to(np.int64(-1), (40,))


pieces = st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(1, 9))


@given(st.lists(pieces, min_size=1, max_size=30), st.sampled_from([1, 4, 1000]), st.data())
@pytest.mark.parametrize("leaf", [MemoryLeaf, Computed])
def test_windows_and_points_of_pieces(leaf, given, block, data):
    steps = (1, 0, 1)
    arrays = [LINES[0], LINES[1], CONSTANT]
    sources, starts, lengths = map(np.array, zip(*given, strict=True))
    runner = PiecesRunner(tuple(map(leaf, arrays)), sources, starts, lengths, np.cumsum(lengths), steps)
    expected = np.concatenate([arrays[k][s + steps[k] * np.arange(n)] for k, s, n in given])
    low = data.draw(st.integers(0, len(expected) - 1))
    high = data.draw(st.integers(low + 1, len(expected)))
    out = np.empty(high - low, dtype=np.int64)
    # Drawn before anything is set: a draw may end the example.
    wanted = data.draw(st.sampled_from([2, 256]))
    before, long = _pieces.BLOCK, _pieces._LONG
    _pieces.BLOCK, _pieces._LONG = block, wanted
    try:
        runner.fill((slice(low, high),), out)
    finally:
        _pieces.BLOCK, _pieces._LONG = before, long
    np.testing.assert_array_equal(out, expected[low:high])
    np.testing.assert_array_equal(runner.points((np.arange(low, high)[::-1],)), expected[low:high][::-1])


@pytest.mark.parametrize("leaf", [MemoryLeaf, Computed])
def test_places_that_a_layout_selects(leaf):
    layout = Layout(Shape.jagged([3, 0, 2, 4]))[::-1]
    runner = PlacedRunner(leaf(np.arange(60, 69)), layout, 0)
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
