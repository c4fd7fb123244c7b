"""What checkers know of ranks: tensors and views. Checked, never run."""

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

from tensorwrapper.layout import Layout
from tensorwrapper.selection import View, as_view, concat, pad, stack, where
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor import Tensor, as_tensor, empty, eye, from_buffer, full, jagged, zeros
from tensorwrapper.typing import AnyRank, Rank0, Rank1, Rank2, Rank3, Rank4

s2 = Shape(2, 3)
tiling = Tiling([1, 2], [3])
t = as_tensor(np.zeros((2, 3)))
bools = t > 0
ints = zeros(s2, dtype=np.int32)
flat: npt.NDArray[np.float64] = np.zeros(6)
v = as_tensor(flat)
places: npt.NDArray[np.int64] = np.arange(2)

assert_type(t, Tensor[np.float64, Rank2])
assert_type(v, Tensor[np.float64])
assert_type(v, Tensor[np.float64, AnyRank])
assert_type(as_tensor(t), Tensor[np.float64, Rank2])
assert_type(as_tensor(as_view(t)), Tensor[np.float64, Rank2])
assert_type(as_tensor([1, 2]), Tensor[Any, Rank1])
assert_type(as_tensor([[1.5, 2.5]]), Tensor[Any, Rank2])

# Facts: shapes, elements.

assert_type(t.shape, Shape[Rank2])
assert_type(t.layout, Layout[Rank2])
assert_type(t.layout.shape, Shape[Rank2])
assert_type(t.shape.extents, Rank2)
assert_type(v.shape, Shape)
assert_type(t[0, 1].item(), float)
assert_type(t.tolist(), list[list[float]])
assert_type(t[0].tolist(), list[float])
assert_type(t[0, 1].tolist(), float)
assert_type(ints.tolist(), list[list[int]])
assert_type(v.item(), float)
assert_type(t.to_numpy(), np.ndarray[Rank2, np.dtype[np.float64]])
assert_type(np.asarray(t), npt.NDArray[np.float64])
assert_type(t.elements(), npt.NDArray[np.float64])


def unknown_lists(tensor: Tensor[np.float64]) -> object:
    """Return lists of unknown depth, which may stand where any are wanted."""
    depth: list[list[float]] = tensor.tolist()
    return depth


# Parts.

assert_type(t[0], Tensor[np.float64, Rank1])
assert_type(t[:, 1], Tensor[np.float64, Rank1])
assert_type(t[0, 1], Tensor[np.float64, Rank0])
assert_type(t[1:, ::2], Tensor[np.float64, Rank2])
assert_type(t[None], Tensor[np.float64, Rank3])
assert_type(t[..., 0], Tensor[np.float64])
assert_type(t[[0, 1]], Tensor[np.float64])
assert_type(t[places], Tensor[np.float64])
assert_type(t[places, 0], Tensor[np.float64])
assert_type(t[:, places], Tensor[np.float64])
assert_type(t[places, places], Tensor[np.float64])
assert_type(t[np.int64(1)], Tensor[np.float64, Rank1])
assert_type(as_view(t)[places], View[np.float64])
assert_type(as_view(t)[places, :], View[np.float64])
assert_type(v[0], Tensor[np.float64])
assert_type(t.oindex[[0], [1]], Tensor[np.float64])
assert_type(t.unsqueeze(0), Tensor[np.float64, Rank3])
assert_type(t.squeeze(0), Tensor[np.float64, Rank1])
assert_type(t.squeeze(), Tensor[np.float64])
assert_type(t.diagonal(), Tensor[np.float64, Rank1])
assert_type(t.sliding_window(1, 2), Tensor[np.float64, Rank3])
assert_type(next(iter(t)), Tensor[np.float64, Rank1])
assert_type(next(iter(v)), Tensor[np.float64])
assert_type(t.reshape((6,)), Tensor[np.float64, Rank1])
assert_type(t.reshape(3, -1), Tensor[np.float64, Rank2])
assert_type(t.reshape([6]), Tensor[np.float64])
assert_type(t.broadcast(Shape(4, 2, 3)), Tensor[np.float64, Rank3])
assert_type(t.tiled(tiling), Tensor[np.float64, Rank4])
assert_type(t.tiled(tiling).select_tiles([(0, 0)]), Tensor[np.float64])
assert_type(t.permute(1, 0), Tensor[np.float64, Rank2])
assert_type(t.copy(), Tensor[np.float64, Rank2])
assert_type(t.merge_modes(0, 1), Tensor[np.float64])
assert_type(t.pad([(1, 1), (0, 0)]), View[np.float64, Rank2])
assert_type(t.astype(np.int32), Tensor[np.int32, Rank2])
assert_type(t.astype("i4"), Tensor[Any, Rank2])

