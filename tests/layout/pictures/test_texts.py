"""The text of a layout makes it again, or stands between angle brackets."""

import pytest

import tensorwrapper
from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.errors import LayoutError

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
