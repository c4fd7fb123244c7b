"""Arithmetic on arrays of int64: against plain lists, below and above the size where NumPy takes over."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper._arrays import (
    SMALL,
    array_of_state,
    array_state,
    concatenated_ranges,
    different,
    elements_at,
    last_run,
    positions_array,
    positions_before,
    ranked,
    run_of,
    same_values,
    shared_row,
    shared_table,
    splits_of,
    tidy_table,
    tuples_of,
)
from tensorwrapper.errors import ExtentError, SizeOverflowError

COUNTS = [[], [3], [2, 0, 1], [k % 5 for k in range(2 * SMALL)]]


@pytest.mark.parametrize("dtype", [np.int64, np.uint8])
@pytest.mark.parametrize("counts", COUNTS, ids=len)
def test_splits_are_the_sums_before_each_row(counts, dtype):
    splits = splits_of(np.array(counts, dtype=dtype))

    assert splits.tolist() == [sum(counts[:k]) for k in range(len(counts) + 1)]
    assert splits.dtype == np.int64
    assert not splits.flags.writeable


@pytest.mark.parametrize("more", [0, 2 * SMALL])
def test_counts_that_are_none_are_refused_with_their_row(more):
    with pytest.raises(ExtentError, match=f"row {more + 1} has -2"):
        splits_of(np.array([0] * more + [1, -2, 3]))
    with pytest.raises(SizeOverflowError, match="more than 64 bits"):
        splits_of(np.array([0] * more + [2**62, 2**62]))


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_splits_of_counts_of_any_type(order, kind):
    """Signs are seen in every type and byte order, and the largest number of a type is one."""
    dtype = np.dtype(order + kind)
    counts = (np.arange(10**4) % 5).astype(dtype)
    for own in (counts, counts[::-1], counts[::3]):
        assert splits_of(own).tolist() == [0, *np.cumsum(own, dtype=np.int64).tolist()]
    ends = np.iinfo(dtype)
    own = np.zeros(10**4, dtype)
    own[77] = ends.max
    if ends.max < 2**63:
        assert splits_of(own)[-1] == ends.max
    else:
        with pytest.raises(SizeOverflowError):
            splits_of(own)
    if ends.min:
        for least in (-1, ends.min):
            own[5000] = least
            with pytest.raises(ExtentError, match=f"row 5000 has {least}"):
                splits_of(own)


@pytest.mark.parametrize("counts", COUNTS, ids=len)
def test_ranges_follow_one_another_and_are_found_again(counts):
    starts = np.arange(len(counts)) * 7 - 3
    ranges = [
        n for start, count in zip(starts.tolist(), counts, strict=True) for n in range(start, start + count)
    ]
    marks = splits_of(np.array(counts, dtype=np.int64))
    places = np.arange(len(ranges))
    rows = [row for row, count in enumerate(counts) for _ in range(count)]

    assert concatenated_ranges(starts, np.array(counts, dtype=np.int64)).tolist() == ranges
    assert run_of(marks, places).tolist() == [last_run(marks, k) for k in places.tolist()]
    assert [last_run(marks[:-1], k) for k in places.tolist()] == rows


@pytest.mark.parametrize(
    "table", [np.zeros((0, 2)), np.array([[1, 2]] * 3), np.array([[1, 2], [3, 4], [1, 2]])]
)
def test_a_table_of_one_row_is_kept_as_one_and_pickles_as_one(table):
    table = table.astype(np.int64)
    tidy = tidy_table(table)
    again = array_of_state(pickle.loads(pickle.dumps(array_state(tidy))), 2)

    assert same_values(tidy, table)
    assert same_values(again, table)
    assert not tidy.flags.writeable
    assert (shared_row(tidy) is not None) == (len(table) > 1 and (table == table[0]).all())


def test_shared_rows_take_the_memory_of_one():
    assert array_state(shared_table((4, 5), 10**12)) == ((4, 5), 10**12)
    with pytest.raises(SizeOverflowError, match="more than 64 bits can address"):
        shared_table((4, 5), 2**60)


def test_numbers_are_compared_with_a_shift_and_in_pieces():
    left = np.arange(2**17)

    assert same_values(left, left + 5, 5)
    assert not same_values(left + 5, left, 5)
    assert not same_values(left, np.where(left == 2**17 - 1, 0, left))


def test_rows_become_tuples():
    tables = [np.arange(4).reshape(2, 2), np.zeros((2, 0), dtype=np.int64)]

    assert list(tuples_of(tables)) == [(0, 1), (2, 3), (), ()]


@given(st.lists(st.integers(-(2**40), 2**40) | st.integers(0, 300), max_size=200))
def test_different_and_ranked_are_those_of_numpy(numbers):
    values = np.array(numbers, dtype=np.int64)
    expected, ranks = np.unique(values, return_inverse=True)
    np.testing.assert_array_equal(different(values), expected)
    found, own = ranked(values)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(own, ranks)


@given(st.integers(-50, 50), st.integers(64, 500))
def test_numbers_that_lie_close_are_marked(low, count):
    values = low + np.arange(count)[::-1].reshape(-1, 1) * 3 % 97
    expected, ranks = np.unique(values, return_inverse=True)
    np.testing.assert_array_equal(different(values), expected)
    found, own = ranked(values)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(own, ranks.reshape(values.shape))


@pytest.mark.parametrize(
    "positions", [range(0), range(5), range(3, 20, 4), range(9, 2, -3), range(2**40, 2**40 + 9, 2)]
)
def test_positions_of_a_range_are_those_of_the_range(positions):
    found = positions_array(positions)

    assert found.dtype == np.int64
    assert found.tolist() == list(positions) == positions_array(found).tolist()


POSITIONS = st.one_of(
    st.tuples(st.integers(0, 9), st.integers(0, 12), st.integers(1, 4)).map(
        lambda own: range(own[0], own[0] + own[1], own[2])
    ),
    st.lists(st.integers(0, 20), unique=True).map(sorted).map(lambda own: np.array(own, np.int64)),
)


@given(POSITIONS, st.lists(st.integers(0, 25)))
def test_positions_before_marks_are_counted_as_one_by_one(positions, marks):
    found = positions_before(positions, np.array(marks, np.int64))
    assert found.tolist() == [sum(int(own) < mark for own in positions) for mark in marks]


@given(POSITIONS, POSITIONS)
def test_elements_at_positions_of_each_mode_are_those_of_lists(rows, columns):
    array = np.arange(22 * 22).reshape(22, 22)
    found = elements_at(array, [rows, columns])
    assert found.tolist() == array[list(rows)][:, list(columns)].tolist()
