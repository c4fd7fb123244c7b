"""The positions of an offset and the offsets that there are, of axis maps of every kind."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.layout.axes._axis import Cycle, Table
from tensorwrapper.layout.axes._values import first_of, positions_of
from tests.support.layout.axes import cycles, defined, listed


@given(cycles(), st.integers(-200, 200))
def test_the_inverse_has_all_positions_ascending(axis, offset):
    places = defined(axis)
    for wanted in {offset, *places[:3], *places[-1:]}:
        positions = [j for j, place in enumerate(places) if place == wanted]
        assert positions_of(axis, wanted, 10**6) == positions
        assert first_of(axis, wanted) == min(positions, default=None)


@given(cycles())
def test_the_different_offsets_are_found(axis):
    values = sorted(set(defined(axis)))

    assert list(axis.distinct()) == values
    assert axis.gap() == min((b - a for a, b in itertools.pairwise(values)), default=0)


@given(st.lists(st.integers(-6, 6), max_size=20), st.integers(-7, 7))
def test_tables_answer_by_search(values, offset):
    table = Table(np.array(values, dtype=np.int64))

    assert table.bounds() == ((min(values), max(values)) if values else (0, -1))
    assert table.is_injective == (len(set(values)) == len(values))
    assert positions_of(table, offset, 10**6) == [j for j, value in enumerate(values) if value == offset]
    assert listed(table.simplify()) == values


@pytest.mark.parametrize("turn", [1, -1])
def test_the_start_of_a_held_turn_that_goes_back_is_the_last_of_its_hold(turn):
    axis = Cycle(6, 2, turn, 6, 1, 1)

    assert listed(axis.repeat_each(3)) == [(2 + turn * j) % 6 for j in range(6) for _ in range(3)]
    assert axis.repeat_each(3)[1] == Cycle(18, 6 if turn == 1 else 8, turn, 18, 3, 1).simplify()[1]
