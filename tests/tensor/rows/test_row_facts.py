"""What rows are known by, against nested lists."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.shape import Shape
from tensorwrapper.tensor.rows import _row_facts
from tensorwrapper.tensor.rows._row_facts import (
    counts_of,
    positions_of_mode,
    row_splits,
    rows_of_counts,
    run_lengths,
)


@pytest.fixture(autouse=True, scope="module")
def few_at_once():
    """Let blocks of rows end within what is drawn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_row_facts, "_AT_ONCE", 2)
        yield


LENGTHS = st.lists(st.integers(0, 4), min_size=1, max_size=4)
SHAPES = st.one_of(
    LENGTHS.map(Shape.jagged),
    st.lists(LENGTHS, min_size=1, max_size=3).map(Shape.jagged),
    st.lists(st.integers(0, 3), min_size=1, max_size=3).map(Shape.smooth),
)


def prefixes(shape, modes):
    """All prefixes of so many indices, also those under which nothing is."""
    return [()] if not modes else [tuple(index) for index in shape.leading(modes).indices()]


@given(SHAPES)
def test_splits_say_where_innermost_rows_begin(shape):
    lengths = [shape.extent_at(prefix) for prefix in prefixes(shape, shape.rank - 1)]

    assert np.diff(row_splits(shape)).tolist() == lengths
    assert row_splits(shape)[0] == 0


@given(SHAPES, st.data())
def test_counts_and_positions_are_those_at_every_prefix(shape, data):
    mode = data.draw(st.integers(0, shape.rank - 1))
    expected = [shape.extent_at(prefix) for prefix in prefixes(shape, mode)]

    over, counts = counts_of(shape, mode)
    assert over == shape.leading(mode)
    assert counts.reshape(-1).tolist() == expected
    over, positions = positions_of_mode(shape, mode)
    assert over == shape.leading(mode + 1)
    assert positions.reshape(-1).tolist() == [k for count in expected for k in range(count)]


@given(SHAPES, st.data())
def test_runs_end_where_a_row_ends_or_an_element_differs(shape, data):
    flat = data.draw(st.lists(st.integers(0, 1), min_size=shape.size, max_size=shape.size))
    splits, runs, counts = row_splits(shape).tolist(), [], []
    for a, b in pairwise(splits):
        counts.append(0)
        for k in range(a, b):
            if k > a and flat[k] == flat[k - 1]:
                runs[-1] += 1
            else:
                runs.append(1)
                counts[-1] += 1

    over, lengths = run_lengths(np.array(flat, dtype=np.int64), shape)
    assert lengths.tolist() == runs
    assert np.diff(row_splits(over)).tolist() == counts
    assert over == rows_of_counts(shape, np.array(counts))


def test_counts_beyond_an_address_space_are_refused():
    with pytest.raises(SizeOverflowError):
        counts_of(Shape(2**62, 3), 1)


def test_runs_keep_where_their_rows_are():
    rows = tw.jagged([[1, 1, 2], [], [2, 3, 3]]).translate_to((4, -1))
    for own in (rows, sel.as_view(rows)):
        assert own.run_lengths().tolist() == [[2, 1], [], [1, 2]]
        assert own.run_lengths().shape == tw.Shape.jagged([2, 0, 2]).translate_to((4, 0))
    deep = tw.jagged([[[1, 1], [2]], [[3, 3, 3]]]).translate_to((4, -1, 2))
    assert deep.run_lengths().shape.origin == (4, -1, 0)
    assert deep[1:].run_lengths().shape.origin == (0, 0, 0)
