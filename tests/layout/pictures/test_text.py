"""Layouts as text: CuTe's, and what is ours in it."""

import itertools
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper
from tensorwrapper import Tiling
from tensorwrapper.errors import ConversionError, ExtentError, LayoutError
from tensorwrapper.layout import Layout, make_layout
from tensorwrapper.shape import Shape

TEXTS = [
    "(4,8):(8,1)",
    "4:1",
    "(4):(1)",
    "():()",
    "((2,2),4):((1,8),2)",
    "((4,3)):((3,1))",
    "(2,(3,(4,5))):(1,(2,(6,24)))",
    "(4):(-1)+3",
    "4:-1-3",
    "4:-1",
    "(0,3):(3,1)",
    "(2,2):(0,-0)",
    "(4,5):(1,4) o 2 o (2,3):(1,2)",
    "(4,5):(1,4)+7 o 2 o (2,3):(1,2)",
    "S<2,0,3> o 0 o (8,8):(8,1)",
    "(8,8):(1,8) o 0 o S<2,0,3> o 5 o (4,8):(8,1)",
    "12:3 o 1 o (11):(1) o 2 o 3:4",
]


@pytest.mark.parametrize(("text", "order"), list(itertools.product(TEXTS, ["lex", "colex"])))
def test_text_is_read_and_written_back(text, order):
    layout = Layout.parse(text, order=order)
    assert str(layout) == text.replace("-0", "0")
    assert Layout.parse(str(layout), order=order) == layout
    assert eval(repr(layout)) == layout
    assert pickle.loads(pickle.dumps(layout)) == layout
    assert hash(pickle.loads(pickle.dumps(layout))) == hash(layout)


TREES = st.recursive(
    st.tuples(st.integers(0, 5), st.integers(-9, 9)),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)


def half(tree, side):
    return tree[side] if isinstance(tree, tuple) else tuple(half(part, side) for part in tree)


@given(TREES, st.integers(-9, 9), st.sampled_from(["lex", "colex"]))
def test_any_layout_of_strides_is_its_text(tree, offset, order):
    layout = make_layout(half(tree, 0), half(tree, 1), offset=offset, order=order)
    assert Layout.parse(str(layout), order=order) == layout
    assert (layout.nested_extents, layout.nested_strides) == (half(tree, 0), half(tree, 1))


def test_spaces_do_not_matter_and_swizzles_have_two_spellings():
    assert Layout.parse(" ( (2, 2),4 ) : ((1 ,8), 2) + 1 ") == Layout.parse("((2,2),4):((1,8),2)+1")
    assert str(Layout.parse("Sw<1,0,1>  o  0 o 4:1")) == "S<1,0,1> o 0 o 4:1"


def test_plain_modes_in_row_major_order_are_the_layouts_of_boxes():
    assert Layout.parse("(4,8):(8,1)") == Layout(Shape(4, 8))
    assert hash(Layout.parse("(4,8):(8,1)")) == hash(Layout(Shape(4, 8)))
    assert Layout.parse("(4):(-1)+3") == Layout(Shape(4)).reverse(0)
    assert str(Layout(Shape(4, 8), order="F")) == "(4,8):(1,4)"
    assert Layout.parse("():()") == Layout(Shape())


def test_profile_strides_offset_and_order_make_the_value():
    layouts = [
        Layout.parse("4:1"),
        Layout.parse("(4):(1)"),
        Layout.parse("((4)):((1))"),
        Layout.parse("4:2"),
        Layout.parse("4:1+1"),
        Layout.parse("4:1", order="colex"),
        Layout.parse("(2,2):(2,1)"),
        Layout.parse("(2,2):(2,1)", order="colex"),
        Layout.parse("8:1 o 0 o 4:1"),
    ]
    assert len(set(layouts)) == len(layouts)
    assert all((a == b) == (a is b) for a in layouts for b in layouts)
    assert Layout.parse("4:1") != "4:1"


