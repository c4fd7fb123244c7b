"""Pieces of shapes, and shapes made of them: what checkers know of their types. Checked, never run."""

from collections.abc import Iterator
from typing import Any, Literal, assert_type

import numpy as np

from tensorwrapper.shape import BlockTable, Indices, Partition, Shape, Tiling
from tensorwrapper.typing import IntArray, Raggedness

matrix = Shape(2, 3)

# Parts keep the rank, and so the type of an index.

assert_type(matrix.split(2), tuple[Shape[tuple[int, int]], ...])
assert_type(matrix.split([1, 2], mode=1), tuple[Shape[tuple[int, int]], ...])
assert_type(matrix.split(np.array([1, 2])), tuple[Shape[tuple[int, int]], ...])
assert_type(matrix.blocks(), Iterator[Shape[tuple[int, int]]])
assert_type(matrix.indices().blocks(), Iterator[Indices[tuple[int, int]]])
assert_type(matrix.reshape((3, -1)), Shape[tuple[int, int]])

assert_type(matrix.block_table(), BlockTable)
assert_type(matrix.block_table().offsets, IntArray)
assert_type(matrix.partition_by_volume(4), Partition)
assert_type(matrix.is_box, bool)
assert_type(matrix.has_layers, bool)
assert_type(matrix.raggedness, Raggedness)
word: Literal["uniform", "gridded", "ragged"] = matrix.raggedness
assert_type(Tiling.from_shape(matrix), Tiling)

matrix.split(2.0)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
matrix.split("1")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
matrix.reshape(1.5)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
matrix.partition_by_volume(2.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# What is made of several shapes may be given by whatever a shape is given by.

whole = Shape.concat([matrix, (4, 3), [1, 3]])
assert_type(whole.extents, tuple[Any, ...])
tensor: Shape = Shape.stack([matrix, matrix], mode=-1)
Shape.concat([matrix], mode=0.5)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
Shape.concat(3)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
