"""Rows by offsets, lengths, numbers of rows and owners: every encoding makes them, or is refused."""

import numpy as np
import pytest

from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    OutOfBoundsError,
    SizeOverflowError,
)
from tensorwrapper.shape import RowPartition

ROWS = RowPartition.from_row_lengths([3, 1, 0, 2, 0])


of = RowPartition


@pytest.mark.parametrize(
    "same",
    [
        of.from_row_splits([0, 3, 4, 4, 6, 6]),
        of.from_row_starts([0, 3, 4, 4, 6], nvals=6),
        of.from_row_limits([3, 4, 4, 6, 6]),
        of.from_value_rowids([0, 0, 0, 1, 3, 3], nrows=5),
        of.from_row_lengths(np.array([3, 1, 0, 2, 0], dtype=">u2")),
    ],
)
def test_every_encoding_of_the_rows_makes_them(same):
    assert same == ROWS
    assert hash(same) == hash(ROWS)
    assert (same.nrows, same.nvals, same.uniform_row_length) == (5, 6, None)
    assert same.row_splits.tolist() == [0, 3, 4, 4, 6, 6]
    assert same.row_lengths.tolist() == [3, 1, 0, 2, 0]
    assert same.row_starts.tolist() == [0, 3, 4, 4, 6]
    assert same.row_limits.tolist() == [3, 4, 4, 6, 6]
    assert same.value_rowids.tolist() == [0, 0, 0, 1, 3, 3]


def test_a_uniform_length_is_kept_as_one_number():
    rows = of.from_uniform_row_length(2, nrows=3)
    assert (rows.nrows, rows.nvals, rows.uniform_row_length) == (3, 6, 2)
    assert (rows.row_splits.tolist(), rows.value_rowids.tolist()) == ([0, 2, 4, 6], [0, 0, 1, 1, 2, 2])
    assert rows != of.from_row_lengths([2, 2, 2])
    assert of.from_uniform_row_length(0, nrows=4).row_splits.tolist() == [0] * 5
    huge = of.from_uniform_row_length(2**40, nrows=2**40)
    assert huge.nvals == 2**80
    with pytest.raises(SizeOverflowError, match="more than 64 bits"):
        of.from_uniform_row_length(2**62, nrows=4).row_splits  # noqa: B018


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: of.from_row_splits([]), ExtentError, "row splits: .* at least one mark"),
        (lambda: of.from_row_splits([1, 3]), ExtentError, "row splits start at 0, not at 1"),
        (lambda: of.from_row_splits([0, 3, 2]), ExtentError, "mark 2 is 2 after 3"),
        (lambda: of.from_row_splits([[0, 1]]), ConversionError, "row splits"),
        (lambda: of.from_row_lengths([1, -1]), ExtentError, "row 1 has -1"),
        (lambda: of.from_row_lengths([1.5]), ConversionError, "row lengths"),
        (lambda: of.from_row_starts([0, 3], nvals=2), ExtentError, "mark 2 is 2 after 3"),
        (lambda: of.from_row_starts([], nvals=2), ExtentError, "no row starts anywhere, but there are 2"),
        (lambda: of.from_row_starts([1], nvals=2), ExtentError, "start at 0, not at 1"),
        (lambda: of.from_row_limits([3, 1]), ExtentError, "mark 2 is 1 after 3"),
        (lambda: of.from_row_limits([-1]), ExtentError, "mark 1 is -1 after 0"),
        (lambda: of.from_value_rowids([0, 2], nrows=2), OutOfBoundsError, r"row id 2 of value 1.*\[0, 2\)"),
        (lambda: of.from_value_rowids([-1], nrows=2), OutOfBoundsError, "row id -1 of value 0"),
        (
            lambda: of.from_value_rowids([1, 0], nrows=2),
            ExtentError,
            "value 1 is in row 0 after one in row 1",
        ),
        (lambda: of.from_value_rowids([], nrows=2**62), SizeOverflowError, "rows"),
        (lambda: of.from_value_rowids([0], nrows=True), ConversionError, "number of rows"),
        (lambda: of.from_uniform_row_length(-1, nrows=2), ExtentError, "a row length"),
        (lambda: of.from_uniform_row_length(1, nrows=-2), ExtentError, "the number of rows"),
    ],
)
def test_what_makes_no_rows_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_trailing_empty_rows_need_the_number_of_rows():
    assert of.from_value_rowids([0, 0], nrows=5).nrows == 5
    with pytest.raises(TypeError):
        of.from_value_rowids([0, 0])


def test_no_rows_may_have_a_length_of_any_size():
    rows = RowPartition.from_uniform_row_length(2**70, nrows=0)

    assert (rows.nrows, rows.nvals) == (0, 0)
    assert rows.row_splits.tolist() == [0]
    assert rows.row_lengths.tolist() == []
