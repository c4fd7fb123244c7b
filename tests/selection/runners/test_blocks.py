"""Windows of boxes: the blocks of a window have its elements in order."""

import numpy as np
import pytest

from tensorwrapper.selection.runners._leaves import cut, full_window, inside, window_extents


@pytest.mark.parametrize("extents", [(), (7,), (3, 5), (2, 1, 4), (3, 0)])
@pytest.mark.parametrize("most", [1, 3, 100])
def test_blocks_of_a_window_have_its_elements_in_order(extents, most):
    array = np.arange(np.prod(extents, dtype=int)).reshape(extents)
    window = tuple(slice(n // 3, n) for n in extents)
    part = inside(array, window)
    met = []
    for block in cut(window_extents(window), most):
        assert np.prod(window_extents(block)) <= most
        met += inside(part, block).reshape(-1).tolist()

    assert met == part.reshape(-1).tolist()
    assert np.array_equal(inside(array, full_window(extents)), array)
