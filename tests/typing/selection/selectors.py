"""What is selected is of the sort of what it is selected from. Checked, never run."""

from typing import assert_type

import numpy as np

from tensorwrapper import Layout, Shape, Tensor, as_tensor
from tensorwrapper.selection import NewMode, Selector, View, as_view
from tensorwrapper.typing import Rank2

s = Selector(1, slice(2), ..., None, NewMode(3), np.int64(2))
t = as_tensor(np.zeros((2, 3)))
assert_type(t, Tensor[np.float64, Rank2])
assert_type(s.apply(t), Tensor[np.float64])
assert_type(s.apply(Layout(Shape(2, 3))), Layout)
assert_type(s.apply(as_view(t), strict=True), View[np.float64])
assert_type(s.result_extents([2, np.int32(3)]), tuple[int, ...])

Selector("1")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Selector([1, 2])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
s.apply(np.zeros((2, 3)))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
s.apply(t, True)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
