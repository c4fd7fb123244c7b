"""Ordinals count in the order of the layout, at any depth, and layouts of all kinds have them."""

import random

import numpy as np
import pytest

from tensorwrapper.errors import ConversionError, LayoutError, OutOfBoundsError
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape, Tiling
from tests.support.layout.layouts import ORDERS, leaves, model, random_layout, small_layouts, table


@pytest.mark.timeout(3000)
def test_ordinals_count_in_the_layouts_own_order():
    for layout in small_layouts(least_extent=0):
        expected = model(layout)
        size = layout.shape.size
        assert [layout.offset_of_ordinal(k) for k in range(size)] == expected
        assert table(layout).tolist() == expected
        turned = "F" if layout.ordinal_order == "colex" else "C"
        assert layout.to_numpy().ravel(turned).tolist() == expected
        for outside in (-1, size):
            with pytest.raises(OutOfBoundsError):
                layout.offset_of_ordinal(outside)


def coordinates(extents, draw):
    if isinstance(extents, int) or draw.random() < 0.3:
        size = int(np.prod(leaves(extents), dtype=object)) if leaves(extents) else 1
        return draw.randrange(size)
    return tuple(coordinates(part, draw) for part in extents)


def leaf_index(extents, coordinate, order):
    """The index of the leaves, by counting."""
    if isinstance(coordinate, tuple):
        return sum((leaf_index(e, c, order) for e, c in zip(extents, coordinate, strict=True)), ())
    box = Shape(*leaves(extents))
    return box.indices(order="C" if order == "lex" else "F")[coordinate]


def test_coordinates_are_ordinals_at_any_depth():
    draw = random.Random(3)
    for _ in range(300):
        layout = random_layout(draw, draw.choice(ORDERS))
        coordinate = coordinates(layout.nested_extents, draw)
        index = leaf_index(layout.nested_extents, coordinate, layout.ordinal_order)
        assert layout.offset_of_ordinal(coordinate) == layout.offset_of(index)


@pytest.mark.parametrize(
    ("coordinate", "error", "text"),
    [
        ((2, 0), OutOfBoundsError, "2 is outside 0 to 1 at mode 0"),
        ((0, (1, 3)), OutOfBoundsError, "3 is outside 0 to 2 at mode 1.1"),
        ((0, -1), OutOfBoundsError, "-1 is outside 0 to 5 at mode 1"),
        (12, OutOfBoundsError, "12 is outside 0 to 11"),
        (np.int8(-1), OutOfBoundsError, "-1 is outside 0 to 11"),
        ((0,), LayoutError, "has 1 entry, not 2"),
        ((0, (1, 2, 0)), LayoutError, "has 3 entries at mode 1, not 2"),
        ((0, 1.0), ConversionError, "mode 1 must be an integer"),
        (True, ConversionError, "integer"),
        ("0", ConversionError, "integer"),
    ],
)
@pytest.mark.parametrize("order", ORDERS)
def test_coordinates_outside_are_refused_with_the_place(coordinate, error, text, order):
    layout = Layout.parse("(2,(2,3)):(6,(3,1))", order=order)
    with pytest.raises(error, match=text.replace(".", r"\.")):
        layout.offset_of_ordinal(coordinate)


def test_layouts_that_are_not_of_boxes_have_ordinals_and_no_coordinates():
    packed = Layout(Shape.jagged([3, 1, 2]), offset=5)
    assert [packed.offset_of_ordinal(k) for k in range(6)] == [5, 6, 7, 8, 9, 10]
    assert packed.offsets_of_ordinals().tolist() == [5, 6, 7, 8, 9, 10]
    gathered = Layout(Shape(3)).gather(0, [2, 0, 1])
    assert [gathered.offset_of_ordinal(k) for k in range(3)] == [2, 0, 1]
    tiled = Layout(Shape(3, 3)).as_tiled(Tiling([1, 2], [3]))
    assert tiled.offset_of_ordinal(4) == tiled.offset_of(tiled.shape.index(4))
    with pytest.raises(LayoutError, match="strided"):
        packed.offset_of_ordinal((0, 0))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "layout",
    [
        Layout.parse("(2,(2,3)):(6,(3,1))"),
        Layout.parse("(2,(2,3)):(6,(3,1))", order="colex"),
        Layout.parse("S<1,0,2> o 0 o (2,4):(4,1)", order="colex"),
        Layout(Shape(2, 3, origin=(5, -1)), order="F"),
        Layout(Shape.jagged([3, 0, 2]), offset=4),
    ],
    ids=str,
)
def test_places_of_an_array_of_ordinals_are_those_of_each(layout, order):
    every = [layout.offset_of_ordinal(k) for k in range(layout.shape.size)]
    assert layout.offsets_of_ordinals().tolist() == every
    chosen = [[3, 0], [1, 3]] if order == "lex" else []
    assert layout.offsets_of_ordinals(chosen).tolist() == np.take(every, np.array(chosen, dtype=int)).tolist()
    for outside in ([-1], [layout.shape.size]):
        with pytest.raises(OutOfBoundsError):
            layout.offsets_of_ordinals(outside)
