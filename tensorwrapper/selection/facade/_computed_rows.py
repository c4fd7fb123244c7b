"""`ComputedRows`: a source that applies a function to the rows of a view when it is read."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias, cast, final

import numpy as np

from tensorwrapper._arrays import concatenated_ranges, different, positions_array, run_of
from tensorwrapper._value_class import evolve, frozen, token_of
from tensorwrapper.buffer import Nullable
from tensorwrapper.buffer.lowlevel import holds_strings, write_elements
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.runners._blocks import is_dense
from tensorwrapper.selection.sources._runs import Runs, Wanted
from tensorwrapper.selection.sources._source import Ability, Finished, ReadHandle
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, IntArray

__all__ = ["ComputedRows", "Method", "is_computed"]

_BLOCK: Final = 1 << 26  # bytes of rows that are computed at a time
_ABILITIES: Final[frozenset[Ability]] = frozenset(("runs",))

Side: TypeAlias = Literal["values", "valid"] | None


def is_computed(view: Expression) -> bool:
    """Return True if a view selects from a computation of rows."""
    return isinstance(view.node.source, ComputedRows)


@final
@frozen
class Method:
    """A call of a method of rows, by its name and its arguments: a function of a tensor."""

    name: str
    arguments: tuple[object, ...]
    options: tuple[tuple[str, object], ...]

    def __call__(self, tensor: Tensor[Any]) -> Any:  # noqa: ANN401 - a tensor
        return getattr(tensor.rows(), self.name)(*self.arguments, **dict(self.options))


@final
@frozen(eq=False)
class _Chosen:
    """Rows in ascending order, with the places of their elements."""

    rows: IntArray
    starts: IntArray
    lengths: IntArray

    @property
    def size(self) -> int:
        """Return the number of elements of the rows."""
        return int(self.lengths.sum().item())

    @property
    def are_together(self) -> bool:
        """Return True if all rows between them are empty."""
        return self.size == self.starts.item(-1) + self.lengths.item(-1) - self.starts.item(0)

    def moved(self, places: IntArray, row: IntArray) -> IntArray:
        """Return where places, which lie in `row` each, are among the elements of the rows."""
        if self.are_together:
            return places - self.starts.item(0)
        low = self.rows.item(0)
        moves = np.zeros(self.rows.item(-1) - low + 1, np.int64)
        moves[self.rows - low] = np.cumsum(self.lengths) - self.lengths - self.starts
        return cast("IntArray", moves[row - low] + places)


@final
@frozen(eq=False, repr=False)
class ComputedRows:
    """The results of a function of each row of a view: rows of the same lengths, or one number per row.

    A read computes the rows of the selected elements only, up to 64 MiB at a time.
    """

    lines: Any
    """The view, of two modes."""
    call: Callable[[Tensor[Any]], Tensor[Any]]
    shape: Shape[Any]
    dtype: "np.dtype[Any]"
    keeps: bool
    """True if the result has rows."""
    nullable: bool
    side: Side = None

    @property
    def sides(self) -> "tuple[ComputedRows, ComputedRows] | None":
        """The values, and whether they are valid; None if none may be a null."""
        if not self.nullable:
            return None
        truth = np.dtype(np.bool_)
        plain = evolve(self, nullable=False, side="values")
        return plain, evolve(self, nullable=False, side="valid", dtype=truth)

    @property
    def version(self) -> str:
        """The versions of all that the view reads."""
        nodes = [own.node for own in operands_first([self.lines.expression])]
        return " ".join([own.source.version for own in nodes if own.source is not None]).strip()

    @property
    def abilities(self) -> frozenset[Ability]:
        """Runs of elements, beside outer selections."""
        return _ABILITIES

    def _splits(self) -> IntArray:
        return OperandShapes.splits_under(self.lines.shape, 1)

    def read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        """Compute each selection into the array beside it."""
        for wanted, target in zip(selections, out, strict=True):
            flat: Array = np.empty(wanted.size, self.dtype)
            for place, part in self._parts(wanted):
                flat[place : place + len(part)] = part
            write_elements(target, flat.reshape(target.shape))
        return Finished(len(selections))

    def cost(self, selection: Wanted) -> int:
        """Return how many bytes the rows have that a selection needs."""
        splits = self._splits()
        if self.keeps and isinstance(selection, Runs) and selection.count:
            first, last = self._row_of(selection.starts), self._row_of(selection.ends - 1)
            # A row that the run before ends in is computed already.
            first[1:] = np.maximum(first[1:], last[:-1] + 1)
            size: int = (splits[last + 1] - splits[first]).sum().item()
        else:
            rows, _ = self._needed(selection)
            size = (splits[rows + 1] - splits[rows]).sum().item()
        return size * int(self.lines.dtype.itemsize)

    def _row_of(self, places: IntArray) -> IntArray:
        """Return the row of each place: by a table of all places in between, unless these are few."""
        splits = self._splits()
        first, last = run_of(splits, np.array([places.min(), places.max()])).tolist()
        if not is_dense(splits.item(last + 1) - splits.item(first), len(places)):
            return run_of(splits, places)
        numbers = np.arange(first, last + 1, dtype=np.int32 if last < 1 << 31 else np.int64)
        table = np.repeat(numbers, np.diff(splits[first : last + 2]))
        return cast("IntArray", table[places - splits.item(first)])

    def selected(self, layout: Layout[Any]) -> Tensor[Any] | None:
        """Return the rows that a layout selects, out of one tensor of all computed rows.

        Other ways are better for numbers, for one run and for small selections: these give None.
        """
        own = layout.implementation
        if not self.keeps or own.is_contiguous or own.ordinal_order == "colex" or not layout.shape.size:
            return None
        if holds_strings(self.dtype):
            # The elements of texts are no array of a buffer.
            return None
        places = own.by_ordinal()
        row = self._row_of(places)
        chosen = self._chosen(different(row))
        too_large = chosen.size * self.dtype.itemsize > _BLOCK
        if too_large and not is_dense(chosen.size, len(places)):
            return None
        places = chosen.moved(places, row)
        del row
        found = self._computed(chosen)
        sides: tuple[Side, ...] = ("values", "valid") if self.nullable else (self.side,)
        parts = [as_tensor(_side_of(found, side)[places]).buffer for side in sides]
        buffer: Any = Nullable(parts[0], cast("Any", parts[1])) if self.nullable else parts[0]
        return make_tensor(Layout(layout.shape), buffer)

    def _needed(self, wanted: Wanted) -> "tuple[IntArray, tuple[IntArray, IntArray] | None]":
        """Return the rows that elements need, and unless that is all of these, their numbers and rows."""
        if isinstance(wanted, Runs):
            whole = wanted.rows(self._splits()) if self.keeps else None
            if whole is not None:
                return concatenated_ranges(*whole), None
            numbers = wanted.numbers()
        else:
            grid = np.ix_(*map(positions_array, wanted.modes))
            numbers = np.ravel_multi_index(grid, self.shape.extents).reshape(-1) if grid else np.zeros(1, int)
        if not self.keeps or not len(numbers):
            return numbers, None
        found = self._row_of(numbers)
        return found[np.diff(found, prepend=-1) > 0], (numbers, found)

    def _parts(self, wanted: Wanted) -> Iterator[tuple[int, Array]]:
        """Return an iterator over blocks of the elements, each with the place where it begins."""
        rows, chosen = self._needed(wanted)
        splits = self._splits()
        ends = np.cumsum(splits[rows + 1] - splits[rows])
        most, first, place = _BLOCK // max(self.lines.dtype.itemsize, 1), 0, 0
        while first < len(rows):
            before = int(ends[first - 1]) if first else 0
            last = max(int(np.searchsorted(ends, before + most, "right")), first + 1)
            some = self._chosen(rows[first:last])
            elements = _side_of(self._computed(some), self.side)
            if chosen is not None:
                numbers, row = chosen
                low, high = np.searchsorted(numbers, [some.starts[0], some.starts[-1] + some.lengths[-1]])
                elements = elements[some.moved(numbers[low:high], row[low:high])]
            yield place, elements
            place, first = place + len(elements), last

    def _chosen(self, rows: IntArray) -> "_Chosen":
        splits = self._splits()
        starts = splits[rows]
        return _Chosen(rows, starts, splits[rows + 1] - starts)

    def _computed(self, chosen: "_Chosen") -> Tensor[Any]:
        """Return the results for some rows, one after the other."""
        rows = chosen.rows
        low, high = rows.item(0), rows.item(-1) + 1
        # Empty rows in between do no harm, unless each row gives a number.
        together = chosen.are_together if self.keeps else high - low == len(rows)
        part = (self.lines[low:high] if together else self.lines.gather(0, rows)).copy()
        prefixes = self.shape.leading(self.shape.rank - 1) if self.keeps else self.shape
        from tensorwrapper.tensor.lowlevel import numbered_as  # noqa: PLC0415 - few views compute rows

        with numbered_as(prefixes, range(low, high) if together else rows):
            return self.call(part)

    def __repr__(self) -> str:
        function: Any = self.call
        name = getattr(function, "name", None) or getattr(getattr(function, "func", None), "__name__", "")
        return f"{name} of rows"

    def __dask_tokenize__(self) -> object:
        return token_of(
            "ComputedRows", self.lines.expression, self.call, self.keeps, self.nullable, self.side
        )


def _side_of(found: Tensor[Any], side: Side) -> Array:
    """Return the elements, their values, or whether they are valid."""
    buffer: Any = found.buffer
    if side is not None and buffer.sides is None:
        if side == "valid":
            return np.ones(found.shape.size, np.bool_)
    elif side is not None:
        buffer = buffer.sides[side == "valid"]
    return cast("Array", buffer.elements_of(found.layout.implementation))
