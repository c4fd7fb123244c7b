"""Layouts of nested shapes, and hints: what checkers know of their types. Checked, never run."""

from typing import assert_type

import numpy as np

from tensorwrapper.layout import BlockHints, Layout, LayoutHints
from tensorwrapper.shape import Shape, Tiling

matrix = Shape.nested(Shape(2, 3), layers=(1, 1))
layout = Layout(matrix, orders=["C", "F"])

Layout(matrix, orders=[(0,), np.array([0])])
Layout(matrix, orders=["A", "C"])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
Layout(matrix, orders=2)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# Layers leave the number of modes, and so the type of an index, as they are.

assert_type(Layout(Shape(2, 3)).flatten(), Layout[tuple[int, int]])
assert_type(Layout.nested(Layout(Shape(2, 3)), layers=(1, 1)), Layout[tuple[int, int]])
assert_type(layout.element((1,)), Layout)
layout.element(1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

hints = layout.hints()
assert_type(hints, LayoutHints)
assert_type(hints.layers, tuple[BlockHints, ...])
assert_type(hints.whole.is_one_run, bool)
assert_type(hints.order, tuple[int, ...])
assert_type(hints.tiling(1000), Tiling)
hints.row_runs = 2  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
hints.tiling(2.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