# Operators: the rank stays beside numbers and where both operands have it.

assert_type(t + 1, Tensor[np.float64, Rank2])
assert_type(t * t, Tensor[np.float64, Rank2])
assert_type(2 - t, Tensor[np.float64, Rank2])
assert_type(-t, Tensor[np.float64, Rank2])
assert_type(abs(t), Tensor[Any, Rank2])
assert_type(t > 4, Tensor[np.bool_, Rank2])
assert_type(t == t, Tensor[np.bool_, Rank2])  # noqa: PLR0124
assert_type(t == np.int64(4), Tensor[np.bool_, Rank2])
assert_type((t > 4) & bools, Tensor[np.bool_, Rank2])
assert_type(~bools, Tensor[np.bool_, Rank2])
assert_type(ints % 2, Tensor[np.int32, Rank2])
assert_type(ints / 2, Tensor[Any, Rank2])
assert_type(ints + 1, Tensor[np.int32, Rank2])
assert_type(ints + 1.5, Tensor[np.float64, Rank2])
assert_type(1.5 * ints, Tensor[np.float64, Rank2])
assert_type(ints // 2.0, Tensor[np.float64, Rank2])
assert_type(ints**0.5, Tensor[np.float64, Rank2])
assert_type(ints * 1j, Tensor[Any, Rank2])
assert_type(bools + 1, Tensor[Any, Rank2])
assert_type(as_view(ints) - 1.5, Tensor[np.float64, Rank2])
assert_type(ints.astype(np.float32) + 1, Tensor[np.float32, Rank2])
assert_type(ints + t, Tensor[Any, Rank2])
assert_type(t + t[0], Tensor[Any])
assert_type(t + np.array([1, 2, 3]), Tensor[Any])
assert_type(v + 1, Tensor[np.float64])
assert_type(as_view(t) + t, Tensor[np.float64, Rank2])

# Constructors.

assert_type(zeros(s2), Tensor[np.float64, Rank2])
assert_type(ints, Tensor[np.int32, Rank2])
assert_type(empty(s2, dtype="i4"), Tensor[Any, Rank2])
assert_type(full(s2, 1), Tensor[Any, Rank2])
assert_type(full(s2, 1, dtype=np.int8), Tensor[np.int8, Rank2])
assert_type(zeros((2, 3)), Tensor[np.float64, Rank2])
assert_type(eye(3), Tensor[np.float64, Rank2])
assert_type(from_buffer(flat, s2), Tensor[np.float64, Rank2])
assert_type(from_buffer(flat, (2, 3)), Tensor[np.float64])
assert_type(from_buffer(b"12345678", s2), Tensor[Any, Rank2])
assert_type(jagged([[1, 2], [3]]), Tensor[Any, Rank2])
assert_type(jagged([[1, 2], [3]], dtype=np.int8), Tensor[np.int8, Rank2])
assert_type(jagged([[[1], [2]], [[3]]]), Tensor[Any, Rank3])
assert_type(jagged([np.zeros(2), np.zeros(3)]), Tensor[np.float64, Rank2])
assert_type(jagged([flat, flat]), Tensor[np.float64])

# Views.

assert_type(concat([t, t]), View[np.float64, Rank2])
assert_type(concat([v, v]), View[np.float64])
assert_type(concat([[1], [2]]), View[Any])
assert_type(stack([t, t]), View[np.float64, Rank3])
assert_type(stack([v, v]), View[np.float64])
assert_type(where(bools, t, t), View[np.float64, Rank2])
assert_type(where(v > 0, v, v), View[np.float64])
assert_type(where(bools[0], t, t), View[Any])
assert_type(pad(t, [(1, 1), (0, 0)]), View[np.float64, Rank2])
assert_type(as_view(t), View[np.float64, Rank2])
assert_type(as_view(np.zeros((2, 3))), View[np.float64, Rank2])
assert_type(as_view(v), View[np.float64])
assert_type(as_view(t)[0], View[np.float64, Rank1])
assert_type(as_view(t)[0, :], View[np.float64, Rank1])
assert_type(as_view(t)[None], View[np.float64, Rank3])
assert_type(as_view(t).shape, Shape[Rank2])
assert_type(as_view(t).vindex[[0], [1]], View[np.float64])
assert_type(as_view(t).astype(np.int32), View[np.int32, Rank2])
assert_type(as_view(t).tolist(), list[list[float]])
assert_type(as_view(t).compute(), Tensor[np.float64, Rank2])
assert_type(as_view(t).copy(), Tensor[np.float64, Rank2])
assert_type(next(iter(as_view(t))), View[np.float64, Rank1])
