"""Layouts and shared modes from JSON: checks of their reach, and of pieces that partition a mode."""

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from tensorwrapper._json import Json
from tensorwrapper.buffer import BufferCommon
from tensorwrapper.errors import SelectionError
from tensorwrapper.layout import AxisMap, Cycle, Layout, Stride, Table
from tensorwrapper.layout.lowlevel import address_batches, over_box, wrap_layout
from tensorwrapper.selection.expressions._expression import Node
from tensorwrapper.selection.expressions._fields import (
    MAX_RANK,
    check_keys,
    one_key,
    to_integer,
    to_list,
    to_object,
)
from tensorwrapper.selection.schema._limits import Budget
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.selection.transforms._maps import maps_of
from tensorwrapper.selection.transforms._transform import take_apart

__all__ = ["check_reach", "to_layout"]

_CYCLE = 1 << 40  # no number of a cycle may exceed it: products with positions stay in 64 bits


def to_layout(given: dict[str, Json], node: Node, where: str, budget: Budget, parts: int) -> Layout[Any]:
    """Return a layout of the places of a node after checking its bounds."""
    check_keys(given, where, {"offset", "modes"})
    base = to_integer(given["offset"], f"{where}.offset")
    modes = to_list(given["modes"], f"{where}.modes")
    if len(modes) > MAX_RANK:
        raise SelectionError("limit", f"{where} has {len(modes)} modes; {MAX_RANK} are allowed")
    axes = tuple(
        [
            _axis(to_object(m, f"{where}.modes[{n}]"), f"{where}.modes[{n}]", budget, parts)
            for n, m in enumerate(modes)
        ]
    )
    extents = tuple([axis.extent for axis in axes])
    if math.prod(extents):
        ends = [axis.bounds() for axis in axes]
        least, greatest = base + sum([a for a, _ in ends]), base + sum([b for _, b in ends])
        if least < 0 or greatest >= node.size:
            raise SelectionError("bounds", f"{where} reaches places {least} to {greatest} of {node.size}")
    else:
        base = 0
    return wrap_layout(over_box(extents, (0,) * len(extents), base, axes))


def _axis(given: dict[str, Json], where: str, budget: Budget, parts: int) -> AxisMap:
    kind = one_key(given, where, ("stride", "cycle", "table"))
    check_keys(given, where, {"extent", kind})
    extent = to_integer(given["extent"], f"{where}.extent", 0)
    if kind == "stride":
        return Stride(extent, to_integer(given["stride"], f"{where}.stride"))
    if kind == "table":
        table = budget.table(given["table"], f"{where}.table", parts)
        if len(table) != extent:
            raise SelectionError("bounds", f"{where} has {len(table)} positions and extent {extent}")
        return Table(table)
    budget.extent(extent, where)
    budget.work(extent * parts, where)
    numbers = to_list(given["cycle"], f"{where}.cycle")
    if len(numbers) != 5:
        raise SelectionError("schema", f"{where}.cycle must have 5 parts, not {len(numbers)}")
    start, turn, modulus, hold, step = [
        None
        if number is None and n == 2
        else to_integer(number, f"{where}.cycle[{n}]", 1 if n in {2, 3} else -_CYCLE, _CYCLE)
        for n, number in enumerate(numbers)
    ]
    return Cycle(extent, start or 0, turn or 0, modulus, hold or 1, step or 0)


def check_reach(
    layout: Layout[Any],
    buffer: BufferCommon[Any],
    tensors: Iterable[TensorSource],
    where: str,
    budget: Budget,
) -> None:
    """Raise if a layout reaches places of a buffer outside the named tensors.

    A sender of a part of a tensor exposes only that part, not the rest of its memory.
    """
    if not layout.shape.size:
        return
    named = [source.tensor.layout for source in tensors if source.owner is buffer]
    least, greatest = layout.bounds()
    for own in named:
        low, high = own.bounds()
        if low <= least and greatest <= high and (own.is_exhaustive or _is_inside(layout, own)):
            return
    low, high = min([own.bounds()[0] for own in named]), max([own.bounds()[1] for own in named])
    budget.extent(high + 1 - low, where)
    budget.work(high + 1 - low + layout.shape.size + sum([own.shape.size for own in named]), where)
    given = np.zeros(high + 1 - low, dtype=np.bool_)
    for own in named:
        for places in address_batches(own.implementation):
            given[places - low] = True
    for places in address_batches(layout.implementation):
        if least < low or greatest > high or not given[places - low].all():
            raise SelectionError(
                "bounds",
                f"{where} reaches places {least} to {greatest} of the memory, some of which belong to no "
                "source that was given",
            )


def _is_inside(layout: Layout[Any], own: Layout[Any]) -> bool:
    """Return True if all places of a layout are surely those of a strided one without overlap."""
    memory, maps = own.implementation.strided_box(), maps_of(layout)
    if memory is None or maps is None or min(memory[2], default=0) < 1:
        return False
    extents_of_own, _, strides, offset = memory
    # The place of a box in which each mode fits within a step of the one before.
    steps, counts = zip(*sorted(zip(strides, extents_of_own, strict=True), reverse=True), strict=True)
    rooms = [divmod(a, b) for a, b in pairwise((*steps, 1))]
    wanted = zip((*counts[1:], 1), rooms, strict=True)
    if any(rest or count > room for count, (room, rest) in wanted):
        return False
    box = (counts[0], *[room for room, _ in rooms])
    base, axes = maps
    extents = layout.shape.extents
    shifted = wrap_layout(over_box(extents, (0,) * len(extents), base - offset, axes))
    found = take_apart(shifted, box)
    if found is None:
        return False
    ends = [coordinate.bounds()[1] for coordinate in found.coordinates]
    return all(end < count for end, count in zip(ends, (*counts, 1), strict=True))
