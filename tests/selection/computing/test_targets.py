"""The short way to a small result gives what the general way gives: the same tensor, laid out alike."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import BufferSizeError
from tests.support.selection.random_trees import tree_of
from tests.support.selection.views import VIEWS


def _check(view):
    if view.shape.kind != "smooth":
        return
    short, general = view.compute(), view.compute(threads=1)
    assert short.shape == general.shape
    assert short.layout == general.layout
    assert short.dtype == general.dtype
    assert np.asarray(short.elements()).tobytes() == np.asarray(general.elements()).tobytes()
    assert not short.is_readonly


@pytest.mark.parametrize("name", [name for name, make in VIEWS.items() if make().dtype.kind not in "TO"])
def test_views_are_computed_alike_on_both_ways(name):
    view = VIEWS[name]()
    _check(view)
    if view.rank and view.shape.extent(0) > 1:
        _check(view[1:])
        _check(view[::-1].rotate((1,) * view.rank))


@pytest.mark.parametrize("seed", range(60))
def test_random_trees_are_computed_alike_on_both_ways(seed):
    _check(tree_of(seed).view)


def test_no_elements_in_extents_beyond_all_memory_are_refused():
    with pytest.raises(BufferSizeError):
        sel.zeros((0, 2**64)).compute()


def test_a_small_result_is_memory_of_its_own():
    t = tw.as_tensor(np.arange(6.0))
    view = sel.as_view(t)[1:3]
    copy = view.compute()
    copy[0] = 9
    assert t.tolist() == [0, 1, 2, 3, 4, 5]
    joined = sel.concat([t, t])[1:3].compute()
    joined[0] = 9
    assert t.tolist() == [0, 1, 2, 3, 4, 5]


def test_a_small_result_keeps_its_origin():
    view = sel.as_view(tw.as_tensor(np.arange(6.0))).window(tw.Shape(2, origin=(3,)))
    assert view.compute().shape == tw.Shape(2, origin=(3,))
