"""Rows are reduced and accumulated as each alone."""

import math
from itertools import product

import ml_dtypes
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


TYPES = [
    "?",
    "i1",
    "u1",
    "i8",
    "f4",
    "f8",
    "c16",
    "m8[s]",
    ml_dtypes.bfloat16,
    ml_dtypes.int4,
    ml_dtypes.float8_e5m2,
]
LENGTHS = [2, 0, 3]
SMALL = {np.dtype(ml_dtypes.bfloat16): "f", np.dtype(ml_dtypes.int4): "i"}
VALUES = np.array([1, 0, 1, 1, 0])


def keeps(one, other):
    """Tell whether elements of one type stay what they are in another, as NumPy's ``same_kind`` has it."""
    one, other = np.dtype(one), np.dtype(other)
    if one not in SMALL and other not in SMALL:
        return np.can_cast(one, other, "same_kind")
    order = "biufc"
    ranks = [order.find(SMALL.get(own, own.kind).replace("u", "i")) for own in (one, other)]
    return one == other or (-1 not in ranks and ranks[0] <= ranks[1])


# Each beside what NumPy makes of the elements.
IN_A_TYPE = {
    "rows": (
        lambda rows, _, dtype: np.add.reduce(rows, axis=-1, dtype=dtype),
        lambda values, dtype: np.array(
            [np.add.reduce(row, dtype=dtype) for row in (values[:2], values[:0], values[2:])]
        ),
    ),
    "rows of a view": (
        lambda rows, _, dtype: np.add.reduce(sel.as_view(rows)[::2], axis=-1, dtype=dtype),
        lambda values, dtype: np.add.reduceat(values, [0, 2], dtype=dtype),
    ),
    "all elements": (
        lambda rows, _, dtype: np.add.reduce(rows, axis=None, dtype=dtype),
        lambda values, dtype: np.add.reduce(values, dtype=dtype),
    ),
    "box": (
        lambda _, line, dtype: np.add.reduce(line, dtype=dtype),
        lambda values, dtype: np.add.reduce(values, dtype=dtype),
    ),
    "sum": (
        lambda _, line, dtype: np.sum(sel.as_view(line), None, dtype),
        lambda values, dtype: np.sum(values, dtype=dtype),
    ),
    "cumsum": (
        lambda _, line, dtype: np.cumsum(line, dtype=dtype),
        lambda values, dtype: np.cumsum(values, dtype=dtype),
    ),
    "accumulated rows": (
        lambda rows, _, dtype: np.add.accumulate(rows, axis=-1, dtype=dtype).elements()[2:],
        lambda values, dtype: np.add.accumulate(values[2:], dtype=dtype),
    ),
    "accumulated box": (
        lambda _, line, dtype: np.add.accumulate(line, dtype=dtype),
        lambda values, dtype: np.add.accumulate(values, dtype=dtype),
    ),
    "reduceat": (
        lambda _, line, dtype: np.add.reduceat(line, [0, 3], dtype=dtype),
        lambda values, dtype: np.add.reduceat(values, [0, 3], dtype=dtype),
    ),
}


@pytest.mark.parametrize(("call", "numpys"), IN_A_TYPE.values(), ids=IN_A_TYPE)
def test_a_reduction_computes_in_no_type_that_loses_what_elements_are(call, numpys):
    for one, other in product(TYPES, TYPES):
        values = VALUES.astype(one)
        rows_, line = tw.from_buffer(values, Shape.jagged(LENGTHS)), tw.as_tensor(values)
        if not keeps(one, other):
            with pytest.raises(DTypeError, match="dtype="):
                call(rows_, line, other)
            continue
        try:
            wanted = numpys(values, other)
        except TypeError:
            with pytest.raises(TypeError):
                call(rows_, line, other)
            continue
        found = np.asarray(call(rows_, line, other))
        assert found.dtype == wanted.dtype
        assert found.tolist() == wanted.tolist()


