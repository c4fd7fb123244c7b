"""Masks and plans of cells: what checkers know of their types. Checked, never run."""

from typing import Any, Literal, assert_type

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Layout, Mask, Shape, Tensor
from tensorwrapper.shape import CellMatch, CellPermutation, MaskItem, match_cells, permute_cells
from tensorwrapper.typing import IntArray

box = Shape(4, 6)
mask = Mask(box, slice(None, None, 2), [1, 4, 5])

# A mask knows the rank of its source; that of the result depends on what is pinned.

assert_type(mask, Mask[tuple[int, int]])
assert_type(mask.source, Shape[tuple[int, int]])
assert_type(mask.shape, Shape)
assert_type(mask.source_index((1, 1)), tuple[int, int])
assert_type(mask.result_index((2, 4)), tuple[int, ...])
assert_type(mask.source_indices([[0, 0]]), IntArray)
assert_type(mask.ordinals(), IntArray)
assert_type(mask[::2, [0]], Mask[tuple[int, int]])
assert_type(mask[1], Mask[tuple[int, int]])
assert_type(mask.intersect(Shape(2, 2)), Mask[tuple[int, int]])
assert_type(mask.complement(1).union(mask).as_points(), Mask[tuple[int, int]])
assert_type(Mask.of_points(box, np.ones((4, 6), dtype=bool)), Mask[tuple[int, int]])
assert_type(Mask.of_ordinals(box, range(0, 24, 7)), Mask[tuple[int, int]])
assert_type(Mask.parse("(4, 6)[0:4:2, :]"), Mask)
way: Literal["modes", "rows", "points"] = mask.way

items: list[MaskItem] = [1, np.int8(1), slice(2), range(2), ..., (0, 1), [True, False], np.array([0])]
Mask(box, *items)
Mask(box, 1.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Mask((4, 6))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Shape.concat([mask])  # type: ignore[arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]

# What is gathered is of the kind of the target.

layout: Layout = mask.gather(Layout(box))
tensor: Tensor[Any] = mask.gather(tw.zeros((4, 6)))

assert_type(permute_cells(box), CellPermutation)
assert_type(permute_cells([2, 3], (0, 1)).places, IntArray)
assert_type(match_cells(box, box, by="number"), CellMatch)
match_cells(box, box, by="name")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
