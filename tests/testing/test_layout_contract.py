"""Layouts of every implementation keep every law of a layout."""

import numpy as np

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.layout import Swizzle, compose
from tensorwrapper.testing import LayoutContract

BOX = Shape(3, 4, origin=(-1, 5))
ROWS = Shape.jagged([3, 0, 2])
CELLS = Shape.from_cells((3,), [(2, 3), (0, 2), (1, 2)])
UNEVEN = Tiling([1, 2], [3, 1])


class TestStrided(LayoutContract):
    def layouts(self):
        return [
            Layout(BOX),
            Layout(BOX, order="F", offset=7),
            Layout(Shape(4, 6))[::-1, ::2],
            Layout(Shape()),
            Layout(Shape(2, 0, 3)),
            Layout(Shape(3, 1)).broadcast((2, 3, 4)),
        ]


class TestInterleaved(LayoutContract):
    refuses = ("indices_at",)

    def layouts(self):
        return [Layout(Shape(8)).sliding_window(0, 3), Layout(Shape(3, 3), strides=(2, 1))]


class TestSeparable(LayoutContract):
    def layouts(self):
        return [
            Layout(BOX).rotate((1, 2)),
            Layout(BOX).gather(1, [3, 0, 2]),
            Layout(Shape(4)).pad([(2, 3)], boundary="reflect"),
            Layout(Shape(2, 3)).repeat((1, 2)),
        ]


class TestHierarchical(LayoutContract):
    def layouts(self):
        return [
            Layout.parse("((2,2),3):((1,6),2)"),
            Layout.parse("((2,2),3):((1,6),2)", order="colex"),
            Layout.parse("(2,3):(1,10)+4", order="colex"),
        ]


class TestComposite(LayoutContract):
    refuses = (
        *("indices_of", "indices_at", "permute", "reverse", "gather"),
        *("rotate", "repeat", "repeat_each", "broadcast", "pad"),
    )

    def layouts(self):
        return [compose(Swizzle(1, 0, 2), Layout.parse("(4,4):(4,1)"))]


class TestPacked(LayoutContract):
    def layouts(self):
        return [Layout(ROWS, offset=2), Layout(CELLS), Layout(Shape.triangular(4)), Layout(UNEVEN.shape)]


class TestBlocked(LayoutContract):
    def layouts(self):
        return [
            Layout.packed(CELLS, order="F", alignment=4),
            Layout(ROWS).gather(0, [2, 0, 2]),
            Layout(CELLS).reverse(),
            Layout.from_block_offsets(ROWS, [10, 0, 20], strides=[2]),
        ]


class TestPadded(LayoutContract):
    def layouts(self):
        return [Layout.padded(ROWS), Layout.padded(CELLS, offset=3)]


class TestTiledStrided(LayoutContract):
    def layouts(self):
        return [Layout(Shape(3, 4)).as_tiled(UNEVEN), Layout(Shape(3, 4), order="F").as_tiled(UNEVEN)[1:]]


class TestTileMajor(LayoutContract):
    refuses = ("broadcast", "pad")

    def layouts(self):
        return [Layout.tiled(UNEVEN), Layout.tiled(UNEVEN, alignment=4, tile_order="F", offset=1)]


class TestTilesInMemory(LayoutContract):
    refuses = ("broadcast", "pad")

    def layouts(self):
        return [Layout.tiled(UNEVEN).reverse(1), Layout.tiled(Tiling([2, 2], [2, 2]))[1:, ::-1]]


class TestNestedLayout(LayoutContract):
    def layouts(self):
        nested = Shape.nested(Shape(2, 3, 2), layers=(1, 2))
        return [
            Layout(nested, orders=["C", "F"]),
            Layout(Shape.nested(ROWS, layers=(1, 1))),
            Layout.nested(Layout(Shape(2, 3)).permute(1, 0), layers=(1, 1)),
        ]


def test_a_broken_layout_is_told():
    class Broken(LayoutContract):
        def layouts(self):
            layout = Layout.padded(ROWS)
            object.__setattr__(layout.implementation, "_bounds", (0, 99))
            return [layout]

    try:
        Broken().test_bounds_are_the_least_and_the_greatest_place()
    except AssertionError:
        return
    raise AssertionError(np.nan)


class TestNamed(LayoutContract):
    def layouts(self):
        return [
            Layout(BOX.named("x", "y"))[:, ::-1],
            Layout(ROWS.named("event", None)),
            Layout(Shape.nested(Shape(2, 3), layers=(1, 1)).named("x", "y")),
            Layout(BOX.named("x", "y")).rotate((1, 1)),
        ]
