"""What hierarchical and composite layouts answer: every question of a layout, and those of their own."""

import pickle
import random

import pytest

from tensorwrapper.errors import LayoutError, SizeOverflowError
from tensorwrapper.layout import Layout, Swizzle, compose, make_layout
from tensorwrapper.shape import Shape, Tiling
from tests.support.layout.layouts import ORDERS, random_layout, small_layouts


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
