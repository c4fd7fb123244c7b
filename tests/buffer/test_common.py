"""What a buffer answers that says nothing of itself but its elements: the defaults of all."""

from typing import Any

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.buffer import BufferCommon
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
