"""No element is written twice: parts of one memory that share a place are refused, others are not."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ReadOnlyError


def test_parts_of_one_memory_that_do_not_meet_are_written():
    x = np.zeros(12)

    sel.concat([x[8:], x[:4]])[...] = np.arange(8)
    sel.stack([x[::2][:2], x[1::2][:2]])[...] = 9

    assert x.tolist() == [9, 9, 9, 9, 0, 0, 0, 0, 0, 1, 2, 3]


@pytest.mark.parametrize(
    "make",
    [
        lambda x: sel.concat([x[:4], x[3:6]]),
        lambda x: sel.stack([x[::2], x[:6]]),
        lambda x: sel.concat([x, tw.as_tensor(x)[5:6]]),
        lambda x: sel.as_view(x).repeat((2,)),
    ],
)
def test_parts_that_share_a_place_are_refused_and_nothing_is_written(make):
    x = np.arange(12)
    view = make(x)

    with pytest.raises(ReadOnlyError):
        view[...] = 0
    assert x.tolist() == list(range(12))
