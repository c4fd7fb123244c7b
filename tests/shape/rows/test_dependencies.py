"""On which modes the range of a mode depends, found window after window."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Shape
from tensorwrapper.shape import Jagged, Rows
from tensorwrapper.shape.lowlevel import wrap
from tensorwrapper.shape.rows._dependencies import dependencies_of
from tests.support.shape.row_sets import LENGTHS, MIB, NODES, N, peak_of, prefixes, rows


@pytest.fixture
def long():
    """Rows of 2 to 5, of which nothing is known yet."""
    return Shape.jagged(LENGTHS)


@pytest.fixture
def deep():
    """Rows of 1 to 3 rows, whose lengths go by the index in the row: mode 2 depends on mode 1 alone."""
    counts = np.arange(N // 4) % 3 + 1
    inner = np.concatenate([[4, 5, 6][:n] for n in (1, 2, 3)] * (N // 12 + 1))[: counts.sum()]
    return wrap(Jagged(Rows.of_lengths(counts, inner)))


def test_w12_bounds_and_dependencies_are_found_in_the_memory_of_a_window(long, deep):
    for question, answer in (
        (lambda: long.dependencies(1), (0,)),
        (lambda: long.extent_bounds(1), (2, 5)),
        (lambda: long.as_smooth().extents, (N, 5)),
        (lambda: long.extent_bounds(0), (N, N)),
        (lambda: long.extent(0), N),
        (lambda: long.raggedness, "gridded"),
        (lambda: deep.dependencies(2), (1,)),
        (lambda: deep.dependencies(1), (0,)),
        (lambda: deep.as_smooth().extents, (N // 4, 3, 6)),
    ):
        found, peak = peak_of(question)
        assert found == answer
        assert peak < 5 * MIB


def determined(of, mode, by):
    """Whether the range of a mode is a function of the modes `by`, at every prefix that leads to it."""
    found = {}
    return all(
        found.setdefault(tuple([prefix[m] for m in by]), of.range_under(prefix)) == of.range_under(prefix)
        for prefix in prefixes(of, mode)
    )


@given(rows(), NODES)
def test_dependencies_are_enough_and_none_can_be_spared(of, nodes):
    for mode in range(3):
        needs = dependencies_of(of, mode, nodes)
        assert list(needs) == sorted(needs)
        assert determined(of, mode, needs)
        assert not any(determined(of, mode, [m for m in needs if m != spared]) for spared in needs)


@given(
    st.lists(st.integers(0, 3), max_size=6),
    st.tuples(st.integers(0, 2), st.integers(0, 2)),
    st.data(),
)
def test_modes_of_one_extent_behind_rows_are_told_without_the_rows(lengths, inner, data):
    table = np.array([(length, *inner) for length in lengths], np.int64).reshape(-1, 3)
    if len(table) and data.draw(st.booleans()):
        table[data.draw(st.integers(0, len(table) - 1)), data.draw(st.sampled_from([1, 2]))] += 1
    shape = Shape.from_cells((len(table),), table)
    stop = data.draw(st.integers(0, len(table)))
    start = data.draw(st.integers(0, stop))
    part, rows_of_part = shape[start:stop], table[start:stop]
    for mode in (1, 2, 3):
        # An extent counts where all modes before it have an index.
        seen = rows_of_part[(rows_of_part[:, : mode - 1] > 0).all(axis=1), mode - 1]
        bounds = (int(seen.min()), int(seen.max())) if len(seen) else (0, 0)
        assert part.extent_bounds(mode) == bounds
        assert part.is_uniform(mode) == (bounds[0] == bounds[1])
    offsets = np.r_[0, rows_of_part[:, 0].cumsum()]
    # Twice, as sums are remembered.
    for _ in range(2):
        assert part.arrow_lists()[0].offsets.tolist() == offsets.tolist()


def test_lists_of_rows_of_vectors_are_summed_once_and_not_for_a_few_of_them():
    table = np.stack([LENGTHS, np.full(len(LENGTHS), 3)], axis=1)
    shape = Shape.from_cells((len(table),), table)

    few, many = shape[5:9], shape[5:]
    offsets, peak = peak_of(lambda: few.arrow_lists()[0].offsets)
    first, again = (many.arrow_lists()[0].offsets for _ in range(2))

    assert offsets.tolist() == np.r_[0, LENGTHS[5:9].cumsum()].tolist()
    assert peak < MIB
    assert first.tolist() == again.tolist() == np.r_[0, LENGTHS[5:].cumsum()].tolist()
    one, other = (shape.arrow_lists()[0].offsets for _ in range(2))
    assert np.shares_memory(one, other)
