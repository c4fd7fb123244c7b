"""Axes: they name indices or numbers, which do not touch."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.drawing import (
    Axis,
)


@pytest.mark.parametrize("names", [(), ("a", "bb")])
def test_an_axis_names_its_indices_or_numbers_them(names):
    labels = Axis(5, 7, 60.0, names=names).labels(upright=False)

    assert labels == [(15.0, names[0] if names else "5"), (45.0, names[1] if names else "6")]


@given(
    st.integers(-(10**15), 10**15),
    st.integers(0, 10**15),
    st.integers(1, 600),
    st.booleans(),
    st.booleans(),
)
def test_the_numbers_of_an_axis_do_not_touch(first, extent, length, upright, cells):
    labels = Axis(first, first + extent, float(length), cells=cells).labels(upright=upright)
    room = [10.0 if upright else 0.55 * 10.0 * len(text) for _, text in labels]

    assert labels
    assert all(0 <= place <= length for place, _ in labels)
    for (a, b), (x, y) in zip(
        itertools.pairwise([p for p, _ in labels]), itertools.pairwise(room), strict=True
    ):
        assert b - a >= (x + y) / 2
