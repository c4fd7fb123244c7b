"""Laws of operators: NumPy on boxes, lists of rows on jagged tensors, dense tensors for sparse ones."""

import operator

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling
from tensorwrapper import selection as sel

DTYPES = ["?", "i1", "u1", "i4", "i8", "f4", "f8", "c16"]
UFUNCS = [np.add, np.subtract, np.multiply, np.maximum, np.less, np.equal, np.logical_and, np.hypot]
WRAPPED = ["both", "left", "right", "view"]
OPERATORS = [operator.add, operator.sub, operator.mul, operator.gt, operator.le, operator.eq, operator.ne]


def numbers(extents, dtype):
    most = 1 if dtype == "?" else 3
    return hnp.arrays(dtype, extents, elements=st.integers(0, most).map(np.dtype(dtype).type))


@st.composite
def boxes(draw):
    """Draw two arrays that broadcast, with dtypes of their own."""
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3))
    return [draw(numbers(s, draw(st.sampled_from(DTYPES)))) for s in shapes.input_shapes]


def outcome(call):
    try:
        with np.errstate(all="ignore"):
            return np.asarray(call())
    except (TypeError, ValueError) as error:
        return type(error).__mro__


@given(
    pair=boxes(), ufunc=st.sampled_from(UFUNCS), wrapped=st.sampled_from(["both", "left", "right", "view"])
)
def test_boxes_are_computed_as_numpy_does(pair, ufunc, wrapped):
    a, b = pair
    left = tw.as_tensor(a) if wrapped != "right" else a
    right = b if wrapped == "left" else tw.as_tensor(b)
    if wrapped == "view":
        left = sel.as_view(left)
    expected, found = outcome(lambda: ufunc(a, b)), outcome(lambda: ufunc(left, right))
    if isinstance(expected, tuple):
        assert isinstance(found, tuple)
        assert TypeError in found
        return
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert np.array_equal(found, expected)


@given(a=numbers((2, 3), "f8"), number=st.sampled_from([2, 2.5, True, np.float32(2), np.int8(3), 1j]))
@pytest.mark.parametrize("op", OPERATORS)
def test_operators_are_their_ufuncs(op, a, number):
    assume(not (isinstance(number, complex) and op in (operator.gt, operator.le)))
    t = tw.as_tensor(a)
    for found, expected in ((op(t, number), op(a, number)), (op(number, t), op(number, a))):
        assert isinstance(found, tw.Tensor)
        assert found.dtype == expected.dtype
        assert np.array_equal(np.asarray(found), expected)


@st.composite
def rows(draw):
    """Draw rows of numbers, and the lists that they are made of."""
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=5))
    dtype = draw(st.sampled_from(["i1", "i8", "f4", "f8"]))
    values = draw(numbers(sum(lengths), dtype))
    return tw.from_buffer(values, Shape.jagged(lengths)), np.split(values, np.cumsum(lengths)[:-1])


@given(given_rows=rows(), ufunc=st.sampled_from(UFUNCS), data=st.data())
def test_rows_beside_rows_and_one_number_for_each(given_rows, ufunc, data):
    t, lists = given_rows
    other = tw.from_buffer(data.draw(numbers(t.size, "i4")), t.shape)
    per_row = data.draw(numbers(len(lists), "f4"))

    assert ufunc(t, other).shape is t.shape
    for row, mine, theirs, number in zip(ufunc(t, other).rows(), lists, other.rows(), per_row, strict=True):
        expected = ufunc(mine, np.asarray(theirs))
        assert np.array_equal(np.asarray(row), expected)
        assert row.dtype == expected.dtype
        assert np.isscalar(number) or number.ndim == 0
    for left, right, each in (
        (t, tw.as_tensor(per_row), ufunc),
        (tw.as_tensor(per_row), t, lambda mine, number: ufunc(number, mine)),
        (t, per_row[:, None], ufunc),
    ):
        found = ufunc(left, right)
        assert found.shape == t.shape
        for row, mine, number in zip(found.rows(), lists, per_row, strict=True):
            # One number per row is an array, whose type counts.
            assert np.array_equal(np.asarray(row), each(mine, np.full(len(mine), number)))


@given(cuts=st.lists(st.integers(0, 3), min_size=1, max_size=3), a=st.data())
def test_tiled_tensors_are_computed_underneath(cuts, a):
    extent = sum(cuts)
    x = a.draw(numbers((extent, extent), "i8"))
    tiling = Tiling(cuts, cuts)
    t = tw.as_tensor(x).tiled(tiling)
    found = t * 2 + t
    assert found.shape == t.shape
    assert np.array_equal(np.asarray(found.untiled()), 3 * x)
    per_tile = tw.as_tensor(np.arange(len(cuts) ** 2).reshape(len(cuts), len(cuts)))
    packed = tw.from_buffer(t.elements().copy(), t.shape)
    assert (t + per_tile).array_equal(tw.from_buffer((packed + per_tile).elements(), t.shape))
