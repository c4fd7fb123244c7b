"""Rows made longer, or cut: Awkward Array is the oracle."""

import awkward as ak
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import ConversionError, ExtentError, JaggedModeError, SizeOverflowError
from tests.support.tensor.awkward_arrays import tensors, to_awkward


@given(tensors(), st.integers(0, 4), st.booleans())
def test_pad_makes_rows_as_long_as_awkward_does(t, length, clip):
    padded = t.pad_rows(length, fill_value=-1, clip=clip)
    expected = ak.fill_none(ak.pad_none(to_awkward(t), length, axis=-1, clip=clip), -1, axis=-1)

    assert padded.tolist() == expected.to_list() or not t.size
    assert padded.row_lengths(t.rank - 1).elements().tolist() == [
        length if clip else max(n, length) for n in t.row_lengths(t.rank - 1).elements().tolist()
    ]
    assert not np.shares_memory(padded.elements(), t.elements())


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 3))), st.data())
def test_pad_any_mode_of_cells(cells, data):
    shape = Shape.from_cells((len(cells),), np.array(cells, dtype=np.int64).reshape(-1, 3))
    t = tw.from_buffer(np.arange(shape.size), shape)
    inner, length = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 4))
    clip = data.draw(st.booleans())
    padded = t.pad_rows(length, fill_value=-1, mode=1 + inner, clip=clip)
    for (_, cell), (_, old) in zip(cells_of(padded), t.cells(), strict=True):
        x = old.to_numpy()
        wanted = length if clip else max(length, x.shape[inner])
        kept = np.take(x, range(min(wanted, x.shape[inner])), axis=inner)
        widths = [(0, wanted - kept.shape[inner] if k == inner else 0) for k in range(3)]
        assert cell.tolist() == np.pad(kept, widths, constant_values=-1).tolist()


def cells_of(t):
    """The cells of a jagged tensor, or the rows of the first mode of a box, as arrays."""
    if t.shape.kind == "jagged":
        return [(index, cell.to_numpy()) for index, cell in t.cells()]
    return list(enumerate(t.to_numpy()))


def test_pad_gives_a_box_where_all_rows_are_cut_to_one_length():
    t = tw.jagged([[1, 2, 3], [], [4]])

    assert t.pad_rows(2, clip=True).shape == Shape(3, 2)
    assert t.pad_rows(3).shape == Shape.jagged([3, 3, 3])
    assert t[:0].pad_rows(2, clip=True).shape == Shape(0, 2)
    assert tw.as_tensor(np.ones((2, 2))).pad_rows(3, mode=0, fill_value=5).tolist() == [
        [1, 1],
        [1, 1],
        [5, 5],
    ]
    assert tw.as_tensor(np.arange(4)).pad_rows(2, clip=True).tolist() == [0, 1]


def test_pad_refuses_what_it_cannot_do():
    t = tw.jagged([[[1], [2, 3]], [[4]]])
    with pytest.raises(JaggedModeError, match=r"mode 1 would lead to rows .* modes 2 to 2 can be padded"):
        t.pad_rows(3, mode=1)
    with pytest.raises(SizeOverflowError, match="fill_value=300"):
        tw.jagged([np.zeros(1, "u1")]).pad_rows(3, fill_value=300)
    with pytest.raises(ExtentError, match="a length must not be negative"):
        t.pad_rows(-1)
    sparse = tw.sparse([(0, 1)], [1.0], Shape(2, 3))
    assert sparse.pad_rows(4).tolist() == [[0, 1, 0, 0], [0, 0, 0, 0]]
    with pytest.raises(ConversionError, match=r"fills 0\.0 and 9\.0"):
        sparse.pad_rows(4, fill_value=9)