def test_truth_is_told_of_elements_of_any_type():
    rows_ = tw.jagged([[0.5, np.nan], [0.0], []])

    assert np.logical_or.reduce(rows_, axis=-1, dtype=bool).tolist() == [True, False, False]
    with pytest.raises(DTypeError, match="dtype=int64"):
        np.add.reduce(tw.jagged([[np.nan]]).to_dask(), axis=-1, dtype="i8")


@pytest.mark.parametrize("tensor", [tw.zeros((2,)), tw.jagged([[1.0, 2.0], [3.0]])])
def test_what_a_mask_hides_begins_no_reduction(tensor):
    with pytest.raises(DTypeError, match="mask"):
        np.add.reduce(tensor, axis=-1, initial=np.ma.masked)


INITIALS = [2.5, 2.0, 1, -1, 0, 300, 2**70, True, 1j, 1e300, math.nan, math.inf, "a", b"a", [1, 2]]
INITIALS += [np.int8(1), np.float32(2.5), np.timedelta64(1, "D"), np.timedelta64(1, "ms"), np.array(1)]
INITIALS += [np.datetime64("2020-01-01"), np.datetime64("NaT", "D"), np.ones(1), {}, "2020-01-01"]


def _class_or_list(call):
    with np.errstate(all="ignore"):
        try:
            found = call()
        except TensorWrapperError as error:
            return type(error)
    return found.dtype, repr(found.tolist())


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i8", "f2", "f4", "f8", "c8", "m8[s]", "M8[D]"])
@pytest.mark.parametrize(
    "ufunc", [np.add, np.multiply, np.maximum, np.bitwise_and, np.logical_or, np.logical_and], ids=str
)
def test_boxes_rows_and_tiles_begin_with_the_same_numbers_and_refuse_the_same(ufunc, dtype):
    box = tw.as_tensor(np.array([[1, 2], [3, 4]]).astype(dtype))
    rows_ = tw.from_buffer(box.elements(), Shape.jagged([2, 2]))
    whole = box.tiled(tw.Tiling([2], [2]))
    collection = rows_.to_dask(max_elements=1)
    for initial in INITIALS:
        if dtype == "c8" and isinstance(initial, float) and initial > 1e39:
            continue  # whether a product with it has an imaginary part depends on the order
        one = _class_or_list(lambda given=initial: ufunc.reduce(box, axis=-1, initial=given))
        calls = {
            "view of a box": lambda given=initial: ufunc.reduce(sel.as_view(box), axis=-1, initial=given),
            "rows": lambda given=initial: ufunc.reduce(rows_, axis=-1, initial=given),
            "rows of a view": lambda given=initial: sel.as_view(rows_).rows().reduce(ufunc, initial=given),
            "a collection": lambda given=initial: ufunc.reduce(collection, axis=-1, initial=given).compute(
                scheduler="sync"
            ),
        }
        for name, call in calls.items():
            assert _class_or_list(call) == one, (name, initial)
        every = _class_or_list(lambda given=initial: ufunc.reduce(box, axis=None, initial=given))
        assert _class_or_list(lambda given=initial: ufunc.reduce(rows_, axis=None, initial=given)) == every
        tile = _class_or_list(lambda given=initial: whole.reduce_tiles(ufunc, initial=given))
        assert (tile if isinstance(tile, type) else tile[1][2:-2]) == (
            every if isinstance(every, type) else every[1]
        )


def test_what_an_initial_number_would_lose_is_refused():
    box = tw.as_tensor([[1, 2], [3, 4]])

    with pytest.raises(DTypeError, match=r"initial=2\.5 has another kind than elements of type int64"):
        np.add.reduce(box, axis=0, initial=2.5)
    assert np.add.reduce(box, axis=0, initial=2.5, dtype="f8").tolist() == [6.5, 8.5]
    with pytest.raises(DTypeError, match="initial="):
        tw.jagged([[1, 2], [3]]).to_dask().reduce_rows(np.add, initial=2.5)
