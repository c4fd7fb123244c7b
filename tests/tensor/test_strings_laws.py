"""Chains of views and assignments on tensors of strings: against NumPy arrays of objects."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.buffer import StringData, strings_to_numpy
from tests.support.tensor.view_chains import viewed

CHOICES = {
    "text": ("utf8", False, ["", "a", "héllo", "日本\0", "x" * 300]),
    "text and nulls": ("utf8", True, [None, "", "a", "ß"]),
    "bytes": ("binary", False, [b"", b"\0", b"ab\0", b"\xff"]),
    "bytes and nulls": ("binary", True, [None, b"", b"q"]),
}


def array_of(draw, extents, choice):
    array = np.empty(math.prod(extents), dtype=object)
    array[:] = draw(st.lists(st.sampled_from(choice), min_size=len(array), max_size=len(array)))
    return array.reshape(extents)


def value_for(draw, extents, kind, choice):
    """A string, an array, lists or a tensor that broadcasts to the extents, and the array that it is."""
    cut = draw(st.integers(0, len(extents)))
    x = array_of(draw, tuple(draw(st.sampled_from([1, n])) for n in extents[cut:]), choice)
    match draw(st.sampled_from(["string", "array", "lists", "tensor"])):
        case "string":
            item = draw(st.sampled_from(choice))
            return item, np.array(item, dtype=object)
        case "array":
            return x, x
        case "lists" if x.size:
            return x.tolist(), x
        case _:
            return tw.strings(x, kind=kind), x


def check(tensor, x):
    """A tensor of strings has the elements of an array of objects."""
    assert tensor.shape.extents == x.shape
    assert tensor.tolist() == x.tolist()
    assert tensor.elements().tolist() == x.reshape(-1).tolist()
    assert tensor.null_count == sum(item is None for item in x.flat)
    assert tensor.is_valid().tolist() == np.not_equal(x, None).astype(bool).tolist()


@pytest.mark.parametrize("name", CHOICES)
@given(data=st.data())
def test_views_and_assignments_do_what_numpy_does(name, data):
    kind, nullable, choice = CHOICES[name]
    extents = tuple(data.draw(st.lists(st.integers(0, 4), max_size=3)))
    flat = array_of(data.draw, extents, choice).reshape(-1)
    whole = tw.strings(flat.reshape(extents), kind=kind, nullable=nullable)
    for _ in range(3):
        tensor, places = whole, np.arange(flat.size).reshape(extents)
        for _ in range(data.draw(st.integers(0, 4))):
            tensor, places = viewed(data.draw, tensor, places)
        check(tensor, flat[places, ...])
        value, x = value_for(data.draw, places.shape, kind, choice)
        if len(np.unique(places)) < places.size:
            assert tensor.is_readonly
            with pytest.raises(tw.errors.ReadOnlyError):
                tensor[...] = value
        elif not tensor.is_readonly:
            tensor[...] = value
            flat[places, ...] = x
        check(tensor, flat[places, ...])
        check(whole, flat.reshape(extents))
        for same in (tensor.copy(), copy.deepcopy(tensor), pickle.loads(pickle.dumps(tensor))):
            check(same, flat[places, ...])
            assert same.array_equal(tensor)
            assert same.dtype == tensor.dtype


@given(st.data())
def test_values_that_do_not_fit_the_extents_are_refused_as_by_numpy(data):
    extents = tuple(data.draw(st.lists(st.integers(0, 3), max_size=3)))
    given_extents = tuple(data.draw(st.lists(st.integers(0, 3), max_size=4)))
    x, values = np.full(extents, "", dtype=object), np.full(given_extents, "v", dtype=object)
    for value in (values, tw.strings(values, kind="utf8")):
        tensor = tw.strings(np.full(extents, ""), kind="utf8")
        try:
            x[...] = values
        except ValueError:
            with pytest.raises(tw.errors.ExtentMismatchError):
                tensor[...] = value
            assert "v" not in tensor
        else:
            tensor[...] = value
            check(tensor, x)


@given(st.data())
def test_arrays_between_the_brackets_select_and_assign_as_in_numpy(data):
    x = np.array([["a", "b", None, "d"], ["", None, "g", "h"], ["i", "", "k", "l"]], dtype=object)
    tensor = tw.strings(x)
    rows = data.draw(st.lists(st.integers(-3, 2), min_size=1, max_size=4))
    columns = data.draw(st.lists(st.integers(-4, 3), min_size=len(rows), max_size=len(rows)))
    mask = np.arange(12).reshape(3, 4) % 5 < 2
    for key in (rows, (rows, columns), (slice(None), columns), mask, np.zeros(3, dtype=bool)):
        check(tensor[key], x[key])
        value = data.draw(st.sampled_from(["new", None, x[key][::-1].copy()]))
        tensor[key] = value
        x[key] = value
        check(tensor, x)


@given(st.lists(st.text(alphabet="aé日\0", max_size=3), min_size=1, max_size=6))
def test_what_numpy_takes_comes_back(items):
    data = StringData.from_list(items)
    for letter in "TUS":
        strings = data.as_binary() if letter == "S" else data
        tensor = tw.strings(strings, shape=(1, len(items)))
        try:
            expected = strings_to_numpy(strings, letter)
        except tw.errors.ConversionError:
            with pytest.raises(tw.errors.ConversionError, match="ends with a NUL"):
                tensor.to_numpy_strings(letter)
        else:
            array = tensor.to_numpy_strings(letter)
            assert array.dtype == expected.dtype
            assert array.tolist() == [expected.tolist()]
            assert tw.strings(array).array_equal(tensor)
