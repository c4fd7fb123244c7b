"""Copies by tables of one mode each: their memory is the sum of the extents, and every element moves."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape
from tensorwrapper.layout.copies import _gather
from tensorwrapper.layout.copies._gather import GatherCopy

MODES = st.lists(st.integers(1, 4), min_size=1, max_size=3)


def draw(random, count):
    return np.array([random.randrange(50) for _ in range(count)])


@given(MODES, st.integers(1, 5), st.randoms(use_true_random=False), st.sampled_from([1, 3, 1 << 15]))
def test_every_run_is_in_one_plane(extents, length, random, batch):
    tables = tuple(
        (
            np.array([random.randrange(50) for _ in range(n)]),
            np.array([random.randrange(50) for _ in range(n)]),
        )
        for n in extents
    )
    copy = GatherCopy(7, 2, tables, length)
    expected = sorted(
        (
            7 + sum(s[k] for (s, _), k in zip(tables, index, strict=True)),
            2 + sum(t[k] for (_, t), k in zip(tables, index, strict=True)),
        )
        for index in np.ndindex(*extents)
    )
    before, _gather._BATCH = _gather._BATCH, batch
    try:
        found = [
            pair
            for table in copy.tables()
            for pair in zip(table.source.tolist(), table.target.tolist(), strict=True)
        ]
    finally:
        _gather._BATCH = before

    assert sorted(found) == expected
    assert copy.count == len(expected)


def test_rows_that_stay_neighbours_are_one_run():
    layout = Layout(Shape(4, 5)).gather(0, [3, 1, 2])
    plan = layout.copy_plan(Layout(Shape(3, 5)))

    assert plan.run_length == (5, 10)
