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
from tensorwrapper.errors import ExtentMismatchError

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


@given(given_rows=rows(), initial=st.integers(0, 2))
@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.minimum, np.logical_or])
def test_rows_are_reduced_as_each_alone(ufunc, given_rows, initial):
    t, lists = given_rows
    found = ufunc.reduce(t, axis=-1, initial=initial)
    expected = [ufunc.reduce(row, initial=initial) for row in lists]
    assert found.dtype == np.asarray(expected).dtype
    assert np.array_equal(np.asarray(found), expected)
    assert ufunc.reduce(t, axis=None, initial=initial).item() == ufunc.reduce(
        np.concatenate(lists), initial=initial
    )


@given(given_rows=rows(), data=st.data())
def test_rows_are_reduced_where_a_mask_is_true(given_rows, data):
    t, lists = given_rows
    mask = tw.from_buffer(data.draw(numbers(t.size, "?")), t.shape)
    found = np.add.reduce(t, axis=-1, where=mask)
    expected = [np.add.reduce(row, where=np.asarray(m)) for row, m in zip(lists, mask.rows(), strict=True)]
    assert np.array_equal(np.asarray(found), expected)


@given(lengths=st.lists(st.sampled_from([0, 1, 2, 3, 17, 30]), min_size=1, max_size=5), data=st.data())
@pytest.mark.parametrize("ufunc", [np.add, np.maximum, np.multiply])
def test_rows_accumulate_with_the_bits_of_each_alone(ufunc, lengths, data):
    values = data.draw(hnp.arrays("f8", sum(lengths), elements=st.floats(-2, 2)))
    t = tw.from_buffer(values, Shape.jagged(lengths))
    found = ufunc.accumulate(t, axis=-1)
    assert found.shape == t.shape
    for row, mine in zip(found.rows(), np.split(values, np.cumsum(lengths)[:-1]), strict=True):
        assert np.asarray(row).tobytes() == ufunc.accumulate(mine).tobytes()


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


@given(
    words=st.lists(st.text("aé\U0001f600b", max_size=4), min_size=1, max_size=6),
    other=st.text("aéb", max_size=3),
)
@pytest.mark.parametrize("op", [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge])
def test_strings_are_compared_as_python_does(op, words, other):
    t, back = tw.strings(words), tw.strings(words[::-1])
    assert op(t, other).tolist() == [op(word, other) for word in words]
    assert op(t, back).tolist() == [op(*pair) for pair in zip(words, words[::-1], strict=True)]


@given(pair=st.tuples(st.integers(-2, 2), st.integers(-2, 2)))
def test_origins_are_kept_or_refused(pair):
    x = np.arange(6.0).reshape(2, 3)
    t, u = (tw.from_buffer(x.reshape(-1).copy(), Shape(2, 3, origin=(start, 0))) for start in pair)
    if pair[0] == pair[1]:
        assert (t + u).shape == t.shape
    else:
        with pytest.raises(ExtentMismatchError, match="mode 0 starts at"):
            _ = t + u
    assert (t[...] + u[...]).shape == Shape(2, 3)
    assert (t + x).shape == t.shape


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
