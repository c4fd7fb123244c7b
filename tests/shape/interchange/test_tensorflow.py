"""Rows in the six encodings of TensorFlow, and its text of a ragged shape."""

import copy
import pickle
import re

import pytest
from dask.base import tokenize
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    ParseError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.shape import RowPartition, RowPartitions, Shape

ROWS = RowPartition.from_row_lengths([3, 1, 0, 2, 0])
of = RowPartition


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


def test_fuzz_an_extent_of_cells_beyond_64_bits_is_refused():
    rows = RowPartitions.parse(f"[2, (3, 1), {2**63}]")
    with pytest.raises(SizeOverflowError, match="an extent of a cell must fit into 64 bits"):
        Shape.from_row_partitions(rows)
    assert Shape.from_row_partitions(RowPartitions.parse(f"[0, (), {2**63 - 1}]")).rank == 3
