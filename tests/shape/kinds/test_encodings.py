"""The encodings of ragged arrays, one constructor each, and the way back."""

import array
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    JaggedModeError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.shape import Shape
from tensorwrapper.testing import shapes

J = Shape.jagged([3, 1, 2])
ROWS = Shape.jagged([3, 1, 0, 2, 0])


@pytest.mark.parametrize(
    "same",
    [
        Shape.from_offsets([0, 3, 4, 4, 6, 6]),
        Shape.from_offsets([10, 13, 14, 14, 16, 16]),
        Shape.from_offsets((0, 3, 4, 4, 6, 6), validate=False),
        Shape.from_offsets(ROWS.splits(1)),
        Shape.from_row_ids([0, 0, 0, 1, 3, 3], 5),
        Shape.from_row_ids([0, 0, 0, 1, 3, 3], np.uint8(5)),
        Shape.from_starts_stops([0, 3, 4, 4, 6], [3, 4, 4, 6, 6]),
        Shape.from_starts_stops([9, 3, 0, 9, 0], [12, 4, 0, 11, 0]),
        Shape.jagged([[9, 3, 1, 0, 2, 0]])[0][1:].translate_by((-1, 0)),
        Shape.jagged(np.array([3, 1, 0, 2, 0], dtype=">u2")),
    ],
)
def test_every_encoding_of_one_shape_makes_it(same):
    assert same == ROWS
    assert same == ROWS
    assert hash(same) == hash(ROWS)
    assert same.kind == "jagged"


@pytest.mark.parametrize("dtype", ["i1", "u1", "<i2", ">i2", "<u4", ">u4", "<i8", ">i8", "<u8", ">u8"])
def test_integers_of_any_type_and_byte_order_are_taken(dtype):
    def of(*numbers):
        return np.array(numbers, dtype=dtype)

    for copy in (True, False):
        assert Shape.from_offsets(of(0, 1, 3), of(0, 3, 4, 6), copy=copy) == Shape.jagged([[3], [1, 2]])
    assert Shape.from_row_ids(of(0, 0, 0, 1, 2, 2), 3) == J
    assert Shape.from_starts_stops(of(0, 3, 4), of(3, 4, 6)) == J
    assert Shape.jagged(of(3, 1, 2)) == J


@pytest.mark.parametrize(
    "given_",
    [
        [0, 3, 4, 6],
        [np.int8(0), 3, np.uint64(4), 6],
        range(0, 7, 6),
        array.array("h", [0, 3, 4, 6]),
        memoryview(np.array([0, 3, 4, 6])),
        memoryview(b"\x00\x03\x04\x06"),
        np.array([0, 9, 3, 9, 4, 9, 6, 9])[::2],
    ],
)
def test_offsets_come_in_any_container_of_integers(given_):
    shape = Shape.jagged(np.diff([int(number) for number in given_]))
    for copy in (True, False):
        assert Shape.from_offsets(given_, copy=copy) == shape


def test_offsets_of_a_slice_start_above_0_and_end_early():
    flat, upper = [0, 2, 3, 6, 6, 9], [1, 3, 3, 4]
    shape = Shape.from_offsets(upper, flat)
    assert shape == Shape.jagged([[1, 3], [], [0]])
    assert (shape.size, shape.index(3), shape.ordinal((0, 1, 2))) == (4, (0, 1, 2), 3)
    assert shape[1:] == Shape.jagged([[], [0]], origin=(1, 0, 0))
    assert [shape.splits(m).tolist() for m in range(3)] == [[0, 3], [0, 2, 2, 3], [0, 1, 4, 4]]
    assert shape.translate_by((1, 1, 1)).translate_by((-1, -1, -1)) == shape
    assert shape.cell_table().offsets.tolist() == [0, 1, 4, 4]


def test_trailing_empty_rows_are_not_lost():
    assert Shape.from_row_ids([0, 0, 2], 5) == Shape.jagged([2, 0, 1, 0, 0])
    assert Shape.from_row_ids([], 2) == Shape.jagged([0, 0])
    assert Shape.from_row_ids(np.array([]), 0) == Shape.jagged([], rank=2)
    with pytest.raises(TypeError, match="n_rows"):
        Shape.from_row_ids([0, 0, 2])


