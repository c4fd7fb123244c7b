"""Chains of views and assignments on sparse tensors: against NumPy arrays of places and of elements."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape
from tests.support.tensor.view_chains import viewed

KINDS = {
    "float": ("f8", 0, [0, 1.5, -2, np.nan]),
    "fill NaN": ("f4", np.nan, [0, 1, np.nan]),
    "fill 3": ("i2", 3, [0, 1, 3]),
    "bool": ("?", True, [False, True]),
    "complex": ("c16", 0, [0, 1j]),
    "time": ("m8[s]", np.timedelta64(1, "s"), [np.timedelta64(k, "s") for k in (0, 1, 2)]),
}


def same(left, right):
    if left.dtype.kind == "c":
        return same(left.real, right.real) and same(left.imag, right.imag)
    return np.array_equal(left, right, equal_nan=left.dtype.kind != "?")


def stored(x, fill):
    """Where an array differs from the fill."""
    return ~(x == fill) & ~((fill != fill) & (x != x))  # noqa: PLR0124


def check(tensor, x, fill):
    """A sparse tensor has these elements, and stores those that are no fill."""
    assert tensor.is_sparse
    assert tensor.shape.extents == x.shape
    mask = stored(x, fill)
    assert tensor.nnz == mask.sum()
    indices, values = tensor.stored()
    assert (indices - np.array(tensor.shape.origin, dtype=int)).tolist() == np.argwhere(mask).tolist()
    assert same(values, x[mask])
    assert same(tensor.elements().reshape(x.shape), x)
    assert same(tensor.to_dense().to_numpy(), x)


def array_of(draw, extents, choice, dtype):
    size = math.prod(extents)
    elements = draw(st.lists(st.sampled_from(choice), min_size=size, max_size=size))
    return np.array(elements, dtype=dtype).reshape(extents)


def value_for(draw, tensor, extents, choice, dtype):
    """A number, an array or a sparse tensor that broadcasts to the extents, and the array that it is."""
    cut = draw(st.integers(0, len(extents)))
    x = array_of(draw, tuple(draw(st.sampled_from([1, n])) for n in extents[cut:]), choice, dtype)
    match draw(st.sampled_from(["number", "array", "tensor", "sparse", "another fill"])):
        case "number":
            number = draw(st.sampled_from(choice))
            return number, np.array(number, dtype=dtype)
        case "array":
            return x, x
        case "tensor":
            return tw.as_tensor(x), x
        case "sparse":
            return sparse_of(x, tensor.fill_value), x
        case _:
            return sparse_of(x, choice[1]), x


def sparse_of(x, fill):
    indices = np.argwhere(np.ones(x.shape, dtype=bool))
    return tw.sparse(indices, x.reshape(-1), Shape(*x.shape), fill_value=fill)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_views_and_assignments_do_what_numpy_does(kind, data):
    dtype, fill, choice = KINDS[kind]
    fill = np.array(fill, dtype=dtype)
    extents = tuple(data.draw(st.lists(st.integers(0, 4), max_size=3)))
    flat = array_of(data.draw, extents, choice, dtype).reshape(-1)
    whole = sparse_of(flat.reshape(extents), fill[()])
    for _ in range(3):
        tensor, places = whole, np.arange(flat.size).reshape(extents)
        for _ in range(data.draw(st.integers(0, 4))):
            tensor, places = viewed(data.draw, tensor, places)
        check(tensor, flat[places], fill)
        value, x = value_for(data.draw, tensor, places.shape, choice, dtype)
        if len(np.unique(places)) < places.size:
            assert tensor.is_readonly
            with pytest.raises(tw.errors.ReadOnlyError):
                tensor[...] = value
        elif not tensor.is_readonly:
            tensor[...] = value
            flat[places] = x
        check(tensor, flat[places], fill)
        check(whole, flat.reshape(extents), fill)
        check(tensor.copy(), flat[places], fill)


@given(st.data())
def test_values_that_do_not_fit_the_extents_are_refused_as_by_numpy(data):
    extents = tuple(data.draw(st.lists(st.integers(0, 3), max_size=3)))
    given_extents = tuple(data.draw(st.lists(st.integers(0, 3), max_size=4)))
    x, values = np.zeros(extents), np.ones(given_extents)
    for value in (values, tw.as_tensor(values), sparse_of(values, 0.0)):
        tensor = tw.sparse([], [], extents)
        try:
            x[...] = values
        except ValueError:
            with pytest.raises(tw.errors.ExtentMismatchError):
                tensor[...] = value
            assert tensor.nnz == 0
        else:
            tensor[...] = value
            check(tensor, x, 0.0)


@given(st.data())
def test_arrays_between_the_brackets_select_and_assign_as_in_numpy(data):
    x = np.arange(12.0).reshape(3, 4) % 3
    tensor = sparse_of(x, 0.0)
    rows = data.draw(st.lists(st.integers(-3, 2), min_size=1, max_size=4))
    columns = data.draw(st.lists(st.integers(-4, 3), min_size=len(rows), max_size=len(rows)))
    for key in (rows, (rows, columns), (slice(None), columns), x > 1):
        check(tensor[key], x[key], 0.0)
        x[key] = tensor[key] = data.draw(st.sampled_from([0.0, 5.0]))
        check(tensor, x, 0.0)
