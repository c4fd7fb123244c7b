"""Sparse tensors are computed as dense ones are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tensorwrapper as tw
from tensorwrapper import Shape


def numbers(extents, dtype):
    most = 1 if dtype == "?" else 3
    return hnp.arrays(dtype, extents, elements=st.integers(0, most).map(np.dtype(dtype).type))


@given(
    a=numbers((3, 4), "f8"), b=numbers((3, 4), "f8"), ufunc=st.sampled_from([np.add, np.multiply, np.equal])
)
def test_sparse_tensors_have_the_elements_of_dense_ones(ufunc, a, b):
    first, second = (tw.as_tensor(np.where(x > 1, x, 0)) for x in (a, b))
    sparse = [
        tw.sparse(np.argwhere(np.asarray(t)), np.asarray(t)[np.asarray(t) != 0], Shape(3, 4))
        for t in (first, second)
    ]
    for found, expected in (
        (ufunc(*sparse), ufunc(first, second)),
        (ufunc(sparse[0], 2), ufunc(first, 2)),
        (ufunc(sparse[0], sparse[1][:1]), ufunc(first, second[:1])),
    ):
        assert found.to_dense().array_equal(expected)
        assert found.nnz == int(np.sum(np.asarray(expected) != np.asarray(found.fill_value)))


def test_places_of_two_are_merged_and_not_sorted_anew(monkeypatch):
    rng = np.random.default_rng(1)
    one, other = (np.sort(rng.choice(500, 90, replace=False)) for _ in range(2))
    a, b = (tw.sparse(own[:, None], own + 1.0, (500,)) for own in (one, other))
    monkeypatch.delattr(np, "union1d")
    for found, expected in (
        (a + b, np.asarray(a.to_dense()) + np.asarray(b.to_dense())),
        (a + a.copy(), 2 * np.asarray(a.to_dense())),
        (a - a, np.zeros(500)),
    ):
        assert np.array_equal(np.asarray(found.to_dense()), expected)
        assert (np.diff(found.buffer.stored[0]) > 0).all()
    assert (a - a).nnz == 0
