"""Layouts and shared modes from JSON: what they reach, and that pieces share a mode out exactly once."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tensorwrapper._json import Json
from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import address_batches
from tensorwrapper.errors import SelectionError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import (
    AxisMap,
    Cycle,
    Stride,
    Strided,
    Table,
    over_box,
    solve_progression,
    wrap_layout,
)
from tensorwrapper.selection.expressions._expression import Node
from tensorwrapper.selection.expressions._nodes import Piece
from tensorwrapper.selection.normal._transform import maps_of, take_apart
from tensorwrapper.selection.schema._fields import (
    MAX_RANK,
    check_keys,
    one_key,
    to_integer,
    to_list,
    to_object,
)
from tensorwrapper.selection.schema._limits import Budget
from tensorwrapper.selection.sources._source import TensorSource

__all__ = ["check_cover", "check_reach", "to_layout"]

_PAIRED = 256  # pieces with gaps up to which each is compared with each
_CYCLE = 1 << 40  # no number of a cycle may exceed it: products with positions stay in 64 bits


def to_layout(given: dict[str, Json], node: Node, where: str, budget: Budget, parts: int) -> Layout[Any]:
    """Return a layout of the places of a node, none of which it leaves."""
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
    """Raise if a layout reaches places of a buffer that belong to none of the tensors that were named.

    Whoever names a part of a tensor gives away that part, and not what else lies in its memory.
    """
    if not layout.shape.size:
        return
    held = [source.tensor.layout for source in tensors if source.owner is buffer]
    least, greatest = layout.bounds()
    for own in held:
        low, high = own.bounds()
        if low <= least and greatest <= high and (own.is_exhaustive or _is_inside(layout, own)):
            return
    low, high = min([own.bounds()[0] for own in held]), max([own.bounds()[1] for own in held])
    budget.extent(high + 1 - low, where)
    budget.work(high + 1 - low + layout.shape.size + sum([own.shape.size for own in held]), where)
    given = np.zeros(high + 1 - low, dtype=np.bool_)
    for own in held:
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
    """Tell whether all places of a layout are surely those of one in strides, whose modes do not overlap."""
    held, maps = own.implementation, maps_of(layout)
    if not isinstance(held, Strided) or maps is None or min(held.strides, default=0) < 1:
        return False
    # The place of a box in which each mode has room for all that lies within a step of the one before.
    steps, counts = zip(*sorted(zip(held.strides, held.extents, strict=True), reverse=True), strict=True)
    rooms = [divmod(a, b) for a, b in pairwise((*steps, 1))]
    wanted = zip((*counts[1:], 1), rooms, strict=True)
    if any(rest or count > room for count, (room, rest) in wanted):
        return False
    box = (counts[0], *[room for room, _ in rooms])
    base, axes = maps
    extents = layout.shape.extents
    shifted = wrap_layout(over_box(extents, (0,) * len(extents), base - held.offset, axes))
    found = take_apart(shifted, box)
    if found is None:
        return False
    ends = [coordinate.bounds()[1] for coordinate in found.coordinates]
    return all(end < count for end, count in zip(ends, (*counts, 1), strict=True))


def check_cover(pieces: Sequence[Piece], mode: int, where: str, budget: Budget) -> int:
    """Return how many positions pieces share out; raise unless each position is in exactly one of them."""
    counts = [piece.count(mode) for piece in pieces]
    total = sum(counts)
    runs: list[tuple[int, int]] = []
    spread: list[tuple[int, int, int]] = []
    for piece, count in zip(pieces, counts, strict=True):
        if not count:
            continue
        last = piece.start + piece.step * (count - 1)
        if last >= total:
            raise SelectionError("cover", f"{where}: a piece goes on to position {last} of {total}")
        if piece.step == 1 or count == 1:
            runs.append((piece.start, last + 1))
        else:
            spread.append((piece.start, piece.step, count))
    # As many positions as there are, none beyond the end: if none is in two pieces, each is in one.
    runs.sort()
    if any(end > start for (_, end), (start, _) in pairwise(runs)):
        raise _twice(where)
    if len(spread) <= _PAIRED:
        _check_spread(runs, spread, where)
    elif total:
        budget.extent(total, where)
        budget.work(total, where)
        met = np.zeros(total, dtype=np.bool_)
        for start, step, count in [*[(a, 1, b - a) for a, b in runs], *spread]:
            met[start : start + step * (count - 1) + 1 : step] = True
        if not met.all():
            raise _twice(where)
    return total


def _check_spread(runs: list[tuple[int, int]], spread: list[tuple[int, int, int]], where: str) -> None:
    ends = np.array(runs, dtype=np.int64).reshape(-1, 2)
    for number, (start, step, count) in enumerate(spread):
        # How many positions of the progression come before each end of each run: none lies between them.
        before = np.clip(-((start - ends) // step), 0, count)
        if (before[:, 0] != before[:, 1]).any():
            raise _twice(where)
        if any(_meet((start, step, count), other) for other in spread[:number]):
            raise _twice(where)


def _meet(a: tuple[int, int, int], b: tuple[int, int, int]) -> bool:
    """Tell whether two progressions, each a start, a step and a count, have a position in common."""
    start, step, count = a
    first, other, many = b
    met = solve_progression(start, step, other, count, first % other)
    if not met:
        return False
    place, gap = start + step * met.start, step * met.step
    place += gap * max(-((place - first) // gap), 0)
    return place <= min(start + step * (count - 1), first + other * (many - 1))


def _twice(where: str) -> SelectionError:
    return SelectionError("cover", f"{where}: the pieces have a position twice, and another one not at all")
