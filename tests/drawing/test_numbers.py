"""Numbers as short text, and round numbers along an axis."""

import itertools
import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.drawing._numbers import bytes_text, count_text, index_text, range_text, ticks


@given(st.one_of(st.integers(-(10**12) + 1, 10**12 - 1), st.integers()))
def test_short_numbers_are_exact_and_long_ones_near(number):
    text = count_text(number)

    if abs(number) < 10**12:
        assert int(text.replace(",", "")) == number
    else:
        assert len(text) <= 12
        assert math.isclose(float(text), number, rel_tol=0.006)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (10**12 - 1, "999,999,999,999"),
        (10**12, "1.00e12"),
        (-(10**4000), "-1.00e4000"),
        (9996 * 10**11, "1.00e15"),
    ],
)
def test_numbers_of_any_length_are_written(number, text):
    assert count_text(number) == text


@given(st.integers(-(10**6), 10**6), st.integers(0, 10**6), st.integers(1, 12))
def test_ticks_have_both_ends_and_round_numbers_between(first, extent, most):
    found = ticks(first, first + extent, most)

    assert (found[0], found[-1]) == (first, first + extent)
    assert sorted(set(found)) == found
    assert len(found) <= most + 2
    inner = found[1:-1]
    steps = {b - a for a, b in pairwise(inner)}
    assert len(steps) <= 1
    for step in steps:
        assert str(step).rstrip("0") in {"1", "2", "5"}
        assert not any(number % step for number in inner)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (10**9, "1.0 GB"), (10**15, "1000.0 TB")],
)
def test_bytes_are_in_a_unit_that_makes_them_short(number, text):
    assert bytes_text(number) == text


def test_ranges_and_indices_of_one_number_are_that_number():
    assert [range_text(3, 3), range_text(3, 1000)] == ["3", "3 to 1,000"]
    assert [index_text([3]), index_text([]), index_text([0, -1])] == ["3", "()", "(0, -1)"]


@pytest.mark.parametrize(
    ("first", "end", "most", "expected"),
    [
        (0, 10, 5, [0, 2, 4, 6, 8, 10]),
        (0, 10, 4, [0, 5, 10]),
        (3, 1003, 5, [3, 200, 400, 600, 800, 1003]),
        (-5, 5, 2, [-5, 0, 5]),
        (7, 7, 9, [7]),
        (0, 10**40, 3, [0, 5 * 10**39, 10**40]),
        (0, 1, 5, [0, 1]),
        (9, 21, 3, [9, 15, 21]),
    ],
)
def test_ticks_are_round_numbers_between_the_ends(first, end, most, expected):
    assert ticks(first, end, most) == expected


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**9), st.integers(1, 30))
def test_ticks_ascend_and_are_about_as_many_as_asked_for(first, extent, most):
    marks = ticks(first, first + extent, most)
    steps = {b - a for a, b in itertools.pairwise(marks[1:-1])}

    assert marks == sorted(set(marks))
    assert (marks[0], marks[-1]) == (first, first + extent)
    assert len(marks) <= most + 2
    assert len(steps) <= 1


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (-1234, "-1,234"), (10**12, "1.00e12"), (-(2**100), "-1.27e30"), (10**4000, "1.00e4000")],
)
def test_counts_of_any_size_are_short(number, text):
    assert count_text(number) == text
