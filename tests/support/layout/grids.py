"""Layouts of every kind that are drawn as grids, and their pictures read back."""

import re

from tensorwrapper.layout import Layout, Swizzle, compose, tiled_divide, zipped_divide
from tensorwrapper.shape import Shape, Tiling

GRIDS = {
    "scalar": Layout(Shape(), offset=7),
    "row": Layout(Shape(10, origin=(-3,))),
    "F": Layout(Shape(4, 6, origin=(-1, 10)), order="F"),
    "descending": Layout(Shape(3, 4), ascend=(False, True)),
    "padded": Layout(Shape(3, 4), strides=(6, 1)),
    "negative offsets": Layout(Shape(3, 4), strides=(-6, 1)),
    "rotated": Layout(Shape(4, 6)).rotate((1, 2)),
    "gathered": Layout(Shape(4, 6)).gather(1, [5, 0, 5]),
    "wrapped": Layout(Shape(4, 4)).pad([(1, 1), (2, 0)], boundary="wrap"),
    "repeated": Layout(Shape(2, 3)).repeat((2, 2)),
    "tile-major": Layout.tiled(Tiling([2, 2, 1], [3, 3], origin=(5, 0)), order="F"),
    "tiles seen": Layout(Shape(5, 6)).as_tiled(Tiling([2, 2, 1], [3, 3])),
    "packed tiles": Layout(Shape.tiled([2, 1], [2, 2])),
    "lex": Layout.parse("((2,2),(2,4)):((1,8),(2,16))"),
    "colex": Layout.parse("((2,2),(2,4)):((1,8),(2,16))", order="colex"),
    "one mode": Layout.parse("((2,3)):((1,2))"),
    "leaf": Layout.parse("8:2"),
    "composite": compose(Swizzle(2, 0, 2), Layout.parse("(4,4):(4,1)")),
    "divided": zipped_divide(Layout.parse("(4,6):(6,1)"), (2, 3)),
    "panels": Layout(Shape(3, 4, 5, origin=(1, 0, 2))),
    "panels of a division": tiled_divide(Layout.parse("(4,6):(6,1)"), (2, 3)),
    "nested": Layout(Shape.nested(Shape(2, 3, 2, 2), layers=(2, 2))),
    "nested rows": Layout(Shape.nested(Shape.jagged([[1], [2, 3]]), layers=(1, 2))),
    "nested panels": Layout(Shape.nested(Shape(2, 3, 4), layers=(1, 2))),
    "tiles in panels": Layout(Shape.tiled([2, 1], [2, 2], [3])),
    "rows": Layout(Shape.jagged([3, 1, 0, 4]), offset=5),
    "deep rows": Layout(Shape.jagged([[1], [2, 3], [3, 1, 2]])),
    "rows with origins": Layout(Shape.jagged([3, 2])[1:]),
    "cells": Layout(Shape.jagged([Shape(2, 3), Shape(1, 2)])),
    "triangle": Layout(Shape.triangular(5)),
}


def cells(drawn):
    """The cells with their index and offset, and the text that stands in each."""
    texts = {
        (round(float(e.get("x")) + x), round(float(e.get("y")) + y)): e.text
        for e, x, y in drawn.marks
        if e.text
    }
    found = []
    for box in drawn.boxes("cell"):
        index, offset = re.fullmatch(r"index (.+) at offset (-?\d+)", box.title).groups()
        entries = tuple(int(n) for n in re.findall(r"-?\d+", index))
        text = texts[round(box.x + box.width / 2), round(box.y + box.height / 2 + 3.5)]
        found.append((box, entries, int(offset), text))
    return found
