"""Tensors over memory: what is none says what reads it."""

from collections import deque

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper.errors import ConversionError, ExtentError


@pytest.mark.parametrize("x", [range(9), list(range(9)), deque(range(9))])
def test_sequences_are_no_buffers_and_what_reads_them_is_said(x):
    with pytest.raises(ConversionError, match="from_functions") as caught:
        tw.from_buffer(x, Shape(3, 3))
    _, advice, _ = str(caught.value).split("`")
    buffer = eval(advice, {"tw": tw, "x": x})
    assert tw.from_buffer(buffer, Shape(3, 3))[::-1].tolist() == [[6, 7, 8], [3, 4, 5], [0, 1, 2]]


def test_the_first_elements_are_reshaped_as_the_refusal_says():
    for t in (tw.Layout(Shape(4, 4)), tw.as_tensor(np.arange(16).reshape(4, 4))):
        with pytest.raises(ExtentError, match="has the first of them") as caught:
            t.reshape((2, 2))
        _, advice, _ = str(caught.value).split("`")
        assert eval(advice, {"t": t}).to_numpy().tolist() == [[0, 1], [2, 3]]
    with pytest.raises(ExtentError, match=r"16$"):
        tw.Layout(Shape(4, 4)).reshape((5, 5))
