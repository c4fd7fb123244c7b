"""The types that both checkers infer for block patterns."""

from collections.abc import Iterator
from typing import assert_type

import numpy as np
import numpy.typing as npt

from tensorwrapper import BlockPattern, Shape, Tiling
from tensorwrapper.typing import IntArray, Rank1, Rank2


def lower(i: IntArray, j: IntArray) -> npt.NDArray[np.bool_]:
    """Tell for which tiles the row is not before the column."""
    below: npt.NDArray[np.bool_] = i >= j
    return below


cut = Tiling([5, 15], np.array([3]))
pattern = BlockPattern(cut, [(0, 0)])

assert_type(pattern, BlockPattern[Rank2])
assert_type(BlockPattern(cut), BlockPattern[Rank2])
assert_type(BlockPattern(cut, {(0, 0), (1, 0)}), BlockPattern[Rank2])
assert_type(BlockPattern(cut, np.zeros((1, 2), np.int64)), BlockPattern[Rank2])
assert_type(BlockPattern.from_mask(cut, [[True], [False]]), BlockPattern[Rank2])
assert_type(BlockPattern.from_ordinals(cut, [1]), BlockPattern[Rank2])
assert_type(BlockPattern.from_predicate(cut, lower), BlockPattern[Rank2])
assert_type(BlockPattern.from_norms(cut, [[0.5], [1.0]], 0.1, per="element"), BlockPattern[Rank2])
assert_type(BlockPattern.from_charges(cut, [[0, 1], [0]], (1, -1), modulus=2), BlockPattern[Rank2])
assert_type(BlockPattern.from_charges(cut, [[[0, 1]] * 2, [[0, 1]]], modulus=(None, 2)), BlockPattern[Rank2])
assert_type(BlockPattern.from_scipy(object()), BlockPattern[Rank2])
assert_type(pattern.tiling, Tiling[Rank2])
assert_type(pattern.grid, Shape[Rank2])
assert_type(pattern.elements, int)
assert_type(pattern.density, float)
assert_type(iter(pattern), Iterator[Rank2])
assert_type((0, 0) in pattern, bool)
assert_type(pattern.ordinals(), IntArray)
assert_type(pattern.mask(), npt.NDArray[np.bool_])
assert_type(pattern.slot((0, 0)), int | None)
assert_type(pattern.slots([[0, 0]]), IntArray)
assert_type(pattern | pattern, BlockPattern[Rank2])
assert_type(~(pattern & pattern) - (pattern ^ pattern), BlockPattern[Rank2])
assert_type(pattern.union(pattern), BlockPattern[Rank2])
assert_type(pattern <= BlockPattern(cut), bool)
assert_type(pattern.permute(1, 0), BlockPattern[Rank2])
assert_type(pattern.translate_to((1, 1)), BlockPattern[Rank2])
assert_type(pattern[1:, 0:2], BlockPattern[Rank2])
assert_type(pattern[1], BlockPattern)
assert_type(pattern.subgrid(Shape(1, 1)), BlockPattern[Rank2])
assert_type(pattern.product(pattern), BlockPattern)
assert_type(BlockPattern.concat([pattern, pattern], mode=1), BlockPattern[Rank2])
assert_type(pattern.unique("s2"), BlockPattern[Rank2])
assert_type(pattern.closure("s2"), BlockPattern[Rank2])
assert_type(pattern.retile(cut), BlockPattern[Rank2])
assert_type(BlockPattern(Tiling([1, 2])).nonempty(), BlockPattern[Rank1])
assert_type(pattern.cells(), Shape)
assert_type(BlockPattern.parse(str(pattern)), BlockPattern)
assert_type(BlockPattern.from_json(pattern.to_json()), BlockPattern)
