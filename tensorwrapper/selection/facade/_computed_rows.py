"""`ComputedRows`: a source that applies a function to the rows of a view when it is read."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal, cast, final

import numpy as np

from tensorwrapper._arrays import concatenated_ranges, positions_array
from tensorwrapper._value_class import evolve, frozen, token_of
from tensorwrapper.buffer.lowlevel import write_elements
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.sources._runs import Runs, Wanted
from tensorwrapper.selection.sources._source import Ability, Finished, ReadHandle
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, IntArray

__all__ = ["ComputedRows", "Method", "is_computed"]

_BLOCK: Final = 1 << 26  # bytes of rows that are computed at a time
_ABILITIES: Final[frozenset[Ability]] = frozenset(("runs",))


def is_computed(view: Expression) -> bool:
    """Tell whether a view shows what is computed of rows."""
    return isinstance(view.node.source, ComputedRows)


@final
@frozen
class Method:
    """A call of rows, by its name and what it is given: a function of a tensor."""

    name: str
    arguments: tuple[object, ...]
    options: tuple[tuple[str, object], ...]

    def __call__(self, tensor: Tensor[Any]) -> Any:  # noqa: ANN401 - a tensor
        return getattr(tensor.rows(), self.name)(*self.arguments, **dict(self.options))


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
    """Whether there are rows again."""
    nullable: bool
    side: Literal["values", "valid"] | None = None

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
        rows, _ = self._needed(selection)
        size: int = np.diff(self._splits())[rows].sum().item() * self.lines.dtype.itemsize
        return size

    def _needed(self, wanted: Wanted) -> "tuple[IntArray, IntArray | None]":
        """Return the rows that elements need, and the numbers of these unless they are all of the rows."""
        if isinstance(wanted, Runs):
            whole = wanted.rows(self._splits()) if self.keeps else None
            if whole is not None:
                return concatenated_ranges(*whole), None
            numbers = wanted.numbers()
        else:
            grid = np.ix_(*map(positions_array, wanted.modes))
            numbers = np.ravel_multi_index(grid, self.shape.extents).reshape(-1) if grid else np.zeros(1, int)
        if not self.keeps:
            return numbers, None
        found = np.searchsorted(self._splits(), numbers, "right") - 1
        return found[np.diff(found, prepend=-1) > 0], numbers

    def _parts(self, wanted: Wanted) -> Iterator[tuple[int, Array]]:
        """Return an iterator over blocks of the elements, each with the place where it begins."""
        rows, numbers = self._needed(wanted)
        splits = self._splits()
        ends = np.cumsum(splits[rows + 1] - splits[rows])
        most, first, place = _BLOCK // max(self.lines.dtype.itemsize, 1), 0, 0
        while first < len(rows):
            before = int(ends[first - 1]) if first else 0
            last = max(int(np.searchsorted(ends, before + most, "right")), first + 1)
            chosen, begins = rows[first:last], ends[first:last] - before
            elements = self._elements(chosen)
            if numbers is not None:
                low, high = np.searchsorted(numbers, [splits[chosen[0]], splits[chosen[-1] + 1]])
                own = numbers[low:high]
                row = np.searchsorted(splits[chosen], own, "right") - 1
                starts = begins - np.diff(begins, prepend=0)
                elements = elements[starts[row] + own - splits[chosen[row]]]
            yield place, elements
            place, first = place + len(elements), last

    def _elements(self, rows: IntArray) -> Array:
        """Return what is made of some rows, one after the other."""
        low, count = int(rows[0]), len(rows)
        together = int(rows[-1]) - low == count - 1
        part = self.lines[low : low + count] if together else self.lines.gather(0, rows)
        found: Any = self.call(part.copy())
        layout: Layout[Any] = found.layout
        buffer: Any = found.buffer
        if self.side is not None and buffer.sides is None:
            if self.side == "valid":
                return np.ones(found.shape.size, np.bool_)
        elif self.side is not None:
            buffer = buffer.sides[self.side == "valid"]
        return cast("Array", buffer.elements_of(layout.implementation))

    def __repr__(self) -> str:
        function: Any = self.call
        name = getattr(function, "name", None) or getattr(getattr(function, "func", None), "__name__", "")
        return f"{name} of rows"

    def __dask_tokenize__(self) -> object:
        return token_of(
            "ComputedRows", self.lines.expression, self.call, self.keeps, self.nullable, self.side
        )
