"""Wrong ranks and elements of tensors that checkers find without a run. Checked, never run."""

import numpy as np
import numpy.typing as npt

from tensorwrapper.selection import as_view
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor import Tensor, as_tensor, zeros
from tensorwrapper.typing import Rank2

s3 = Shape(2, 3, 4)
t = as_tensor(np.zeros((2, 3)))
doubles: npt.NDArray[np.float64] = np.zeros((2, 3))
v = as_tensor(doubles)


def matrix(shape: Shape[Rank2]) -> int:
    """Take shapes of rank 2."""
    return shape.size


def matrices(tensor: Tensor[np.float64, Rank2]) -> int:
    """Take matrices."""
    return tensor.size


def anything(tensor: Tensor) -> int:
    """Take tensors of any elements and rank."""
    return tensor.size


matrix(t[0].shape)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
(n,) = t.shape.extents  # type: ignore[misc]  # pyright: ignore[reportAssignmentType]
matrices(t[0])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
matrices(t.unsqueeze(0))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
matrices(t[None])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
i4 = t.astype(np.int32)
matrices(i4)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
integers: Tensor[np.int64] = t  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
t.tiled(Tiling([1]))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
t["a"]  # type: ignore[index]  # pyright: ignore[reportCallIssue, reportArgumentType]
t[0, 0].diagonal()  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
x: float = t[0].tolist()  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
y: int = t[0, 0].item()  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
z: Rank2 = zeros(s3).shape.extents  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
for _p, _q in t[0].shape.indices():  # type: ignore[misc]  # pyright: ignore[reportAssignmentType, reportUnknownVariableType]
    pass
matrices(as_view(t).compute()[0])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# Accepted: what has no known rank goes wherever one is wanted.

matrix(v.shape)
matrices(t)
matrices(v)
matrices(zeros((2, 3)))
matrices(t + 1)
anything(t)
anything(i4)
tensors: list[Tensor] = [t, i4, v]
