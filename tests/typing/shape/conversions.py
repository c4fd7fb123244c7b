"""What checkers know of shapes and tilings in the words of other systems. Checked, never run."""

from typing import assert_type

import numpy as np
import numpy.typing as npt

from tensorwrapper.layout import LossReport as LayoutLossReport
from tensorwrapper.shape import (
    ArrowList,
    LossKind,
    LossReport,
    RowPartition,
    RowPartitions,
    Shape,
    Tiling,
    ZarrGrid,
)
from tensorwrapper.typing import IntArray

shape = Shape.jagged([3, 1, 2])
tiling = Tiling([1, 2])

assert_type(shape.losses("arrow"), LossReport)
assert_type(shape.losses("arrow").lost, tuple[LossKind, ...])
assert_type(tiling.losses("zarr"), LossReport)
report: LayoutLossReport = shape.losses("json")

rows = shape.to_row_partitions()
assert_type(rows, RowPartitions)
assert_type(rows.partitions, tuple[RowPartition, ...])
assert_type(rows.static_lengths, tuple[int | None, ...])
assert_type(rows.partitions[0].value_rowids, IntArray)
assert_type(RowPartition.from_row_splits([0, 3]), RowPartition)
assert_type(Shape.from_row_partitions(rows), Shape)

assert_type(shape.awkward_buffers(), tuple[str, int, dict[str, IntArray]])
assert_type(Shape.from_awkward(*shape.awkward_buffers()), Shape)
assert_type(shape.arrow_lists("list"), tuple[ArrowList, ...])
assert_type(Shape.from_arrow(shape.arrow_lists(), 3), Shape)
assert_type(shape.arrow_tensor_sizes(), tuple[npt.NDArray[np.int32], str])
assert_type(Shape.from_arrow_tensors([[1, 2]], "{}"), Shape)
assert_type(shape.cell_extents(), IntArray)
assert_type(shape.torch_offsets(), tuple[IntArray, tuple[int | None, ...]])
assert_type(shape.array_api_extents(), tuple[int | None, ...])

assert_type(tiling.zarr_grid(regular=True), ZarrGrid)
assert_type(tiling.zarr_grid().kept_tiles, tuple[IntArray, ...])
assert_type(Tiling.from_zarr("{}", (3,)), Tiling)

shape.losses("zarr")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
shape.arrow_lists("map")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
