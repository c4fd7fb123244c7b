"""Views that choose among views cell by cell, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import selection as sel
from tensorwrapper.errors import TensorWrapperError

NUMBERS = st.lists(st.sampled_from([-1.5, 0.0, -0.0, 2.0, np.nan, np.inf]), min_size=6, max_size=6)


@given(NUMBERS, NUMBERS)
def test_least_and_greatest_are_numpys(first, second):
    a, b = np.reshape(first, (2, 3)), np.reshape(second, (2, 3))

    assert np.array_equal(sel.minimum(a, b), np.minimum(a, b), equal_nan=True)
    assert np.array_equal(sel.maximum(a, b[:1]), np.maximum(a, b[:1]), equal_nan=True)


@given(st.lists(st.booleans(), min_size=6, max_size=6))
def test_where_is_numpys_and_stretches(mask):
    mask, x = np.reshape(mask, (2, 3)), np.arange(6).reshape(2, 3)

    found = sel.where(mask, x, np.array([[0.5], [1.5]]))

    expected = np.where(mask, x, [[0.5], [1.5]])
    assert found.dtype == expected.dtype
    assert np.array_equal(found, expected)
    assert np.array_equal(found[::-1, 1], expected[::-1, 1])


@pytest.mark.parametrize(
    "make",
    [
        lambda: sel.where([1, 0], [1, 2], [3, 4]),
        lambda: sel.where([True, False], [1, 2, 3], [3, 4]),
        lambda: sel.minimum([1, 2], [1, 2, 3]),
        lambda: sel.maximum([1], ["a"]),
    ],
)
def test_what_does_not_meet_is_refused(make):
    with pytest.raises(TensorWrapperError):
        make()
