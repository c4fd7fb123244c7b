"""Sparse tensors: how they are made, what they answer, and that nothing makes them dense unasked."""

import copy
import pickle

import numpy as np
import pytest

import tensorwrapper as tw
import tensorwrapper.selection as sel
from tensorwrapper import Shape, Tiling
from tensorwrapper.buffer import Sparse, count_copies
from tensorwrapper.errors import (
    BufferSizeError,
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    OutOfBoundsError,
    RankError,
    SizeOverflowError,
)

MILLION = 10**6


def line(values, dtype="f4", fill=0):
    """A sparse tensor of rank 1 with these elements."""
    return tw.sparse(
        np.arange(len(values))[:, None], np.array(values, dtype), Shape(len(values)), fill_value=fill
    )


def stored(tensor):
    """The pairs (index, value) that a tensor of rank 1 stores."""
    indices, values = tensor.stored()
    return list(zip(indices[:, 0].tolist(), values.tolist(), strict=True))


# The table of sparse buffers; a part of a buffer is a slice of a tensor of rank 1.


def test_a_part_stores_its_share_counted_from_its_start():
    tensor = line([1, 0, 1, 0, 1, 0, 1])
    assert stored(tensor) == [(0, 1), (2, 1), (4, 1), (6, 1)]
    assert stored(tensor[0:6]) == [(0, 1), (2, 1), (4, 1)]


def test_copying_one_sparse_tensor_into_another_takes_the_fill_with_it():
    tensor, other = line([1, 0, 1, 0, 1, 0, 1]), line([0, 2, 0, 4, 0, 6])
    assert stored(other) == [(1, 2), (3, 4), (5, 6)]
    tensor[:6] = other
    assert tensor.tolist() == [0, 2, 0, 4, 0, 6, 1]
    part = tensor[3:6][0:3]
    assert part.tolist() == [4, 0, 6]
    assert stored(part) == [(0, 4), (2, 6)]
    tensor[3:6] = [5, 6, 7]
    assert tensor[3:6].tolist() == [5, 6, 7]
    assert tensor.tolist() == [0, 2, 0, 5, 6, 7, 1]


@pytest.mark.parametrize(
    ("values", "assigned", "part", "whole"),
    [
        ([1, 0, 2, 0, 3, 0, 4, 0], None, [0, 2, 0], [1, 0, 2, 0, 3, 0, 4, 0]),
        ([1, 0, 1, 0, 1, 0, 1, 0], 0, [0, 0, 0], [1, 0, 0, 0, 1, 0, 1, 0]),
        ([1, 0, 1, 0, 1, 0, 1, 0], [5, 6, 7], [5, 6, 7], [1, 5, 6, 7, 1, 0, 1, 0]),
    ],
)
def test_assignment_to_a_part_shows_in_the_whole(values, assigned, part, whole):
    tensor = line(values)
    cut = tensor[1:4]
    if assigned is not None:
        cut[...] = assigned
    assert cut.tolist() == part
    assert tensor.tolist() == whole
    assert tensor.nnz == np.count_nonzero(whole)


def test_the_fill_clears_a_range_with_its_last_element():
    # The insert position of the last index, taken for the end of the range, would leave that one stored.
    tensor = line([0, 1, 2, 3, 4, 0])
    tensor[1:4] = 0
    assert stored(tensor) == [(4, 4)]
    tensor[4] = 0
    assert stored(tensor) == []


@pytest.mark.parametrize(
    ("fill", "indices", "data"), [(0, [0, 2, 4, 6], [1, 1, 1, 1]), (1, [1, 3, 5], [0, 0, 0])]
)
def test_what_is_stored_depends_on_the_fill(fill, indices, data):
    tensor = line([1, 0, 1, 0, 1, 0, 1], "i4", fill)
    assert tensor.coords().tolist() == [[k] for k in indices]
    assert tensor.values().tolist() == data
    assert tensor.values().dtype == tensor.dtype == np.int32
    assert (tensor.fill_value, type(tensor.fill_value)) == (fill, np.int32)


def test_small_integers_are_checked_unless_they_are_to_wrap():
    tensor = line([255, 254, 0, 1, 2, 3], "u1")
    assert tensor.tolist() == [255, 254, 0, 1, 2, 3]
    with pytest.raises(SizeOverflowError):
        tensor.astype("i1")
    assert tensor.astype("i1", casting="unsafe").tolist() == [-1, -2, 0, 1, 2, 3]
    for value in (-1, 256):
        with pytest.raises(OverflowError):
            tensor[0] = value
    assert tensor[0].item() == 255


