"""Rows that are boxes: tables of extents, Arrow's tensors per row, PyTorch's jagged layout."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    JaggedModeError,
    ModeNameError,
    ParseError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.shape import Shape
from tensorwrapper.testing import shapes

CELLS = Shape.from_cells((3,), [(3, 5, 2), (1, 5, 4), (0, 5, 9)])
tables = st.integers(1, 3).flatmap(
    lambda rank: st.lists(st.lists(st.integers(0, 4), min_size=rank, max_size=rank), min_size=1, max_size=5)
)


@given(tables)
def test_the_table_of_extents_goes_there_and_back(table):
    shape = Shape.from_cells((len(table),), table)
    found = shape.cell_extents()
    assert Shape.from_cells((len(table),), found).is_congruent(shape)
    for row, ours, theirs in zip(range(len(table)), found.tolist(), table, strict=True):
        # Behind a mode without indices there are none of whose number to speak.
        kept = theirs.index(0) + 1 if 0 in theirs else len(theirs)
        assert ours[:kept] == theirs[:kept]
        assert shape[row].size == int(np.prod(ours))


@given(shapes().filter(lambda s: s.rank))
def test_the_extents_of_each_row_are_those_of_the_row(shape):
    if not shape.losses("torch_strided").is_possible:
        return
    table = shape.cell_extents()
    first = shape.origin_at(())
    assert table.shape == (shape.extent(0), shape.rank - 1)
    for k, extents in enumerate(table.tolist()):
        row = shape.flatten().chip(first + k)
        assert row.size == int(np.prod(extents))
        if row.size:
            assert row.extents == tuple(extents)


def test_the_table_of_a_box_takes_the_memory_of_a_row():
    table = Shape(10**12, 3, 4).cell_extents()
    assert (table.shape, table[-1].tolist(), table.flags.writeable) == ((10**12, 2), [3, 4], False)


def test_extents_that_depend_on_more_than_the_row_make_no_table():
    with pytest.raises(JaggedModeError, match=r"mode 2 depends on modes \(0, 1\)"):
        Shape.jagged([[1], [2, 3]]).cell_extents()
    with pytest.raises(RankError, match="has rank 0"):
        Shape().cell_extents()


# Arrow.


def test_sizes_have_32_bits_and_the_metadata_says_what_is_alike():
    sizes, metadata = CELLS.named(None, "y", None, "c").arrow_tensor_sizes()
    assert (sizes.tolist()[:2], sizes.dtype) == ([[3, 5, 2], [1, 5, 4]], np.int32)
    fields = json.loads(metadata)
    assert fields["dim_names"] == ["y", "", "c"]
    assert set(fields) <= {"dim_names", "uniform_shape"}
    back = Shape.from_arrow_tensors(sizes, metadata)
    # What is stored behind an empty mode does not travel.
    assert back.is_congruent(CELLS)
    assert back.names == (None, "y", None, "c")


@pytest.mark.parametrize(
    ("sizes", "metadata", "shape"),
    [
        ([(3, 5), (1, 5)], "", Shape.from_cells((2,), [(3, 5), (1, 5)])),
        ([(3, 5), (1, 5)], b"{}", Shape.from_cells((2,), [(3, 5), (1, 5)])),
        ([(3, 5), (1, 5)], '{"uniform_shape":[null,5]}', Shape.from_cells((2,), [(3, 5), (1, 5)])),
        (
            np.array([(1, 2, 3), (4, 5, 6)], np.int32),
            '{"permutation":[2,0,1],"dim_names":["C","H","W"]}',
            Shape.from_cells((2,), [(3, 1, 2), (6, 4, 5)]).named(None, "W", "C", "H"),
        ),
        (np.empty((0, 2)), "", Shape.jagged([], rank=3)),
    ],
)
def test_the_tensors_of_arrow_are_read(sizes, metadata, shape):
    assert Shape.from_arrow_tensors(sizes, metadata) == shape


@pytest.mark.parametrize(
    ("sizes", "metadata", "error", "message"),
    [
        ([3, 5], "", ConversionError, "a table with one row per tensor"),
        ([(3, -5)], "", ExtentError, "-5"),
        ([(3.5, 1)], "", ConversionError, "sizes"),
        ([(3, 5)], "[]", ParseError, "a JSON object"),
        ([(3, 5)], "{", ParseError, "is not JSON"),
        ([(3, 5)], b"\xff", ParseError, "not UTF-8"),
        ([(3, 5)], "[" * 1000, ParseError, "nests over 2 deep"),
        ([(3, 5)], '{"shape":[1]}', ParseError, "no key 'shape', only dim_names, permutation, uniform_shape"),
        ([(3, 5)], '{"permutation":[0,0]}', ParseError, "numbers 0 to 1, each once"),
        ([(3, 5)], '{"permutation":[0,true]}', ParseError, "numbers 0 to 1"),
        ([(3, 5)], '{"permutation":[0]}', ParseError, "one entry for each of 2"),
        ([(3, 5)], '{"dim_names":["a"]}', ParseError, "one entry for each of 2"),
        ([(3, 5)], '{"dim_names":["a",1]}', ParseError, "dim_names are texts"),
        ([(3, 5)], '{"dim_names":["a","a"]}', ModeNameError, "'a'"),
        ([(3, 5)], '{"uniform_shape":[null,6]}', ExtentError, "uniform_shape says '6' of mode 1"),
        ([(3, 5)], '{"uniform_shape":["3",null]}', ExtentError, "uniform_shape says '3' of mode 0"),
    ],
)
def test_metadata_that_does_not_fit_is_refused(sizes, metadata, error, message):
    with pytest.raises(error, match=message):
        Shape.from_arrow_tensors(sizes, metadata)


def test_extents_beyond_32_bits_have_no_sizes():
    with pytest.raises(SizeOverflowError, match="one is 2147483648"):
        Shape.from_cells((1,), [(2**31, 0)]).arrow_tensor_sizes()
    with pytest.raises(RankError, match="has rank 1"):
        Shape(3).arrow_tensor_sizes()


# PyTorch.


@pytest.mark.parametrize(
    ("shape", "offsets", "extents"),
    [
        (Shape.jagged([3, 1, 2]), [0, 3, 4, 6], (3, None)),
        (Shape.from_cells((2,), [(3, 5), (1, 5)]), [0, 3, 4], (2, None, 5)),
        (Shape.from_cells((2,), [(5, 3), (5, 1)]), [0, 3, 4], (2, 5, None)),
        (Shape.from_cells((2,), [(5, 3, 4), (5, 1, 4)]), [0, 3, 4], (2, 5, None, 4)),
        (Shape.from_uniform(3, 2), [0, 2, 4, 6], (3, None)),
    ],
)
def test_one_ragged_mode_has_offsets(shape, offsets, extents):
    found, sizes = shape.torch_offsets()
    assert (found.tolist(), sizes) == (offsets, extents)
    assert Shape.from_torch_jagged(offsets, extents) == shape


def test_rows_with_holes_are_as_long_as_their_lengths():
    shape = Shape.from_torch_jagged([0, 5, 9], (2, None), lengths=[3, 4])
    assert shape == Shape.jagged([3, 4])


@pytest.mark.parametrize(
    ("offsets", "extents", "lengths", "error", "message"),
    [
        ([0, 3], (1, 2), None, ExtentError, r"one mode after the first is ragged.*\(1, 2\)"),
        ([0, 3], (1, None, None), None, ExtentError, "one mode after the first"),
        ([0, 3], (None, 2), None, ExtentError, "one mode after the first"),
        ([0, 3], (2, None), None, ExtentError, "extent of mode 0 is 2, but there are offsets for 1 rows"),
        ([3, 0], (1, None), None, ExtentError, "offsets must not descend"),
        ([0, 3], (1, None, -1), None, ExtentError, "extent of mode 2"),
        ([0, 3], (1, None), [4], ExtentError, "row 0 has length 4, but its offsets leave room for 3"),
        ([0, 3], (1, None), [1, 1], ExtentError, "2 lengths for 1 rows"),
        ([0, 3], (1, None), [-1], ExtentError, "-1"),
        ([0, 3], (True, None), None, ConversionError, "mode 0"),
    ],
)
def test_what_is_no_jagged_layout_is_refused(offsets, extents, lengths, error, message):
    with pytest.raises(error, match=message):
        Shape.from_torch_jagged(offsets, extents, lengths=lengths)


def test_two_ragged_modes_have_no_offsets():
    with pytest.raises(JaggedModeError, match=r"one ragged mode.*cell_extents"):
        CELLS.torch_offsets()
    with pytest.raises(RankError, match="two modes"):
        Shape(3).torch_offsets()


@pytest.mark.parametrize("sizes", [[1, [3, 4]], [[1, 2], [3]], [[0.5, 1]], [["a"]]])
def test_fuzz_sizes_that_form_no_table_are_refused(sizes):
    with pytest.raises(ConversionError, match="sizes"):
        Shape.from_arrow_tensors(sizes)
