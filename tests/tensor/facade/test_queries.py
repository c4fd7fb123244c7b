"""What a tensor answers about itself: one number, or that it has more."""

import operator

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ConversionError,
)
from tensorwrapper.tensor import Tensor, as_tensor, jagged


@pytest.mark.parametrize("value", [np.array([[2.5]]), np.array(3), np.array([True]), np.array([0.0])])
def test_one_element_reads_as_a_number(value):
    t = as_tensor(value)
    assert t.item() == value.item()
    assert type(t.item()) is type(value.item())
    assert (float(t), int(t), bool(t)) == (float(value.item()), int(value.item()), bool(value.item()))


def test_more_or_fewer_elements_are_no_number():
    for t in (as_tensor([1, 2]), as_tensor(np.zeros((0,))), jagged([[1], [2]])):
        for call in (float, int, bool, Tensor.item):
            with pytest.raises(ConversionError, match=str(t.size)):
                call(t)
    with pytest.raises(TypeError):
        float(as_tensor(1j))
    assert jagged([[], [4]]).item() == 4


@pytest.mark.parametrize("make", [lambda t: t, sel.as_view])
def test_one_element_counts_as_a_number_of_python(make):
    t = make(tw.as_tensor([3, 1]))
    assert [*range(t[0])] == [0, 1, 2]
    assert "abcd"[t[0]] == "d"
    assert tw.zeros((t[0], t[1])).shape == Shape(3, 1)
    assert Shape.jagged(t.compute() if hasattr(t, "plan") else t) == Shape.jagged([3, 1])
    x = make(tw.as_tensor([1.256, 2.0]))
    assert (f"{x[0]:.2f}", round(x[0], 1), round(x[1])) == ("1.26", 1.3, 2)
    for wrong in (t, x[0], t[:1], make(tw.as_tensor([True]))[0]):
        with pytest.raises(TypeError, match="an index is one integer"):
            operator.index(wrong)
