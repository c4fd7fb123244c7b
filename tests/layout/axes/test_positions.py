"""Positions of many offsets at once: for every offset those that a list of the map has."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.layout.axes import _positions
from tensorwrapper.layout.axes._axis import Cycle, Stride, Table
from tensorwrapper.layout.axes._positions import spread_of
from tests.support.layout.axes import cycles

SMALL = st.integers(-5, 5)
MAPS = (
    st.builds(Stride, st.integers(0, 9), SMALL)
    | st.lists(SMALL, max_size=9).map(lambda n: Table(np.array(n, dtype=np.int64)))
    | cycles()
)


@given(MAPS, st.integers(0, 32))
def test_every_offset_has_the_positions_of_the_list(axis, rounds):
    offsets = [axis.at(j) for j in range(axis.extent)]
    step = axis.step if isinstance(axis, Cycle) else 1
    asked = np.array([step * k for k in range(-40, 40)])
    # With few rounds allowed, those of longer cycles are solved for all at once.
    before, _positions._ROUNDS = _positions._ROUNDS, rounds
    try:
        spread = spread_of(axis, asked)
    finally:
        _positions._ROUNDS = before
    rows, places = spread.positions(np.arange(len(asked)))

    assert spread.totals().tolist() == [offsets.count(offset) for offset in asked.tolist()]
    assert sorted(zip(rows.tolist(), places.tolist(), strict=True)) == [
        (row, j)
        for row, asked_for in enumerate(asked.tolist())
        for j in range(len(offsets))
        if offsets[j] == asked_for
    ]


def test_some_of_the_offsets_keep_their_positions():
    spread = spread_of(Table(np.array([4, 2, 4])), np.array([2, 3, 4])).only(np.array([True, False, True]))

    assert spread.totals().tolist() == [1, 2]
    assert [part.tolist() for part in spread.positions(np.array([1]))] == [[0, 0], [0, 2]]
