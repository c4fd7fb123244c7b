"""What checkers know of the elements of a tensor. Checked, never run."""

from collections.abc import Iterator
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer import CopyCount, count_copies
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor import (
    Alignment,
    Tensor,
    TensorRows,
    align,
    as_tensor,
    empty,
    eye,
    from_buffer,
    full,
    jagged,
    zeros,
)
from tensorwrapper.typing import Index, Rank1, Rank2

doubles: npt.NDArray[np.float64] = np.zeros((2, 3))
t = as_tensor(doubles)

# The element type comes from the array and stays with every view and copy.

assert_type(t, Tensor[np.float64])
assert_type(t.dtype, np.dtype[np.float64])
assert_type(t.to_numpy(), npt.NDArray[np.float64])
assert_type(t.elements(), npt.NDArray[np.float64])
assert_type(t.to_padded(), npt.NDArray[np.float64])
assert_type(t[0], Tensor[np.float64])
assert_type(t[0, 0], Tensor[np.float64])
assert_type(t[..., None, ::-1], Tensor[np.float64])
assert_type(t.window(Shape(1, 1)), Tensor[np.float64])
assert_type(t.permute((1, 0)), Tensor[np.float64])
assert_type(t.reverse(), Tensor[np.float64])
assert_type(t.broadcast((4, 2, 3)), Tensor[np.float64])
assert_type(t.copy(), Tensor[np.float64])
assert_type(as_tensor(t), Tensor[np.float64])
assert_type(as_tensor(doubles, copy=False), Tensor[np.float64])

assert_type(t.rotate((1, 1)), Tensor[np.float64])
assert_type(t.repeat((1, 2)), Tensor[np.float64])
assert_type(t.repeat_each(0, 2), Tensor[np.float64])
assert_type(t.gather(0, [1, 0]), Tensor[np.float64])
assert_type(t.sliding_window(1, 2), Tensor[np.float64])
assert_type(t.diagonal(), Tensor[np.float64])
assert_type(t.split_mode(1, (3, 1)), Tensor[np.float64])
assert_type(t.merge_modes(0, 1), Tensor[np.float64])
assert_type(t.squeeze().unsqueeze(0).reshape((6,)), Tensor[np.float64, Rank1])
assert_type(t[[1, 0], 0], Tensor[np.float64])
assert_type(t[t.to_numpy() > 0], Tensor[np.float64])
assert_type(t.oindex[[1, 0], [2, 0]], Tensor[np.float64])
assert_type(t.vindex[[1, 0], [2, 0]], Tensor[np.float64])
assert_type(t.to_layout(Layout(Shape(2, 3), order="F"), threads=2), Tensor[np.float64])
assert_type(t.to_dense(), Tensor[np.float64])
t.oindex[[0], [1]] = 1.0
t.vindex[[0], [1]] = 1.0
t.accumulate_into(t)

# Other types, and new memory: what dtype says, where it is a type.

assert_type(t.astype(np.float32), Tensor[np.float32])
assert_type(t.astype(np.dtype(np.float32), casting="unsafe"), Tensor[np.float32])
assert_type(t.astype("f4"), Tensor[Any])
assert_type(zeros((2,)), Tensor[np.float64, Rank1])
assert_type(empty((2,), dtype=np.int8), Tensor[np.int8, Rank1])
assert_type(zeros((2,), dtype="i1"), Tensor[Any, Rank1])
assert_type(full((2,), 7, dtype=np.int8), Tensor[np.int8, Rank1])
assert_type(full((2,), lambda block: block.origin[0], dtype=np.dtype(np.int8)), Tensor[np.int8, Rank1])
assert_type(full((2,), 7), Tensor[Any, Rank1])
assert_type(eye(2), Tensor[np.float64, Rank2])
assert_type(eye(2, dtype=np.int8), Tensor[np.int8, Rank2])
assert_type(eye(2, dtype="i1"), Tensor[Any, Rank2])

