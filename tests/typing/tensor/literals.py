"""Literal extents say the rank, and names that are not there are errors. Checked, never run."""

from typing import Any, assert_type

import numpy as np

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.selection import View
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Rank2

assert_type(tw.zeros((3, 4)), Tensor[np.float64, Rank2])
assert_type(tw.empty((3, 4), dtype=np.int32), Tensor[np.int32, Rank2])
assert_type(tw.full((3, 4), 1, dtype=np.int32), Tensor[np.int32, Rank2])
assert_type(sel.zeros((3, 4)), View[np.float64, Rank2])
assert_type(sel.random((3, 4), seed=1), View[np.float64, Rank2])
assert_type(tw.sparse([(0, 1)], [1.0], (3, 4)), Tensor[Any, Rank2])
assert_type(tw.sparse([(0, 1)], [1.0], Shape(3, 4)), Tensor[Any, Rank2])


def made(extents: tuple[int, ...], listed: list[int]) -> None:
    """Take extents whose number no checker knows."""
    assert_type(tw.zeros(extents), Tensor[np.float64])
    assert_type(tw.zeros(listed), Tensor[np.float64])


tw.nonsense  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
sel.nonsense  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
tw.wire.nonsense  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
