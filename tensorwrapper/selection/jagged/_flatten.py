"""Elements one after the other: of a view of any shape, and of pieces of several.

A jagged shape has ordinals, the numbers of its elements in row-major order, and a view of rows is a layout
from its indices to ordinals. So operations on rows are operations on ordinals, which are a box of rank 1:
runs of them, across rows, as three numbers each.
"""

# The field of a frozen class implements an abstract property of the same name.
# pyright: reportIncompatibleMethodOverride=false

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, cast, final

import attrs
import numpy as np

from tensorwrapper._arrays import concatenated_ranges
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import write_elements
from tensorwrapper.errors import LayoutError
from tensorwrapper.layout import AxisMap, Layout, Stride, Table
from tensorwrapper.layout.lowlevel import new_row_major, new_strided, over_box, wrap_layout
from tensorwrapper.selection.expressions._axis_pieces import Part, Run, are_separate
from tensorwrapper.selection.expressions._expression import (
    Expression,
    Job,
    Shares,
    Split,
    at_zero,
    whole,
)
from tensorwrapper.selection.expressions._joining import Joining
from tensorwrapper.selection.expressions._ordinals import NodeOfOne, Whole, pushed
from tensorwrapper.selection.expressions._routing import SharedMode
from tensorwrapper.selection.jagged._piece_order import Form, PieceTable
from tensorwrapper.selection.operations._operation import grouped
from tensorwrapper.selection.runners._leaves import Runner
from tensorwrapper.selection.runners._pieces import PiecesRunner, PlacedRunner
from tensorwrapper.selection.transforms._transform import Coordinate, Transform, take_apart
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["Flat", "Pieces", "in_order"]

_LARGE = 4096  # elements from which a box costs less than the places of its elements


def in_order(view: Expression) -> Expression:
    """Return the elements of a view in row-major order, as a box of rank 1; nothing is made of their size."""
    if view.is_box:
        if len(view.extents) == 1:
            return at_zero(view)
        try:
            return Expression(view.node, view.layout[...].reshape((view.shape.size,)))
        except LayoutError:
            return whole(Flat(view))
    line = _in_line(view.layout)
    if line is not None:
        return Expression(view.node, line)
    return _cells_in_order(view) or whole(Flat(view))


def _cells_in_order(view: Expression) -> Expression | None:
    """Return a few large cells that are parts of a box elsewhere one after the other, each read as a box.

    None of any others: of many small cells the places of all elements are found sooner.
    """
    node, layout, shape = view.node, view.layout.implementation, view.shape
    if node.source is None or node.tensor is not None or len(node.extents) < 2 or shape.has_layers:
        return None
    count = shape.outer().size if layout.cell_rank == len(node.extents) else 0
    if not count or shape.size < _LARGE * count:
        return None
    cells = [layout.cell(number) for number in range(count)]
    parts = [Expression(node, wrap_layout(own)) for own in cells if own.shape.size]
    # The box of a cell is known to be one: a row of its elements would be looked for by the place of each.
    lines = [Expression(Whole(own), wrap_layout(new_row_major((own.shape.size,)))) for own in parts]
    return whole(Joining(0, tuple(lines)))


def _run_of(layout: "Layout[Any]") -> tuple[int, int] | None:
    """Return the first of the places of a layout, and how many, if they follow one another; else None."""
    box = layout.implementation.strided_box()
    if box is None or len(box[0]) != 1 or (box[2][0] != 1 and box[0][0] > 1):
        return None
    return box[3], box[0][0]


def write_in_order(line: Runner, layout: "Layout[Any]", out: Array) -> None:
    """Write the elements of a line that a layout of a box selects, in row-major order."""
    run = _run_of(layout)
    if run is not None:
        line.fill((slice(run[0], run[0] + run[1]),), out)
        return
    flat: Array = out.reshape(-1) if out.flags.c_contiguous else np.empty(out.size, out.dtype)
    PlacedRunner(line, layout, 0).fill((slice(0, out.size),), flat)
    if not out.flags.c_contiguous:
        write_elements(out, flat.reshape(out.shape))


def _in_line(layout: "Layout[Any]") -> "Layout[Any] | None":
    """Return the places of all elements as a layout of rank 1, if they are contiguous."""
    held = layout.implementation
    size = held.shape.implementation.size
    if size and not held.is_contiguous:
        return None
    return wrap_layout(new_strided((size,), (0,), (1,), held.offset if size else 0))


def _places_of(layout: "Layout[Any]", move: AxisMap, first: int) -> IntArray:
    """Return the places of some ordinals, which an axis tells from one on: at once if they are a run."""
    run = isinstance(move, Stride) and move.step == 1
    batches = layout.implementation.places_between(first, first + move.extent) if run else None
    if batches is None:
        return layout.offsets_of_ordinals(move.offsets() + first)
    return np.concatenate([np.empty(0, dtype=np.int64), *batches])


