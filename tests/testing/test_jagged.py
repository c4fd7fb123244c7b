"""Jagged shapes of every representation keep every law of a shape."""

from typing import final

import attrs
import numpy as np
from hypothesis import strategies as st

from tensorwrapper.shape import JaggedCommon, Rows, Shape
from tensorwrapper.testing import ShapeContract, jagged_shapes, tiled_shapes, triangular_shapes, views

VALUES = jagged_shapes(max_rank=3)


def window(shape, before, length, *, below):
    """A run of rows of a parent, or of what is under one of its rows."""
    parent = Shape.jagged([shape, shape])[1] if below else shape
    start, extent = parent.origin_at(()), parent.extent_at(())
    first = start + min(before, extent)
    return parent.slice_outer(first, min(first + length, start + extent))


WINDOWS = st.builds(
    window,
    jagged_shapes(max_rank=3),
    st.sampled_from([0, 1, 3]),
    st.sampled_from([3, 1, 2, 0]),
    below=st.booleans(),
)


@final
@attrs.frozen(eq=False)
class Steps(JaggedCommon):
    """A stranger's jagged shape: row k is `width` indices long and starts at k; the one primitive."""

    count: int
    width: int

    @property
    def rows(self):
        return Rows.of_lengths(np.full(self.count, self.width), first=-1, origins=[np.arange(self.count)])


class TestJagged(ShapeContract):
    def shapes(self):
        return VALUES


class TestJaggedView(ShapeContract):
    def shapes(self):
        return WINDOWS


class TestTiled(ShapeContract):
    def shapes(self):
        return tiled_shapes()


class TestTriangular(ShapeContract):
    def shapes(self):
        return triangular_shapes()


class TestSteps(ShapeContract):
    def shapes(self):
        return st.builds(Steps, st.integers(0, 3), st.integers(0, 3))


class TestParts(ShapeContract):
    """Slices of slices, chips, permutations, moves."""

    def shapes(self):
        return views(st.one_of(VALUES, tiled_shapes(), triangular_shapes()))
