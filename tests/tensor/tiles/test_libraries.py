"""Tensors in blocks and the sparse arrays of SciPy and pydata/sparse."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling
from tensorwrapper.errors import ExportError, ExtentMismatchError
from tests.support.tiles.block_tensors import P, T, X, dense, of

scipy_sparse = pytest.importorskip("scipy.sparse")
EVEN = Tiling([2, 2, 2], [3, 3])


def matrix():
    pattern = BlockPattern(EVEN, [(0, 1), (1, 0), (2, 1)])
    return of(pattern, X)


def test_blocks_of_scipy_are_shared_both_ways():
    tensor = matrix()
    bsr = tensor.to_scipy("bsr")
    assert np.array_equal(bsr.toarray(), dense(tensor))
    assert np.shares_memory(bsr.data, tensor.packed_values())
    again = tw.blocks(bsr)
    assert again.pattern == tensor.pattern
    assert np.shares_memory(again.packed_values(), bsr.data)
    turned = tensor.permute((1, 0, 3, 2)).to_scipy("bsr")
    assert np.array_equal(turned.toarray(), dense(tensor).T)
    assert np.array_equal(tw.as_tensor(X).tiled(EVEN).to_scipy("bsr").toarray(), X)
    assert tw.blocks(bsr, EVEN, dtype="f4").dtype == np.float32
    assert tw.blocks(bsr, T).pattern == tensor.pattern.retile(T)


def test_blocks_of_scipy_in_any_order_that_come_twice():
    data = np.arange(24.0).reshape(4, 2, 3)
    bsr = scipy_sparse.bsr_array((data, [1, 0, 1, 0], [0, 3, 4, 4]), shape=(6, 6))
    tensor = tw.blocks(bsr)
    assert list(tensor.pattern) == [(0, 0), (0, 1), (1, 0)]
    assert np.array_equal(dense(tensor), bsr.toarray())
    zeros = scipy_sparse.bsr_array((np.zeros((1, 2, 3)), [1], [0, 1, 1, 1]), shape=(6, 6))
    assert list(tw.blocks(zeros).pattern) == [(0, 1)]
    some = scipy_sparse.bsr_array((data[:2], [1, 0], [0, 2, 2, 2]), shape=(6, 6))
    assert np.array_equal(dense(tw.blocks(some)), some.toarray())


def test_tiles_of_what_is_stored():
    sparse = pytest.importorskip("sparse")
    x = np.where(dense(matrix()) % 5 == 0, dense(matrix()), 0)
    right = BlockPattern.from_norms(T, tw.as_tensor(x).tiled(T).tile_norms().to_numpy(), 1e-9)
    for array in (
        scipy_sparse.coo_array(x),
        scipy_sparse.csr_array(x),
        sparse.COO(x),
        sparse.GCXS(x),
        tw.as_tensor(scipy_sparse.coo_array(x)),
        tw.as_tensor(x),
    ):
        tensor = tw.blocks(array, T)
        assert np.array_equal(dense(tensor), x)
        assert tensor.pattern == right
    filled = tw.blocks(sparse.COO(x) + 2, T)
    assert filled.fill_value == 2
    assert np.array_equal(dense(filled), x + 2)
    back = matrix().untiled().to_pydata()
    assert np.array_equal(back.todense(), dense(matrix()))
    with pytest.raises(ExtentMismatchError):
        tw.blocks(scipy_sparse.coo_array(x), Tiling([6], [5]))


def test_what_is_no_matrix_of_equal_blocks_is_refused():
    for tensor in (of(P, X), matrix() + 1, tw.zeros(BlockPattern(Tiling([2], [2], [2])))):
        with pytest.raises(ExportError):
            tensor.to_scipy("bsr")
