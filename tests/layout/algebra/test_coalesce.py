"""Coalescing: fewer modes, the same function."""

import itertools
import random

import pytest

from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout import Layout, coalesce, flatten
from tensorwrapper.shape import Shape
from tests.support.layout.layouts import ORDERS, leaves, model, random_layout, small_layouts, table


@pytest.mark.timeout(3000)
def test_every_ordinal_keeps_its_offset_with_the_fewest_modes():
    for layout in small_layouts(least_extent=0):
        short = coalesce(layout)
        expected = model(layout)
        assert table(short).tolist() == expected
        assert short.offset == layout.offset
        assert short.ordinal_order == layout.ordinal_order
        modes = list(zip(leaves(short.nested_extents), leaves(short.nested_strides), strict=True))
        if layout.ordinal_order == "lex":
            modes.reverse()
        if layout.shape.size < 2:
            assert len(modes) == 1
            continue
        assert all(extent > 1 for extent, _ in modes)
        assert all(fast[0] * fast[1] != slow[1] for fast, slow in itertools.pairwise(modes))
        assert isinstance(short.nested_extents, int) == (len(modes) == 1)


@pytest.mark.timeout(3000)
def test_coalescing_twice_changes_nothing():
    for layout in small_layouts(sample=300):
        short = coalesce(layout)
        assert coalesce(short) == short


@pytest.mark.parametrize(
    ("text", "order", "expected"),
    [
        ("(4,8):(8,1)", "lex", "32:1"),
        ("(4,8):(8,1)", "colex", "(4,8):(8,1)"),
        ("(4,8):(1,4)", "lex", "(4,8):(1,4)"),
        ("(4,8):(1,4)", "colex", "32:1"),
        ("(2,1,6):(1,7,2)", "colex", "12:1"),
        ("(2,1,6):(4,7,8)", "colex", "12:4"),
        ("(2,(1,6)):(6,(6,1))", "lex", "12:1"),
        ("(2,2):(0,0)", "lex", "4:0"),
        ("(2,2):(-2,-1)+3", "lex", "4:-1+3"),
        ("(1,1):(5,7)", "lex", "1:0"),
        ("():()", "lex", "1:0"),
        ("(0,3):(3,1)", "lex", "0:0"),
    ],
)
def test_by_example(text, order, expected):
    assert str(coalesce(Layout.parse(text, order=order))) == expected


def test_a_profile_keeps_modes_apart():
    nested = Layout.parse("((2,2),(2,2)):((1,2),(16,32))", order="colex")
    assert str(coalesce(nested)) == "(4,4):(1,16)"
    assert str(coalesce(nested, (9, 9))) == "(4,4):(1,16)"
    assert str(coalesce(nested, (0,))) == "(4,(2,2)):(1,(16,32))"
    assert str(coalesce(nested, ((0, 0), 0))) == "((2,2),4):((1,2),16)"
    assert coalesce(nested, ()) == nested
    assert str(coalesce(Layout.parse("((4,1),(2,3)):((9,5),(3,1))"), (0, 0))) == "(4,6):(9,1)"


def test_by_profile_every_ordinal_keeps_its_offset():
    draw = random.Random(5)
    for _ in range(300):
        layout = random_layout(draw, draw.choice(ORDERS))
        rank = 1 if isinstance(layout.nested_extents, int) else len(layout.nested_extents)
        short = coalesce(layout, (0,) * draw.randint(0, rank))
        assert table(short).tolist() == model(layout)


def test_a_composite_keeps_its_stages():
    layout = Layout.parse("S<1,0,2> o 0 o (4,2,2):(4,2,1)")
    assert str(coalesce(layout)) == "S<1,0,2> o 0 o 16:1"
    assert table(coalesce(layout)).tolist() == table(layout).tolist()


def test_flattening_keeps_shape_and_function():
    draw = random.Random(6)
    for _ in range(200):
        layout = random_layout(draw, draw.choice(ORDERS))
        flat = flatten(layout)
        assert (flat.shape, flat.offset) == (layout.shape, layout.offset)
        assert table(flat).tolist() == model(layout)
        assert all(isinstance(extent, int) for extent in flat.nested_extents)
    assert (
        str(flatten(Layout.parse("S<1,0,2> o 0 o ((2,2),4):((8,4),1)"))) == "S<1,0,2> o 0 o (2,2,4):(8,4,1)"
    )


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: coalesce(Layout.parse("(2,2):(2,1)"), (0, 0, 0)), LayoutError, "3 entries for the 2 modes"),
        (lambda: coalesce(Layout.parse("(2,2):(2,1)"), ((0, 0), 0)), LayoutError, "entries than the mode 2"),
        (lambda: coalesce(Layout.parse("(2,2):(2,1)"), (0.5,)), ConversionError, "integer"),
        (lambda: coalesce(Layout.parse("(2,2):(2,1)"), ("",)), ConversionError, "integer"),
        (lambda: coalesce("(2,2):(2,1)"), ConversionError, "Layout.parse"),
        (lambda: coalesce(Layout(Shape.jagged([1, 2]))), LayoutError, "stride per mode"),
        (lambda: coalesce(Layout(Shape(3)).gather(0, [0, 2, 1])), LayoutError, "stride per mode"),
        (lambda: coalesce(Layout(Shape(3, origin=(1,)))), LayoutError, "start at 0"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()