@final
@frozen
class Flat(NodeOfOne):
    """The elements of a view of any shape in row-major order, as one mode."""

    operand: Expression

    is_cellwise: ClassVar[bool] = False
    is_of_rows: ClassVar[bool] = True

    @property
    def extents(self) -> Extents:
        return (self.operand.shape.size,)

    @property
    def name(self) -> str:
        return "flat"

    def split(self, view: Expression) -> Expression | None:
        """Return the places of some ordinals: evenly spaced where elements are contiguous, else a table."""
        transform = take_apart(view.layout, self.extents)
        if transform is None:
            return None
        (coordinate,) = transform.coordinates
        fed = [mode for mode, _ in coordinate.feeds]
        if len(set(fed)) != len(fed):
            return None
        moves = dict(coordinate.feeds)
        first = coordinate.constant
        line = _in_line(self.operand.layout)
        if line is not None:
            first += line.offset
        elif len(moves) == 1:
            ((mode, move),) = moves.items()
            places = _places_of(self.operand.layout, move, first)
            first, moves[mode] = Table(places).simplify()
        elif moves:
            return None
        else:
            first = self.operand.layout.offset_of_ordinal(first)
        axes = tuple([moves.get(mode, Stride(extent, 0)) for mode, extent in enumerate(transform.extents)])
        zeros = (0,) * len(transform.extents)
        layout = wrap_layout(over_box(transform.extents, zeros, first, axes))
        return Expression(self.operand.node, layout)

    def write_into(self, view: Expression, out: Array, job: Job) -> None:
        inner = self.operand
        line = _in_line(inner.layout)
        if line is not None and len(inner.node.extents) == 1:
            run = Expression(inner.node, line)
        elif inner.is_box:
            run = Expression(Whole(at_zero(inner)), wrap_layout(new_row_major(self.extents)))
        else:
            places = whole(inner.node)
            if len(places.extents) != 1:
                places = Expression(Whole(places), wrap_layout(new_row_major((inner.node.size,))))
            write_in_order(PlacedRunner(job.elements(places), inner.layout, 0), view.layout, out)
            return
        there = pushed(run, cast("Transform", take_apart(view.layout, self.extents)))
        there.node.write_into(there, out, job)

    def shares(self, positions: IntArray, given: Sequence[Array]) -> Shares:  # noqa: ARG002
        shape = self.operand.shape
        indices = shape.indices_at(positions[:, 0])
        if shape.is_box:
            indices = indices - np.array(shape.origin, dtype=np.int64)
        return ((self.operand, slice(None), indices),)


