"""Work within rows: the source that computes it, and the rows of a view."""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Generic, Literal, SupportsIndex, TypeAlias, TypeVar, cast, final

import numpy as np

from tensorwrapper._arrays import concatenated_ranges, different, positions_array, run_of
from tensorwrapper._integers import to_int
from tensorwrapper._value_class import evolve, frozen, token_of
from tensorwrapper.buffer import Nullable
from tensorwrapper.buffer.lowlevel import holds_strings, write_elements
from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.expressions._source_node import reading_of
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.facade._view_base import ViewBase
from tensorwrapper.selection.runners._leaves import is_dense
from tensorwrapper.selection.sources._runs import Runs, Wanted
from tensorwrapper.selection.sources._source import Ability, Finished, ReadHandle, TensorSource
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.tensor.lowlevel import WithinRows, make_tensor
from tensorwrapper.typing import Array, IntArray

_BLOCK: Final = 1 << 26  # bytes of rows, or of a view, that are computed at a time
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


_V = TypeVar("_V", bound=ViewBase[Any])


_KEEPING: Final = ("sort", "argsort", "rankdata", "cumsum", "cumprod")
_OF_EMPTY: Final = ("max", "min", "ptp", "first", "last", "argmax", "argmin")
_NUMBERS: Final = (
    *("sum", "prod", "any", "all", "count", "count_nonzero", "n_unique"),
    *("mean", "var", "std", "median", "quantile"),
)
_OTHER_ROWS: Final = (
    *("diff", "unique", "unique_counts", "top_k", "combinations", "product", "searchsorted", "histogram"),
)


def in_turns(view: _V) -> Iterator[_V]:
    """Return an iterator over parts of a view along mode 0, of at most 64 MiB or one position."""
    splits = OperandShapes.splits_under(view.shape, 1)
    most, count, low = _BLOCK // max(view.dtype.itemsize, 1), len(splits) - 1, 0
    if splits.item(-1) <= most:
        yield view
        return
    while low < count:
        high = max(int(splits.searchsorted(splits.item(low) + most, "right")) - 1, low + 1)
        yield cast("Any", view)[low:high]
        low = high


def joined(parts: "list[Tensor[Any]]", shape: Shape[Any]) -> Tensor[Any]:
    """Return the results of parts, one after the other, as one tensor of a shape."""
    values = np.concatenate([part.elements() for part in parts])
    return make_tensor(Layout(shape), as_tensor(values).buffer)


@final
@frozen(eq=False)
class RowsOfView(WithinRows[_V, _V], Generic[_V]):
    """The rows of a view, in row-major order of the prefixes that lead to them; made by `View.rows`.

    A sequence: ``rows[k]`` is a view in which the row starts at zero. A view of rank 1 is one row. Calls
    give views. Where the shape is known beforehand, they read only the rows that are needed, when computed.
    """

    _view: _V

    def _here(self) -> Tensor[Any]:
        return self._flat().copy()

    @property
    def shape(self) -> Shape:
        """The shape of the prefixes: that of the view without its last mode."""
        shape = self._flat().shape
        return shape.leading(shape.rank - 1)

    def _flat(self) -> _V:
        """Return the view without layers."""
        view: Any = self._view
        return cast("_V", view.flatten() if view.shape.has_layers else view)

    def _lines(self) -> _V:
        """Return the view with one mode for all that come before the last."""
        view: Any = self._flat()
        if view.shape.rank == 1:
            return cast("_V", view.unsqueeze(0))
        while view.shape.rank > 2:
            view = view.flatten()
        return cast("_V", view)

    def __len__(self) -> int:
        return self.shape.size

    def __getitem__(self, row: SupportsIndex) -> _V:
        """Return one row, counted from 0, or from the last if negative."""
        number, count = to_int(row, "a row"), len(self)
        if not -count <= number < count:
            raise OutOfBoundsError(f"row {number} is outside the {count} rows of {self._view.shape}")
        return cast("_V", cast("Any", self._lines())[number])

    def __iter__(self) -> Iterator[_V]:
        return iter(cast("Any", self._lines()))

    def reduce(self, ufunc: np.ufunc, *, initial: object = None) -> Tensor[Any]:
        """Return the reduction of each row by `ufunc`, at most 64 MiB of rows at a time.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> tw.concat([tw.jagged([[1, 5], []]), tw.jagged([[3]])]).rows().reduce(np.add).tolist()
        [6, 0, 3]
        """
        parts = [part.copy().rows().reduce(ufunc, initial=initial) for part in in_turns(self._lines())]
        return joined(parts, self.shape)

    def computed(self, call: "Callable[[Tensor[Any]], Any]", *, keeps: bool) -> _V | None:
        """Return a view of the results of a function of each row; None for tiles and sparse views.

        Parameters
        ----------
        call
            A function of a tensor of rows. It gives rows of the same lengths, or one element for each row.
        keeps
            Whether it gives rows.
        """
        view: Any = self._flat()
        if view.is_sparse or view.expression.layout.implementation.tiled is not None:
            return None
        lines: Any = self._lines()
        # The result for no rows has the type. A refusal comes now, too.
        found = call(lines[:0].copy())
        shape = view.shape if keeps else self.shape
        nullable = found.buffer.nullable and found.dtype.kind != "T"
        source = ComputedRows(lines, call, shape, found.dtype, keeps, nullable)
        return cast("_V", view._make(reading_of(source)))

    def _read_at_once(self, call: "Callable[[Tensor[Any]], Any]") -> Any:  # noqa: ANN401 - one or several
        """Return views of the results of a function of all rows. It reads them now."""
        found, make = call(self._here()), cast("Any", self._view)._make
        if isinstance(found, tuple):
            return tuple([make(reading_of(TensorSource(own))) for own in found])
        return make(reading_of(TensorSource(found)))

    def may_refuse(self) -> bool:
        """Return True if a row may have no elements, of which some functions say nothing."""
        lines: Any = self._lines()
        return bool(lines.is_nullable) or not np.diff(OperandShapes.splits_under(lines.shape, 1)).all()

    def __repr__(self) -> str:
        return f"<{len(self)} rows of {self._view.shape}>"


def _method(name: str) -> "Callable[..., Any]":
    """Return a call of the rows of a view; where it can, it computes when its result is computed."""
    plain: Callable[..., Any] = getattr(WithinRows, name)

    @functools.wraps(plain)
    def method(self: RowsOfView[Any], /, *arguments: object, **options: object) -> Any:  # noqa: ANN401
        call = Method(name, arguments, tuple(options.items()))
        refuses = name in _OF_EMPTY and not {"empty", "initial"} & options.keys() and self.may_refuse()
        if name in _OTHER_ROWS or options.get("keepdims") or refuses:
            return self._read_at_once(call)
        found = self.computed(call, keeps=name in _KEEPING)
        return self._read_at_once(call) if found is None else found

    return method


for _name in (*_KEEPING, *_OF_EMPTY, *_NUMBERS, *_OTHER_ROWS):
    setattr(RowsOfView, _name, _method(_name))
