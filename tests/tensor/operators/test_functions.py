"""Tensors are joined and chosen as NumPy does."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import DTypeError


def numbers(extents, dtype):
    most = 1 if dtype == "?" else 3
    return hnp.arrays(dtype, extents, elements=st.integers(0, most).map(np.dtype(dtype).type))


@st.composite
def rows(draw):
    """Draw rows of numbers, and the lists that they are made of."""
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=5))
    dtype = draw(st.sampled_from(["i1", "i8", "f4", "f8"]))
    values = draw(numbers(sum(lengths), dtype))
    return tw.from_buffer(values, Shape.jagged(lengths)), np.split(values, np.cumsum(lengths)[:-1])


@given(parts=st.lists(rows(), min_size=1, max_size=3))
def test_rows_are_joined_and_chosen(parts):
    tensors = [t for t, _ in parts]
    found = np.concatenate(tensors)
    assert found.tolist() == [row.tolist() for _, lists in parts for row in lists]
    assert found.dtype == np.result_type(*[t.dtype for t in tensors])
    first = tensors[0]
    chosen = np.where(first > 1, first, -1)
    assert chosen.tolist() == [[n if n > 1 else -1 for n in row] for row in first.tolist()]
    beside = np.concatenate([first, first], axis=1)
    assert beside.tolist() == [row + row for row in first.tolist()]


def test_strings_and_sparse_tensors_are_joined():
    a, b = tw.strings([["a", "b"]]), tw.strings([["c", "d"]])
    assert np.concatenate([a, b], axis=1).tolist() == [["a", "b", "c", "d"]]
    assert np.concatenate([tw.strings([["a"], ["b", "c"]]), tw.strings([[], ["d"]])], axis=1).tolist() == [
        ["a"],
        ["b", "c", "d"],
    ]
    mask = tw.as_tensor([[True, False]])
    assert np.where(mask, a, b).tolist() == [["a", "d"]]
    assert np.where(mask, a, "x").tolist() == [["a", "x"]]
    s, r = tw.sparse([(0, 1)], [5], Shape(1, 3)), tw.sparse([(0, 0), (1, 2)], [7, 8], Shape(2, 3))
    joined = np.concatenate([s, r])
    assert joined.nnz == 3
    assert joined.to_dense().tolist() == [[0, 5, 0], [7, 0, 0], [0, 0, 8]]
    assert np.concatenate([s, s], axis=1).to_dense().tolist() == [[0, 5, 0, 0, 5, 0]]
    assert np.stack([s, s]).to_dense().tolist() == [[[0, 5, 0]], [[0, 5, 0]]]


@given(pair=rows(), place=st.integers(0, 2))
def test_rows_are_stacked_along_every_mode(pair, place):
    t, lists = pair
    rows = [row.tolist() for row in lists]
    beside = [
        [rows, rows],
        [[row, row] for row in rows],
        [[[n, n] for n in row] for row in rows],
    ][place]
    for axis in (place, place - 3):
        found = np.stack([t, t], axis=axis)
        assert found.tolist() == beside
        assert found.shape == Shape.stack([t.shape, t.shape], mode=place)
        assert found.dtype == t.dtype
    wide = np.stack([t, t], axis=place, dtype="f8", casting="same_kind")
    assert (wide.dtype, wide.tolist()) == (np.dtype("f8"), beside)
    if t.dtype.kind == "f":
        with pytest.raises(DTypeError, match="casting='safe'"):
            np.stack([t, t], axis=place, dtype="i8", casting="safe")
        assert np.stack([t, t], axis=place, dtype="i8", casting="unsafe").dtype == np.int64


def test_rows_of_strings_are_stacked_along_every_mode():
    st = tw.strings([["a"], ["b", "c"]])
    assert np.stack([st, st], axis=1).tolist() == [[["a"], ["a"]], [["b", "c"], ["b", "c"]]]
    assert np.stack([st, st], axis=-1).tolist() == [[["a", "a"]], [["b", "b"], ["c", "c"]]]


KINDS_OF_CASTS = ["no", "equiv", "safe", "same_kind", "unsafe"]


@pytest.mark.parametrize("join", [np.concatenate, np.stack])
@pytest.mark.parametrize("casting", KINDS_OF_CASTS)
def test_views_are_joined_where_numpy_joins_arrays(join, casting):
    types = ["<i4", ">i4", "i8", "f4", "f8"]
    for one, other, wanted in product(types, types, types):
        arrays = [np.array([1, 2], one), np.array([3, 4], other)]
        try:
            expected = join(arrays, dtype=wanted, casting=casting)
        except TypeError:
            expected = None
        for make in (tw.as_tensor, sel.as_view):
            if expected is None:
                with pytest.raises(DTypeError):
                    join([make(own) for own in arrays], dtype=wanted, casting=casting)
            else:
                found = np.asarray(join([make(own) for own in arrays], dtype=wanted, casting=casting))
                assert found.dtype == expected.dtype
                assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("mode", [0, 1, 2, -1])
def test_tensors_in_layers_are_stacked_as_their_views_are(mode):
    layers = tw.from_buffer(np.arange(6), Shape.nested(Shape(2, 3), layers=(1, 1)))
    found, wanted = np.stack([layers, layers], axis=mode), tw.stack([layers, layers], mode=mode).compute()
    assert found.shape == wanted.shape
    assert found.array_equal(wanted)
