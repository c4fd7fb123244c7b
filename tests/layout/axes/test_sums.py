"""Sums of bounded numbers: formulas and searches against lists of all sums."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import LayoutError
from tensorwrapper.layout.axes._sums import Budget, Progression, count_sums, reaches

steps = st.builds(Progression, st.integers(1, 12), st.integers(2, 5))


def sums(sets):
    ranges = [range(0, numbers.span + 1, numbers.step) for numbers in sets]
    return [sum(chosen) for chosen in itertools.product(*ranges)]


@given(st.lists(steps, min_size=3, max_size=3), st.integers(-3, 130))
def test_sums_of_three_are_counted(sets, total):
    assert count_sums(sets, total) == sums(sets).count(total)


@given(st.lists(steps, max_size=5), st.data())
def test_a_total_is_reached_or_not(sets, data):
    total = data.draw(st.integers(-3, sum(numbers.span for numbers in sets) + 3))
    assert reaches(sets, total, Budget(10_000, "this")) == (total in sums(sets))


def test_three_steps_of_any_size_need_no_search():
    sets = [
        Progression(10**30 + 57, 10**30),
        Progression(10**29 + 9, 10**30),
        Progression(10**28 + 3, 10**28),
    ]
    total = sum(numbers.step * (numbers.count // 3) for numbers in sets)
    assert count_sums(sets, total) > 0
    assert reaches(sets, total, Budget(20, "this"))
    # Too narrow for its neighbours, and by one step beside each of them.
    sets = [Progression(3 * 10**30, 10**9), Progression(10**20, 10**9), Progression(10**20 + 1, 10**9)]
    assert not reaches(sets, 10**20 - 1, Budget(20, "this"))


def test_a_search_says_where_it_ends():
    draws = [2 * (7919 * k**3 % 999_983 + 2**40) for k in range(1, 25)]
    with pytest.raises(LayoutError, match="what is sought is not decided within 300 steps"):
        reaches([Progression(n, 2) for n in draws], sum(draws) // 4 * 2, Budget(300, "what is sought"))
