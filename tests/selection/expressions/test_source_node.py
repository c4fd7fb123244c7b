"""Sources are read when a view is computed, and not before."""

import numpy as np

from tensorwrapper import selection as sel


def test_elements_are_those_at_the_time_of_computing():
    array = np.arange(3)
    view = sel.concat([array, [7]])
    array[0] = 100
    assert view.compute().tolist() == [100, 1, 2, 7]
