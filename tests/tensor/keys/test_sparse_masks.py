"""Sparse masks between the brackets: what dense ones select, without an element for each place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper import selection as sel
from tensorwrapper.errors import IndexTypeError, OutOfBoundsError, RankError, SizeOverflowError

FILLS = [False, True]


def sparse(x, fill):
    x = np.asarray(x)
    return tw.sparse(np.argwhere(x != fill), x[x != fill], Shape(*x.shape), fill_value=fill)


def _kinds(x):
    return {
        "dense": tw.as_tensor(x.copy()),
        "sparse": sparse(x, 0),
        "columns first": tw.as_tensor(x.T.copy()).permute(1, 0),
        "another fill": sparse(x, 2),
        "moved": sparse(x, 0).translate_to((7, -3)),
    }


KEYS = [
    lambda m: m,
    lambda m: (m,),
    lambda m: (..., m),
    lambda m: (None, m),
    lambda m: m[:, 1],
    lambda m: (slice(None), m[1]),
    lambda m: (slice(1, None), m[1]),
    lambda m: (m[:, 0], [0, 2, 1][: int(np.count_nonzero(np.asarray(m[:, 0].to_dense())))]),
    lambda m: (1, m[2]),
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("as_key", [lambda m: m, sel.as_view], ids=["tensor", "view"])
@given(data=st.data())
def test_a_sparse_mask_selects_and_writes_what_a_dense_one_does(key, as_key, data):
    x = np.array(data.draw(st.lists(st.integers(0, 3), min_size=12, max_size=12))).reshape(3, 4)
    flags = np.array(data.draw(st.lists(st.booleans(), min_size=12, max_size=12))).reshape(3, 4)
    mask = sparse(flags, data.draw(st.sampled_from(FILLS)))
    given_key = key(mask)
    keys = given_key if isinstance(given_key, tuple) else (given_key,)
    dense = tuple(np.asarray(own.to_dense()) if isinstance(own, tw.Tensor) else own for own in keys)
    own_key = tuple(as_key(own) if isinstance(own, tw.Tensor) else own for own in keys)
    for tensor in _kinds(x).values():
        assert tensor[own_key].tolist() == x[dense].tolist()
        assert tensor[own_key].is_sparse == tensor.is_sparse
        assert sel.as_view(tensor)[own_key].compute().tolist() == x[dense].tolist()
        assert tensor.vindex[mask].tolist() == x[flags].tolist()
        outer = tensor.oindex[mask[:, 0], mask[0]]
        assert outer.tolist() == x[np.ix_(flags[:, 0], flags[0])].tolist()
        expected = x.copy()
        tensor[own_key] = expected[dense] = 7
        assert tensor.tolist() == expected.tolist()
        if len(np.unique(np.arange(12).reshape(3, 4)[dense])) == np.arange(12).reshape(3, 4)[dense].size:
            sel.as_view(tensor)[own_key] = expected[dense] = 5
            assert tensor.tolist() == expected.tolist()


def test_only_the_places_of_a_huge_mask_are_looked_at():
    t = tw.sparse([(5, 7), (10**6 - 1, 3)], [1.0, -2.0], Shape(10**6, 10**6))
    assert t[t > 0].tolist() == [1.0]
    assert sel.as_view(t)[t != 0].compute().tolist() == [1.0, -2.0]
    t[t < 0] = 4.0
    assert t[5:, 3][-1].item() == 4.0
    with pytest.raises(SizeOverflowError, match="1000000000000 places of a mask"):
        t[t == 0]


def test_rows_cells_names_and_numbers_take_sparse_masks():
    rows = tw.jagged([[1, 2], [3], [4, 5]])
    chosen = sparse([True, False, True], False)
    assert rows[chosen].tolist() == sel.as_view(rows)[chosen].compute().tolist() == [[1, 2], [4, 5]]
    sparse_rows = tw.sparse([(0, 1), (2, 0)], [1.0, 2.0], Shape.jagged([2, 0, 3]))
    assert sparse_rows[sparse_rows > 1].tolist() == [[], [], [2.0]]
    named = tw.as_tensor([[1, 2, 3]]).named("x", "y")
    mask = sparse([[True, False, True]], False)
    assert named[mask].shape == named[np.array([[True, False, True]])].shape
    assert named[0, mask[0]].shape.names == ("y",)
    assert named[tw.sparse([()], [True], Shape())].shape == named[np.array(True)].shape


def test_sparse_keys_that_fit_nothing_are_refused():
    t = tw.as_tensor([[1, 2, 3], [4, 5, 6]])
    for tensor in (t, sel.as_view(t)):
        with pytest.raises(OutOfBoundsError, match=r"a mask of extents \(3,\) does not fit mode 0"):
            tensor[sparse([True, False, True], False)]
        with pytest.raises(RankError, match="must have one mode"):
            tensor.oindex[sparse([[True, False, True]] * 2, False)]
        with pytest.raises(IndexTypeError, match=r"to_dense\(\)"):
            tensor[sparse([0, 1], 0)]
    with pytest.raises(RankError):
        t.tiled(Tiling([1, 1], [3]))[sparse([[True, False, True]] * 2, False)]
