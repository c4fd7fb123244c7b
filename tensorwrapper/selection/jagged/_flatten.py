"""Elements one after the other: of a view of any shape, and of pieces of several.

A jagged shape has ordinals, the numbers of its elements in row-major order, and a view of rows is a layout
from its indices to ordinals. So operations on rows are operations on ordinals, which are a box of rank 1:
runs of them, across rows, as three numbers each.
"""

# The field of a frozen class implements an abstract property of the same name.
# pyright: reportIncompatibleMethodOverride=false

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, TypeAlias, cast, final

import attrs
import numpy as np

from tensorwrapper._arrays import concatenated_ranges
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import assign_elements, assign_indexed, write_elements
from tensorwrapper.errors import LayoutError
from tensorwrapper.layout import AxisMap, Layout, Stride, Table
from tensorwrapper.layout.lowlevel import new_row_major, new_strided, wrap_layout
from tensorwrapper.selection.expressions._axis_pieces import Part, Run, are_separate
from tensorwrapper.selection.expressions._expression import Expression, Job, Shares, Split, at_zero, whole
from tensorwrapper.selection.expressions._joining import Joining
from tensorwrapper.selection.expressions._ordinals import NodeOfOne, Whole, pushed
from tensorwrapper.selection.expressions._routing import SharedMode
from tensorwrapper.selection.operations._operation import grouped
from tensorwrapper.selection.runners._leaves import BLOCK, Runner, Window
from tensorwrapper.selection.runners._pieces import PlacedRunner, are_long, elements_at
from tensorwrapper.selection.transforms._transform import Coordinate, Transform, of_maps, take_apart
from tensorwrapper.typing import Array, Extents, IntArray

_ROWS = 1 << 14  # rows at a time

Lines: TypeAlias = "tuple[Runner, ...]"

PieceTable: TypeAlias = tuple[IntArray, IntArray, IntArray]
"""For each piece its operand, its start there, and its number of elements, at least one."""


def listed(count: int, sources: IntArray, starts: IntArray, lengths: IntArray) -> PieceTable:
    """Return the pieces of so many operands that have elements."""
    # One or two bytes a piece instead of eight; and so few digits are sorted in linear time.
    sources = cast("IntArray", sources.astype(np.min_scalar_type(-count), copy=False))
    filled = lengths > 0
    if not filled.all():
        sources, starts, lengths = sources[filled], starts[filled], lengths[filled]
    return sources, starts, lengths