def test_a_new_tensor_stores_nothing():
    tensor = tw.sparse([], [], Shape(1000, 1000))
    buffer = tensor.buffer
    assert isinstance(buffer, Sparse)
    assert (tensor.layout.offset, buffer.size, tensor.fill_value) == (0, MILLION, 0.0)
    assert (buffer.addresses.tolist(), tensor.values().tolist(), tensor.nnz) == ([], [], 0)
    assert tensor.coords().shape == (0, 2)


# Construction.


def test_indices_are_absolute_and_in_any_order():
    shape = Shape(3, 4, origin=(-1, 5))
    tensor = tw.sparse([(1, 8), (-1, 5)], [7, 5], shape)
    assert tensor.to_dense().tolist() == [[5, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 7]]
    assert tensor.to_dense().shape == tensor.shape == shape
    assert tensor.coords().tolist() == [[-1, 5], [1, 8]]
    assert tensor.copy().coords().tolist() == [[-1, 5], [1, 8]]


def test_a_scalar_may_be_stored_or_not():
    assert tw.sparse(np.empty((1, 0), dtype=int), [5.0], Shape()).item() == 5.0
    assert tw.sparse([], [], Shape(), fill_value=2).item() == 2.0


@pytest.mark.parametrize(
    ("duplicates", "dtype", "expected"),
    [("sum", "i4", [5, 0, 0]), ("last", "i4", [3, 0, 1]), ("sum", "?", [True, False, True])],
)
def test_duplicates_are_what_was_asked_for(duplicates, dtype, expected):
    values = np.array([2, 1, 3, -1], dtype) if dtype != "?" else np.array([True, True, True, False])
    tensor = tw.sparse([[0], [2], [0], [2]], values, (3,), duplicates=duplicates)
    if duplicates == "last":
        expected = [3, 0, -1]
    assert tensor.tolist() == expected
    assert tensor.nnz == np.count_nonzero(expected)


def test_sums_that_do_not_fit_are_refused_and_times_have_none():
    with pytest.raises(SizeOverflowError):
        tw.sparse([[0], [0]], np.array([100, 100], "i1"), (1,), duplicates="sum")
    with pytest.raises(DTypeError, match="last"):
        tw.sparse([[0], [0]], np.array([1, 1], "M8[s]"), (1,), duplicates="sum")
    tensor = tw.sparse([[0], [0]], np.array([1, 2], "m8[s]"), (1,), duplicates="sum")
    assert tensor.values().tolist() == [np.timedelta64(3, "s")]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "text"),
    [
        (([(0, 4)], [1], (3, 4)), {}, OutOfBoundsError, r"\(0, 4\)"),
        (([(0, -1)], [1], (3, 4)), {}, OutOfBoundsError, "-1"),
        (([(0, 1), (0, 1)], [1, 2], (3, 4)), {}, ConversionError, r"\(0, 1\) is given more than once"),
        (([0], [1], (3, 4)), {}, RankError, "rank 2"),
        (([(0.5, 1)], [1], (3, 4)), {}, ConversionError, "integers"),
        (([(0, 1)], [1, 2], (3, 4)), {}, BufferSizeError, "one value per index"),
        (([(0, 1)], 1, (3, 4)), {}, BufferSizeError, "one value per index"),
        (([(0, 1)], [[1, 2], [3]], (3, 4)), {}, ConversionError, "flat array"),
        (([(0, 1)], ["a"], (3, 4)), {}, DTypeError, "<U1"),
        (([(0, 1)], [1], (3, 4)), {"fill_value": float("nan")}, ConversionError, "fill"),
        (([(0, 1)], [1], (3, 4)), {"dtype": "O"}, DTypeError, "object"),
        (([(0, 1)], [300], (3, 4)), {"dtype": "u1"}, SizeOverflowError, "uint8"),
        (([(0, 1)], [1], (3, 4)), {"duplicates": "first"}, ConversionError, "first"),
        (([], [], (2**32, 2**32)), {}, SizeOverflowError, "64 bits"),
    ],
)
def test_what_makes_no_sparse_tensor_is_refused(arguments, options, error, text):
    with pytest.raises(error, match=text):
        tw.sparse(*arguments, **options)


