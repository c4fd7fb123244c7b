"""What checkers know of sparse tensors. Checked, never run."""

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import tensorwrapper as tw
from tensorwrapper.buffer import Sparse
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import IntArray, Rank2

# The type of the elements is known where a buffer says it.

values: npt.NDArray[np.float32] = np.ones(2, dtype=np.float32)
buffer = Sparse([1, 5], values, 12)
assert_type(buffer, Sparse[np.float32])
assert_type(buffer.stored, tuple[IntArray, npt.NDArray[np.float32]])
assert_type(buffer.addresses, IntArray)
assert_type(buffer.fill_value, npt.NDArray[np.float32])
assert_type(buffer.as_readonly(), Sparse[np.float32])
assert_type((buffer.nnz, buffer.size), tuple[int, int])

t = Tensor(tw.Layout(tw.Shape(3, 4)), buffer)
assert_type(t, Tensor[np.float32])
assert_type(t.fill_value, np.float32)
assert_type(t.values(), npt.NDArray[np.float32])
assert_type(t.stored(), tuple[IntArray, npt.NDArray[np.float32]])
assert_type(t.coords(), IntArray)
assert_type(t.csr(), tuple[IntArray, IntArray, npt.NDArray[np.float32]])
assert_type(t.to_dense(), Tensor[np.float32])
assert_type(t.permute((1, 0))[1:], Tensor[np.float32])
assert_type((t.is_sparse, t.nnz, t.density), tuple[bool, int, float])
assert_type(t.astype(np.int64), Tensor[np.int64])
assert_type(t.astype(np.dtype(np.int64), casting="unsafe"), Tensor[np.int64])
assert_type(t.astype("f8"), Tensor[Any])

# Lists of numbers have a type that only run time knows.

sp = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], tw.Shape(3, 4), fill_value=1, dtype="f4", duplicates="sum")
assert_type(sp, Tensor[Any, Rank2])
sp[0] = sp[1]
sp[...] = 0.0

# Mistakes that need no run to be found.

tw.sparse([(0, 1)], [5.0], tw.Shape(3, 4), duplicates="first")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
t.to_scipy("dense")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
t.nnz = 3  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
tw.sparse([(0, 1)], [5.0])  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
