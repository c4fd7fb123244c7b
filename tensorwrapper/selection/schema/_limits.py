"""Limits on a description of a view, and the amounts used so far while it is parsed."""

import math
from collections.abc import Sequence
from typing import Any, final

import attrs

from tensorwrapper._json import Json
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import SelectionError
from tensorwrapper.layout import Cycle, Layout, Stride
from tensorwrapper.layout.lowlevel import Strided
from tensorwrapper.selection.expressions._axis_pieces import RUNS
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.expressions._fields import MAX_RANK, to_table
from tensorwrapper.selection.transforms._maps import maps_of
from tensorwrapper.typing import IntArray

__all__ = ["Budget", "Measured", "SchemaLimits", "finished", "tabled"]


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
