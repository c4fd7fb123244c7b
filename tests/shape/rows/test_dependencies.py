"""On which modes the range of a mode depends, found window after window."""

import numpy as np
import pytest
from hypothesis import given

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
