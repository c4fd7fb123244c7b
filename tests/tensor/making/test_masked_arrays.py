"""Masked arrays, and what gives them: a hidden element never becomes a number."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, TensorWrapperError


class Variable:
    """A variable of a file with a fill value: its slices and its array are masked arrays."""

    def __init__(self, mask):
        self.array = np.ma.array([1.0, -9.0, 3.0], mask=mask)
        self.shape, self.dtype, self.ndim = (3,), self.array.dtype, 1

    def __len__(self):
        return 3

    def __getitem__(self, key):
        return self.array[key]

    def __array__(self, dtype=None, copy=None):
        return self.array


def written(write):
    target = tw.zeros((3,))
    write(target)
    return target


WAYS = {
    "as_tensor": tw.as_tensor,
    "jagged": lambda given: tw.jagged([given]).flatten(),
    "key": lambda given: written(lambda t: t.__setitem__(slice(None), given)),
    "assign": lambda given: written(lambda t: t.assign(given)),
    "assign through a view": lambda given: written(lambda t: sel.as_view(t).assign(given)),
    "view": lambda given: sel.as_view(given).compute(),
    "operand": lambda given: np.add(tw.zeros((3,)), given),
    "concat": lambda given: tw.concat([given]).compute(),
    "sparse": lambda given: tw.sparse([(0,), (1,), (2,)], given, (3,)).to_dense(),
    "list": lambda given: tw.as_tensor([given, given])[0],
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_hidden_elements_are_refused_everywhere(way):
    with pytest.raises(ConversionError, match="mask"):
        way(Variable([False, True, False]))
    with pytest.raises(TensorWrapperError, match="mask"):
        way(np.ma.array([1.0, -9.0, 3.0], mask=[False, True, False]))


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_variables_whose_mask_hides_nothing_are_read(way):
    assert way(Variable(False)).tolist() == [1.0, -9.0, 3.0]