class Form(ABC):
    """Abstract: rows that elements of operands make; every method but `runner`, `size` and `around`.

    `lines` are the runners of the operands' elements, in the order in which `runner` requests them.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def rows(self) -> int:
        """Number of rows."""

    @abstractmethod
    def begin(self, row: int) -> int:
        """Return where a row begins, counted from anywhere; of the number of rows, where the last ends."""

    @abstractmethod
    def part(self, first: int, last: int) -> "Form":
        """Return a run of the rows. O(operands)."""

    @abstractmethod
    def table(self) -> PieceTable:
        """Return the same as pieces. O(rows)."""

    @property
    @abstractmethod
    def begins(self) -> IntArray:
        """Starts of all rows, counted from any origin, and the end."""

    @abstractmethod
    def write(self, lines: "Lines", first: int, last: int, out: Array) -> None:
        """Write whole rows that are short."""

    @abstractmethod
    def write_within(self, lines: "Lines", row: int, low: int, high: int, out: Array) -> None:
        """Write a run of the elements of one row."""

    @abstractmethod
    def write_points(self, lines: "Lines", rows: IntArray, within: IntArray, out: Array) -> None:
        """Write elements of rows, given by their positions in them."""

    @abstractmethod
    def runner(self, line: "Callable[[int], Runner]") -> "RowsRunner":
        """Return the runner of the rows, one element at least, from the lines of operands with elements."""

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.begin(self.rows) - self.begin(0)

    def around(self, first: int, count: int) -> tuple[int, int]:
        """Return the first of the rows that hold a run of elements, one at least, and behind the last."""
        low = first + self.begin(0)
        row = bisect_right(range(self.rows), low, key=self.begin) - 1
        return row, bisect_right(range(row, self.rows), low + count - 1, key=self.begin) + row


@final
@frozen(eq=False)
class ConcatenatedRows(Form):
    """Rows that have the elements of the same row of several operands, one operand after the other."""

    splits: tuple[IntArray, ...]
    """Row splits of each operand, all of the same length."""

    @property
    def rows(self) -> int:
        return len(self.splits[0]) - 1

    def begin(self, row: int) -> int:
        return sum([own.item(row) for own in self.splits])

    def part(self, first: int, last: int) -> "ConcatenatedRows":
        return ConcatenatedRows(tuple([own[first : last + 1] for own in self.splits]))

    def table(self) -> PieceTable:
        starts = np.stack([own[:-1] for own in self.splits], axis=1)
        lengths = np.stack([np.diff(own) for own in self.splits], axis=1)
        sources = np.broadcast_to(np.arange(len(self.splits), dtype=np.int64), starts.shape)
        return listed(len(self.splits), sources.ravel(), starts.ravel(), lengths.ravel())

    def runner(self, line: "Callable[[int], Runner]") -> "RowsRunner":
        used = [k for k, own in enumerate(self.splits) if own.item(-1) > own.item(0)]
        return RowsRunner(ConcatenatedRows(tuple([self.splits[k] for k in used])), tuple(map(line, used)))

    @property
    def begins(self) -> IntArray:
        total: IntArray = np.add.reduce(self.splits, dtype=np.int64)
        return total

    def write(self, lines: Lines, first: int, last: int, out: Array) -> None:
        # Before the elements of a line are those of the rows before, and those of the lines before it.
        moves: IntArray = np.add.reduce([own[first:last] for own in self.splits], dtype=np.int64)
        moves -= moves[0]
        ramp = _ramp(len(out))
        for line, splits in zip(lines, self.splits, strict=True):
            own = splits[first : last + 1]
            low, high = own.item(0), own.item(-1)
            counts = own[1:] - own[:-1]
            if high > low:
                moves -= own[:-1]
                moves += low
                places = np.repeat(moves, counts)
                places += ramp[: high - low]
                moves += own[:-1]
                moves -= low
                assign_indexed(out, (places,), line.part((slice(low, high),)))
            moves += counts

    def write_within(self, lines: Lines, row: int, low: int, high: int, out: Array) -> None:
        done = 0
        for line, splits in zip(lines, self.splits, strict=True):
            start, count = splits.item(row), splits.item(row + 1) - splits.item(row)
            a, b = max(low, done), min(high, done + count)
            if a < b:
                line.fill((slice(start + a - done, start + b - done),), out[a - low : b - low])
            done += count

    def write_points(self, lines: Lines, rows: IntArray, within: IntArray, out: Array) -> None:
        for line, splits in zip(lines, self.splits, strict=True):
            starts = splits[rows]
            counts = splits[rows + 1] - starts
            inside = (within >= 0) & (within < counts)
            if inside.any():
                out[inside] = elements_at(line, starts[inside] + within[inside])
            within = within - counts


@final
@frozen(eq=False)
class Filled(Form):
    """Rows of the first operand, of each so many elements from its start on, then the one of the second."""

    splits: IntArray
    """Row splits of the operand."""
    kept: IntArray
    """Number of kept elements of the operand before each row; `splits` itself if all are kept."""
    wanted: IntArray
    """Row splits of the result."""

    @property
    def rows(self) -> int:
        return len(self.splits) - 1

    def begin(self, row: int) -> int:
        return self.wanted.item(row)

    def part(self, first: int, last: int) -> "Filled":
        rows = slice(first, last + 1)
        splits = self.splits[rows]
        kept = splits if self.kept is self.splits else self.kept[rows]
        return Filled(splits, kept, self.wanted[rows])

    def table(self) -> PieceTable:
        kept = np.diff(self.kept)
        starts = np.stack([self.splits[:-1], np.zeros_like(kept)], axis=1)
        lengths = np.stack([kept, np.diff(self.wanted) - kept], axis=1)
        sources = np.broadcast_to(np.arange(2, dtype=np.int16), starts.shape)
        return listed(2, cast("IntArray", sources.ravel()), starts.ravel(), lengths.ravel())

    def runner(self, line: "Callable[[int], Runner]") -> "RowsRunner":
        kept = self.kept.item(-1) - self.kept.item(0)
        lines = (line(0),) if kept == self.size else (line(0) if kept else line(1), line(1))
        return RowsRunner(self, lines)

    @property
    def begins(self) -> IntArray:
        return self.wanted

    def write(self, lines: Lines, first: int, last: int, out: Array) -> None:
        kept, wanted, splits = [own[first : last + 1] for own in (self.kept, self.wanted, self.splits)]
        before, count = kept[:-1] - kept[0], kept.item(-1) - kept.item(0)
        if count < len(out):
            assign_elements(out, lines[1].part((slice(0, 1),)))
        if not count:
            return
        counts, ramp = kept[1:] - kept[:-1], _ramp(count)
        if self.kept is self.splits:
            values = lines[0].part((slice(splits.item(0), splits.item(-1)),))
        else:
            places = np.repeat(splits[:-1] - before, counts)
            places += ramp
            values = elements_at(lines[0], places)
        places = np.repeat(wanted[:-1] - wanted[0] - before, counts)
        places += ramp
        assign_indexed(out, (places,), values)

    def write_within(self, lines: Lines, row: int, low: int, high: int, out: Array) -> None:
        start, count = self.splits.item(row), self.kept.item(row + 1) - self.kept.item(row)
        end = min(high, count)
        if low < end:
            lines[0].fill((slice(start + low, start + end),), out[: end - low])
        if end < high:
            write_elements(out[max(end - low, 0) :], lines[1].part((slice(0, 1),)))

    def write_points(self, lines: Lines, rows: IntArray, within: IntArray, out: Array) -> None:
        inside = within < self.kept[rows + 1] - self.kept[rows]
        if not inside.all():
            out[...] = lines[1].part((slice(0, 1),))
        if inside.any():
            out[inside] = elements_at(lines[0], self.splits[rows[inside]] + within[inside])


@final
@frozen(eq=False)
class Spread(Form):
    """Rows that have one element of the operand each, again and again."""

    splits: IntArray
    """Row splits of the result."""
    first: int = 0
    """The element of the first row."""

    @property
    def rows(self) -> int:
        return len(self.splits) - 1

    def begin(self, row: int) -> int:
        return self.splits.item(row)

    def part(self, first: int, last: int) -> "Spread":
        return Spread(self.splits[first : last + 1], self.first + first)

    def table(self) -> PieceTable:
        numbers = np.arange(self.first, self.first + self.rows, dtype=np.int64)
        return listed(1, np.zeros_like(numbers), numbers, np.diff(self.splits))

    def runner(self, line: "Callable[[int], Runner]") -> "RowsRunner":
        return RowsRunner(self, (line(0),))

    @property
    def begins(self) -> IntArray:
        return self.splits

    def _values(self, lines: Lines, first: int, last: int) -> Array:
        return lines[0].part((slice(self.first + first, self.first + last),))

    def write(self, lines: Lines, first: int, last: int, out: Array) -> None:
        own = self.splits[first : last + 1]
        write_elements(out, np.repeat(self._values(lines, first, last), own[1:] - own[:-1]))

    def write_within(self, lines: Lines, row: int, low: int, high: int, out: Array) -> None:  # noqa: ARG002 - all are alike
        write_elements(out, self._values(lines, row, row + 1))

    def write_points(self, lines: Lines, rows: IntArray, within: IntArray, out: Array) -> None:  # noqa: ARG002
        out[...] = elements_at(lines[0], rows + self.first)


@final
@frozen(eq=False)
class RowsRunner(Runner):
    """Rows of a form over the elements of its operands."""

    form: Form
    lines: Lines

    @property
    def extents(self) -> Extents:
        return (self.form.size,)

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.lines[0].dtype

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:  # noqa: ARG002
        form, lines = self.form, self.lines
        begin_of, rows = form.begin, form.rows
        base = begin_of(0)
        low, high = window[0].start + base, window[0].stop + base
        start = low
        row = bisect_right(range(rows), low, key=begin_of) - 1
        while low < high:
            begin, end = begin_of(row), begin_of(row + 1)
            last = row + 1
            if begin == low and end <= min(high, low + BLOCK):
                most = min(high, low + BLOCK)
                last += bisect_right(range(last + 1, min(row + _ROWS, rows) + 1), most, key=begin_of)
                end = begin_of(last)
            stop = min(end, high)
            target = out[low - start : stop - start]
            if last == row + 1 or are_long(stop - low, (last - row) * len(lines)):
                for number in range(row, last):
                    begin, end = max(begin_of(number), low), min(begin_of(number + 1), stop)
                    first = begin_of(number)
                    form.write_within(
                        lines, number, begin - first, end - first, target[begin - low : end - low]
                    )
            elif stop > low:
                form.write(lines, row, last, target)
            low, row = stop, last

    def points(self, places: tuple[IntArray, ...]) -> Array:
        (own,) = places
        begins = self.form.begins
        rows = cast("IntArray", np.searchsorted(begins, own + begins[0], "right") - 1)
        within = own - (begins[rows] - begins[0])
        found: Array = np.empty(own.shape, self.dtype)
        self.form.write_points(self.lines, rows, within, found)
        return found


def _ramp(count: int) -> IntArray:
    return np.arange(count, dtype=np.int64)


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
    PlacedRunner(line, layout).fill((slice(0, out.size),), flat)
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

    name: ClassVar[str] = "flat"
    is_cellwise: ClassVar[bool] = False
    is_of_rows: ClassVar[bool] = True

    @property
    def extents(self) -> Extents:
        return (self.operand.shape.size,)

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
        axes = [moves.get(mode, Stride(extent, 0)) for mode, extent in enumerate(transform.extents)]
        return Expression(self.operand.node, of_maps(first, axes))

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
            write_in_order(PlacedRunner(job.elements(places), inner.layout), view.layout, out)
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
        A form of rows over the operands, of which one has elements.
    steps
        For each operand 1, or 0 if a piece of it repeats one element.
    """

    name: ClassVar[str] = "pieces"
    is_of_rows: ClassVar[bool] = True

    operands: tuple[Expression, ...]
    form: Form
    steps: tuple[int, ...]
    mode: int = attrs.field(default=0, init=False)
    _found: tuple[IntArray, IntArray, IntArray, IntArray] | None = attrs.field(default=None, init=False)

    def _table(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return sources, starts, lengths, and the end of each piece; made on first use."""
        found = self._found
        if found is None:
            sources, starts, lengths = self.form.table()
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
        return (self.form.size,)

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
        begin, end = self.form.around(first, count)
        kernel = self.form.part(begin, end).runner(lambda k: job.elements(self.operands[k]))
        before = self.form.begin(begin) - self.form.begin(0)
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
