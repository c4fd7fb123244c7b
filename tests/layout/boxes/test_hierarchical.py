"""What hierarchical and composite layouts answer: every question of a layout, and those of their own."""

import pickle
import random

import numpy as np
import pytest
from support.layouts import ORDERS, leaves, model, random_layout, small_layouts, table

from tensorwrapper.errors import ConversionError, LayoutError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.layout import Layout, Swizzle, compose, make_layout
from tensorwrapper.shape import Shape, Tiling


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


def composites(count):
    draw = random.Random(7)
    while count:
        order = draw.choice(ORDERS)
        inner = random_layout(draw, order, lift=True)
        most = inner.bounds()[1]
        outer = make_layout((most // 3 + 1, 3), (draw.randint(-5, 5), draw.randint(-5, 5)), order=order)
        functions = [outer, Swizzle(1, 0, 1), Swizzle(2, 1, -2)]
        layout = compose(draw.choice(functions), inner)
        if layout.is_composite:
            count -= 1
            yield layout


@pytest.mark.timeout(3000)
def test_slices_are_numpys_and_keep_order_and_exactness():
    for layout in [*composites(40), *small_layouts(sample=40)]:
        places = layout.to_numpy()
        for key in [(), ..., slice(None, None, -1), slice(1, None), None, (..., 0), 0]:
            if (places.ndim == 0 and key in (0, (..., 0))) or (isinstance(key, slice) and not places.ndim):
                continue
            part = layout[key]
            assert part.to_numpy().tolist() == places[key].tolist()
            assert part.ordinal_order == layout.ordinal_order
            assert part.is_composite == layout.is_composite


def test_windows_keep_their_origin():
    for layout in (
        Layout.parse("((2,2),3):((1,8),2)"),
        Layout.parse("((2,2),3):((1,8),2)", order="colex"),
        Layout.parse("S<1,0,1> o 0 o (2,2,3):(6,3,1)"),
    ):
        region = Shape(1, 2, 2, origin=(1, 0, 1))
        part = layout.window(region)
        assert part.shape == region
        assert [part.offset_of(i) for i in region.indices()] == [
            layout.offset_of(i) for i in region.indices()
        ]
        assert layout.window(layout.shape).to_numpy().tolist() == layout.to_numpy().tolist()
        assert pickle.loads(pickle.dumps(part)) == part
        with pytest.raises(LayoutError, match="start at 0"):
            compose(part, 1)


def test_modes_are_those_of_the_leaves():
    nested = Layout.parse("((2,2),4):((1,8),2)")
    assert (nested.shape, nested.strides, nested.is_strided) == (Shape(2, 2, 4), (1, 8, 2), True)
    assert (nested.nested_extents, nested.nested_strides) == (((2, 2), 4), ((1, 8), 2))
    assert nested.is_hierarchical
    assert not nested.is_composite
    assert nested.permute((2, 0, 1)).strides == (2, 1, 8)
    assert nested.reverse(0).strides == (-1, 8, 2)
    assert nested.indices_of(9) == [(1, 1, 0)]
    assert nested.as_tiled(Tiling([2], [1, 1], [2, 2])).shape.rank == 6
    plain = Layout(Shape(2, 3))
    assert (plain.nested_extents, plain.nested_strides, plain.ordinal_order) == ((2, 3), (3, 1), "lex")
    assert not plain.is_hierarchical
    assert not Layout.parse("4:1").is_hierarchical


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
        ((0,), LayoutError, "has 1 entries, not 2"),
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


def test_large_layouts_answer_without_their_elements():
    huge = Layout.parse("((1000000,1000000),1000000):((1,1000000000000),1000000)", order="colex")
    assert huge.offset_of_ordinal(10**18 - 1) == 10**6 - 1 + (10**6 - 1) * 10**12 + (10**6 - 1) * 10**6
    wide = Layout.parse(f"(2,2):({2**70},1)", order="colex")
    assert wide.offset_of_ordinal(3) == 2**70 + 1
    with pytest.raises(SizeOverflowError):
        wide.to_numpy()
    with pytest.raises(SizeOverflowError):
        Layout.parse(f"(2,2):({2**70},1) o 0 o (3):(1)").to_numpy()
    assert Layout.parse(f"(2,2):({2**70},1) o 0 o (3):(1)").offset_of_ordinal(2) == 2**70


def test_a_stride_that_is_never_taken_may_be_of_any_size():
    layout = Layout.parse(f"(1,4,3):({2**80},1,4) o 0 o (7):(1)", order="colex")
    assert layout.to_numpy().tolist() == [0, 1, 2, 3, 4, 5, 6]


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
