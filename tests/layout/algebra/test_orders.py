"""The two orders mirror each other, except where the place of a mode has a meaning."""

import random

import pytest

from tensorwrapper.errors import LayoutError
from tensorwrapper.layout import (
    Layout,
    blocked_product,
    coalesce,
    complement,
    compose,
    flatten,
    left_inverse,
    logical_divide,
    logical_product,
    make_layout,
    right_inverse,
)
from tests.support.layout.layouts import random_layout, table


def mirror_tree(tree):
    return tree if isinstance(tree, int) else tuple(mirror_tree(part) for part in reversed(tree))


def mirror(layout):
    """The layout in the other order, with every tuple reversed at every depth."""
    order = "lex" if layout.ordinal_order == "colex" else "colex"
    extents, strides = mirror_tree(layout.nested_extents), mirror_tree(layout.nested_strides)
    return make_layout(extents, strides, offset=layout.offset, order=order)


def outcome(function, *layouts):
    try:
        return function(*layouts)
    except LayoutError:
        return None


@pytest.mark.parametrize("function", [coalesce, flatten, complement, right_inverse, left_inverse])
def test_functions_of_one_layout_mirror_one_another(function):
    draw = random.Random(51)
    for _ in range(400):
        layout = random_layout(draw, "colex")
        made, mirrored = outcome(function, layout), outcome(function, mirror(layout))
        assert (made is None) == (mirrored is None)
        if made is not None:
            assert mirror(made) == mirrored


def test_composition_mirrors():
    draw = random.Random(52)
    for _ in range(400):
        a, b = random_layout(draw, "colex"), random_layout(draw, "colex")
        made, mirrored = outcome(compose, a, b), outcome(compose, mirror(a), mirror(b))
        assert (made is None) == (mirrored is None)
        if made is not None:
            assert made.is_composite == mirrored.is_composite
            assert table(made).tolist() == table(mirrored).tolist()
            if not made.is_composite:
                assert mirror(made) == mirrored


def test_the_tile_and_the_block_come_first_in_either_order():
    for order in ("lex", "colex"):
        layout, tiler = Layout.parse("12:1", order=order), Layout.parse("3:4", order=order)
        assert str(logical_divide(layout, tiler)) == "(3,4):(4,1)"
        assert str(logical_product(Layout.parse("3:1", order=order), 2)) == "(3,2):(1,3)"


def test_a_short_tiler_is_for_the_first_modes_in_either_order():
    for order in ("lex", "colex"):
        layout = Layout.parse("(4,6):(6,1)", order=order)
        assert logical_divide(layout, (2,)).nested_extents == ((2, 2), 6)


def test_the_block_is_the_faster_part_of_a_mode_in_either_order():
    for order, extents in (("lex", ((3, 2),)), ("colex", ((2, 3),))):
        block, tiler = Layout.parse("(2):(1)", order=order), Layout.parse("(3):(1)", order=order)
        made = blocked_product(block, tiler)
        assert made.nested_extents == extents
        assert [made.offset_of_ordinal((k,)) for k in range(6)] == [0, 1, 2, 3, 4, 5]
