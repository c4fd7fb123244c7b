"""Layouts without gaps for what is new, and the addresses of a read as one array."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import contiguous, wrap_layout
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import names_of
from tensorwrapper.typing import IntArray

__all__ = ["all_addresses", "packed_layout"]


def packed_layout(shape: Shape[Any]) -> Layout[Any]:
    """Return the layout of a shape without gaps, in row-major order; it has the names of the shape."""
    if shape.has_layers or names_of(shape) is not None:
        return Layout(shape)
    return wrap_layout(contiguous(shape, 0))


def all_addresses(batches: Iterator[IntArray]) -> IntArray:
    """Return addresses that come in batches as one flat array."""
    parts = [batch.reshape(-1) for batch in batches]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype=np.int64), *parts])
