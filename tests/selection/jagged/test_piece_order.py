"""Rows said by splits are the pieces that they stand for, whole and in part."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorwrapper.selection.jagged._flatten import ConcatenatedRows, Filled, Spread, listed
from tensorwrapper.selection.runners._leaves import MemoryLeaf

LINES = [np.arange(60), np.arange(100, 160), np.arange(200, 260)]


def splits(lengths):
    return np.concatenate([[0], np.cumsum(np.array(lengths, dtype=np.int64))]).astype(np.int64)


@st.composite
def forms(draw):
    """A form, and the steps of its operands."""
    lengths = st.lists(st.integers(0, 4), min_size=(count := draw(st.integers(1, 8))), max_size=count)
    own = splits(draw(lengths))
    kind = draw(st.sampled_from(["turns", "filled", "cut", "spread"]))
    if kind == "turns":
        return ConcatenatedRows((own, splits(draw(lengths)), splits(draw(lengths)))), (1, 1, 1)
    if kind == "spread":
        return Spread(own, draw(st.integers(0, 3))), (0,)
    counts, least = np.diff(own), draw(st.integers(0, 5))
    if kind == "filled":
        return Filled(own, own, splits(np.maximum(counts, least))), (1, 0)
    return Filled(own, splits(np.minimum(counts, least)), splits(np.full_like(counts, least))), (1, 0)


def by_pieces(form, steps):
    """What the pieces of a form have, one after the other."""
    sources, starts, lengths = form.table()
    assert (lengths > 0).all()
    pieces = zip(sources.tolist(), starts.tolist(), lengths.tolist(), strict=True)
    return np.concatenate([LINES[k][start + steps[k] * np.arange(n)] for k, start, n in pieces])


def by_rows(form):
    out = np.empty(form.size, dtype=np.int64)
    form.runner(lambda number: MemoryLeaf(LINES[number])).fill((slice(0, form.size),), out)
    return out


@given(forms(), st.data())
@settings(max_examples=150)
def test_rows_are_the_pieces_that_they_stand_for(found, data):
    form, steps = found
    if not form.size:
        return
    expected = by_pieces(form, steps)
    np.testing.assert_array_equal(by_rows(form), expected)
    low = data.draw(st.integers(0, form.size - 1))
    count = data.draw(st.integers(1, form.size - low))
    first, last = form.around(low, count)
    part, before = form.part(first, last), form.begin(first) - form.begin(0)
    # The first and the last of the rows have some of the elements.
    assert before <= low < form.begin(first + 1) - form.begin(0)
    assert form.begin(last - 1) - form.begin(0) < low + count <= before + part.size
    np.testing.assert_array_equal(by_rows(part), expected[before : before + part.size])
    np.testing.assert_array_equal(by_pieces(part, steps), expected[before : before + part.size])


def test_pieces_without_elements_are_none_and_few_operands_take_few_bytes():
    sources, starts, lengths = listed(3, np.array([0, 1, 2]), np.array([5, 6, 7]), np.array([1, 0, 2]))
    assert (sources.tolist(), starts.tolist(), lengths.tolist()) == ([0, 2], [5, 7], [1, 2])
    assert sources.dtype == np.int8
    assert listed(1 << 16, np.array([0]), np.array([5]), np.array([1]))[0].dtype == np.int32
