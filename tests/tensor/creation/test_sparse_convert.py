"""Sparse tensors from and to SciPy and pydata/sparse."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
import sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, DTypeError, LayoutError, RankError

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]
MATRICES = hnp.arrays(
    st.sampled_from(["f8", "f4", "i8", "i2", "u1", "c16", "?"]),
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=5),
    elements=st.integers(0, 1),
)


def sparse_of(x, fill=0):
    return tw.sparse(np.argwhere(np.ones(x.shape, dtype=bool)), x.reshape(-1), x.shape, fill_value=fill)


@pytest.mark.parametrize("form", FORMATS)
@given(x=MATRICES)
def test_every_format_of_scipy_becomes_a_sparse_tensor(form, x):
    for kind in (scipy.sparse.coo_array, scipy.sparse.coo_matrix):
        tensor = tw.as_tensor(kind(x).asformat(form))
        assert tensor.is_sparse
        assert tensor.dtype == x.dtype
        assert tensor.nnz == np.count_nonzero(x)
        assert np.array_equal(tensor.to_dense(), x)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@given(x=MATRICES)
def test_scipy_gets_the_elements_of_any_view(form, x):
    tensor = sparse_of(x).permute((1, 0))[::-1]
    array = tensor.to_scipy(form)
    assert array.format == form
    assert array.dtype == x.dtype
    assert array.has_canonical_format
    assert np.array_equal(array.toarray(), x.T[::-1])
    peer = scipy.sparse.coo_array(x.T[::-1]).asformat(form)
    assert np.array_equal(array.data, peer.data)
    array.data[...] = 1
    assert np.array_equal(tensor.to_dense(), x.T[::-1])


def test_compressed_rows_are_those_of_scipy():
    rng = np.random.default_rng(5)
    array = scipy.sparse.random_array((40, 30), density=0.1, rng=rng).tocsr()
    indptr, indices, values = tw.as_tensor(array).csr()
    assert np.array_equal(indptr, array.indptr)
    assert np.array_equal(indices, array.indices)
    assert np.array_equal(values, array.data)


def test_elements_that_scipy_stores_twice_are_added_up_and_stored_zeros_dropped():
    array = scipy.sparse.coo_array(([1.0, 2.0, 0.0, 5.0, -5.0], ([0, 0, 1, 2, 2], [1, 1, 1, 0, 0])), (3, 3))
    tensor = tw.as_tensor(array)
    assert tensor.coords().tolist() == [[0, 1]]
    assert tensor.values().tolist() == [3.0]


def test_a_line_of_scipy_has_rank_1():
    tensor = tw.as_tensor(scipy.sparse.coo_array(np.array([0, 3, 0])))
    assert tensor.shape == tw.Shape(3)
    assert tensor.tolist() == [0, 3, 0]


def test_no_memory_is_shared_and_copy_false_says_so():
    array = scipy.sparse.coo_array(np.eye(3))
    tensor = tw.as_tensor(array, copy=True)
    array.data[:] = 9
    assert tensor.values().tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(ConversionError, match="copy=False"):
        tw.as_tensor(array, copy=False)


@pytest.mark.parametrize(
    ("tensor", "form", "error"),
    [
        (lambda: tw.sparse([], [], (2, 2), fill_value=1), "csr", ConversionError),
        (lambda: tw.sparse([], [], (2,)), "csc", RankError),
        (lambda: tw.sparse([], [], (2, 2)), "dia", ConversionError),
        (lambda: tw.sparse([], [], (2, 2)), "bsr", LayoutError),
        (lambda: tw.sparse([], np.empty(0, "m8[s]"), (2, 2)), "csr", DTypeError),
        (lambda: tw.sparse([], [], tw.Shape.jagged([1, 2])), "csr", ConversionError),
    ],
)
def test_what_scipy_cannot_hold_is_refused(tensor, form, error):
    with pytest.raises(error):
        tensor().to_scipy(form)


@given(hnp.arrays("f8", hnp.array_shapes(min_dims=0, max_dims=4, max_side=3), elements=st.integers(0, 2)))
def test_pydata_sparse_and_back(x):
    for fill in (0, 2):
        tensor = sparse_of(x, fill).reverse() if x.ndim else sparse_of(x, fill)
        array = tensor.to_pydata()
        assert isinstance(array, sparse.COO)
        assert array.fill_value == fill
        assert array.nnz == tensor.nnz
        assert np.array_equal(array.todense(), np.flip(x))
        for form in ("coo", "gcxs", "dok"):
            if x.ndim or form == "coo":
                back = tw.as_tensor(array.asformat(form))
                assert back.is_sparse
                assert back.array_equal(tensor)


def test_positions_of_a_box_away_from_zero_start_at_zero_elsewhere():
    tensor = tw.sparse([(5, 7)], [1.0], tw.Shape(2, 3, origin=(4, 5)))
    assert tensor.to_pydata().coords.tolist() == [[1], [2]]
    assert tensor.to_scipy("coo").row.tolist() == [1]
    with pytest.raises(ConversionError):
        tw.sparse([], [], tw.Shape.jagged([1, 2])).to_pydata()


def test_neither_package_is_loaded_before_it_is_asked_for():
    code = (
        "import sys, tensorwrapper as tw\n"
        "t = tw.sparse([(0, 1)], [5.0], (2, 2)); t.copy(), t.csr(), tw.as_tensor([1, 2])\n"
        "print({'scipy', 'sparse', 'numba'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "set()"
