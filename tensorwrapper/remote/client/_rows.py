"""`RowsSource`: some rows of a jagged tensor on a server, with only their lengths known here."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, cast, final

import numpy as np

from tensorwrapper._arrays import concatenated_ranges, positions_array, splits_of
from tensorwrapper._value_class import evolve, frozen
from tensorwrapper.errors import ConversionError, TensorWrapperError
from tensorwrapper.layout import Layout
from tensorwrapper.selection import Ability, Outer, ReadHandle, Runs, Source, View, Wanted, as_view, iota
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Array, ArrayKey, IntArray

_ROW: Final = re.compile(r"(?<=under the prefix )\((\d+),")


class WholeSource(Source, Protocol):
    """Source of rows in another process."""

    @property
    def abilities(self) -> "frozenset[Ability]":
        """Abilities of the source."""
        ...

    def bytes_on_wire(self, selections: Sequence[Wanted], dtype: "np.dtype[Any] | None" = None) -> int:
        """Return the bytes that a read transfers in both directions, for a dtype."""
        ...


@final
@frozen(eq=False, repr=False)
class RowsSource:
    """Rows of a tensor whose row table is on a server. Converts local element numbers to remote ones.

    Attributes
    ----------
    whole
        Source of all rows; its shape is not requested.
    shape
        The rows, in the order of the whole tensor.
    starts
        For each run of rows the remote number of its first element.
    splits
        For each run of rows the local number of its first element, and the total number of elements.
    layout
        The layers of the rows; None without layers.
    """

    whole: WholeSource
    shape: Shape[Any]
    starts: IntArray
    splits: IntArray
    layout: "Layout[Any] | None" = None

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        return self.whole.dtype

    @property
    def version(self) -> str:
        """Version of the whole tensor."""
        return self.whole.version

    @property
    def abilities(self) -> "frozenset[Ability]":
        """Abilities of the whole tensor."""
        return self.whole.abilities

    @property
    def sides(self) -> "tuple[RowsSource, RowsSource] | None":
        """Sources of the values and of their validity; None if elements cannot be null."""
        sides: Any = getattr(self.whole, "sides", None)
        return None if sides is None else (evolve(self, whole=sides[0]), evolve(self, whole=sides[1]))

    def cost(self, selection: Wanted) -> int:
        """Return the bytes that a selection transfers."""
        return self.whole.cost(selection)

    def read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        """Request selections by remote element numbers."""
        return self.whole.read([self._there(own) for own in selections], out)

    def bytes_on_wire(self, selections: Sequence[Wanted], dtype: "np.dtype[Any] | None" = None) -> int:
        """Return the bytes that a read transfers in both directions, for a dtype."""
        return self.whole.bytes_on_wire([self._there(own) for own in selections], dtype)

    def _there(self, wanted: Wanted) -> Wanted:
        """Return runs with element numbers in the whole tensor. O(runs)."""
        wanted = self._runs(wanted)
        if not wanted.size:
            return Runs([], [])
        first = np.searchsorted(self.splits, wanted.starts, "right") - 1
        last = np.searchsorted(self.splits, wanted.ends, "left")
        counts = last - first
        run = np.repeat(np.arange(len(counts)), counts)
        block = concatenated_ranges(first, counts)
        starts = np.maximum(wanted.starts[run], self.splits[block])
        lengths = np.minimum(wanted.ends[run], self.splits[block + 1]) - starts
        return Runs(starts - self.splits[block] + self.starts[block], lengths)

    def _runs(self, wanted: Wanted) -> Runs:
        """Return a selection of the rows as runs of their elements."""
        if not isinstance(wanted, Outer):
            return wanted
        if not self.shape.is_box:
            raise ConversionError("cannot select from rows by positions of modes")
        return Runs(positions_array(wanted.modes[0]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowsSource) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self.whole)

    def _key(self) -> tuple[Any, ...]:
        return self.whole, self.starts.tobytes(), self.splits.tobytes(), self.layout

    def __repr__(self) -> str:
        return f"{self.whole!r}.rows({self.shape!r})"


def rows_source(whole: WholeSource, rows: Runs, starts: IntArray, lengths: IntArray) -> RowsSource:
    """Return the source of runs of rows, with the server's starts and lengths."""
    splits = splits_of(lengths)
    marks = np.concatenate([[0], np.cumsum(rows.lengths)])
    return RowsSource(whole, Shape.from_offsets(splits), starts, splits[marks])


def chosen_rows(count: int, key: ArrayKey, rows_of: Callable[[Runs], View[Any]]) -> View[Any] | None:
    """Return the part that a key selects from rows; None if the key does not select rows first.

    `rows_of` returns rows by their ascending numbers: each is requested once.
    """
    parts: tuple[Any, ...] = key if isinstance(key, tuple) else (key,)
    if not parts or parts[0] is None or parts[0] is Ellipsis:
        return None
    first, rest = cast("ArrayKey", parts[0]), parts[1:]
    if any(isinstance(own, list | np.ndarray) for own in rest) or getattr(first, "rank", 1) > 1:
        return None
    chosen = None if rest else _ascending_of(first, count)
    if chosen is not None:
        # Fast path for the usual ascending numbers.
        return rows_of(Runs(chosen))
    # Let NumPy apply the key of one mode to the row numbers.
    numbers: View[Any] = as_view(iota(Shape(count)))
    places: View[Any] = numbers[first]
    if places.rank > 1:
        return None
    chosen = np.atleast_1d(np.asarray(places.compute(), dtype=np.int64))
    distinct, back = np.unique(chosen, return_inverse=True)
    view = rows_of(Runs(distinct))
    try:
        if not places.rank:
            return view[(0, *rest)]
        if len(distinct) != len(chosen) or (back[1:] < back[:-1]).any():
            view = view[back.tolist()] if len(back) else view
        return view[(slice(None), *rest)] if rest else view[:]
    except TensorWrapperError as error:
        if error.args and not isinstance(first, list | tuple | np.ndarray):
            # The number in the error message is a position in the list of rows.
            text = _ROW.sub(lambda found: f"({chosen[int(found[1])]},", str(error.args[0]))
            error.args = (text, *error.args[1:])
        raise


def _ascending_of(key: ArrayKey, count: int) -> IntArray | None:
    """Return the rows of a slice or of ascending positions; None for other keys."""
    found: Array | None = None
    if isinstance(key, slice):
        ends = cast("tuple[object, ...]", (key.start, key.stop, key.step))
        if all(end is None or type(end) is int for end in ends) and (key.step is None or key.step > 0):
            found = np.arange(*key.indices(count))
    elif isinstance(key, list):
        items = cast("list[object]", key)
        found = np.array(items) if set(map(type, items)) == {int} else None
    elif type(key) is np.ndarray:
        # A key may also be a mask of elements.
        found = cast("Array", key)
    if found is None or found.ndim != 1 or found.dtype.kind not in "iu" or not len(found):
        return None
    numbers: IntArray = found.astype(np.int64, copy=False)
    if numbers.item(0) < 0 or numbers.item(-1) >= count or not (numbers[1:] > numbers[:-1]).all():
        return None
    return numbers
