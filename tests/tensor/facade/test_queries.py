"""What a tensor answers about itself: one number, or that it has more."""

import numpy as np
import pytest

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
