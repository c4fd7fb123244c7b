"""Rows of packed lists selected at once, against the table of cells that says the same of any layout."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape
from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.layout.cells import _row_layout
from tensorwrapper.layout.cells._row_layout import Lists

LENGTHS = st.lists(st.integers(0, 4), max_size=9)
BOUNDS = st.none() | st.integers(-6, 6)
STEPS = st.none() | st.sampled_from([1, -1, 2, -3, 2**70])
SLICES = st.builds(slice, BOUNDS, BOUNDS, STEPS)
FEW = settings(max_examples=60)


@st.composite
def layouts(draw):
    """Packed lists, whole ones or some of the rows of larger ones, away from zero."""
    lengths = draw(LENGTHS)
    layout = Layout(Shape.jagged(lengths, rank=2), offset=draw(st.integers(0, 3)))
    return layout[draw(st.integers(0, len(lengths))) :]


def by_hand(layout):
    """The places of each row."""
    splits = layout.shape.splits(1).tolist()
    return [[layout.offset + k for k in range(a, b)] for a, b in pairwise(splits)]


def places(layout):
    """The same, asked of the layout as a whole."""
    found = layout.to_numpy().tolist()
    splits = layout.shape.splits(1).tolist()
    return [found[a:b] for a, b in pairwise(splits)]


def agree(made, general, rows):
    """What is selected at once has these rows, and is the value that the table of cells gives."""
    assert places(made) == rows
    flat = [place for row in rows for place in row]
    assert made.bounds() == (min(flat, default=0), max(flat, default=-1))
    least, greatest = made.implementation.reach()
    assert not flat or (least <= min(flat) and greatest >= max(flat))
    own = made.implementation
    assert (own, hash(own)) == (general, hash(general))
    assert (own.is_injective, own.is_contiguous) == (general.is_injective, general.is_contiguous)
    assert (own.offset, own.expression()) == (general.offset, general.expression())
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert repr(again) == repr(made)
    for row in range(len(rows)):
        assert made[row].to_numpy().tolist() == rows[row]


@given(layouts(), SLICES, SLICES, st.sampled_from([1, 2, 3, 1 << 14]))
@FEW
def test_slices_of_rows_and_of_each_are_those_of_the_table(layout, head, tail, at_a_time):
    before, _row_layout._ROWS = _row_layout._ROWS, at_a_time
    try:
        made = layout[head, tail]
        table = layout.implementation.as_blocked()
        general = table.at((head, tail))
        # All of a table is that table, of which nobody asked whether it is packed.
        general = layout.implementation if general is table else general
        agree(made, general, [row[tail] for row in by_hand(layout)[head]])
    finally:
        _row_layout._ROWS = before


@given(layouts(), SLICES, SLICES)
@FEW
def test_a_new_mode_between_rows_and_their_elements_is_one_of_each_row(layout, head, tail):
    """It was dropped without a word: `t[:, None]` had the rank, and the elements, of `t`."""
    made = layout[head, None, tail]
    rows = [row[tail] for row in by_hand(layout)[head]]
    assert (made.shape.rank, made.shape.extent(0)) == (3, len(rows))
    assert [made[k].shape for k in range(len(rows))] == [Shape(1, len(row)) for row in rows]
    assert made.to_numpy().tolist() == [place for row in rows for place in row]


@given(layouts(), st.data(), st.sampled_from([1, 2, 3, 1 << 14]))
@FEW
def test_rows_one_by_one_are_those_of_the_table(layout, data, at_a_time):
    count = layout.shape.extent(0)
    rows = data.draw(st.lists(st.integers(-count, max(count - 1, 0)), max_size=9 if count else 0))
    before, _row_layout._ROWS = _row_layout._ROWS, at_a_time
    try:
        made = layout.gather(0, rows)
        general = layout.implementation.as_blocked().gather(0, np.array(rows, dtype=np.int64))
        listed = by_hand(layout)
        agree(made, general, [listed[row] for row in rows])
    finally:
        _row_layout._ROWS = before


@given(
    LENGTHS,
    st.integers(-3, 3),
    st.integers(0, 2),
    st.sampled_from([1, 3, 64]),
    st.sampled_from([1, 4, 100]),
    st.data(),
)
@FEW
def test_places_come_in_order_and_a_few_at_a_time(lengths, step, first, rows, elements, data):
    splits = first + np.concatenate([[0], np.cumsum(np.array(lengths, dtype=np.int64))]).astype(np.int64)
    starts = 10 * np.arange(len(lengths), dtype=np.int64)
    before = _row_layout._ROWS, _row_layout._ELEMENTS
    _row_layout._ROWS, _row_layout._ELEMENTS = rows, elements
    try:
        lists = Lists(splits, starts, step)
        batches, bounds = list(lists.batches()), lists.bounds()
        low, high = sorted(data.draw(st.tuples(*[st.integers(0, sum(lengths))] * 2)))
        some = list(lists.batches(low, high))
    finally:
        _row_layout._ROWS, _row_layout._ELEMENTS = before
    expected = [10 * k + step * j for k, length in enumerate(lengths) for j in range(length)]
    assert [place for batch in batches for place in batch.tolist()] == expected
    assert [place for batch in some for place in batch.tolist()] == expected[low:high]
    assert all(0 < len(batch) <= elements for batch in [*batches, *some])
    assert bounds == (min(expected, default=0), max(expected, default=-1))


def test_rows_turned_keep_no_place_for_each_row():
    layout = Layout(Shape.jagged([2, 0, 3, 1]))
    turned = layout[::-1].implementation
    assert np.shares_memory(turned.starts, layout.shape.splits(1))
    assert places(layout[::-1]) == [[5], [2, 3, 4], [], [0, 1]]


def test_places_that_leave_64_bits_are_refused_before_they_are_counted():
    far = Layout(Shape.jagged([2, 0, 3]), offset=2**70)
    for select in (lambda: far[::-1], lambda: far[:, 1:], lambda: far.gather(0, [1, 0])):
        with pytest.raises(SizeOverflowError, match="64 bits"):
            select()
    none = Layout(Shape.jagged([0, 0]), offset=2**70)
    assert (none[::-1].shape.size, none.gather(0, [1, 0]).shape.size) == (0, 0)
    whole = Layout(Shape.jagged([2**62, 2**61]))
    with pytest.raises(SizeOverflowError):
        whole.gather(0, [0, 1, 0])
