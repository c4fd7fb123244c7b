"""Sums into several buffers at once: all of them, or none."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.tensor.rows._sums import add_all


def part(tensor, values):
    return tensor.buffer, tensor.layout.implementation, np.asarray(values)


def test_every_index_adds_its_own_also_where_parts_share_elements():
    x, y = tw.as_tensor(np.zeros(4)), tw.as_tensor(np.zeros(2))

    add_all([part(x[:3], [1.0, 2, 3]), part(y, [10.0, 20]), part(x[2:], [5.0, 7])])

    assert x.tolist() == [1, 2, 8, 7]
    assert y.tolist() == [10, 20]


def test_one_sum_that_is_refused_leaves_all_as_they_were():
    x, y = tw.as_tensor(np.array([1, 2], "u1")), tw.as_tensor(np.array([3, 250], "u1"))

    for parts in ([part(x, [1, 1]), part(y, [0, 6])], [part(y, [0, 6]), part(x, [1, 1])]):
        with pytest.raises(TensorWrapperError):
            add_all(parts)
        assert (x.tolist(), y.tolist()) == ([1, 2], [3, 250])
