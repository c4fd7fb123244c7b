"""Nullable tensors for tests, and lists compared where NaN equals NaN and None nothing else."""

from typing import Any, Final

import numpy as np

import tensorwrapper as tw

KINDS: Final = ["f8", "f4", "f2", "i8", "i4", "u8", "u1", "?"]
"""Types that every library has with nulls."""


def same(one: Any, other: Any) -> bool:
    """Tell whether two lists are equal, element by element."""
    if isinstance(one, list) or isinstance(other, list):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if one is None or other is None:
        return one is other
    return bool(one == other or (np.isnan(one) and np.isnan(other)))


def garbage_under(valid: list[bool], dtype: str, seed: int) -> tw.Tensor[Any]:
    """Return a tensor whose elements depend on their places, and what stands under nulls on the seed."""
    marks = np.array(valid, np.bool_)
    garbage = np.random.default_rng(seed).integers(0, 2**30, len(valid))
    values = np.where(marks, np.arange(len(valid)), garbage).astype(dtype)
    return tw.nullable(values, marks)
