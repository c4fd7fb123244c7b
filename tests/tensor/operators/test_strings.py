"""Strings are compared as Python does."""

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw


@given(
    words=st.lists(st.text("aé\U0001f600b", max_size=4), min_size=1, max_size=6),
    other=st.text("aéb", max_size=3),
)
@pytest.mark.parametrize("op", [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge])
def test_strings_are_compared_as_python_does(op, words, other):
    t, back = tw.strings(words), tw.strings(words[::-1])
    assert op(t, other).tolist() == [op(word, other) for word in words]
    assert op(t, back).tolist() == [op(*pair) for pair in zip(words, words[::-1], strict=True)]


@pytest.mark.parametrize("times", [-1, 10**18, np.array([-1, 2, 10**18, 0])])
def test_texts_without_characters_are_not_repeated_for_ever(times):
    """NumPy does so one by one, 2^64 - 1 times for -1."""
    words = tw.strings(["", "ab", "", ""]) if isinstance(times, np.ndarray) else tw.strings([""] * 4)
    expected = ["", "abab", "", ""] if isinstance(times, np.ndarray) else [""] * 4
    assert (words * times).tolist() == (times * words).tolist() == expected