@final
@frozen(eq=False)
class Pieces(SharedMode):
    """Pieces of operands of rank 1, one after the other: ``start + step * i`` for all i below the length.

    Parameters
    ----------
    operands
        The operands of the pieces, all of one type.
    form
        A form of rows over the operands; or arrays that never change, with the operand, the first position
        and the length of each piece, none of which is empty.
    steps
        For each operand 1, or 0 if a piece of it repeats one element.
    """

    is_of_rows: ClassVar[bool] = True

    operands: tuple[Expression, ...]
    form: Form | PieceTable
    steps: tuple[int, ...]
    mode: int = attrs.field(default=0, init=False)
    _found: tuple[IntArray, IntArray, IntArray, IntArray] | None = attrs.field(default=None, init=False)

    def _table(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return sources, starts, lengths, and the end of each piece; made on first use."""
        found = self._found
        if found is None:
            sources, starts, lengths = self.form.table() if isinstance(self.form, Form) else self.form
            found = sources, starts, lengths, np.cumsum(lengths, dtype=np.int64)
            # A concurrent thread finds the same.
            object.__setattr__(self, "_found", found)
        return found

    @property
    def sources(self) -> IntArray:
        """Operand of each piece."""
        return self._table()[0]

    @property
    def starts(self) -> IntArray:
        """The first position of each piece in its operand."""
        return self._table()[1]

    @property
    def lengths(self) -> IntArray:
        """Number of positions of each piece."""
        return self._table()[2]

    @property
    def ends(self) -> IntArray:
        """End of each piece."""
        return self._table()[3]

    @property
    def extents(self) -> Extents:
        if isinstance(self.form, Form):
            return (self.form.size,)
        return (self.ends.item(-1) if len(self.ends) else 0,)

    @property
    def name(self) -> str:
        return "pieces"

    def with_operands(self, operands: tuple[Expression, ...]) -> "Pieces":
        return attrs.evolve(self, operands=operands)

    def _piece(self, number: int) -> tuple[Expression, int, int, int]:
        """Return the operand of a piece, its step, where it starts there, and where it begins here."""
        source, length = self.sources.item(number), self.lengths.item(number)
        begin = self.ends.item(number) - length
        return self.operands[source], self.steps[source], self.starts.item(number), begin

    def operand_at(self, position: int) -> tuple[Expression, int]:
        operand, step, start, begin = self._piece(int(np.searchsorted(self.ends, position, "right")))
        return operand, start + step * (position - begin)

    def write_into(self, view: Expression, out: Array, job: Job) -> None:
        run = _run_of(view.layout)
        first, count = run or (0, self.extents[0])
        if isinstance(self.form, Form):
            begin, end = self.form.around(first, count)
            kernel: Runner = self.form.part(begin, end).runner(lambda k: job.elements(self.operands[k]))
            before = self.form.begin(begin) - self.form.begin(0)
        else:
            lines = tuple([job.elements(own) for own in self.operands])
            kernel = PiecesRunner(lines, self.sources, self.starts, self.lengths, self.ends, self.steps)
            before = 0
        if run is None:
            write_in_order(kernel, view.layout, out)
        else:
            kernel.fill((slice(first - before, first - before + count),), out, job.threads)

    def _within(self, first: int, count: int) -> tuple[IntArray, IntArray, IntArray]:
        """Return sources, starts and lengths of the pieces of a run of positions. O(pieces that it meets)."""
        begin, end = np.searchsorted(self.ends, [first, first + count - 1], "right").tolist()
        part = slice(begin, end + 1)
        sources, starts, lengths = self.sources[part], self.starts[part].copy(), self.lengths[part].copy()
        cut = first - (self.ends.item(begin) - lengths.item(0))
        starts[0] += cut * self.steps[sources.item(0)]
        lengths[0] -= cut
        lengths[-1] -= self.ends.item(end) - (first + count)
        return sources, starts, lengths

    def _run(self, first: int, count: int) -> Iterator[tuple[int, IntArray, IntArray]]:
        """Return the positions of a run by operand, and those of the operand. O(pieces and positions)."""
        sources, starts, lengths = self._within(first, count)
        begins = np.cumsum(lengths) - lengths
        for number, own in grouped(sources):
            within = concatenated_ranges(starts[own], lengths[own])
            if not self.steps[number]:
                within -= concatenated_ranges(np.zeros_like(own), lengths[own])
            yield number, concatenated_ranges(begins[own], lengths[own]), within

    def numbers(self, positions: IntArray) -> tuple[IntArray, IntArray]:
        pieces = np.searchsorted(self.ends, positions, "right")
        sources = self.sources[pieces]
        within = positions - (self.ends[pieces] - self.lengths[pieces])
        if any(step != 1 for step in self.steps):
            within *= np.array(self.steps, dtype=np.int64)[sources]
        within += self.starts[pieces]
        return sources, within

    def parts_of_run(self, run: Run) -> Iterator[Part]:
        start, count, first, step = run
        done = 0
        while done < count:
            position = first + step * done
            number = int(np.searchsorted(self.ends, position, "right"))
            operand, own, at, begin = self._piece(number)
            low, high = begin, self.ends.item(number)
            inside = (high - 1 - position) // step + 1 if step > 0 else (position - low) // -step + 1
            inside = min(inside, count - done)
            yield Part(start + done, 1, inside, operand, at + own * (position - begin), own * step)
            done += inside

    def split(self, view: Expression) -> "Expression | Split | None":
        """Return the pieces of a selection: cut at their ends for a run of few, else position by position."""
        transform = take_apart(view.layout, self.extents)
        if transform is None:
            return None
        (coordinate,) = transform.coordinates
        if len(coordinate.feeds) != 1:
            return self._split(transform)
        ((mode, move),) = coordinate.feeds
        low, high = (end + coordinate.constant for end in move.bounds())
        first, last = np.searchsorted(self.ends, [low, high], "right").tolist()
        if isinstance(move, Stride) and are_separate(last - first + 1):
            return self._split(transform)
        if isinstance(move, Stride) and move.step == 1 and len(transform.extents) == 1:
            return self._grouped(transform, mode, self._run(low, move.extent))
        numbers, within = self.numbers(move.offsets() + coordinate.constant)
        if len(self.operands) > 1:
            groups = [(number, chosen, within[chosen]) for number, chosen in grouped(numbers)]
            return self._grouped(transform, mode, groups)
        more, axis = Table(within).simplify()
        return pushed(next(iter(self.operands)), transform.at(0, Coordinate(more, ((mode, axis),))))