def test_the_type_of_the_elements_can_be_given():
    tensor = tw.sparse([(0, 1)], [1], (3, 4), dtype="f4", fill_value=0.5)
    assert (tensor.dtype, tensor.values().dtype, tensor.fill_value) == ("f4", "f4", 0.5)


# Answers.


def test_facts_of_sparse_and_of_dense_tensors():
    tensor = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], (3, 4))
    assert (tensor.is_sparse, tensor.nnz, tensor.density, tensor.fill_value) == (True, 2, 2 / 12, 0.0)
    assert tw.sparse([], [], (0, 4)).density == 0.0
    assert "2 stored, else 0.0" in repr(tensor)
    assert "2 of 12" in repr(tensor.buffer)
    dense = tensor.to_dense()
    assert not dense.is_sparse
    for name in ("nnz", "density", "fill_value"):
        with pytest.raises(ConversionError, match="needs a sparse tensor"):
            getattr(dense, name)
    for name in ("coords", "values", "stored", "csr", "to_scipy", "to_pydata"):
        with pytest.raises(ConversionError, match="sparse"):
            getattr(dense, name)()


def test_a_view_counts_every_index_whose_element_is_stored():
    tensor = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], (3, 4))
    assert tensor[1:].nnz == 1
    assert tensor.repeat((2, 3)).nnz == 12
    assert tensor.broadcast((10**9, 3, 4)).nnz == 2 * 10**9
    assert tensor.broadcast((10**9, 3, 4)).density == tensor.density
    assert tensor.sliding_window(1, 2).nnz == 3


def test_elements_of_a_view_are_taken_as_they_are_stored_where_that_is_possible():
    tensor = tw.sparse([(0, 1), (1, 2), (2, 3)], [5.0, 6.0, 7.0], (3, 4))
    with count_copies() as count:
        values = tensor.values()
        assert np.shares_memory(values, tensor[1:].values())
        tensor.copy()
    assert count.copies == 0
    assert not values.flags.writeable


def test_nothing_makes_a_sparse_tensor_dense_unasked():
    tensor = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], (3, 4))
    for way in (np.asarray, np.array, np.from_dlpack, lambda t: t.to_numpy(), np.cumsum):
        with pytest.raises(TypeError, match=r"to_dense\(\)"):
            way(tensor)
    rows = tw.sparse([(0, 1)], [5.0], Shape.jagged([2, 3]))
    with pytest.raises(ConversionError, match=r"to_padded\(\) and cells\(\)"):
        np.asarray(rows)
    with pytest.raises(ConversionError, match="to_dense"):
        tw.as_tensor(np.zeros((3, 4)))[...] = tensor


def test_dense_tensors_have_dense_copies():
    x = np.arange(6.0).reshape(2, 3)
    tensor = tw.as_tensor(x)[:, ::-1]
    assert np.array_equal(tensor.to_dense(), x[:, ::-1])
    assert not np.shares_memory(np.asarray(tensor.to_dense()), x)


def test_jagged_and_tiled_tensors_have_dense_copies_of_the_same_shape():
    rows = tw.jagged([[1], [2, 3]])
    assert (rows.to_dense().tolist(), rows.to_dense().shape) == (rows.tolist(), rows.shape)
    stored = tw.sparse([(1, 1)], [5.0], Shape.jagged([1, 2]))
    tiles = tw.sparse([(0, 1)], [5.0], (2, 2)).tiled(Tiling([1, 1], [2]))
    blocks = tiles.to_dense().screened()
    for sparse in (stored, tiles, blocks):
        dense = sparse.to_dense()
        assert (dense.shape, dense.tolist(), dense.is_sparse) == (sparse.shape, sparse.tolist(), False)
        assert sel.as_view(sparse).to_dense().tolist() == sparse.tolist()


def test_copies_and_pickles_stay_sparse_and_are_apart():
    whole = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], (3, 4), fill_value=1)
    for tensor in (whole, whole.permute((1, 0))[1:], whole[1:2], whole.tiled(Tiling([1, 2], [4]))):
        for made in (tensor.copy(), copy.deepcopy(tensor), pickle.loads(pickle.dumps(tensor))):
            assert made.is_sparse
            assert made.array_equal(tensor)
            assert made.shape == tensor.shape
            made[...] = 0
        assert tensor.fill_value == 1
    assert whole.nnz == 2
    alias = copy.copy(whole)
    alias[1, 1] = 9
    assert whole[1, 1].item() == 9


