"""Split selections at chunk boundaries, cut pieces on the workers of chunks, and assemble them."""

import itertools
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any, TypeAlias, cast, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import write_elements
from tensorwrapper.errors import ConversionError
from tensorwrapper.selection import Outer, ReadHandle, Runs, View, Wanted
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, IntArray

Chunk: TypeAlias = "Array | Tensor[Any]"
"""Result of a task: the chunk of an array, or a run of rows."""

_arrived: ContextVar[dict[tuple[int, Wanted], Array]] = ContextVar("arrived")


@final
@frozen
class Placed:
    """A source whose elements are on workers. In a task it reads the pieces given to the task."""

    number: int
    shape: Shape[Any]
    dtype: "np.dtype[Any]"
    nullable: bool = False

    @property
    def sides(self) -> "tuple[Placed, Placed] | None":
        """Sources of the values, and of the validity with the next number; None if not nullable."""
        if not self.nullable:
            return None
        valid = Placed(self.number + 1, self.shape, np.dtype(np.bool_))
        return Placed(self.number, self.shape, self.dtype), valid

    @property
    def version(self) -> str:
        """Empty: results of tasks do not change."""
        return ""

    @property
    def abilities(self) -> frozenset[Any]:
        """Abilities of the source: runs of elements, and positions of each mode."""
        return frozenset(("runs",))

    def read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        """Copy the arrived pieces of each selection."""
        arrived = _arrived.get()
        for selection, target in zip(selections, out, strict=True):
            write_elements(target, arrived[self.number, selection])
        return CompletedRead(len(selections))

    def cost(self, selection: Wanted) -> int:
        """Return the size of the elements in bytes; no others are transferred."""
        return selection.size * self.dtype.itemsize


@final
@frozen(eq=False)
class CompletedRead:
    """A read that completed synchronously."""

    count: int

    def completed(self) -> Iterator[int | None]:
        return iter(range(self.count))

    def cancel(self) -> None:
        """Do nothing, because the read is complete."""


@final
@frozen(eq=False)
class Cut:
    """A piece of a selection: the part of one chunk."""

    chunk: tuple[int, ...]
    """Number of its chunk."""
    local: Wanted
    """Its part of the chunk."""
    place: tuple[slice, ...]
    """Its place in the selection."""

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.local.size


def cuts_of(selection: Wanted, marks: Sequence[IntArray]) -> Iterator[Cut]:
    """Return the pieces of a selection, one per touched chunk; O(chunks of each mode).

    `marks` are the positions where the chunks of each mode begin, and the end; of rows, one list of the
    numbers of their first elements.
    """
    if isinstance(selection, Runs):
        yield from _cuts_of_runs(selection, marks[0])
        return
    modes = [_cuts_of_mode(own, ends) for own, ends in zip(selection.modes, marks, strict=True)]
    for pieces in itertools.product(*modes):
        yield Cut(
            tuple([number for number, _, _ in pieces]),
            Outer([local for _, local, _ in pieces]),
            tuple([place for _, _, place in pieces]),
        )


def _cuts_of_mode(positions: Any, marks: IntArray) -> list[tuple[int, Any, slice]]:  # noqa: ANN401 - range or array
    if isinstance(positions, range):
        bounds = np.clip(-((positions.start - marks) // positions.step), 0, len(positions))
    else:
        bounds = np.searchsorted(positions, marks)
    hit = np.flatnonzero(bounds[1:] > bounds[:-1])
    found: list[tuple[int, Any, slice]] = []
    for number, first, last, start in zip(
        hit.tolist(), bounds[hit].tolist(), bounds[hit + 1].tolist(), marks[hit].tolist(), strict=True
    ):
        own = positions[first:last]
        local = (
            range(own.start - start, own.stop - start, own.step) if isinstance(own, range) else own - start
        )
        found.append((number, local, slice(first, last)))
    return found


def _cuts_of_runs(selection: Runs, marks: IntArray) -> Iterator[Cut]:
    starts, ends = selection.starts, selection.ends
    before = np.cumsum(selection.lengths) - selection.lengths
    first = np.searchsorted(ends, marks[:-1], "right").tolist()
    last = np.searchsorted(starts, marks[1:], "left").tolist()
    for number, (a, b, low, high) in enumerate(
        zip(first, last, marks[:-1].tolist(), marks[1:].tolist(), strict=True)
    ):
        if a >= b:
            continue
        own, stops = np.maximum(starts[a:b], low), np.minimum(ends[a:b], high)
        filled = stops > own
        if not filled.any():
            continue
        local = Runs((own - low)[filled], (stops - own)[filled])
        at = int(before[a]) + max(low - int(starts[a]), 0)
        yield Cut((number,), local, (slice(at, at + local.size),))


def cut(chunk: Chunk, local: Wanted) -> Array:
    """Return a read-only copy of a piece of a chunk. Function of a task on the chunk's worker."""
    if isinstance(local, Runs):
        flat = chunk.elements() if isinstance(chunk, Tensor) else np.ravel(chunk)
        if len(local.starts) == 1:
            piece: Array = flat[int(local.starts[0]) : int(local.ends[0])]
        else:
            piece = flat[local.numbers()]
    else:
        piece = np.asarray(chunk)
        for mode, positions in enumerate(local.modes):
            key: Any = positions
            if isinstance(positions, range):
                key = slice(positions.start, positions.stop, positions.step)
            piece = piece[(*[slice(None)] * mode, key)]
    piece = piece.copy() if piece.base is not None and piece.size * 2 < np.size(_whole(chunk)) else piece
    piece.flags.writeable = False
    return piece


def _whole(chunk: Chunk) -> Any:  # noqa: ANN401 - an array
    return chunk.elements() if isinstance(chunk, Tensor) else chunk


@final
@frozen(eq=False)
class Recipe:
    """Assembly of a part of a view from pieces."""

    view: View[Any]
    """The part; its sources elsewhere are `Placed`."""
    wanted: tuple[tuple[int, Wanted], ...]
    """The selections that it reads: the number of the source, and the selection."""
    uses: tuple[tuple[int, tuple[slice, ...], Wanted | None], ...]
    """For each piece its selection, its place there, and its part of a chunk that is not cut."""
    as_array: bool
    """True for an array, False for a tensor."""


def put_together(recipe: Recipe, pieces: Sequence[Chunk]) -> Chunk:
    """Return the elements of a part of a view. Function of a task on the worker with most pieces."""
    arrived: dict[tuple[int, Wanted], Array] = {}
    dtypes = {own.number: own.dtype for own in _sources(recipe.view)}
    made: list[Array | None] = [None] * len(recipe.wanted)
    for (which, place, local), given in zip(recipe.uses, pieces, strict=True):
        piece = cast("Array", given) if local is None else cut(given, local)
        number, selection = recipe.wanted[which]
        if piece.shape == selection.extents:
            made[which] = piece
            continue
        whole = made[which]
        if whole is None:
            whole = made[which] = np.empty(selection.extents, dtypes[number])
        whole[place] = piece
    for (number, selection), array in zip(recipe.wanted, made, strict=True):
        if array is None and selection.size:
            raise ConversionError(f"no piece of {selection!r} has arrived")
        arrived[number, selection] = np.empty(selection.extents, dtypes[number]) if array is None else array
    token = _arrived.set(arrived)
    try:
        computed = recipe.view.compute()
    finally:
        _arrived.reset(token)
    if recipe.as_array:
        return computed.to_masked() if computed.is_nullable else computed.to_numpy()
    return computed


def _sources(view: View[Any]) -> "list[Placed]":
    return [own.source for own in view.plan().reads if isinstance(own.source, Placed)]
