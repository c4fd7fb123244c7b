"""Views of sparse tensors: stored elements alone are looked at."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ConversionError,
)


def test_sparse_tensors_stay_sparse():
    t = tw.sparse(np.array([[0, 2], [1, 0]]), np.array([5.0, 6.0]), (3, 3))
    found = sel.as_view(t)[:, ::-1].compute()
    np.testing.assert_array_equal(np.asarray(found.to_dense()), np.asarray(t.to_dense())[:, ::-1])
    both = sel.concat([t, t]).compute()
    assert both.nnz == 4
    assert both.to_dense().tolist() == t.to_dense().tolist() * 2
    with pytest.raises(ConversionError, match=r"to_dense\(\)"):
        sel.minimum(t, 3.0).compute()


FIRST = tw.sparse([(0, 1), (2, 0), (2, 3)], [5, 7, 9], tw.Shape(3, 4))
OTHER = tw.sparse([(0, 1), (1, 0)], [-2, 4], tw.Shape(3, 4))
EVEN = np.arange(12).reshape(3, 4) % 2 == 0
CELL_BY_CELL = {
    "where": (lambda a, b: sel.where(EVEN, a, b), lambda a, b: np.where(EVEN, a, b), 2),
    "a mask that is a view": (
        lambda a, b: sel.where(sel.as_view(EVEN)[:, ::-1], a, b)[1:],
        lambda a, b: np.where(EVEN[:, ::-1], a, b)[1:],
        2,
    ),
    "where and the fill": (lambda a, _: sel.where(EVEN, a, 0), lambda a, _: np.where(EVEN, a, 0), 1),
    "minimum": (sel.minimum, np.minimum, 4),
    "maximum": (lambda a, b: sel.maximum(a, b)[::-1], lambda a, b: np.maximum(a, b)[::-1], 4),
    "astype": (lambda a, _: sel.as_view(a).astype("f4")[1:], lambda a, _: a.astype("f4")[1:], 2),
    "astype of a part": (
        lambda a, b: sel.concat([sel.as_view(a).astype("f8"), b]),
        lambda a, b: np.concatenate([a, b]).astype("f8"),
        5,
    ),
}


@pytest.mark.parametrize(("make", "expected", "nnz"), CELL_BY_CELL.values(), ids=CELL_BY_CELL)
def test_what_is_made_cell_by_cell_of_sparse_tensors_is_sparse(make, expected, nnz):
    found = make(FIRST, OTHER).compute()
    dense = expected(*[own.to_dense().to_numpy() for own in (FIRST, OTHER)])
    assert found.is_sparse
    assert found.nnz == nnz
    assert found.dtype == dense.dtype
    assert np.array_equal(found.to_dense().to_numpy(), dense)


def test_sparse_and_dense_have_no_extreme():
    with pytest.raises(ConversionError, match="to_dense"):
        sel.minimum(FIRST, np.ones((3, 4), int)).compute()