def test_the_kind_that_was_asked_for_is_part_of_the_value():
    uniform = Shape.from_uniform(3, 2)
    assert (uniform.kind, uniform.extents, uniform.padding) == ("jagged", (3, 2), 0)
    assert uniform == Shape.jagged([2, 2, 2]) == Shape(3, 2).as_jagged()
    assert uniform != Shape(3, 2)
    assert uniform.same_elements(Shape(3, 2))
    # What a row would have is said, though there is none.
    assert Shape.from_uniform(0, 2) != Shape.jagged([], rank=2) == Shape.from_uniform(0, 0)
    assert Shape.from_uniform(0, 2).is_congruent(Shape.jagged([], rank=2))
    assert Shape.from_uniform(2, 0) == Shape.jagged([0, 0])


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (Shape.from_offsets, RankError, "at least one level"),
        (lambda: Shape.from_offsets([]), ExtentError, "level 0 are empty.*n \\+ 1"),
        (lambda: Shape.from_offsets([0, 1], []), ExtentError, "level 1 are empty"),
        (lambda: Shape.from_offsets([-1, 3]), ExtentError, "level 0 start at -1"),
        (lambda: Shape.from_offsets([0, 3, 2, 5]), ExtentError, "row 1 of level 0 goes from 3 to 2"),
        (lambda: Shape.from_offsets([0, 2], [0, 3, 1]), ExtentError, "row 1 of level 1 goes from 3 to 1"),
        (lambda: Shape.from_offsets([0, 3], [0, 2, 5]), ExtentError, "level 0 end at 3, but level 1 has 2"),
        (lambda: Shape.from_offsets([3, 0], validate=False), ExtentError, "level 0 go from 3 to 0"),
        (lambda: Shape.from_offsets([0, 3], [0, 2], validate=False), ExtentError, "has 1 rows only"),
        (lambda: Shape.from_offsets([0.0, 3.0]), ConversionError, "offsets of level 0.*0.0"),
        (lambda: Shape.from_offsets(np.array([0.0, 3.0])), ConversionError, "offsets of level 0.*float64"),
        (lambda: Shape.from_offsets([0, 1], [False, True]), ConversionError, "offsets of level 1.*False"),
        (lambda: Shape.from_offsets(np.array([False, True])), ConversionError, "bool"),
        (lambda: Shape.from_offsets(np.zeros((2, 2), int)), ConversionError, r"one-dim.*\(2, 2\)"),
        (lambda: Shape.from_offsets(np.array(3)), ConversionError, r"one-dim.*\(\)"),
        (lambda: Shape.from_offsets([[0, 1], [0, 3]]), ConversionError, "level 0.*\\[0, 1\\]"),
        (lambda: Shape.from_offsets(np.array([])), ExtentError, "level 0 are empty"),
        (lambda: Shape.from_offsets(np.ma.array([0, 3], mask=[0, 1])), ConversionError, "masked"),
        (lambda: Shape.from_offsets("03"), ConversionError, "text"),
        (lambda: Shape.from_offsets(None), ConversionError, "None"),
        (lambda: Shape.from_offsets([0, 2**63]), SizeOverflowError, "64 bits"),
        (lambda: Shape.from_offsets(np.array([0, 2**63], "u8")), SizeOverflowError, "64 bits"),
        (lambda: Shape.from_row_ids([0, 2, 1], 3), ExtentError, "element 2 is in row 1 after one in row 2"),
        (lambda: Shape.from_row_ids([0, 3], 3), OutOfBoundsError, r"row id 3 of element 1 .*\[0, 3\)"),
        (lambda: Shape.from_row_ids([-1, 0], 3), OutOfBoundsError, "row id -1 of element 0"),
        (lambda: Shape.from_row_ids([0], 0), OutOfBoundsError, r"\[0, 0\)"),
        (lambda: Shape.from_row_ids([0], -1), ExtentError, "number of rows.*-1"),
        (lambda: Shape.from_row_ids([0], 1.0), ConversionError, "number of rows.*1.0"),
        (lambda: Shape.from_row_ids([0], True), ConversionError, "True"),
        (lambda: Shape.from_row_ids([0.5], 1), ConversionError, "row ids.*0.5"),
        (lambda: Shape.from_row_ids(np.zeros((1, 1), int), 1), ConversionError, "row ids"),
        (lambda: Shape.from_starts_stops([0, 3], [3]), ExtentError, "2 starts and 1 stops"),
        (lambda: Shape.from_starts_stops([0, 3], [3, 2]), ExtentError, "row 1 stops at 2, before .* 3"),
        (lambda: Shape.from_starts_stops([0, -3], [3, 2]), ExtentError, "row 1 starts at -3"),
        (lambda: Shape.from_starts_stops([0], [-(2**63) + 1]), ExtentError, "row 0 stops at -92"),
        (lambda: Shape.from_starts_stops([0.0], [1]), ConversionError, "starts"),
        (lambda: Shape.from_starts_stops([0], [True]), ConversionError, "stops"),
        (lambda: Shape.from_starts_stops([0] * 3, [2**62] * 3), SizeOverflowError, "64 bits"),
        (lambda: Shape.from_uniform(3, -1), ExtentError, "length of the rows.*-1"),
        (lambda: Shape.from_uniform(-3, 1), ExtentError, "number of rows.*-3"),
        (lambda: Shape.from_uniform(3, 1.0), ConversionError, "1.0"),
        (lambda: Shape.from_uniform(3, 2**63), SizeOverflowError, "64 bits"),
        (lambda: Shape.from_uniform(2**62, 1), SizeOverflowError, "64 bits"),
        (lambda: Shape(2**62, 1).as_jagged(), SizeOverflowError, "64 bits"),
        (lambda: Shape(2, 2, origin=(0, 2**63)).as_jagged(), SizeOverflowError, "mode 1"),
        (lambda: Shape(3).as_jagged(), RankError, "rank 2.*rank 1"),
        (lambda: Shape().as_jagged(), RankError, "rank 0"),
        (lambda: Shape(3, 2).lengths(1), JaggedModeError, "as_jagged"),
        (lambda: Shape(3, 2).splits(1), JaggedModeError, "as_jagged"),
        (lambda: J.lengths(2), RankError, "mode 2"),
        (lambda: J.splits(-3), RankError, "mode -3"),
        (lambda: J.splits(1.0), ConversionError, "1.0"),
    ],
)
def test_what_is_refused(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_without_validation_the_order_inside_is_the_givers_word():
    assert Shape.from_offsets([0, 5, 2, 6], validate=False).size == 6


def test_the_place_of_a_late_descent_is_named():
    offsets = np.arange(10**5)
    offsets[70_001] = 0
    with pytest.raises(ExtentError, match="row 70000 of level 0 goes from 70000 to 0"):
        Shape.from_offsets(offsets)


@pytest.mark.parametrize("writeable", [True, False])
def test_offsets_are_copied_unless_asked_otherwise(writeable):
    offsets = np.array([0, 3, 4, 6])
    view = offsets.view()
    view.flags.writeable = writeable
    copied, kept = Shape.from_offsets(view), Shape.from_offsets(view, copy=False)
    assert not np.shares_memory(copied.splits(1), offsets)
    assert np.shares_memory(kept.splits(1), offsets)
    assert not kept.splits(1).flags.writeable
    assert view.flags.writeable == writeable
    offsets[-1] = 9
    assert copied == J
    assert kept == Shape.jagged([3, 1, 5])


def test_no_other_encoding_aliases_its_array():
    ids, starts, stops = np.array([0, 0, 0, 1, 2, 2]), np.array([0, 3, 4]), np.array([3, 4, 6])
    made = [Shape.from_row_ids(ids, 3), Shape.from_starts_stops(starts, stops), Shape.jagged(stops - starts)]
    for numbers in (ids, starts, stops):
        numbers[:] = 0
    assert made == [J] * 3


def test_lengths_and_splits_by_example():
    deep = Shape.jagged([[[10], [20, 30]], [[10, 30], [20], [10, 20, 30]]])
    assert [deep.lengths(m).tolist() for m in range(4)] == [
        [2],
        [2, 3],
        [1, 2, 2, 1, 3],
        [10, 20, 30, 10, 30, 20, 10, 20, 30],
    ]
    assert deep.lengths(-1).tolist() == deep.lengths(3).tolist()
    assert deep.splits(1).tolist() == [0, 2, 5]
    assert deep[1:].splits(2).tolist() == [0, 2, 3, 6]
    cells = Shape.jagged([Shape(2, 3), Shape(0, 9), Shape(1, 4)])
    assert cells.lengths(2).tolist() == [3, 3, 4]
    assert cells.splits(2).tolist() == [0, 3, 6, 10]


def test_lengths_and_splits_are_views_where_they_are_stored():
    rows, tables = Shape.jagged([3, 1, 2]), Shape.jagged([Shape(1, 2), Shape(3, 4)])
    assert np.shares_memory(rows.splits(1), rows.splits(1))
    assert np.shares_memory(rows[:2].splits(1), rows.splits(1))
    assert np.shares_memory(tables.lengths(1), tables.lengths(1))
    for shape in (rows, rows[1:], tables, Shape.from_uniform(4, 2), Shape.tiled([1, 2], [3])):
        for mode in range(shape.rank):
            for numbers in (shape.lengths(mode), shape.splits(mode)):
                assert numbers.dtype == np.int64
                assert not numbers.flags.writeable


def test_lengths_of_more_prefixes_than_64_bits_count_are_refused():
    for shape in (Shape.from_cells((1,), [(2**40, 2**40, 3)]), Shape(2, 2**40, 2**40, 3).as_jagged()):
        with pytest.raises(SizeOverflowError, match="64 bits"):
            shape.lengths(3)
        assert shape.lengths(1).tolist() == [2**40] * shape.extent(0)


@given(shapes(["jagged"]))
def test_lengths_and_splits_count_prefixes(shape):
    for mode in range(shape.rank):
        lengths, splits = shape.lengths(mode), shape.splits(mode)
        assert len(lengths) == shape.leading(mode).size
        assert lengths.sum() == shape.leading(mode + 1).size
        assert lengths.tolist() == [shape.extent_at(prefix) for prefix in shape.leading(mode).indices()]
        assert splits.tolist() == list(itertools.accumulate(lengths.tolist(), initial=0))


@given(shapes(["jagged"]))
def test_splits_give_all_extents_back(shape):
    levels = [shape.splits(mode) for mode in range(1, shape.rank)]
    for copy in (True, False):
        assert Shape.from_offsets(*levels, copy=copy).is_congruent(shape)
    rows = shape.leading(2).as_jagged()
    lengths = rows.lengths(1)
    ids = np.repeat(np.arange(len(lengths)), lengths)
    assert Shape.from_row_ids(ids, len(lengths)).is_congruent(rows)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9))))
def test_starts_and_stops_make_rows_wherever_they_lie(pairs):
    starts, lengths = [a for a, _ in pairs], [n for _, n in pairs]
    made = Shape.from_starts_stops(starts, [a + n for a, n in pairs])
    assert made == Shape.jagged(lengths, rank=2)


@given(shapes())
def test_as_jagged_keeps_every_extent_and_origin(shape):
    if shape.rank < 2:
        with pytest.raises(RankError, match="at least rank 2"):
            shape.as_jagged()
        return
    rows = shape.as_jagged()
    assert rows.kind == "jagged"
    assert rows.same_elements(shape)
    assert rows.as_jagged() is rows
    assert list(rows.indices()) == list(shape.indices())
    if shape.flatten().kind == "smooth":
        assert rows.outer_rank == 1
        for mode in range(shape.rank):
            for prefix in shape.leading(mode).indices():
                assert rows.extent_at(prefix) == shape.extent_at(prefix)
                assert rows.origin_at(prefix) == shape.origin_at(prefix)
        assert rows.as_smooth() == shape.flatten() or not shape.size
    else:
        assert rows == shape.flatten()
