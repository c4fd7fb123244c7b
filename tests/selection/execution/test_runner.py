"""What many views share is run once, however many there are."""

import numpy as np
import pytest

from tensorwrapper import selection as sel

COUNT = 10


def _greatest(steps):
    view, array = sel.as_view(np.arange(COUNT)), np.arange(COUNT)
    for k in range(steps):
        turn = 1 << k % 3
        view = sel.maximum(view, view.rotate((turn,)) if k % 2 else view[::-1])
        array = np.maximum(array, np.roll(array, turn) if k % 2 else array[::-1])
    return view, array


@pytest.mark.slow
def test_w2_ten_thousand_shared_views_are_computed():
    view, array = _greatest(10_000)
    assert view.compute().tolist() == array.tolist()
