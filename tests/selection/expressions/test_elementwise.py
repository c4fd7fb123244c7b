"""Nodes that choose cell by cell: the least of many is one node."""

import numpy as np

from tensorwrapper import selection as sel


def test_the_least_of_many_is_one_node():
    view = sel.as_view(np.arange(4))
    for number in range(1000):
        view = sel.minimum(view, np.array([9, 9, 1500 - number, 9]))

    assert view.compute().tolist() == [0, 1, 2, 3]
    assert sel.maximum(sel.minimum([1, 5], [3, 3]), 2).compute().tolist() == [2, 3]