tiles = t.tiled(Tiling([1, 1], [3]))
assert_type(tiles, Tensor[np.float64])
assert_type(tiles.tile((0, 0)), Tensor[np.float64])
assert_type(tiles.untiled(), Tensor[np.float64])
assert_type(tiles.select_tiles([(0, 0)]), Tensor[np.float64])
assert_type(tiles.cells(), Iterator[tuple[Index, Tensor[np.float64]]])
assert_type(tiles.tiling, Tiling)

for row in t:
    assert_type(row, Tensor[np.float64])

# Rows and their structure: views keep the type, what counts is int64, what is reduced has any.

assert_type(t.rows(), TensorRows[Tensor[np.float64], Tensor[Any]])
assert_type(t.rows()[0], Tensor[np.float64])
assert_type(t.rows().reduce(np.add), Tensor[Any])
assert_type(t.flatten(), Tensor[np.float64])
assert_type(t.flatten(1).unflatten([1, 5]), Tensor[np.float64])
assert_type(t.unflatten(t.row_lengths(), mode=0), Tensor[np.float64])
assert_type(t.pad_rows(4, fill_value=1.5, clip=True), Tensor[np.float64])
assert_type(t.permute(1, 0), Tensor[np.float64])
assert_type(t.permute((1, 0)), Tensor[np.float64])
assert_type(t.reshape(-1, 4), Tensor[np.float64, Rank2])
assert_type(t.row_lengths(), Tensor[np.int64])
assert_type(t.local_index(), Tensor[np.int64])
assert_type(t.run_lengths(), Tensor[np.int64])
assert_type(tiles[jagged([[True], [False]])], Tensor[np.float64])

plan = align(tiles, tiles.shape, orders=[None, (0, 1, 3, 2)])
assert_type(plan, Alignment)
assert_type(plan.shape, Shape)
assert_type(plan.take(tiles, tiles), tuple[npt.NDArray[np.float64], ...])

# Facts.

assert_type(t.shape, Shape)
assert_type(t.layout, Layout)
assert_type((t.rank, t.size, t.nbytes, len(t)), tuple[int, int, int, int])
assert_type(t.is_readonly, bool)
assert_type(t.array_equal(tiles, equal_nan=True), bool)
assert_type((float(t), int(t), bool(t)), tuple[float, int, bool])

# What is read at run time has a type that only run time knows.

assert_type(jagged([[1], [2, 3]]), Tensor[Any, Rank2])
assert_type(as_tensor([1, 2]), Tensor[Any, Rank1])
assert_type(from_buffer(b"12345678", (1,), dtype="f8"), Tensor[Any])
assert_type(tiles.reduce_tiles(np.add), Tensor[Any])

# NumPy takes tensors.

np.asarray(t)
np.asarray(t, dtype=np.float32, copy=True)
np.from_dlpack(t)
array: npt.ArrayLike = t

with count_copies() as count:
    assert_type(count, CopyCount)
    assert_type(count.nbytes, int)


def takes_any(tensor: Tensor) -> int:
    """Take a tensor of any elements: the default of its type variable."""
    return tensor.nbytes


def takes_floats(tensor: Tensor[np.floating[Any]]) -> float:
    """Take a tensor of floats of any width: covariance."""
    return float(tensor)


takes_any(t)
small = as_tensor(np.zeros(1, dtype=np.int8))
takes_any(small)
takes_floats(t)
t[0, 0] = 1.0
t[0] = [1.0, 2.0, 3.0]
t[0] = t[1]

# Mistakes that need no run to be found.

takes_floats(small)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
wrong: Tensor[np.int64] = t  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
t[0.5]  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
t["a"] = 1.0  # type: ignore[index]  # pyright: ignore[reportArgumentType]
t.shape = Shape(3, 2)  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
t.tiled(Shape(2, 3))  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
t.nothing  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
t + None  # type: ignore[call-overload]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
