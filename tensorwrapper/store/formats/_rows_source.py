"""Source of rows whose elements are stored consecutively in one array."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, cast, final

import numpy as np

from tensorwrapper._arrays import concatenated_ranges
from tensorwrapper._value_class import frozen
from tensorwrapper.shape import Shape
from tensorwrapper.store.formats._contents import Done
from tensorwrapper.store.ranges._joined import LONGEST, joined
from tensorwrapper.typing import Array, IntArray

if TYPE_CHECKING:
    from tensorwrapper.selection import Ability, Source, Wanted

_GAP: Final = 4096
"""Largest gap between two runs, in bytes, that is read rather than skipped."""


@final
@frozen(eq=False, repr=False)
class RowsSource:
    """A ragged array whose elements are a source of rank 1, in row-major order."""

    values: "Source"
    shape: Shape[Any]

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        return self.values.dtype

    @property
    def version(self) -> str:
        """Version of the elements."""
        return self.values.version

    @property
    def abilities(self) -> "frozenset[Ability]":
        """Abilities of the source: reads in any thread, no writing."""
        return frozenset(("runs", "threads"))

    def cost(self, selection: "Wanted") -> int:
        """Return the number of bytes read: runs, and short gaps between them."""
        from tensorwrapper.selection import Outer  # noqa: PLC0415 - a room above, which files alone do not need

        if not selection.size:
            return 0
        starts, ends, groups = self._groups(selection)
        spans = ends[groups[1:] - 1] - starts[groups[:-1]]
        total = int(spans.sum()) * self.dtype.itemsize
        # The array may read more, such as whole chunks or pages.
        return max(total, self.values.cost(Outer([range(int(starts[0]), int(starts[0]) + 1)])))

    def fetches(self, selections: "Sequence[Wanted]") -> tuple[int, int]:
        """Return the number of requests and bytes of a read, if the source of the elements reports them."""
        from tensorwrapper.selection import Outer  # noqa: PLC0415 - as above

        count: Callable[[Sequence[Outer]], tuple[int, int]] | None = getattr(self.values, "fetches", None)
        own = [
            count([Outer([range(start, stop)])])
            for selection in selections
            if count is not None and selection.size
            for start, stop, *_ in self._reads(selection)
        ]
        return sum([requests for requests, _ in own]), sum([nbytes for _, nbytes in own])

    def read(self, selections: "Sequence[Wanted]", out: Sequence[Array]) -> Done:
        """Read runs, merging runs that are close together."""
        from tensorwrapper.selection import Outer  # noqa: PLC0415 - as above

        for selection, target in zip(selections, out, strict=True):
            if not selection.size:
                continue
            for start, stop, done, starts, lengths in self._reads(selection):
                count = int(lengths.sum())
                own = target[done : done + count]
                whole = own if count == stop - start else np.empty(stop - start, self.dtype)
                for _ in self.values.read([Outer([range(start, stop)])], [whole]).completed():
                    pass
                if whole is not own:
                    own[...] = whole[concatenated_ranges(starts - start, lengths)]
        return Done(len(out))

    def _groups(self, selection: "Wanted") -> tuple[IntArray, IntArray, IntArray]:
        """Return the starts and stops of runs, and the runs that begin a read."""
        from tensorwrapper.selection import Runs  # noqa: PLC0415 - as above

        runs = selection if isinstance(selection, Runs) else Runs.of(cast("Any", selection).modes[0])
        starts, ends = runs.starts, runs.ends
        itemsize = self.dtype.itemsize
        return starts, ends, joined(starts, ends, _GAP // itemsize, max(LONGEST // itemsize, 1))

    def _reads(self, selection: "Wanted") -> Iterator[tuple[int, int, int, IntArray, IntArray]]:
        """Yield each read: its start and stop, the number of elements before it, and its runs."""
        starts, ends, groups = self._groups(selection)
        lengths = ends - starts
        before = np.cumsum(lengths) - lengths
        for first, last in zip(groups[:-1].tolist(), groups[1:].tolist(), strict=True):
            runs = slice(first, last)
            yield int(starts[first]), int(ends[last - 1]), int(before[first]), starts[runs], lengths[runs]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowsSource) and self.values == other.values and self.shape == other.shape

    def __hash__(self) -> int:
        return hash(self.values)

    def __repr__(self) -> str:
        return f"rows({self.values!r}, {self.shape!r})"
