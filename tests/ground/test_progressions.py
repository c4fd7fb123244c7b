"""Progressions, plain and modulo a number: every answer against listing what it stands for."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper._progressions import (
    bounds_of,
    first_between,
    progression_bounds,
    solve_between,
    solve_progression,
    split_digits,
)

STEPS = st.integers(-9, 9)
BOXES = st.lists(st.tuples(st.integers(0, 4), STEPS), max_size=3)


def sums(box):
    """The sum at every place of a box, in row-major order."""
    places = itertools.product(*[range(extent) for extent, _ in box])
    return {place: sum(i * step for i, (_, step) in zip(place, box, strict=True)) for place in places}


@given(BOXES, STEPS)
def test_bounds_are_the_least_and_the_greatest_sum(box, offset):
    extents, strides = tuple(n for n, _ in box), tuple(step for _, step in box)
    found = [offset + total for total in sums(box).values()]

    assert bounds_of(extents, strides, offset) == ((min(found), max(found)) if found else (0, -1))


@given(BOXES, st.integers(-20, 20))
def test_a_sum_is_split_into_its_places_unless_there_is_a_choice(box, total):
    extents, strides = tuple(n for n, _ in box), tuple(step for _, step in box)
    moving = [mode for mode, step in enumerate(strides) if step and extents[mode] > 1]
    expected = {
        tuple(number if mode in moving else 0 for mode, number in enumerate(place))
        for place, found in sums(box).items()
        if found == total
    }
    places = split_digits(extents, strides, total) if 0 not in extents else ()

    if places is not None:
        assert expected == ({places} if places or (not box and not total) else set())


@given(STEPS, STEPS, st.integers(1, 12), st.integers(1, 20))
def test_bounds_modulo_a_number_are_those_of_the_list(start, step, modulus, count):
    found = [(start + step * j) % modulus for j in range(count)]

    assert progression_bounds(start, step, modulus, count) == (min(found), max(found))


@given(STEPS, STEPS, st.integers(1, 12), st.integers(0, 20), st.integers(-2, 13))
def test_a_progression_meets_a_number_wherever_the_list_has_it(start, step, modulus, count, value):
    found = [j for j in range(count) if (start + step * j) % modulus == value]

    assert list(solve_progression(start, step, modulus, count, value)) == found


@given(STEPS, STEPS, st.integers(1, 12), st.integers(0, 12), st.integers(0, 12))
def test_the_first_between_bounds_is_the_first_of_the_list(start, step, modulus, low, high):
    found = [j for j in range(modulus) if low <= (start + step * j) % modulus < high]

    assert first_between(start, step, modulus, min(low, modulus), min(high, modulus)) == (found or [None])[0]


@given(STEPS, STEPS, st.integers(0, 20), st.integers(-30, 30), st.integers(-30, 30))
def test_a_progression_is_between_bounds_wherever_the_list_is(start, step, count, low, high):
    found = [j for j in range(count) if low <= start + step * j < high]

    assert list(solve_between(start, step, count, low, high)) == found


def test_numbers_of_any_size_are_exact():
    huge = 10**30

    assert list(solve_progression(huge, huge + 1, 10**31, 10, 3 * huge + 2)) == [2]
    assert progression_bounds(0, huge, 10**31 + 1, 10) == (0, 9 * huge)
    assert bounds_of((2, 2), (huge, -huge), 0) == (-huge, huge)
