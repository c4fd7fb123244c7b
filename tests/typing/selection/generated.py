"""Views that are generated or put together: what checkers know of elements and rank."""

from typing import Any, assert_type

import numpy as np

from tensorwrapper import Shape, as_tensor, where
from tensorwrapper import selection as sel
from tensorwrapper.selection import View
from tensorwrapper.typing import IntArray, Rank1, Rank2

s2 = Shape(2, 3)
unknown = Shape.from_json("{}")
t = as_tensor(np.zeros((2, 3)))
row = as_tensor(np.zeros(3))
whole = t.astype(np.int32)
view = sel.as_view(t)


def added(i: IntArray, j: IntArray) -> IntArray:
    return i + j


assert_type(sel.zeros(s2), View[np.float64, Rank2])
assert_type(sel.zeros((2, 3)), View[np.float64, Rank2])
assert_type(sel.zeros(unknown), View[np.float64])
assert_type(sel.ones(s2, dtype=np.int32), View[np.int32, Rank2])
assert_type(sel.ones((2, 3), dtype=np.int32), View[np.int32, Rank2])
assert_type(sel.ones(s2, dtype="i4"), View[Any, Rank2])
assert_type(sel.full(s2, 1, dtype=np.int8), View[np.int8, Rank2])
assert_type(sel.full(s2, np.float32(1)), View[np.float32, Rank2])
assert_type(sel.full(s2, 1.5), View[Any, Rank2])
assert_type(sel.full((2, 3), "text"), View[Any, Rank2])
assert_type(sel.iota(s2, 0), View[np.int64, Rank2])
assert_type(sel.iota((3,), dtype=np.float32), View[np.float32, Rank1])
assert_type(sel.linspace(0, 1, 5), View[np.float64, Rank1])
assert_type(sel.linspace(0, 1, 5, dtype=np.complex64), View[np.complex64, Rank1])
assert_type(sel.eye(3), View[np.float64, Rank2])
assert_type(sel.eye(3, diagonal=1, dtype=np.int8), View[np.int8, Rank2])
assert_type(sel.eye(3, dtype="i1"), View[Any, Rank2])
assert_type(sel.compute(s2, added), View[np.float64, Rank2])
assert_type(sel.random(s2, seed=1), View[np.float64, Rank2])
assert_type(sel.uniform(s2, 1.0, seed=1, dtype=np.float32), View[np.float32, Rank2])
assert_type(sel.normal((2, 3), seed=1), View[np.float64, Rank2])
assert_type(sel.integers(s2, 0, 9, seed=1), View[np.int64, Rank2])
assert_type(sel.bernoulli(s2, seed=1), View[np.bool_, Rank2])

assert_type(sel.interleave([t, t]), View[np.float64, Rank2])
assert_type(sel.interleave([view, view]), View[np.float64, Rank2])
assert_type(sel.interleave([[1], [2]]), View[Any])
assert_type(sel.pad_rows(t, 4), View[np.float64, Rank2])
assert_type(sel.pad_rows(view, 4), View[np.float64, Rank2])
assert_type(sel.pad_rows([[1], [2, 3]], 4), View[Any])

assert_type(where(t > 0, t, 0.0), View[np.float64, Rank2])
assert_type(where(t > 0, 0, t), View[np.float64, Rank2])
assert_type(where(t > 0, whole, 0), View[np.int32, Rank2])
assert_type(where(t > 0, whole, 0.5), View[Any])
assert_type(where(row > 0, t, 0.0), View[Any])
assert_type(where(t > 0, 1.0, 0.0), View[Any])

assert_type(sel.maximum(t, t), View[np.float64, Rank2])
assert_type(sel.maximum(t, 0), View[np.float64, Rank2])
assert_type(sel.maximum(whole, 0), View[np.int32, Rank2])
assert_type(sel.maximum(whole, 0.5), View[Any])
assert_type(sel.minimum(view, 0.5, t), View[np.float64, Rank2])
assert_type(sel.minimum(t, row), View[Any])
assert_type(sel.minimum([1, 5], 4), View[Any])
assert_type(sel.minimum(1, 5), View[Any])
