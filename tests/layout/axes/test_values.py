"""The positions of an offset and the offsets that there are, of axis maps of every kind."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper._arrays import immutable_copy
from tensorwrapper.layout.axes._axis import Cycle, Stride, Table
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


@given(
    st.lists(st.integers(0, 9), max_size=12),
    st.sampled_from([-7, -1, 1, 2, 5]),
    st.data(),
)
def test_a_table_in_steps_is_that_of_its_offsets(numbers, step, data):
    table = Table(np.array(numbers, dtype=np.int64), step)
    plain = Table(np.array(numbers, dtype=np.int64) * step)
    count = len(numbers)
    assert table == plain
    assert hash(table) == hash(plain)
    assert (table.extent, table.bounds(), table.is_injective) == (count, plain.bounds(), plain.is_injective)
    assert table.offsets().tolist() == plain.offsets().tolist() == [step * number for number in numbers]
    assert listed(table.simplify()) == table.offsets().tolist()
    assert (table.distinct(), table.gap()) == (plain.distinct(), plain.gap())
    assert table.simplify() == plain.simplify()
    assert pickle.loads(pickle.dumps(table)) == plain
    places = np.array(
        data.draw(st.lists(st.integers(0, max(count - 1, 0)), max_size=9 if count else 0)), dtype=np.int64
    )
    assert table.offsets_at(places).tolist() == plain.offsets_at(places).tolist()
    assert table.gather(places) == plain.gather(places)
    if count:
        assert table.take(count - 1, -1, count) == plain.take(count - 1, -1, count)
        assert table.take(0, 2, (count + 1) // 2) == plain.take(0, 2, (count + 1) // 2)


@given(st.lists(st.integers(0, 8), min_size=1, max_size=12), st.integers(-3, 3))
def test_positions_that_nobody_can_change_are_kept_and_others_are_copied(positions, step):
    given = np.array(positions, dtype=np.int64)
    kept = immutable_copy(given)
    wanted = Stride(9, step).gather(given.copy())
    assert Stride(9, step).gather(kept) == wanted
    changed = Stride(9, step).gather(given)
    given[...] = 0
    assert changed == wanted
    with pytest.raises(ValueError, match="WRITEABLE"):
        kept.flags.writeable = True
