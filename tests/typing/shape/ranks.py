"""What checkers know of ranks: shapes, indices, tilings, layouts. Checked, never run."""

from typing import SupportsIndex, assert_type

import numpy as np

from tensorwrapper.layout import Layout
from tensorwrapper.shape import Indices, Mask, Shape, Tiling
from tensorwrapper.typing import AnyRank, Rank0, Rank1, Rank2, Rank3, Rank4, Rank6

s1, s2, s3 = Shape(2), Shape(2, 3), Shape(2, 3, 4)
unknown = Shape.from_json(b"{}")
tiling = Tiling([1, 2], [3])

assert_type(Shape(), Shape[Rank0])
assert_type(Shape(2, 3), Shape[Rank2])
assert_type(Shape(1, 2, 3, 4, 5, 6), Shape[Rank6])
assert_type(Shape(1, 2, 3, 4, 5, 6, 7), Shape)
assert_type(unknown, Shape)

# Parts: slices keep every mode, an integer drops one.

assert_type(s2[1:], Shape[Rank2])
assert_type(s2[1:, :2], Shape[Rank2])
assert_type(s3[0], Shape[Rank2])
assert_type(s1[0], Shape[Rank0])
assert_type(s3[0, 1], Shape[Rank1])
assert_type(s3[0, :], Shape[Rank2])
assert_type(s3[:, 0], Shape[Rank2])
assert_type(s3[..., 0], Shape)
assert_type(unknown[0], Shape)
assert_type(unknown[0, :], Shape)
assert_type(unknown[0, 1], Shape)
assert_type(s2[{"atom": 1}], Shape)
assert_type(s3.chip(0), Shape[Rank2])
assert_type(s3.chip((0,)), Shape[Rank2])
assert_type(s3.chip(0, np.int64(1)), Shape[Rank1])
assert_type(s3.chip((0, 1)), Shape[Rank1])
assert_type(s3.chip(0, 1, 2), Shape)
assert_type(unknown.chip(0), Shape)
assert_type(s2.slice((0, 0), (1, 1)), Shape[Rank2])
assert_type(s2.slice(0), Shape[Rank2])
assert_type(s2.slice(0, 1), Shape[Rank2])
assert_type(s2.slice((0, 1)), Shape[Rank2])
assert_type(s2.translate_by([1, 1]), Shape[Rank2])
assert_type(s2.translate_to((1, 1)), Shape[Rank2])
assert_type(s2.permute((1, 0)), Shape[Rank2])
assert_type(s2.flatten(), Shape[Rank2])
assert_type(s3.leading(2), Shape)
assert_type(s2.reshape((3, -1, 2)), Shape[Rank3])
assert_type(s2.reshape(3, -1, 2), Shape[Rank3])
assert_type(s2.reshape(6), Shape[Rank1])
assert_type(s2.reshape([6]), Shape)


def part(shape: Shape[Rank2], key: SupportsIndex | slice) -> Shape:
    """Return a part by a key that may keep the rank or not."""
    return shape[key]


# Facts and indices.

assert_type(s2.extents, Rank2)
assert_type(s2.origin, Rank2)
assert_type(unknown.extents, AnyRank)
assert_type(s2.index(0), Rank2)
assert_type(s2.ordinal((0, 1)), int)
assert_type(s2.ordinal([0, 1]), int)
assert_type(s2.ordinal(np.array([0, 1])), int)
assert_type(s2.ordinal((np.int64(0), np.int64(1))), int)
assert_type(unknown.ordinal((0, 1, 2)), int)
assert_type((0, 1) in s2, bool)
assert_type([0, 1] in s2, bool)
assert_type((0, 1) in unknown, bool)
assert_type(s3.extent_at(()), int)
assert_type(s3.extent_at((0, 1)), int)
assert_type(unknown.extent_at((0, 1, 2)), int)
assert_type(s2.indices()[0], Rank2)
assert_type(s2.indices(), Indices[Rank2])
for i, j in s2.indices():
    assert_type(i, int)
    assert_type(j, int)

# Constructors.

assert_type(Shape.jagged([3, 1, 2]), Shape[Rank2])
assert_type(Shape.jagged(np.array([3, 1, 2])), Shape[Rank2])
assert_type(Shape.jagged([[10], [20, 30]]), Shape[Rank3])
assert_type(Shape.jagged([Shape(1, 2), Shape(3, 4)]), Shape[Rank3])
assert_type(Shape.jagged([], rank=3), Shape)
assert_type(Shape.concat([s2, s2]), Shape[Rank2])
assert_type(Shape.concat([s2, (4, 3)]), Shape)
assert_type(Shape.stack([s2, s2]), Shape[Rank3])
assert_type(Shape.tiled([1]), Shape[Rank2])
assert_type(Shape.tiled([1], [3]), Shape[Rank4])

# Tilings and layouts.

assert_type(tiling.grid.indices()[0], Rank2)
assert_type(tiling.tile_of((0, 0)), Rank2)
assert_type(tiling.tile((0, 0)), Shape[Rank2])
lay = Layout(s2)
assert_type(lay.shape, Shape[Rank2])
assert_type(lay.strides, Rank2)
assert_type(lay.index_of(3), Rank2)
assert_type(lay.offset_of((0, 1)), int)
assert_type(lay.offset_of([0, 1]), int)
assert_type(lay[0], Layout[Rank1])
assert_type(lay[:, ::2], Layout[Rank2])
assert_type(lay[None], Layout[Rank3])
assert_type(lay[..., 0], Layout)
assert_type(lay.unsqueeze(0), Layout[Rank3])
assert_type(lay.squeeze(0), Layout[Rank1])
assert_type(lay.squeeze(), Layout)
assert_type(lay.diagonal(), Layout[Rank1])
assert_type(lay.reshape((6,)), Layout[Rank1])
assert_type(lay.as_tiled(tiling), Layout[Rank4])
assert_type(Layout(s1).broadcast(s3), Layout[Rank3])
assert_type(Layout(s1).broadcast((4, 2)), Layout)
assert_type(Mask(s2, 0).source_index((0,)), Rank2)
