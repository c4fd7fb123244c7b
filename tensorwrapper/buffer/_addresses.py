"""Layouts without gaps for new memory, and the addresses of a read as one array."""

from collections.abc import Iterator
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import CACHED
from tensorwrapper.layout import Layout, LayoutCommon
from tensorwrapper.layout.lowlevel import contiguous, wrap_layout
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import names_of
from tensorwrapper.typing import IntArray, ScalarT_co


def packed_layout(shape: Shape[Any]) -> Layout[Any]:
    """Return the layout of a shape without gaps, in row-major order; it has the names of the shape."""
    if names_of(shape) is not None or shape.implementation.has_layers:
        return Layout(shape)
    return wrap_layout(contiguous(shape, 0))


def all_addresses(batches: Iterator[IntArray]) -> IntArray:
    """Return addresses that come in batches as one flat array."""
    parts = [batch.reshape(-1) for batch in batches]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype=np.int64), *parts])


_FEW = 4096
"""Elements whose places are written down, where no rule says them some at a time."""


def few_places(layout: LayoutCommon, size: int, count: int) -> Iterator[IntArray] | None:
    """Return the places of so few elements, in a buffer of `count`, that a plan costs more than to copy them.

    None if there are many, or some lie elsewhere.
    """
    if size > CACHED or not size:
        return None
    least, greatest = layout.reach()
    if least < 0 or greatest >= count:
        return None
    places = layout.places_between(0, size)
    if places is None and size <= _FEW:
        return iter([layout.to_numpy().reshape(-1)])
    return places


def copied_by_plan(
    flat: "npt.NDArray[ScalarT_co]",
    layout: LayoutCommon,
    target: LayoutCommon,
    size: int,
    threads: SupportsIndex = 1,
) -> "npt.NDArray[ScalarT_co]":
    """Return memory of `size` elements in which those of a layout lie where another one puts them."""
    from tensorwrapper.buffer.copies._run_copy import run_copy  # noqa: PLC0415 - few copies need a plan
    from tensorwrapper.layout.lowlevel import plan_copy  # noqa: PLC0415

    plan = plan_copy(layout, target)
    packed = target.is_packed or (target.mode_strides is not None and target.is_contiguous)
    # Without a gap, each place is written.
    new = np.empty if packed and target.shape.size == size else np.zeros
    placed: npt.NDArray[ScalarT_co] = new(size, flat.dtype)
    run_copy(plan, flat, placed, threads=threads)
    return placed
