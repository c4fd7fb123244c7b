"""NumPy's functions of all elements, of rows and of nulls, against NumPy on the elements themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, ExtentError
from tests.nulls.test_laws import quietly, rows_with_nulls

N = tw.jagged([[3, None, 1], [], [None], [3, 0]])
BOX = tw.as_tensor([[3, None], [0, 3]])
DEEP = tw.jagged([[[3, 0], []], [], [[None, 4]]])
WORDS = tw.strings([["b", None], ["a", "b"]])


@pytest.mark.parametrize(
    ("given_", "right"),
    [
        (N, [0, 1, 3, None]),
        (sel.as_view(N)[::-1], [0, 1, 3, None]),
        (BOX, [0, 3, None]),
        (tw.as_tensor([None, None, 2.5]), [2.5, None]),
        (tw.as_tensor([None, 1.0, np.nan, np.nan]), [1.0, np.nan, None]),
        (tw.nullable(np.array([2, 1, 2])), [1, 2]),
        (tw.nullable(np.zeros(0)), []),
        (WORDS, ["a", "b", None]),
        (tw.as_tensor([True, None, True]), [True, None]),
    ],
)
def test_a_null_is_one_distinct_value_and_the_last(given_, right):
    for found in (np.unique(given_), np.unique_counts(given_).values, np.unique_values(given_)):
        assert found.is_nullable
        assert found.dtype == given_.dtype
    assert str(np.unique(given_).tolist()) == str(right)


@given(st.data())
def test_distinct_elements_say_where_they_stand_and_how_often(data):
    tensor, _ = data.draw(rows_with_nulls(dtypes=("f8", "i8", "i2", "?")))
    values, index, inverse, counts = np.unique(
        tensor, return_index=True, return_inverse=True, return_counts=True
    )
    valid = tensor.is_valid().elements()
    known = tensor.fill_null(0).elements()[valid]
    expected = np.unique(known, return_counts=True)

    assert np.array_equal(values.drop_null().elements(), expected[0], equal_nan=known.dtype.kind == "f")
    assert counts.tolist() == [*expected[1].tolist(), *[n for n in [tensor.null_count] if n]]
    assert inverse.shape == tensor.shape
    flat = tensor[tensor.is_valid() | True].flatten() if tensor.rank > 1 else tensor
    assert values[inverse.elements()].array_equal(flat, equal_nan=True)
    assert flat[index].array_equal(values, equal_nan=True)
    firsts = [np.flatnonzero(inverse.elements() == number)[0] for number in range(len(values))]
    assert index.tolist() == firsts


def test_rows_without_nulls_and_boxes_give_numpys_arrays():
    rows = tw.jagged([[3, 1], [], [3, 0]])
    values, inverse = np.unique(rows, return_inverse=True)
    assert (type(values), values.tolist()) == (np.ndarray, [0, 1, 3])
    assert inverse.tolist() == [[2, 1], [], [2, 0]]
    assert np.unique(BOX, return_inverse=True)[1].tolist() == [[1, 2], [0, 1]]
    all_of = np.unique_all(rows)
    assert [np.asarray(own).tolist() for own in (all_of.values, all_of.indices, all_of.counts)] == [
        [0, 1, 3],
        [3, 1, 0],
        [1, 1, 2],
    ]
    assert all_of.inverse_indices.tolist() == [[2, 1], [], [2, 0]]
    assert np.unique_inverse(N).inverse_indices.tolist() == [[2, 3, 1], [], [3], [2, 0]]


def test_nan_may_differ_from_nan():
    found = np.unique(tw.as_tensor([np.nan, None, np.nan]), equal_nan=False)
    assert str(found.tolist()) == "[nan, nan, None]"
    assert str(np.unique_counts(tw.as_tensor([np.nan, None, np.nan])).values.tolist()) == "[nan, nan, None]"


@pytest.mark.parametrize("given_", [N, BOX])
def test_distinct_parts_along_an_axis_are_refused(given_):
    with pytest.raises(ConversionError, match=r"np\.unique: axis=0"):
        np.unique(given_, axis=0)


@pytest.mark.parametrize(
    ("given_", "right"),
    [
        (N, [[0, 0], [0, 2], [3, 0]]),
        (BOX, [[0, 0], [1, 1]]),
        (DEEP, [[0, 0, 0], [2, 0, 1]]),
        (tw.as_tensor([[True, None], [None, True]]), [[0, 0], [1, 1]]),
        (WORDS, [[0, 0], [1, 0], [1, 1]]),
        (tw.from_buffer(np.array([1, 0, 2]), Shape.jagged([1, 2], origin=(5, 2))), [[0, 0], [1, 1]]),
        (sel.as_view(N)[:, 1:], [[0, 1]]),
    ],
)
def test_what_is_not_zero_and_no_null_is_found(given_, right):
    found = np.nonzero(given_)
    assert type(found) is tuple
    assert np.stack(found, axis=1).tolist() == np.argwhere(given_).tolist() == right
    local = given_._as_operand()
    assert [local[tuple(index)].item() for index in right] == [
        own for own in local.drop_null().elements().tolist() if own
    ]


@given(st.data())
def test_places_that_are_not_zero_are_those_of_all_elements(data):
    tensor, _ = data.draw(rows_with_nulls(dtypes=("f8", "i2", "?")))
    expected = np.flatnonzero(tensor.fill_null(0).elements())
    assert np.flatnonzero(tensor).tolist() == expected.tolist()
    assert np.array_equal(np.argwhere(tensor), tensor.shape.indices_at(expected))


@given(st.data())
def test_histograms_leave_nulls_out(data):
    tensor, _ = data.draw(rows_with_nulls(dtypes=("f8", "i2")))
    known = tensor.fill_null(0).elements()[tensor.is_valid().elements()]
    for bins in ([-1, 0, 1, 3], np.array([0.0, 2.0])):
        counts, edges = quietly(lambda given_=bins: np.histogram(tensor, given_))
        assert counts.tolist() == np.histogram(known, bins)[0].tolist()
        assert np.array_equal(edges, bins)
    finite = np.nan_to_num(tensor, posinf=0, neginf=0)
    known = finite.fill_null(0).elements()[finite.is_valid().elements()]
    assert np.array_equal(np.histogram(finite, bins=3)[1], np.histogram(known, bins=3)[1])
    assert np.array_equal(np.histogram_bin_edges(finite, 4), np.histogram_bin_edges(known, 4))


def test_histograms_take_weights_beside_the_elements():
    weights = tw.jagged([[0.5, 9.0, 1.0], [], [7.0], [2.0, 3.0]])
    for given_ in (weights, sel.as_view(weights)):
        assert np.histogram(N, [0, 2, 4], None, None, given_)[0].tolist() == [4.0, 2.5]
    assert np.histogram(N, [0, 2, 4], weights=[1, 10, 100, 1000])[0].tolist() == [1001, 1001]
    assert np.histogram(N, [0, 2, 4], density=True)[0].tolist() == [0.25, 0.25]
    assert np.histogram(N.fill_null(0), tw.as_tensor([0, 2, 4]), weights=weights)[0].tolist() == [20.0, 2.5]
    with pytest.raises((ConversionError, ExtentError)):
        np.histogram(N, [0, 2, 4], weights=tw.jagged([[1.0, 2.0], [3.0, 4.0, 5.0, 6.0]]))
    with pytest.raises(ConversionError, match="nulls"):
        np.histogram(N, [0, 2, 4], weights=N)
