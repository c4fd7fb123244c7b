"""Read sources: by their abilities, and at one version of their elements."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeGuard, final

import numpy as np

from tensorwrapper._boxes import boxes_of_run
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import VersionChangedError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.sources._runs import Outer, Runs, Wanted
from tensorwrapper.selection.sources._source import Ability, ReadHandle, Source, WritableSource
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Array, Extents, IntArray


@final
@frozen
class Converted:
    """The elements of a source that has the ability "casts", as ones of another type."""

    source: Source
    dtype: "np.dtype[Any]"

    @property
    def shape(self) -> Shape:
        """The indices of the source."""
        return self.source.shape

    @property
    def version(self) -> str:
        """Version of the source."""
        return self.source.version

    @property
    def abilities(self) -> frozenset[Ability]:
        """Abilities of the source, except writing."""
        found: frozenset[Ability] = getattr(self.source, "abilities", frozenset())
        return found - {"write", "atomic"}

    def read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        """Read into arrays of the new type, as the source says that it can."""
        return self.source.read(selections, out)

    def cost(self, selection: Wanted) -> int:
        """Return the source's cost of a read, scaled down if elements become smaller."""
        return self.source.cost(selection) * self.dtype.itemsize // self.source.dtype.itemsize

    def __repr__(self) -> str:
        return f"{self.source!r} as {self.dtype}"


def is_source(value: object) -> TypeGuard[Source]:
    """Return True if a value has the methods of a source, without calling them."""
    kind = type(value)
    return callable(getattr(kind, "read", None)) and callable(getattr(kind, "cost", None))


def abilities_of(source: Source) -> frozenset[Ability]:
    """Return a source's abilities beside reading outer selections."""
    found: frozenset[Ability] = getattr(source, "abilities", frozenset())
    return found


def layout_of(source: Source) -> "Layout[Any] | None":
    """Return the layout through which a source says that it is seen; None if as it is."""
    found: Layout[Any] | None = getattr(source, "layout", None)
    return found


def ask(source: Source, wanted: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
    """Read from a source in one request; it gets boxes in place of runs, where it takes boxes alone."""
    if _knows(source, wanted):
        return source.read(wanted, out)
    parts, targets, owners = _in_boxes(source, wanted, out)
    return _Parts(source.read(parts, targets), owners)


def tell(source: WritableSource, wanted: Sequence[Wanted], values: Sequence[Array]) -> None:
    """Write to a source in one request; it gets boxes in place of runs, where it takes boxes alone."""
    if _knows(source, wanted):
        source.write(wanted, values)
        return
    parts, given, _ = _in_boxes(source, wanted, values)
    source.write(parts, given)


def cost_of(source: Source, wanted: Wanted) -> int:
    """Return how many bytes a read moves: the sum over the selections that the source gets."""
    return sum([source.cost(own) for own in in_its_words(source, [wanted])])


def in_its_words(source: Source, wanted: Sequence[Wanted]) -> Sequence[Wanted]:
    """Return selections in the words of a source: boxes in place of runs, where it takes boxes alone."""
    if _knows(source, wanted):
        return wanted
    # Nothing is read into these arrays, so all elements may lie in one place.
    return _in_boxes(source, wanted, [np.broadcast_to(np.False_, own.extents) for own in wanted])[0]


def _knows(source: Source, wanted: Sequence[Wanted]) -> bool:
    if "runs" in abilities_of(source) or not source.shape.is_box:
        return True
    return not any(isinstance(own, Runs) for own in wanted)


def _in_boxes(
    source: Source, wanted: Sequence[Wanted], arrays: Sequence[Array]
) -> tuple[list[Outer], list[Array], tuple[int, ...]]:
    """Return outer selections in place of runs, a part of an array for each, and whose part each is."""
    parts: list[Outer] = []
    pieces: list[Array] = []
    owners: list[int] = []
    for number, (own, array) in enumerate(zip(wanted, arrays, strict=True)):
        boxes = [(own, array)] if isinstance(own, Outer) else boxes_of(own, array, source.shape.extents)
        for part, piece in boxes:
            parts.append(part)
            pieces.append(piece)
            owners.append(number)
    return parts, pieces, tuple(owners)


def boxes_of(runs: Runs, target: Array, extents: Extents) -> Iterator[tuple[Outer, Array]]:
    """Return boxes that have the elements of runs, and which part of an array of rank 1 each is."""
    if not extents:
        yield Outer([]), target[0, ...]
        return
    if (runs.lengths == 1).all():
        indices = np.unravel_index(runs.starts, extents)
        for number, index in enumerate(np.stack(indices, axis=-1).tolist()):
            point = Outer([range(p, p + 1) for p in index])
            yield point, target[number : number + 1].reshape((1,) * len(extents))
        return
    first = 0
    for start, end in zip(runs.starts.tolist(), runs.ends.tolist(), strict=True):
        for window, done in boxes_of_run(extents, start, end):
            box = Outer([range(own.start, own.stop) for own in window])
            at = first + done
            yield box, target[at : at + box.size].reshape(box.extents)
        first += end - start


@final
@frozen(eq=False)
class _Parts:
    """A read of selections that were split into several requests each."""

    handle: ReadHandle
    owners: tuple[int, ...]

    def completed(self) -> Iterator[int | None]:
        left = Counter(self.owners)
        for part in self.handle.completed():
            if part is None:
                yield None
                continue
            number = self.owners[part]
            left[number] -= 1
            if not left[number]:
                yield number

    def cancel(self) -> None:
        self.handle.cancel()


@final
class Versions:
    """The versions at which sources are read: one each, as long as a computation goes on."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[Source, str] = {}

    def check(self, sources: Iterable[Source]) -> None:
        """Raise if a source has not the version that it had at the first check."""
        for source in sources:
            now = source.version
            # Elements at another type are of the same version as those at their own.
            own = source.source if isinstance(source, Converted) else source
            before = self._found.setdefault(own, now)
            if now != before:
                raise VersionChangedError(
                    f"{source!r} changed while it was read: from version {before!r} to {now!r}; elements "
                    "of two versions are not combined"
                )


def read_numbers(source: Source, numbers: IntArray) -> Array:
    """Return the elements with some row-major numbers, in any order and with repeats, in one request."""
    distinct, back = np.unique(numbers, return_inverse=True)
    out: Array = np.empty(len(distinct), dtype=source.dtype)
    versions = Versions()
    versions.check([source])
    for _ in ask(source, [Runs(distinct)], [out]).completed():
        pass
    versions.check([source])
    return out[back]
