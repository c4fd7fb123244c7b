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
from tensorwrapper.errors import DTypeError, TensorWrapperError


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


NESTED = Shape.nested(Shape(2, 2), layers=(1, 1))
CUT = tw.Tiling([1, 2], [2, 1])
NINE = np.arange(9.0).reshape(3, 3)
JOINED = {
    "a box": tw.zeros((2, 2)),
    "names": tw.zeros((2, 2)).named("x", "y"),
    "a window": tw.as_tensor(np.arange(16.0).reshape(4, 4)).window(Shape(4, 4)[1:3, 1:3]),
    "an array": np.ones((2, 2)),
    "layers": tw.from_buffer(np.arange(4.0), NESTED),
    "rows": tw.jagged([[1.0, 2.0], [3.0]]),
    "rows in layers": tw.from_buffer(np.arange(3.0), Shape.nested(Shape.jagged([2, 1]), layers=(1, 1))),
    "cells": tw.jagged([np.ones((2, 1)), np.ones((1, 3))]),
    "tiles": tw.as_tensor(NINE).tiled(CUT),
    "other tiles": tw.as_tensor(-NINE).tiled(tw.Tiling([2, 1], [2, 1])),
    "named tiles": tw.as_tensor(NINE).tiled(CUT).named("p", "q", "r", "s"),
    "sparse": tw.sparse([(0, 0)], [1.0], Shape(2, 2)),
    "sparse in layers": tw.from_buffer(tw.sparse([(0, 0)], [1.0], Shape(2, 2)).buffer, NESTED),
    "sparse tiles": tw.sparse([(0, 0)], [1.0], Shape(3, 3)).tiled(CUT),
    "strings": tw.strings([["a", "b"], ["c", "d"]]),
    "tiles of strings": tw.strings(NINE.astype(str)).tiled(CUT),
}


def _joined_or_refused(call):
    try:
        found = call()
    except TensorWrapperError:
        return None
    return found.shape, found.dtype, found.is_sparse, found.layout.is_tiled, found.elements().tolist()


@pytest.mark.parametrize("first", JOINED)
@pytest.mark.parametrize(
    ("by_numpy", "lazily"), [(np.concatenate, tw.concat), (np.stack, tw.stack)], ids=["concat", "stack"]
)
def test_tensors_of_every_kind_are_joined_as_views_are(first, by_numpy, lazily):
    for second, other in JOINED.items():
        pair = [JOINED[first], other]
        if first == second == "an array":
            continue
        for mode in range(-1, max(map(np.ndim, pair)) + 1):
            found = _joined_or_refused(lambda own=pair, axis=mode: by_numpy(own, axis=axis))
            expected = _joined_or_refused(lambda own=pair, axis=mode: lazily(own, mode=axis).compute())
            assert found == expected, (second, mode)


def test_tiles_are_joined_as_one_type():
    tiles, few = tw.as_tensor(NINE).tiled(CUT), tw.as_tensor(NINE.astype("i4")).tiled(CUT)
    assert np.concatenate([tiles, few]).dtype == np.float64
    assert np.concatenate([tiles, few], dtype="f4").dtype == np.float32
    assert np.concatenate([tiles, few], dtype="i4", casting="unsafe").dtype == np.int32
    with pytest.raises(DTypeError):
        np.concatenate([tiles, few], dtype="i4")


@pytest.mark.parametrize("of", [lambda t: t, sel.as_view], ids=["a tensor", "a view"])
@pytest.mark.parametrize("more", [["a"], [b"a"], np.array(["a"]), tw.strings(["a"])])
def test_numbers_do_not_become_text_where_they_are_joined(of, more):
    numbers = of(tw.as_tensor([1.5, 2.0]))
    calls = [np.append, *(lambda a, b, f=f: f([a, b]) for f in (np.hstack, np.vstack, np.column_stack))]
    for call in calls:
        for pair in ((numbers, more), (more, numbers)):
            with pytest.raises(DTypeError):
                call(*pair)
    assert np.append(numbers, [3]).tolist() == [1.5, 2.0, 3.0]
