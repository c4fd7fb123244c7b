"""On which modes the range of a mode depends, found window after window."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Shape
from tensorwrapper.shape import Jagged, Rows
from tensorwrapper.shape.lowlevel import wrap
from tensorwrapper.shape.rows._dependencies import dependencies_of

MIB = 2**20
N = 2**20
"""Rows: an array of one number for each is 8 MiB."""
LENGTHS = np.arange(N) * 7 % 4 + 2


def peak_of(make):
    """What `make` returns, and how many bytes there were at most while it did."""
    tracemalloc.start()
    try:
        made = make()
        return made, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


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


STARTS = st.integers(-2, 2)


NODES = st.sampled_from([1, 2, 3, 2**16])


"""How many prefixes there are in a window: rows are gone through window after window."""


@st.composite
def rows(draw):
    """Draw rows of rank 3: two unrolled modes over leaves of rank 1, or one over leaves of rank 2."""
    outer = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    first = draw(STARTS)
    if draw(st.booleans()):
        inner = draw(st.lists(st.integers(0, 3), min_size=sum(outer), max_size=sum(outer)))
        origins = [[draw(STARTS) for _ in outer], draw(st.one_of(STARTS, st.just([0] * len(inner))))]
        return Rows.of_lengths(np.array(outer), np.array(inner, dtype=np.int64), first=first, origins=origins)
    table = np.array([(n, draw(st.integers(0, 3))) for n in outer])
    return Rows.of_lengths(table, first=first, origins=[[draw(STARTS), draw(STARTS)]])


def span(of, prefix):
    """The indices of the mode after a prefix."""
    extent, start = of.range_under(prefix)
    return range(start, start + extent)


def prefixes(of, modes):
    """All prefixes of so many indices, also those under which nothing is."""
    found = [()]
    for _ in range(modes):
        found = [(*prefix, i) for prefix in found for i in span(of, prefix)]
    return found


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
