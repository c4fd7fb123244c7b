"""Nested tuples of integers: taken apart, put together, and counted in both orders."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, LayoutError, OutOfBoundsError
from tensorwrapper.layout.boxes._hierarchy import (
    MAX_DEPTH,
    check_order,
    compact,
    is_congruent,
    is_flat,
    leaf_index,
    leaf_modes,
    leaves,
    map_tree,
    modes_of,
    ordinal_offset,
    rebuild,
    rebuild_pairs,
    size_of,
    slowest_replaced,
    to_tree,
)

TREES = st.recursive(st.integers(1, 4), lambda t: st.lists(t, max_size=3).map(tuple), max_leaves=5)
ORDERS = st.sampled_from(["lex", "colex"])


@given(TREES)
def test_what_is_taken_apart_is_put_together(tree):
    numbers = leaves(tree)
    twice = map_tree(tree, 2)

    assert rebuild(tree, numbers) == tree
    assert rebuild_pairs(tree, list(zip(numbers, leaves(twice), strict=True))) == (tree, twice)
    assert leaf_modes(tree, twice) == list(zip(numbers, leaves(twice), strict=True))
    assert is_congruent(tree, twice)
    assert not is_congruent(tree, (tree,))
    assert is_flat(tree) == (isinstance(tree, tuple) and not any(isinstance(part, tuple) for part in tree))
    assert size_of(tree) == math.prod(numbers)


@given(TREES, ORDERS)
def test_strides_without_gaps_count_ordinals(tree, order):
    modes = modes_of(tree, compact(tree, order), order)
    for ordinal in range(size_of(tree)):
        index = leaf_index(tree, ordinal, order)
        assert ordinal_offset(modes, 7, ordinal) == 7 + ordinal
        assert leaf_index(tree, rebuild(tree, index), order) == index
    for wrong in (-1, size_of(tree)):
        with pytest.raises(OutOfBoundsError, match=f"{wrong} is outside"):
            ordinal_offset(modes, 7, wrong)


@given(TREES, ORDERS, st.integers(0, 200))
def test_the_slowest_leaf_grows_until_the_ordinal_is_there(tree, order, largest):
    grown = slowest_replaced(tree, order, largest)

    assert size_of(grown) > largest or not leaves(tree)
    assert sum(a != b for a, b in zip(leaves(grown), leaves(tree), strict=True)) <= 1


def test_coordinates_that_do_not_fit_name_the_mode():
    with pytest.raises(LayoutError, match=r"has 1 entry at mode 1, not 2"):
        leaf_index((2, (3, 4)), (0, (1,)), "lex")
    with pytest.raises(OutOfBoundsError, match=r"4 is outside 0 to 3 at mode 1\.1"):
        leaf_index((2, (3, 4)), (0, (1, 4)), "lex")


def test_what_is_no_tree_or_order_is_refused():
    deep = 1
    for _ in range(MAX_DEPTH + 1):
        deep = [deep]
    with pytest.raises(LayoutError, match="deeper than 32"):
        to_tree(deep, "a profile")
    with pytest.raises(ConversionError, match="must be an integer"):
        to_tree([1, "2"], "a profile")
    with pytest.raises(ConversionError, match="order must be"):
        check_order("C")
