"""The short way to a small result gives what the general way gives: the same tensor, laid out alike."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import BufferSizeError, SizeOverflowError
from tensorwrapper.selection.execution._write_in_memory import is_in_memory
from tests.support.selection.trees.random_trees import tree_of
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


SMALL = np.arange(12.0).reshape(3, 4)
MADE = {
    "pad": (
        lambda v: sel.pad(v, [(1, 2), (0, 1)], fill_value=9),
        np.pad(SMALL, [(1, 2), (0, 1)], constant_values=9),
    ),
    "pad in pad": (
        lambda v: sel.pad(sel.pad(v, [(1, 0), (0, 0)]), [(0, 0), (1, 0)]),
        np.pad(SMALL, [(1, 0), (1, 0)]),
    ),
    "where": (lambda v: sel.where(SMALL > 5, v, -1.0), np.where(SMALL > 5, SMALL, -1.0)),
    "where of one mask": (
        lambda v: sel.where([True, False, True, False], v, v[::-1]),
        np.where([True, False] * 2, SMALL, SMALL[::-1]),
    ),
    "minimum": (lambda v: sel.minimum(v, 3.0), np.minimum(SMALL, 3.0)),
    "maximum of what is joined": (
        lambda v: sel.maximum(sel.concat([v[:1], v[1:]]), [[1.0], [7.0], [9.0]]),
        np.maximum(SMALL, [[1.0], [7.0], [9.0]]),
    ),
    "joined columns": (
        lambda v: sel.concat([v, v[:, ::-1]], mode=1),
        np.concatenate([SMALL, SMALL[:, ::-1]], 1),
    ),
    "in turns": (
        lambda v: sel.interleave([v, v[::-1]], mode=0)[...],
        np.stack([SMALL, SMALL[::-1]], 1).reshape(6, 4),
    ),
    "in turns, columns": (lambda v: sel.interleave([v[:, :2], v[:, 2:]], mode=1), SMALL[:, [0, 2, 1, 3]]),
    "random numbers": (
        lambda v: sel.random(v.shape, seed=7),
        np.random.Generator(np.random.Philox(key=[7, 0])).random((3, 4)),
    ),
    "random numbers beside others": (
        lambda v: sel.where(v > 5, sel.uniform(v.shape, seed=7)[...], v),
        np.where(SMALL > 5, np.random.Generator(np.random.Philox(key=[7, 0])).random((3, 4)), SMALL),
    ),
    "a number": (lambda v: sel.where(True, v[1, 1], 2.0), SMALL[1, 1]),
}


@pytest.mark.parametrize("name", MADE)
def test_few_elements_are_made_as_by_a_plan(name):
    make, expected = MADE[name]
    view = make(sel.as_view(tw.as_tensor(SMALL)))
    assert is_in_memory(view._expression)
    for computed in (view.compute(), view.compute(threads=1)):
        assert computed.shape == view.shape
        np.testing.assert_array_equal(computed, expected)
        assert not np.shares_memory(np.asarray(computed), SMALL)


def test_of_many_random_numbers_no_more_are_drawn_than_are_wanted():
    many = sel.random((2**40,), seed=7)
    for view in (many[5:9], sel.where([True] * 4, many[5:9], 0.0)):
        numbers = np.random.Generator(np.random.Philox(key=[7, 0])).random(9)[5:]
        np.testing.assert_array_equal(view.compute(), numbers)


@pytest.mark.parametrize("source", [tw.as_tensor, sel.ArraySource], ids=["memory", "elsewhere"])
def test_what_is_not_chosen_is_not_cast(source):
    mask = np.array([True, False, True])
    narrow = sel.as_view(source(np.array([1, 300, 3]))).astype("i1")
    other = sel.as_view(np.array([4, 5, 6], "i1"))
    chosen = tw.where(mask, narrow, other)
    assert chosen.tolist() == [1, 5, 3]
    assert chosen[::-1].tolist() == [3, 5, 1]
    assert chosen[1].item() == 5
    assert sel.concat([chosen, sel.maximum(chosen, 2)]).tolist() == [1, 5, 3, 2, 5, 3]
    for refused in (tw.where(~mask, narrow, other), narrow):
        with pytest.raises(SizeOverflowError):
            refused.compute()
    assert tw.where(~mask, narrow, other)[::2].tolist() == [4, 6]


def test_views_that_use_one_another_many_times_are_left_to_a_plan():
    view = sel.as_view(tw.as_tensor(SMALL))
    for _ in range(30):
        view = sel.maximum(view, view[::-1])
    assert not is_in_memory(view._expression)


def test_a_view_without_elements_goes_the_long_way_and_has_its_extents():
    for view in (
        sel.as_view(np.zeros((3, 4)))[1:1],
        sel.concat([np.zeros((2, 4)), np.zeros((1, 4))])[:, 2:2],
    ):
        assert not is_in_memory(view._expression)
        assert view.compute().shape == view.shape
        assert view.compute().dtype == np.float64
