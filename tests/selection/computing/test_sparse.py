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
