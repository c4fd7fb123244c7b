"""Operations that move positions, where other libraries mean something else."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ExtentError, LayoutError

X = np.arange(24).reshape(4, 6)


def x():
    return sel.as_view(tw.as_tensor(X))


def test_a_reshape_never_drops_elements():
    with pytest.raises(ExtentError):
        x().reshape((4, 5))
    with pytest.raises(ExtentError):
        sel.concat([X, X]).reshape((47,))


def test_a_broadcast_does_not_repeat():
    pair = sel.as_view([1, 2])
    with pytest.raises(LayoutError, match="broadcast"):
        pair.broadcast((4,))
    assert pair.repeat((2,)).compute().tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize("shift", [-7, -1, 0, 2, 13])
def test_elements_rotate_towards_higher_indices(shift):
    np.testing.assert_array_equal(x().rotate([0, shift]).compute(), np.roll(X, shift, 1))


def test_a_size_of_one_is_not_a_broadcast():
    rows = [tw.as_tensor(X)[k : k + 1] for k in (0, 2, 3)]
    joined = sel.concat(rows)
    assert joined.compute().tolist() == X[[0, 2, 3]].tolist()
