"""Brackets of views taken away and put in, as tensors do it."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import TensorWrapperError

ROWS = [[1, 2, 3], [], [4], [5, 6]]


def test_rows_are_one_row_and_rows_again():
    t = tw.jagged(ROWS)
    view = sel.as_view(t)

    flat = view.flatten()

    assert flat.tolist() == t.flatten().tolist() == [1, 2, 3, 4, 5, 6]
    assert flat.unflatten([3, 0, 1, 2]).tolist() == ROWS
    assert sel.concat([t, t]).flatten().tolist() == [1, 2, 3, 4, 5, 6] * 2


def test_a_tiled_view_is_the_box_under_it():
    x = np.arange(12).reshape(3, 4)
    tiled = sel.as_view(tw.as_tensor(x).tiled(tw.Tiling([1, 2], [2, 2])))

    assert np.array_equal(tiled.untiled(), x)


@pytest.mark.parametrize("counts", [[3], [7], [-1, 7]])
def test_counts_that_do_not_fit_are_refused(counts):
    with pytest.raises(TensorWrapperError):
        sel.as_view(np.arange(6)).unflatten(counts)


def test_a_flattened_box_knows_where_its_elements_come_from():
    tensor = tw.as_tensor(np.arange(24).reshape(2, 3, 4))
    view = sel.as_view(tensor).flatten()
    assert view.shape == tensor.flatten().shape
    assert view.route((5, 2)).index == (1, 2, 2)
    assert view.flatten().route((22,)).index == (1, 2, 2)
    assert sel.as_view(tensor).flatten(2).route((1, 7)).index == (1, 1, 3)
