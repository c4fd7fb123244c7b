"""Views made of their normal forms: fewer steps, the same elements, and what was written beside them."""

import pickle
import random

import numpy as np
import pytest
from dask.base import tokenize
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tests.support.selection.brute import elements_of
from tests.support.selection.checks import assert_same
from tests.support.selection.trees.random_trees import Grower, tree_of

X = np.arange(24).reshape(4, 6)


def padded():
    return sel.pad(sel.concat([X, X + 100]).rotate([3, 0]), [(1, 1), (0, 2)], fill_value=-1)


@pytest.mark.parametrize(
    "step",
    {
        "slice": lambda v: v[1:, ::-1],
        "permute": lambda v: v.permute([1, 0]),
        "rotate": lambda v: v.rotate([2, 1]),
        "repeat": lambda v: v.repeat([1, 2]),
        "repeat each": lambda v: v.repeat_each(0, 2),
        "gather": lambda v: v.gather(0, [3, 3, 0]),
        "mask": lambda v: v[np.arange(v.shape.extents[0]) % 2 == 0],
        "points": lambda v: v.vindex[[0, 2], [1, 0]],
        "pad": lambda v: v.pad([(1, 1), (2, 0)], boundary="reflect"),
        "constant pad": lambda v: sel.pad(v, [(1, 1), (2, 0)], fill_value=-1),
        "reshape": lambda v: v.reshape((-1,)),
        "window": lambda v: v.sliding_window(0, 2),
        "diagonal": lambda v: v.diagonal(),
        "concat": lambda v: sel.concat([v, v[1:]], mode=0),
        "stack": lambda v: sel.stack([v, v[...]]),
        "where": lambda v: sel.where(np.eye(*v.shape.extents, dtype=bool), v, 5),
        "cast": lambda v: v.astype("f4"),
    }.values(),
)
def test_steps_after_it_have_the_elements_of_steps_after_what_was_written(step):
    view = padded()[2:6, ::2]
    expected = elements_of(step(view)._expression)
    found = step(view.optimize())
    assert_same(elements_of(found._expression), expected)
    assert_same(elements_of(found.normal_form()), expected)
    assert_same(elements_of(found.optimize().normal_form()), expected)
    assert_same(elements_of(found.as_written()._expression), expected)
    assert found.shape == step(view).shape


def test_steps_after_it_are_written_after_the_others():
    view = padded()[2:6].optimize()[1:].rotate([0, 1])
    assert [str(atom) for atom in view.atoms] == ["slice(0, 1, 1, 3)", "rotate((0, 1))"]
    assert [str(atom) for atom in view.as_written().atoms] == [
        "slice(0, 2, 1, 4)",
        "slice(0, 1, 1, 3)",
        "rotate((0, 1))",
    ]


def test_routes_follow_what_was_written():
    tensor = tw.as_tensor(X)
    halves = [tensor[0::2], tensor[1::2]]
    view = sel.interleave(halves).optimize()[1:, ::-1].optimize()
    assert view.normal_form().node.name == "source"
    route = view.route((0, 1))
    assert route.source is halves[1]
    assert route.index == (0, 4)


@given(st.integers(0, 100_000), st.integers(0, 100_000))
def test_trees_go_on_from_normal_forms(seed, more):
    tree = tree_of(seed)
    grower = Grower(random.Random(more))
    view, array = grower.step(tree.view.optimize(), tree.array)
    assert_same(elements_of(view._expression), array)
    assert_same(elements_of(view.normal_form()), array)


@pytest.mark.parametrize("make", [lambda: padded()[1:], lambda: padded().optimize(), lambda: sel.as_view(X)])
def test_equal_views_have_one_token(make):
    assert tokenize(make()) == tokenize(make())
    used = make()
    used.normal_form()
    used.compute()
    assert tokenize(used) == tokenize(make())
    assert tokenize(pickle.loads(pickle.dumps(used))) == tokenize(make())
    assert tokenize(make()) != tokenize(make()[1:])
