"""Jagged tensors of strings, against Awkward Array and lists."""

import awkward as ak
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import ConversionError, ExtentMismatchError

TEXTS = st.text(alphabet="aé日", max_size=3)
ROWS = st.lists(st.lists(TEXTS, max_size=4), min_size=1, max_size=6)


def jagged(rows):
    """A jagged tensor, also where all rows are of one length."""
    return tw.strings([item for row in rows for item in row], shape=Shape.jagged([len(row) for row in rows]))


@given(ROWS)
def test_rows_come_from_awkward_through_arrow(rows):
    array = ak.to_arrow(ak.Array(rows), extensionarray=False) if any(rows) else None
    tensor = jagged(rows) if array is None else tw.as_tensor(array)

    assert tensor.shape == Shape.jagged([len(row) for row in rows])
    assert tensor.tolist() == rows
    assert tw.strings(rows).tolist() == rows


@given(ROWS, st.data())
def test_parts_of_rows_are_those_of_awkward(rows, data):
    tensor, array = jagged(rows), ak.Array(rows)
    start, stop = (data.draw(st.integers(-7, 7)) for _ in range(2))
    step = data.draw(st.sampled_from([1, 2, -1]))
    picks = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=4))

    assert tensor[start:stop].tolist() == array[start:stop].to_list()
    assert tensor[:, ::step].tolist() == [row[::step] for row in rows]
    assert tensor[picks].tolist() == [rows[pick] for pick in picks]
    assert tensor[picks].copy().to_string_data().to_list() == [x for pick in picks for x in rows[pick]]
    assert tensor.row_lengths().tolist() == ak.num(array).to_list()
    assert tensor.flatten().tolist() == [item for row in rows for item in row]
    assert tensor.to_padded(fill_value="-").tolist() == [
        row + ["-"] * (max(map(len, rows)) - len(row)) for row in rows
    ]
    assert tensor.pad_rows(2, fill_value="-", clip=True).tolist() == [[*row, "-", "-"][:2] for row in rows]


@given(ROWS, st.data())
def test_assignments_are_those_of_lists(rows, data):
    tensor = jagged(rows)
    k = data.draw(st.integers(0, len(rows) - 1))
    new = data.draw(st.lists(TEXTS, min_size=len(rows[k]), max_size=len(rows[k])))
    tensor[k] = new
    rows[k] = new
    assert tensor.tolist() == rows
    tensor[k:] = "x"
    rows[k:] = [["x"] * len(row) for row in rows[k:]]
    assert tensor.tolist() == rows
    tensor[...] = jagged([[item + "!" for item in row] for row in rows])
    assert tensor.tolist() == [[item + "!" for item in row] for row in rows]


def test_a_jagged_tensor_takes_no_lists_and_no_other_shape():
    tensor = tw.strings([["a"], ["b", "c"]])
    with pytest.raises(ConversionError, match="cell by cell"):
        tensor[...] = [["x"], ["y", "z"]]
    with pytest.raises(ExtentMismatchError, match="is not one of shape"):
        tensor[...] = tw.strings([["x", "y"], ["z"]])

    assert tensor.tolist() == [["a"], ["b", "c"]]


def test_cells_of_two_modes():
    shape = Shape.from_cells((2,), [(1, 2), (2, 2)])
    tensor = tw.strings(list("abcdef"), shape=shape)
    tensor[1][:, 0] = "x"

    assert tensor.tolist() == [[["a", "b"]], [["x", "d"], ["x", "f"]]]
    assert str(tensor) == "[[['a' 'b']]\n\n [['x' 'd']\n  ['x' 'f']]]"
    assert tensor.to_padded(fill_value="").tolist() == [[["a", "b"], ["", ""]], [["x", "d"], ["x", "f"]]]
