"""Rows are reduced and accumulated as each alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tensorwrapper as tw
from tensorwrapper import Shape


def numbers(extents, dtype):
    most = 1 if dtype == "?" else 3
    return hnp.arrays(dtype, extents, elements=st.integers(0, most).map(np.dtype(dtype).type))


@st.composite
def rows(draw):
    """Draw rows of numbers, and the lists that they are made of."""
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=5))
    dtype = draw(st.sampled_from(["i1", "i8", "f4", "f8"]))
    values = draw(numbers(sum(lengths), dtype))
    return tw.from_buffer(values, Shape.jagged(lengths)), np.split(values, np.cumsum(lengths)[:-1])


@given(given_rows=rows(), initial=st.integers(0, 2))
@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.minimum, np.logical_or])
def test_rows_are_reduced_as_each_alone(ufunc, given_rows, initial):
    t, lists = given_rows
    found = ufunc.reduce(t, axis=-1, initial=initial)
    expected = [ufunc.reduce(row, initial=initial) for row in lists]
    assert found.dtype == np.asarray(expected).dtype
    assert np.array_equal(np.asarray(found), expected)
    assert ufunc.reduce(t, axis=None, initial=initial).item() == ufunc.reduce(
        np.concatenate(lists), initial=initial
    )


@given(given_rows=rows(), data=st.data())
def test_rows_are_reduced_where_a_mask_is_true(given_rows, data):
    t, lists = given_rows
    mask = tw.from_buffer(data.draw(numbers(t.size, "?")), t.shape)
    found = np.add.reduce(t, axis=-1, where=mask)
    expected = [np.add.reduce(row, where=np.asarray(m)) for row, m in zip(lists, mask.rows(), strict=True)]
    assert np.array_equal(np.asarray(found), expected)


@given(lengths=st.lists(st.sampled_from([0, 1, 2, 3, 17, 30]), min_size=1, max_size=5), data=st.data())
@pytest.mark.parametrize("ufunc", [np.add, np.maximum, np.multiply])
def test_rows_accumulate_with_the_bits_of_each_alone(ufunc, lengths, data):
    values = data.draw(hnp.arrays("f8", sum(lengths), elements=st.floats(-2, 2)))
    t = tw.from_buffer(values, Shape.jagged(lengths))
    found = ufunc.accumulate(t, axis=-1)
    assert found.shape == t.shape
    for row, mine in zip(found.rows(), np.split(values, np.cumsum(lengths)[:-1]), strict=True):
        assert np.asarray(row).tobytes() == ufunc.accumulate(mine).tobytes()
