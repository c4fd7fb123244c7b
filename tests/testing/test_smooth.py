"""Boxes, values and views, keep every law of a shape."""

from typing import final

import attrs
from hypothesis import strategies as st

from tensorwrapper.shape import Shape, Smooth, SmoothCommon, SmoothView
from tensorwrapper.testing import ShapeContract, jagged_shapes, smooth_shapes, tiled_shapes

BOXES = smooth_shapes(max_rank=3)
# Cells of a jagged shape, after one of the same rank.
LEAVES = st.integers(1, 3).flatmap(
    lambda rank: st.tuples(*[smooth_shapes(min_rank=rank, max_rank=rank)] * 2).map(
        lambda pair: Shape.jagged(list(pair))[1]
    )
)
BOUNDING_BOXES = st.one_of(jagged_shapes(max_rank=3), tiled_shapes()).map(lambda shape: shape.as_smooth())
WHOLE = BOXES.map(lambda shape: SmoothView.of_box(shape.implementation))


@final
@attrs.frozen(eq=False)
class Square(SmoothCommon):
    """A stranger's box: the two primitives and nothing else."""

    side: int

    @property
    def extents(self):
        return (self.side, self.side)

    @property
    def origin(self):
        return (-1, self.side)


class TestSmooth(ShapeContract):
    def shapes(self):
        return BOXES.map(lambda shape: Smooth(shape.extents, shape.origin))


class TestSmoothView(ShapeContract):
    def shapes(self):
        return st.one_of(LEAVES, BOUNDING_BOXES, WHOLE)


class TestSquare(ShapeContract):
    def shapes(self):
        return st.builds(Square, st.integers(0, 4))
