"""What a buffer answers that says nothing of itself but its elements: the defaults of all."""

from typing import Any

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Layout, Shape
from tensorwrapper.buffer import BufferCommon, Dense, _addresses
from tensorwrapper.errors import BufferSizeError


class Squares(BufferCommon[Any]):
    """Elements that are computed, of which nothing else is said."""

    dtype = np.dtype(np.int64)
    size = 5
    is_readonly = True

    def read(self, addresses):
        return np.asarray(addresses) ** 2

    def as_readonly(self):
        return self

    def write(self, addresses, values):
        raise AssertionError(addresses, values)


def test_a_buffer_that_says_little_is_all_that_a_tensor_needs():
    t = tw.Tensor(tw.Layout(tw.Shape(5)), Squares())

    assert t[1:].tolist() == [1, 4, 9, 16]
    assert t.copy().to_numpy().tolist() == [0, 1, 4, 9, 16]
    assert t.is_readonly
    assert t.nbytes == 40


def test_it_has_no_memory_and_no_file():
    buffer = Squares()

    assert (buffer.memory, buffer.filename) == (None, None)
    assert buffer.owner is buffer
    assert not buffer.nullable


def test_a_layout_beyond_it_is_refused():
    with pytest.raises(BufferSizeError, match="5"):
        tw.Tensor(tw.Layout(tw.Shape(6)), Squares())


def test_a_few_rows_are_copied_by_their_places_as_many_are_by_a_plan(monkeypatch):
    flat = np.arange(40.0)
    rows = Layout(Shape.jagged([3, 0, 5, 2]), offset=7)
    for layout in (rows[::-1], rows[:, ::-1], rows[:, 1:], rows.gather(0, [3, 3, 0])):
        few = Dense(flat).elements_of(layout.implementation)
        with monkeypatch.context() as patched:
            patched.setattr(_addresses, "CACHED", 0)
            many = Dense(flat).elements_of(layout.implementation)
        np.testing.assert_array_equal(few, many)
        np.testing.assert_array_equal(few, flat[layout.to_numpy()])
    with pytest.raises(BufferSizeError):
        Dense(flat[:10]).elements_of(rows[::-1].implementation)


def test_what_is_repeated_beyond_any_address_is_no_array():
    tensor = tw.as_tensor([1, 2]).broadcast((2**62, 2))
    with pytest.raises(BufferSizeError, match="too big"):
        np.asarray(tensor)