def test_sparse_tensors_are_compared_without_their_other_elements():
    shape = (MILLION, MILLION)
    one = tw.sparse([(1, 2), (3, 4)], [1.0, 2.0], shape)
    assert one.array_equal(tw.sparse([(2, 1), (4, 3)], [1.0, 2.0], shape).permute((1, 0)))
    assert not one.array_equal(tw.sparse([(1, 2), (3, 5)], [1.0, 2.0], shape))
    assert not one.array_equal(tw.sparse([(1, 2), (3, 4)], [1.0, 2.0], shape, fill_value=1))
    assert not one.array_equal(tw.sparse([], [], (3, MILLION)))
    nan = float("nan")
    filled = tw.sparse([(0, 0)], [1.0], shape, fill_value=nan)
    assert not filled.array_equal(filled)
    assert filled.array_equal(filled, equal_nan=True)


def test_different_fills_may_have_equal_elements():
    x = np.array([0.0, 1.0])
    one, other = line(x, "f8", 0), line(x, "f8", 1)
    assert one.array_equal(other)
    assert other.array_equal(tw.as_tensor(x))
    assert not line([0, 0, 1], "f8", 0).array_equal(line([0, 1, 1], "f8", 1))


def test_membership_knows_the_fill():
    tensor = tw.sparse([(0, 1)], [5.0], (MILLION, MILLION))
    assert 5.0 in tensor
    assert 0 in tensor
    assert 7.0 not in tensor
    assert 0 not in line([1, 2])


def test_compressed_rows():
    tensor = tw.sparse([(0, 1), (2, 0), (2, 3)], [5, 6, 7], (4, 4))
    indptr, indices, values = tensor.csr()
    assert (indptr.tolist(), indices.tolist(), values.tolist()) == ([0, 1, 1, 3, 3], [1, 0, 3], [5, 6, 7])
    assert np.shares_memory(values, tensor.values())
    assert [part.tolist() for part in tensor.permute((1, 0)).csr()] == [
        [0, 1, 2, 2, 3],
        [2, 0, 2],
        [6, 5, 7],
    ]
    assert [part.tolist() for part in tw.sparse([], [], (2, 0)).csr()] == [[0, 0, 0], [], []]
    with pytest.raises(RankError):
        tensor[0].csr()
    with pytest.raises(ConversionError):
        tw.sparse([], [], Shape.jagged([1, 2])).csr()


def test_types_change_with_the_fill_and_what_becomes_the_fill_is_dropped():
    tensor = tw.sparse([(0, 1), (1, 1)], [0.25, 7.5], (2, 2), fill_value=0.5)
    whole = tensor.astype(np.int8)
    assert (whole.dtype, whole.fill_value, whole.nnz, whole.tolist()) == ("i1", 0, 1, [[0, 0], [0, 7]])
    with pytest.raises(SizeOverflowError):
        tw.sparse([], [], (2,), fill_value=1000).astype("u1")
    with pytest.raises(DTypeError):
        tensor.astype("O")
    tiles = tensor.tiled(Tiling([1, 1], [2])).astype("i4")
    assert tiles.is_sparse
    assert tiles.tiling == Tiling([1, 1], [2])
    assert tw.jagged([[1.5], [2, 300]]).astype("i2").tolist() == [[1], [2, 300]]


# Jagged and tiled shapes.


