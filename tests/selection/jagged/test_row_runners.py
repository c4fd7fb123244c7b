"""Rows in turns, filled up, or of one element each, against lists: from any window, and point by point."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorwrapper.selection.jagged import _flatten
from tensorwrapper.selection.jagged._flatten import ConcatenatedRows, Filled, RowsRunner, Spread
from tensorwrapper.selection.runners import _pieces
from tensorwrapper.selection.runners._leaves import MemoryLeaf
from tests.support.selection.computed_line import Computed

LENGTHS = st.lists(st.integers(0, 4), min_size=1, max_size=8)
FEW = settings(max_examples=60)
LINE, OTHER = np.arange(50), np.arange(100, 150)


def splits(lengths, first=0):
    return first + np.concatenate([[0], np.cumsum(np.array(lengths, dtype=np.int64))]).astype(np.int64)


def check(runner, rows, data):
    """A runner has these rows in their order, whatever window and points it is asked for."""
    expected = np.array([number for row in rows for number in row], dtype=np.int64)
    assert (runner.extents, runner.form.rows) == ((len(expected),), len(rows))
    if not len(expected):
        return
    low = data.draw(st.integers(0, len(expected) - 1))
    high = data.draw(st.integers(low + 1, len(expected)))
    out = np.empty(high - low, dtype=np.int64)
    # Drawn before anything is set: a draw may end the example.
    most, block = data.draw(st.sampled_from([(1, 3), (2, 5), (1 << 14, 1 << 16)]))
    long = data.draw(st.sampled_from([2, 256]))
    before = _flatten._ROWS, _flatten.BLOCK, _pieces._LONG
    _flatten._ROWS, _flatten.BLOCK, _pieces._LONG = most, block, long
    try:
        runner.fill((slice(low, high),), out)
    finally:
        _flatten._ROWS, _flatten.BLOCK, _pieces._LONG = before
    np.testing.assert_array_equal(out, expected[low:high])
    np.testing.assert_array_equal(runner.points((np.arange(low, high)[::-1],)), expected[low:high][::-1])


@pytest.mark.parametrize("leaf", [MemoryLeaf, Computed])
@given(LENGTHS, st.integers(0, 3), st.data())
@FEW
def test_rows_of_lines_in_turns(leaf, lengths, first, data):
    others = data.draw(st.lists(st.integers(0, 4), min_size=len(lengths), max_size=len(lengths)))
    a, b = splits(lengths, first), splits(others)
    rows = [
        [*LINE[a[k] : a[k + 1]], *OTHER[b[k] : b[k + 1]], *LINE[a[k] : a[k + 1]]] for k in range(len(lengths))
    ]
    check(RowsRunner(ConcatenatedRows((a, b, a)), (leaf(LINE), leaf(OTHER), leaf(LINE))), rows, data)


@pytest.mark.parametrize("leaf", [MemoryLeaf, Computed])
@given(LENGTHS, st.integers(0, 3), st.booleans(), st.data())
@FEW
def test_rows_are_filled_up_and_cut(leaf, lengths, first, cut, data):
    least = data.draw(st.integers(0, 5))
    wanted = [least if cut else max(own, least) for own in lengths]
    kept = [min(own, one) for own, one in zip(lengths, wanted, strict=True)]
    begins = splits(lengths, first)
    rows = [
        [*LINE[start : start + own], *[-1] * (one - own)]
        for start, own, one in zip(begins[:-1], kept, wanted, strict=True)
    ]
    fill = MemoryLeaf(np.broadcast_to(np.int64(-1), (1,)))
    held = begins if kept == lengths else splits(kept)
    check(RowsRunner(Filled(begins, held, splits(wanted, 2)), (leaf(LINE), fill)), rows, data)


@pytest.mark.parametrize("leaf", [MemoryLeaf, Computed])
@given(LENGTHS, st.integers(0, 3), st.data())
@FEW
def test_rows_of_one_element_each(leaf, lengths, first, data):
    rows = [[int(LINE[first + k])] * own for k, own in enumerate(lengths)]
    check(RowsRunner(Spread(splits(lengths, 1), first), (leaf(LINE),)), rows, data)
