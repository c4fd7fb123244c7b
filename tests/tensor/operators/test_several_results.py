"""Ufuncs of several results: each is a tensor over the shape of the operands, sparse ones too."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DTypeError

NUMBERS = np.array([[0.0, 1.5, -2.25, 0.0], [7.0, 0.0, 0.5, np.inf]])


def sparse_of(fill):
    array = np.where(NUMBERS == 0, fill, NUMBERS)
    return tw.sparse(np.argwhere(NUMBERS != 0), NUMBERS[NUMBERS != 0], Shape(2, 4), fill_value=fill), array


CALLS = {
    "modf": np.modf,
    "frexp": np.frexp,
    "divmod by a number": lambda t: np.divmod(t, 2),
    "divmod of a number": lambda t: np.divmod(3.5, t),
    "divmod of both": lambda t: np.divmod(t, t + 3),
    "divmod()": lambda t: divmod(t, 0.5),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("fill", [0.0, 3.5, -1.0])
def test_sparse_tensors_have_the_elements_of_numpy(call, fill):
    t, array = sparse_of(fill)
    with np.errstate(all="ignore"):
        found, expected = call(t), call(array)
    assert isinstance(found, tuple)
    assert len(found) == len(expected) == 2
    for one, wanted in zip(found, expected, strict=True):
        assert one.is_sparse
        assert one.dtype == wanted.dtype
        assert one.shape == t.shape
        assert one.nnz <= t.nnz
        np.testing.assert_array_equal(np.asarray(one.to_dense()), wanted)


def test_out_is_taken_or_nothing_is_written():
    t, array = sparse_of(0.0)
    first, second = tw.sparse([], [], (2, 4), dtype="f8"), tw.sparse([], [], (2, 4), dtype="f8")
    assert np.modf(t, out=(first, second))[0] is first
    np.testing.assert_array_equal(np.asarray(second.to_dense()), np.modf(array)[1])
    kept, other = second.to_dense().tolist(), tw.sparse([], [], (2, 4), dtype="f8", fill_value=1)
    with pytest.raises(ConversionError, match="fill"):
        np.modf(t * 0.5, out=(second, other))
    assert second.to_dense().tolist() == kept
    with pytest.raises(DTypeError):
        np.modf(t * 0.5, out=(second, tw.sparse([], [], (2, 4), dtype="i8")))
    assert second.to_dense().tolist() == kept
    one = np.modf(t, out=(first, None))
    assert one[0] is first
    assert one[1].is_sparse


def test_views_and_rows_have_them_too():
    h = tw.jagged([[3, 4, 5], [], [7]])
    quotient, rest = divmod(h, 2)
    assert (quotient.tolist(), rest.tolist()) == ([[1, 2, 2], [], [3]], [[1, 0, 1], [], [1]])
    for one, wanted in zip(np.modf(sel.as_view(NUMBERS)[0]), np.modf(NUMBERS[0]), strict=True):
        assert one.tolist() == wanted.tolist()
    t, array = sparse_of(0.0)
    for one, wanted in zip(np.divmod(sel.as_view(t)[0], 2), np.divmod(array[0], 2), strict=True):
        assert one.to_dense().tolist() == wanted.tolist()