def test_jagged_sparse_tensors():
    shape = Shape.jagged([2, 0, 3])
    tensor = tw.sparse([(2, 2), (0, 1)], [7, 5], shape)
    assert tensor.tolist() == [[0, 5], [], [0, 0, 7]]
    assert tensor.coords().tolist() == [[0, 1], [2, 2]]
    assert tensor[1:].coords().tolist() == [[1, 2]]
    assert tensor.to_padded(fill_value=-1).tolist() == [[0, 5, -1], [-1, -1, -1], [0, 0, 7]]
    tensor[1:] = 1
    assert tensor.tolist() == [[0, 5], [], [1, 1, 1]]
    tensor[2] = [0, 8, 0]
    assert tensor.coords().tolist() == [[0, 1], [2, 1]]
    other = tw.sparse([(0, 0)], [3], shape)
    tensor[...] = other
    assert tensor.array_equal(other)
    tensor[...] = tw.jagged([[0, 1], [], [2, 0, 0]])
    assert tensor.coords().tolist() == [[0, 1], [2, 0]]
    tensor[::-1, ::-1][0, 1:] = 4
    assert tensor.tolist() == [[0, 1], [], [4, 4, 0]]
    assert tensor[::-1, 1:].coords().tolist() == [[0, 0], [2, 0]]
    with pytest.raises(ConversionError, match="cell by cell"):
        tensor[...] = [1, 2]
    with pytest.raises(ExtentMismatchError):
        tensor[...] = tw.sparse([], [], Shape.jagged([3, 2]))
    with pytest.raises(OutOfBoundsError):
        tw.sparse([(1, 0)], [1], shape)


def test_nested_sparse_tensors():
    shape = Shape.nested(Shape.jagged([2, 0, 3]), layers=(1, 1))
    tensor = tw.sparse([(2, 2), (0, 1)], [7, 5], shape)
    assert (tensor.shape, tensor.nnz, tensor.coords().tolist()) == (shape, 2, [[0, 1], [2, 2]])
    for made in (tensor.copy(), pickle.loads(pickle.dumps(tensor))):
        assert made.is_sparse
        assert made.array_equal(tensor)
    tensor[...] = 0
    assert tensor.nnz == 0


def test_tiles_of_a_sparse_tensor():
    x = np.zeros((4, 6))
    x[1, 2], x[3, 5], x[0, 0] = 5, 7, 1
    tensor = tw.sparse(np.argwhere(x), x[x != 0], (4, 6))
    tiles = tensor.tiled(Tiling([1, 3], [2, 4]))
    assert tiles.nnz == 3
    assert tiles.coords().tolist() == [[0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 2, 3]]
    assert tiles.tile((1, 1)).to_dense().tolist() == x[1:, 2:].tolist()
    chosen = tiles.select_tiles([(1, 1), (0, 1)])
    assert chosen.is_sparse
    assert chosen[0].to_dense().tolist() == x[1:, 2:].tolist()
    assert chosen.coords().tolist() == [[0, 1, 2], [0, 3, 5]]
    assert tiles.reduce_tiles(np.add).tolist() == [[1, 0], [0, 12]]


# Sizes beyond memory.


@pytest.mark.slow
def test_a_matrix_of_a_million_million_elements():
    tensor = tw.sparse([(5, 7), (10**5, 10**5)], [1.0, 2.0], (MILLION, MILLION))
    view = tensor.permute((1, 0))[::-1, 5:].rotate((3, 4))
    assert view.nnz == 2
    assert view.coords().tolist() == [[899_999 + 3, 99_995 + 4], [MILLION - 8 + 3, 4]]
    view[5:9, 6:9] = 8.0
    assert tensor.nnz == 2 + 12
    view[: MILLION // 2, 1:] = 0
    assert tensor.nnz == 2
    tensor[:, :] = 0.0
    assert tensor.nnz == view.nnz == 0
    tensor[7:] = tw.sparse([(3, 4)], [6.0], (MILLION - 7, MILLION))
    assert tensor.coords().tolist() == [[10, 4]]
    tensor[...] = tw.sparse([(2,)], [1.0], (MILLION,))[:1].broadcast((MILLION, MILLION))
    assert tensor.nnz == 0


def test_a_line_of_a_million_million_elements_that_was_rotated():
    tensor = tw.sparse([(5,), (10**11,)], [1.0, 2.0], (10**12,)).rotate((-6,))
    assert tensor[::3].nnz == tensor[-1:].nnz + tensor[::3][: 10**11].nnz
    assert tensor[-1].item() == 1.0
    tensor[10**11 - 10 : 10**12 - 1] = 0
    assert tensor.coords().tolist() == [[10**12 - 1]]


def test_sums_into_a_sparse_tensor():
    total = tw.sparse([], [], (3,))
    tw.as_tensor([1.0, 2.0, 4.0]).accumulate_into(total.gather(0, [1, 0, 1]))
    assert total.coords().tolist() == [[0], [1]]
    assert total.tolist() == [2.0, 5.0, 0.0]
