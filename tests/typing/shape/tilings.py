"""What tilings answer, as both checkers see it."""

from collections.abc import Iterator
from typing import assert_type

import numpy as np
import numpy.typing as npt

from tensorwrapper.shape import Overlaps, Partition, RetileCost, RetilePieces, RetilePlan, Shape, Tiling
from tensorwrapper.typing import IntArray, Rank2

tiling = Tiling([5, 15], np.array([3]))
box = Shape(2, 2)

assert_type(tiling, Tiling[Rank2])
assert_type(Tiling.from_marks([0, 5], np.array([0, 3])), Tiling)
assert_type(Tiling.from_chunks((2, [3], None), extents=(5, 3, 1)), Tiling)
assert_type(Tiling.from_chunks(2, extents=(5,), origin=(1,)), Tiling)
assert_type(Tiling.make_uniform(box, 2), Tiling)
assert_type(Tiling.make_uniform((5, 5), count=(2, 3)), Tiling)
assert_type(tiling.chunks, tuple[tuple[int, ...], ...])
assert_type(tiling.partitions, tuple[Partition, ...])
assert_type(tiling.tile((0, 0)), Shape[Rank2])
assert_type(tiling.tiles(), Iterator[Shape[Rank2]])
assert_type(tiling.tile_of((0, 0)), Rank2)
assert_type(tiling.tiles_of([[0, 0]]), IntArray)
assert_type(tiling.find((0, 0)), Shape[Rank2] | None)
assert_type(tiling.tile_range(box), Shape[Rank2])
assert_type(tiling.is_aligned(box), bool)
assert_type(tiling.are_tile_starts([[0, 0]]), npt.NDArray[np.bool_])
assert_type(tiling.volumes(), IntArray)
assert_type(tiling.partition_by_volume(10), Partition)
assert_type(tiling.slice((0, 0), (1, 1)), Tiling[Rank2])
assert_type(tiling.slice(box), Tiling[Rank2])
assert_type(tiling[1:, 0:2], Tiling[Rank2])
assert_type(tiling.refine((1, 1), (2, 2)), Tiling[Rank2])
assert_type(Tiling.concat([tiling, tiling], mode=1), Tiling[Rank2])
assert_type(tiling.intersect(tiling), Tiling[Rank2])

plan = tiling.retile_plan(Tiling([20], [1, 2]))
assert_type(plan, RetilePlan)
assert_type(plan.overlaps, tuple[Overlaps, ...])
assert_type(plan.cost(itemsize=8), RetileCost)
assert_type(plan.pieces(), RetilePieces)
assert_type(plan.batches(100), Iterator[RetilePieces])
assert_type(plan.fan_in((0, 0)), int)
