"""Elements of views that nest are found in turn, and not by recursion."""

import numpy as np

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.selection.plans._split_work import elements_at
from tests.support.selection.checks import all_indices

X = tw.as_tensor(np.arange(24).reshape(4, 6))
Y = tw.as_tensor(np.arange(100, 124).reshape(4, 6))


def test_a_minimum_names_the_operand_that_is_least():
    view = sel.minimum(X, Y)
    assert {id(group.source) for group in view.route_many(all_indices(view.shape))} == {id(X)}
    assert sel.maximum(X, Y).route((0, 0)).source is Y


def test_of_equal_elements_the_first_is_named():
    twin = X.copy()
    assert sel.minimum(X, twin).route((1, 1)).source is X
    assert sel.minimum(twin, X).route((1, 1)).source is twin


def test_choices_that_are_nested_deeply_are_followed_in_turn():
    view = sel.as_view(np.arange(6))
    for k in range(60):
        view = sel.minimum(view, np.arange(6) + k % 7)
    assert view.route((4,)).index == (4,)


def test_no_positions_have_no_elements():
    views = [sel.minimum(X, Y), sel.where(X < 3, X, Y), sel.concat([X, Y])[::-1], sel.as_view(X)[:0]]
    views += [sel.concat([views[0], views[1]]), sel.stack([views[0][:0]] * 2), views[0].astype("f4")]
    for view in views:
        found = elements_at(view._expression, np.empty(0, np.int64))
        assert (found.shape, found.dtype) == ((0,), view.dtype)
        assert view.route_many(np.empty((0, view.rank), np.int64)) == ()