def test_layouts_that_have_no_such_text_print_as_they_are_made():
    for layout in (
        Layout(Shape.jagged([3, 1])),
        Layout(Shape(2, 2, origin=(1, 0))),
        Layout(Shape(3)).gather(0, [2, 0, 1]),
    ):
        assert str(layout) == repr(layout)
    window = Layout.parse("(2,2):(1,2)", order="colex").window(Shape(1, 2, origin=(1, 0)))
    assert "colex" in str(window)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a layout"),
        ("4", "not a layout"),
        ("(4,8)", "not a layout"),
        ("4:1:2", "not a layout"),
        ("4:1.0", "not a layout"),
        ("(4,8):(8,1", "not a layout"),
        ("(4,8):(8,(1)", "comma or a closing"),
        ("(4,8:(8,1)", "comma or a closing"),
        ("(4,8)):(8,1)", "goes on"),
        ("(4 8):(8,1)", "comma or a closing"),
        ("(4,):(1,)", "comma before"),
        ("(,4):(1,1)", "lacks an integer"),
        ("(x,4):(1,1)", "has 'x' at place 1"),
        (":1", "lacks an integer"),
        ("(4,8):(1)", "nested like"),
        ("(4,8):((8,1))", "nested like"),
        ("4:(1)", "nested like"),
        ("4:1 o 4:1", "integer between"),
        (" o 0 o ".join(["4:1"] * 33), "at most 32"),
        ("4:1 o x o 4:1", "'x' where an integer"),
        ("4:1 o 1 o 4:1", "outside the ordinals"),
        ("4:1 o -1 o 4:1", "outside the ordinals"),
        ("S<1,0,1> o 0 o 4:-1", "outside the ordinals"),
        ("8:1 o 3 o S<1,0,1> o 0 o 4:1", "cannot be added"),
        ("S<2,0,1> o 0 o 4:1", "overlap"),
        ("4:1 o 0 o S<1,0,1>", "not a layout"),
        ("(" * 40 + ")" * 40 + ":()", "nested deeper"),
        ("1" * 200 + ":1", "digits"),
        ("4:1+" + "1" * 200, "digits"),
    ],
)
def test_other_text_is_refused_with_the_reason(text, said):
    with pytest.raises(LayoutError) as caught:
        Layout.parse(text)
    assert said in str(caught.value)


def test_extents_are_not_negative_and_text_is_text():
    with pytest.raises(ExtentError, match="-4"):
        Layout.parse("(-4,2):(1,1)")
    with pytest.raises(ConversionError, match="text"):
        Layout.parse(b"4:1")
    with pytest.raises(ConversionError, match='"lex"'):
        Layout.parse("4:1", order="C")


VIEW = Layout(Shape(5), strides=(2,), offset=3).as_tiled(Tiling([2, 3]))


MADE_AGAIN = [
    Layout(Shape(2, 3, origin=(1, -2)), order="F", ascend=(True, False)),
    Layout(Shape()),
    VIEW,
    VIEW[1:],
    Layout.nested(VIEW, layers=(1, 1)),
    Layout.tiled(Tiling([1, 2], [3]), order="F", tile_order=(1, 0), alignment=4, offset=-5),
    Layout(Shape.jagged([3, 1]), offset=7),
    Layout.parse("((2,2),4):((1,8),2)", order="colex"),
]


DESCRIBED = [
    VIEW.window(Shape.tiled([3], origin=(1, 0))),
    Layout(Shape(3, 4)).rotate([1, 0]),
    Layout.nested(Layout(Shape(3, 4)).rotate([1, 0]), layers=(1, 1)),
    Layout.padded(Shape.jagged([3, 1])),
    Layout.packed(Shape.jagged([3, 1]), alignment=4),
    Layout.nested(Layout.packed(Shape.jagged([3, 1]), alignment=4), layers=(1, 1)),
    Layout.tiled(Tiling([2, 2], [2, 2])).reverse(),
]


@pytest.mark.parametrize("layout", MADE_AGAIN, ids=repr)
def test_the_text_is_an_expression_that_makes_the_layout_again(layout: Layout) -> None:
    assert eval(repr(layout), vars(tensorwrapper)) == layout


@pytest.mark.parametrize("layout", DESCRIBED, ids=repr)
def test_what_is_no_expression_stands_between_angle_brackets(layout: Layout) -> None:
    text = repr(layout)
    assert text.startswith("<Layout of ")
    assert text.endswith(">")
    assert repr(layout.shape.flatten() if layout.shape.kind == "nested" else layout.shape) in text


def test_an_error_calls_a_composite_by_its_name() -> None:
    composite = Layout.parse("S<2,0,3> o 0 o (8,8):(8,1)")
    for change in (composite.reverse, lambda: composite.permute((1, 0)), lambda: composite.rotate((1, 0))):
        with pytest.raises(LayoutError, match="composite"):
            change()
