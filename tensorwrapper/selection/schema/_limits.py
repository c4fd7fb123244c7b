"""Limits on a description of a view, and the amounts used so far while it is parsed."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, final

import attrs
import numpy as np

from tensorwrapper._json import Json
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import BufferCommon
from tensorwrapper.errors import SelectionError
from tensorwrapper.layout import AxisMap, Cycle, Layout, Stride, Table
from tensorwrapper.layout.lowlevel import Strided, address_batches
from tensorwrapper.selection.expressions._axis_pieces import RUNS
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.expressions._fields import (
    MAX_RANK,
    check_keys,
    one_key,
    to_integer,
    to_list,
    to_object,
    to_table,
)
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.selection.transforms._transform import maps_of, of_maps, take_apart
from tensorwrapper.typing import IntArray


@final
@frozen
class SchemaLimits:
    """Limits on a description of a view.

    Attributes
    ----------
    text
        Characters of the JSON.
    depth
        Brackets inside brackets; half of it is how deep views may be made of views.
    items
        Values in the JSON.
    nodes
        Views and steps in all; also the parts that the normal form of a view may have.
    positions
        Positions in tables in all, and in any mode that a step turns into a table; also rows, of all levels,
        that steps and joins make beyond those of their operands.
    work
        Positions in all that reading the text and finding the normal form look at.
    nbytes
        Bytes that are made when the view, or any view that it is made of, is computed.

    Examples
    --------
    >>> from tensorwrapper import selection as sel
    >>> limits = sel.SchemaLimits(nbytes=1 << 20)
    >>> text = sel.to_json(sel.zeros((1000, 1000)))
    >>> try:
    ...     sel.from_json(text, sources={}, limits=limits)
    ... except ValueError as error:
    ...     print(error)
    [limit] computing the view makes 8000000 bytes; 1048576 are allowed
    """

    text: int = 1 << 24
    depth: int = 256
    items: int = 1 << 20
    nodes: int = 1 << 16
    positions: int = 1 << 24
    work: int = 1 << 28
    nbytes: int = 1 << 40


@final
@frozen
class Measured:
    """A parsed view, and the cost of finding its normal form and of computing it.

    Attributes
    ----------
    view
        The view itself.
    parts
        How many parts its normal form may have: each leaf once, and again for every run of a mode that wraps.
    rounds
        How many elements are made for each of its elements.
    deep
        How many views lie inside one another.
    shared
        Whether a mode is shared out among parts somewhere beneath.
    is_leaf
        Whether it is of one source or generator, of which only the final selection is ever computed.
    """

    view: Expression
    parts: int = 1
    rounds: int = 1
    deep: int = 1
    shared: bool = False
    is_leaf: bool = False

    def over(self, view: Expression) -> "Measured":
        """Return another view that takes the same."""
        return Measured(view, self.parts, self.rounds, self.deep, self.shared, self.is_leaf)

    def made(self) -> "Measured":
        """Return the same view where all of it is made."""
        if not self.is_leaf:
            return self
        return Measured(self.view, self.parts, self.rounds, self.deep, self.shared)


def tabled(layout: Layout[Any]) -> int:
    """Return how many positions the modes of a layout have that are not strides."""
    maps = None if isinstance(layout.implementation, Strided) else maps_of(layout)
    return 0 if maps is None else sum([axis.extent for axis in maps[1] if not isinstance(axis, Stride)])


def finished(found: Measured) -> Measured:
    """Return a view after its last step: wrapping over partitioned modes multiplies the parts."""
    if not found.shared or isinstance(found.view.layout.implementation, Strided):
        return found
    maps = maps_of(found.view.layout)
    if maps is None:
        return found
    parts = found.parts
    for axis in maps[1]:
        if isinstance(axis, Cycle) and axis.modulus is not None:
            parts *= min(abs(axis.increment) * axis.extent // axis.modulus + 2, RUNS)
    return attrs.evolve(found, parts=parts)


@final
class Budget:
    """The remaining amounts within the limits, and the frames with tables."""

    __slots__ = ("_frames", "_nbytes", "_nodes", "_positions", "_work", "limits")

    limits: SchemaLimits

    def __init__(self, limits: SchemaLimits, frames: Sequence[bytes]) -> None:
        self.limits = limits
        self._frames = frames
        self._nbytes = 0
        self._nodes = 0
        self._positions = 0
        self._work = 0

    def node(self, where: str) -> None:
        """Count one view or step."""
        self._nodes += 1
        if self._nodes > self.limits.nodes:
            raise SelectionError("limit", f"{where}: more than {self.limits.nodes} views and steps")

    def has_nodes(self, count: int) -> bool:
        """Count so many views at once, if that many are left; else none of them."""
        left = self._nodes + count <= self.limits.nodes
        self._nodes += count * left
        return left

    def work(self, count: int, where: str) -> None:
        """Count positions that are visited."""
        self._work += count
        if self._work > self.limits.work:
            raise SelectionError("limit", f"{where}: more than {self.limits.work} positions would be visited")

    def extent(self, extent: int, where: str) -> None:
        """Raise if a mode is too long for a table of its positions."""
        if extent > self.limits.positions:
            raise SelectionError(
                "limit", f"{where} needs a table of {extent} positions; {self.limits.positions} are allowed"
            )

    def rows(self, count: int, where: str) -> None:
        """Count rows that are kept in new tables."""
        self._positions += max(count, 0)
        if self._positions > self.limits.positions:
            raise SelectionError(
                "limit", f"{where} makes {count} more rows; {self.limits.positions} positions are allowed"
            )

    def positions(self, count: int, where: str, more: int | None) -> None:
        """Count positions of a table; with `more`, rows that are made beyond those in tables."""
        if more is None:
            self.extent(count, where)
        else:
            self.rows(more, where)
        self.work(count, where)

    def table(self, value: Json, where: str, parts: int = 1) -> IntArray:
        """Return a table, which is visited once for each part that it is applied to."""
        table = to_table(value, where, self._frames, self.limits.positions - self._positions)
        self._positions += len(table)
        self.work(len(table) * parts, where)
        return table

    def makes(self, found: Measured, where: str) -> None:
        """Count the bytes that computing one of several views makes."""
        self._nbytes += found.view.shape.size * found.view.node.dtype.itemsize * found.rounds
        if self._nbytes > self.limits.nbytes:
            raise SelectionError(
                "limit", f"computing all up to {where} makes over {self.limits.nbytes} bytes"
            )

    def check(self, found: Measured, where: str) -> Measured:
        """Return a view that keeps to the limits."""
        view, limits = found.view, self.limits
        # A layout in strides knows its extents without a shape.
        known = view.layout.implementation
        box = known.extents if isinstance(known, Strided) else None
        rank = view.shape.rank if box is None else len(box)
        if rank > MAX_RANK:
            raise SelectionError("limit", f"{where} has {rank} modes; {MAX_RANK} are allowed")
        if found.parts > limits.nodes:
            raise SelectionError(
                "limit", f"{where} has up to {found.parts} parts; {limits.nodes} are allowed"
            )
        if 2 * found.deep > limits.depth:
            raise SelectionError("limit", f"{where}: more than {limits.depth // 2} views inside one another")
        if found.is_leaf:
            return found
        size = view.shape.size if box is None else math.prod(box)
        total = size * view.node.dtype.itemsize * found.rounds
        if total > limits.nbytes:
            raise SelectionError(
                "limit", f"computing {where} makes {total} bytes; {limits.nbytes} are allowed"
            )
        return found


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
    if all(axis.extent for axis in axes):
        ends = [axis.bounds() for axis in axes]
        least, greatest = base + sum([a for a, _ in ends]), base + sum([b for _, b in ends])
        if least < 0 or greatest >= node.size:
            raise SelectionError("bounds", f"{where} reaches places {least} to {greatest} of {node.size}")
    else:
        base = 0
    return of_maps(base, axes)


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
    found = take_apart(of_maps(base - offset, axes), box)
    if found is None:
        return False
    ends = [coordinate.bounds()[1] for coordinate in found.coordinates]
    return all(end < count for end, count in zip(ends, (*counts, 1), strict=True))
