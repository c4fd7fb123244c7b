"""Rows in the six encodings of TensorFlow, and its text of a ragged shape."""

import copy
import pickle
import re

import numpy as np
import pytest
from dask.base import tokenize
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    OutOfBoundsError,
    ParseError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.shape import RowPartition, RowPartitions, Shape

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


# All modes.


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("[]", Shape()),
        ("[3]", Shape(3)),
        ("[2, 3]", Shape(2, 3)),
        ("[2, (3, 1)]", Shape.jagged([3, 1])),
        ("[2, (3, 1), 5]", Shape.from_cells((2,), [(3, 5), (1, 5)])),
        ("[2, 2, (1, 2, 3, 4)]", Shape.jagged([[1, 2], [3, 4]])),
        ("[2, (1, 2), (7, 8, 9)]", Shape.jagged([[7], [8, 9]])),
        ("[2, (1, 2), (7, 8, 9), 4, 6]", Shape.jagged([[Shape(7, 4, 6)], [Shape(8, 4, 6), Shape(9, 4, 6)]])),
        ("[1, (3,)]", Shape.jagged([3])),
        ("[0, ()]", Shape.jagged([], rank=2)),
        ("[2, (0, 0)]", Shape.jagged([0, 0])),
        ("[3, (2, 2, 2)]", Shape.from_uniform(3, 2)),
        ("[10000000000000000000000, 5]", Shape(10**22, 5)),
    ],
)
def test_the_text_of_a_ragged_shape_is_that_of_tensorflow(text, shape):
    rows = shape.to_row_partitions()
    assert str(rows) == text
    assert RowPartitions.parse(text) == rows
    assert eval(repr(rows)) == rows
    assert Shape.from_row_partitions(rows) == shape
    assert rows.rank == shape.rank
    modes = re.sub(r"\([^)]*\)", "None", text).strip("[]")
    assert rows.static_lengths == tuple(eval(f"[{modes}]"))


def test_rows_of_one_length_at_the_end_are_modes_of_boxes():
    lengths, even = of.from_row_lengths([2, 1]), of.from_uniform_row_length(4, nrows=3)
    assert RowPartitions([lengths, even], (12, 5)) == RowPartitions([lengths], (3, 4, 5))
    assert RowPartitions([even], (12,)) == RowPartitions([], (3, 4))
    assert str(RowPartitions([even, of.from_row_lengths([1] * 12)], (12,))) == (
        "[3, 4, (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)]"
    )


@pytest.mark.parametrize(
    ("partitions", "inner", "error", "message"),
    [
        ([ROWS], (), RankError, "starts with the number of its values, but is \\(\\)"),
        (
            [ROWS],
            (5,),
            ExtentError,
            "last partition has 6 values, but the inner shape \\(5,\\) starts with 5",
        ),
        ([ROWS, ROWS], (6,), ExtentError, "partition 0 has 6 values, but the next has 5 rows"),
        ([], (-1,), ExtentError, "an inner shape"),
        ([[0, 3]], (3,), ConversionError, "of the class RowPartition"),
    ],
)
def test_partitions_that_do_not_fit_are_refused(partitions, inner, error, message):
    with pytest.raises(error, match=message):
        RowPartitions(partitions, inner)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"position 0 only '\['"),
        ("2, 3", r"position 0 only '\['"),
        ("[2, 3", "at position 3 only an extent"),
        ("[2,]", "at position 3 only an extent"),
        ("[2, -3]", "at position 3"),
        ("[02]", "at position 1"),
        ("[1" + "0" * 100 + "]", "at position 1 only an extent of at most 100 digits"),
        ("[2, (3 1)]", "at position 3"),
        ("[2, (3, (1))]", "at position 3"),
        ("[2, (3, 1)] x", "at position 11 only the end"),
        ("[2, (3.5, 1)]", "at position 3"),
        ("[2, (3, None)]", "at position 3"),
        ("[2, (3,, 1)]", "at position 3"),
        ("[(3, 1)]", "first mode has one extent"),
        ("[2, (3, 1, 1)]", "mode 1 has 3 lengths for 2 rows"),
        ("[2, 3, (1, 2)]", "mode 2 has 2 lengths for 6 rows"),
        ("[1, (9999999999999999999,)]", "does not fit into 64 bits"),
        ("[2, (9000000000000000000, 9000000000000000000)]", "64 bits"),
        ("[1000000000000, 0, ()]", "stands for 1000000000000 rows"),
        ("[\N{ARABIC-INDIC DIGIT THREE}]", "at position 1"),
    ],
)
def test_text_that_makes_no_rows_is_refused(text, message):
    with pytest.raises(ParseError, match=message):
        RowPartitions.parse(text)


@given(st.text(alphabet="[](), 0123", max_size=24))
def test_any_text_is_read_or_refused(text):
    try:
        rows = RowPartitions.parse(text)
    except ParseError:
        return
    assert RowPartitions.parse(str(rows)) == rows


def test_very_many_rows_are_shown_in_part():
    rows = Shape.jagged([2] * 1000).to_row_partitions()
    assert repr(rows) == f"RowPartitions.parse('[1000, ({'2, ' * 100}...)]')"
    assert str(rows) == f"[1000, ({', '.join('2' * 1000)})]"
    with pytest.raises(ParseError):
        RowPartitions.parse("[1000, (2, ...)]")


def test_rows_are_values():
    for value in (ROWS, of.from_uniform_row_length(2, 3), RowPartitions([ROWS], (6, 2))):
        for back in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert back == value
            assert hash(back) == hash(value)
            assert tokenize(back) == tokenize(value)
    assert not pickle.loads(pickle.dumps(ROWS)).row_splits.flags.writeable
