"""The model of all laws: a tree that was made by hand is the one that is found."""

import pytest

from tensorwrapper import Shape
from tensorwrapper.testing._tree import Tree, indices_of, moved, tree_of, zeroed

ROWS = Tree(0, (Tree(0, (None, None)), Tree(0, ()), Tree(0, (None,))))


def test_a_jagged_shape_is_the_tree_of_its_rows():
    assert tree_of(Shape.jagged([2, 0, 1])) == ROWS
    assert tree_of(Shape()) is None


def test_indices_are_the_ways_to_the_leaves():
    assert list(indices_of(ROWS)) == [(0, 0), (0, 1), (2, 0)]


def test_a_tree_is_moved_mode_by_mode():
    shape = Shape.jagged([2, 0, 1])

    assert tree_of(shape.translate_by((5, -1))) == moved(ROWS, (5, -1))
    assert zeroed(moved(ROWS, (5, -1))) == ROWS


def test_what_no_brute_force_can_look_at_is_refused():
    with pytest.raises(pytest.fail.Exception, match="20000"):
        tree_of(Shape(10**9))
