"""`ElementReader`: the elements of a served tensor, in its order or in that of the box under its tiles."""

import sys
from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final, cast, final

import numpy as np

from tensorwrapper._value_class import evolve
from tensorwrapper.errors import ComputationCancelledError, RequestRefusedError
from tensorwrapper.remote.protocol._elements import PRESENT, STORED, UNIQUE
from tensorwrapper.remote.served._fast_gather import memory_of
from tensorwrapper.remote.served._tile_reader import tiles_of
from tensorwrapper.remote.served._view_source import ViewSource
from tensorwrapper.remote.served._writing import store_values
from tensorwrapper.selection import Outer, Runs, Source, TensorSource, View, Wanted, as_view
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.typing import Array, IntArray

if TYPE_CHECKING:
    from tensorwrapper.selection import Cancel, ViewLike

_PARTS: Final = 256
_FEW: Final = 2**16
"""Limit on the bytes of several selections that the socket thread reads itself."""
_SCANNED: Final = 2**16
"""Entries that are read at a time."""


@final
class ElementReader:
    """Elements of a tensor, or of an argument of `as_view`. Callers hold the lock that editing takes.

    With `kept`, a view of sparse tensors is computed, so that its stored entries are known.
    """

    __slots__ = (
        "_entries",
        "_in_tiles",
        "_memory",
        "_parts",
        "_sparse",
        "_tiles",
        "given",
        "source",
        "tensor",
    )

    def __init__(self, given: "ViewLike", *, kept: bool = False) -> None:
        tensor = _tensor_of(given)
        self.given: ViewLike = as_view(given) if tensor is None else tensor
        """The served tensor, or a view of it."""
        self._sparse: View[Any] | None = None
        if tensor is None and kept and as_view(given).is_sparse:
            self._sparse = as_view(given)
            tensor = self._sparse.compute()
        self.tensor: Tensor[Any] | None = tensor
        self.source: Source = ViewSource(as_view(given)) if tensor is None else TensorSource(tensor)
        self._memory = None if tensor is None else memory_of(tensor)
        self._tiles = None if tensor is None or self._memory else tiles_of(tensor)
        self._entries: tuple[IntArray, Array] | None = None
        self._in_tiles: tuple[ElementReader, ElementReader] | None = None
        self._parts: dict[int, tuple[Sequence[Wanted], Array]] = {}
        """Cached parts of the memory, by identity of their selections."""

    @property
    def shape(self) -> Shape[Any]:
        """The indices of the elements."""
        return self.source.shape

    @property
    def line(self) -> Array | None:
        """The elements as a flat array in wire format; None if memory has another order or format."""
        flat = None if self._memory is None else self._memory.flat
        return flat if sys.byteorder == "little" else None

    def is_quick(self, selections: Sequence[Wanted]) -> bool:
        """Return True if reading selections takes less time than passing them to another thread."""
        memory = self._memory
        few = (
            len(selections) == 1 or sum([own.size for own in selections]) * self.source.dtype.itemsize <= _FEW
        )
        return few and memory is not None and all(map(memory.is_quick, selections))

    def check(self, selections: Sequence[Wanted], itemsize: int, most: int) -> None:
        """Refuse selections that are out of bounds, or exceed the limit on bytes with this element size."""
        shape, total = self.shape, 0
        for wanted in selections:
            total += wanted.size
            if isinstance(wanted, Runs):
                if wanted.stop > shape.size:
                    raise RequestRefusedError(
                        "bounds", f"element {wanted.stop - 1} is out of bounds for {shape.size}"
                    )
                continue
            if not shape.is_box or len(wanted.modes) != shape.rank:
                raise RequestRefusedError(
                    "bounds",
                    f"positions of {len(wanted.modes)} modes cannot select from {shape.kind} "
                    f"rank {shape.rank}; use element numbers",
                )
            for mode, (own, extent) in enumerate(zip(wanted.modes, shape.extents, strict=True)):
                if len(own) and int(own[-1]) >= extent:
                    raise RequestRefusedError(
                        "bounds", f"position {own[-1]} is out of bounds for {extent} in mode {mode}"
                    )
        if itemsize and total * itemsize > max(most, itemsize):
            raise RequestRefusedError(
                "limit", f"the request is for {total * itemsize} bytes, but the limit is {most}"
            )

    def part(self, selections: Sequence[Wanted], most: int) -> Array | None:
        """Return a small contiguous part of memory for one selection; None for other selections.

        Fast path, cached by identity for repeated requests of the same object.
        """
        known = self._parts.get(id(selections))
        if known is not None:
            return known[1]
        memory = self._memory
        if memory is None or len(selections) != 1:
            return None
        (wanted,) = selections
        if not isinstance(wanted, Outer) or not memory.is_few(wanted):
            return None
        self.check(selections, self.source.dtype.itemsize, most)
        part = memory.part(wanted)
        if part is not None:
            if len(self._parts) >= _PARTS:
                self._parts.clear()
            # Keep the object alive, so that its id stays unique.
            self._parts[id(selections)] = (selections, part)
        return part

    def copy_to(self, selections: Sequence[Wanted], targets: Sequence[Array], stop: "Cancel | None") -> None:
        """Copy the elements of selections to contiguous arrays."""
        memory = self._memory
        if memory is not None and all(map(memory.knows, selections)):
            for wanted, target in zip(selections, targets, strict=True):
                memory.copy_to(wanted, target)
            return
        tiles, left = self._tiles, list(zip(selections, targets, strict=True))
        if tiles is not None:
            for wanted, target in left:
                if isinstance(wanted, Runs) and tiles.knows(wanted):
                    tiles.copy_to(wanted, target)
            left = [own for own in left if not (isinstance(own[0], Runs) and tiles.knows(own[0]))]
        if not left:
            return
        source = evolve(self.source, stop=stop) if isinstance(self.source, ViewSource) else self.source
        handle = source.read([own for own, _ in left], [own for _, own in left])
        for _ in handle.completed():
            if stop is not None and stop.is_set():
                handle.cancel()
                raise ComputationCancelledError("the client cancelled the request")

    def store(self, selections: Sequence[Wanted], values: Sequence[Array]) -> None:
        """Store values in selections of a tensor, all or none."""
        tensor = self.tensor
        if tensor is None or self._sparse is not None:
            raise RequestRefusedError("readonly", "cannot write to a view")
        store_values(tensor, selections, values)

    @property
    def is_writable(self) -> bool:
        """True if elements are in writable memory, each at one position."""
        tensor = self.tensor if self._sparse is None else None
        return tensor is not None and not tensor.is_readonly and tensor.layout.is_injective

    # Stored entries of a sparse tensor.

    def stored(self) -> tuple[IntArray, Array]:
        """Return the row-major numbers of the stored entries, which ascend, and their elements."""
        found = self._entries
        if found is None:
            tensor = self.tensor
            if tensor is None:
                raise RequestRefusedError("unsupported", "a view has no entries")
            ordinals, values = tensor.buffer.stored_of(tensor.layout.implementation)
            if (ordinals[1:] < ordinals[:-1]).any():
                order = np.argsort(ordinals)
                ordinals, values = ordinals[order], values[order]
            found = self._entries = ordinals, values
        return found

    def count_present(self) -> int | None:
        """Return the number of present tiles of a tensor in blocks; None for others."""
        tensor = self.tensor
        tiles = None if tensor is None else tensor.buffer.tiles_of(tensor.layout.implementation)
        return None if tiles is None or tiles.first is None else tiles.pattern.count

    def symmetry(self) -> str | None:
        """Return the symmetry text of a tensor with packed elements in memory; None for others."""
        if self._packed() is None:
            return None
        own = cast("Any", self.tensor).symmetry
        return None if own.is_trivial or own.is_zero else str(own)

    def _packed(self) -> Array | None:
        """Return the packed elements of a symmetric box or of symmetric tiles; None for others."""
        tensor = self.tensor
        if tensor is None or not tensor.buffer.stores_orbits:
            return None
        # Clients do not know the tiling of a box.
        if tensor.buffer.in_tiles and tensor.shape.is_box:
            return None
        return tensor.buffer.packed_of(tensor.layout.implementation)

    def line_of(self, what: str) -> "ElementReader":
        """Return one of `LINES`: numbers of tiles, or stored elements."""
        tensor, packed = self.tensor, self._packed()
        in_tiles = tensor is not None and tensor.buffer.in_tiles
        if what == UNIQUE and not (in_tiles and packed is not None):
            raise RequestRefusedError("unsupported", "no tiles are stored for others")
        if packed is not None and (what == UNIQUE or (what == STORED and not in_tiles)):
            return ElementReader(as_tensor(packed))
        return self._stored_tiles(numbers=what == PRESENT)

    def _stored_tiles(self, *, numbers: bool) -> "ElementReader":
        """Return the elements of the present tiles, one tile after the other, or the numbers of the tiles."""
        found = self._in_tiles
        if found is None:
            tensor = self.tensor
            tiles = None if tensor is None else tensor.buffer.tiles_of(tensor.layout.implementation)
            if tiles is None or tiles.first is None:
                raise RequestRefusedError("unsupported", "no tiles are stored by themselves")
            lines = (tiles.pattern.ordinals(), tiles.values())
            found = self._in_tiles = cast("Any", tuple(ElementReader(as_tensor(own)) for own in lines))
        return found[0] if numbers else found[1]

    def stored_in(
        self, selections: Sequence[Wanted], most: int, stop: "Cancel | None" = None
    ) -> tuple[list[int], IntArray, Array]:
        """Return the number of stored entries per selection, and the ordinals and values of all.

        Runs are looked up in O(log entries) each. Of more runs than entries, all entries are read once.

        Raises
        ------
        RequestRefusedError
            If there are more than `most` entries; no more are collected.
        ComputationCancelledError
            If `stop` is set.
        """
        ordinals, values = self.stored()
        found: list[list[IntArray]] = [[] for _ in selections]
        scanned: list[int] = []
        total = 0
        for number, wanted in enumerate(selections):
            runs = _runs_of(wanted, self.shape, len(ordinals))
            if runs is None:
                scanned.append(number)
                continue
            first, after = (np.searchsorted(ordinals, edge) for edge in runs)
            total = _checked_total(total + int((after - first).sum()), most)
            found[number].append(places_of(first, after - first))
        for number, places in _scan(ordinals, [selections[own] for own in scanned], self.shape):
            if stop is not None and stop.is_set():
                raise ComputationCancelledError("the client cancelled the request")
            total = _checked_total(total + len(places), most)
            found[scanned[number]].append(places)
        every = np.concatenate([np.empty(0, np.int64), *[own for parts in found for own in parts]])
        return [sum(map(len, parts)) for parts in found], ordinals[every], values[every]

    def forget(self) -> None:
        """Drop caches of the elements, which have been edited."""
        self._entries = self._in_tiles = None
        if self._sparse is not None:
            self.tensor = self._sparse.compute()
            self.source = TensorSource(self.tensor)


def _tensor_of(given: "ViewLike") -> Tensor[Any] | None:
    """Return the tensor in memory; None for views and other sources."""
    value = cast("object", given)
    if isinstance(value, Tensor):
        return cast("Tensor[Any]", value)
    return None if isinstance(value, View) else as_view(given).expression.node.tensor


def places_of(starts: IntArray, counts: IntArray) -> IntArray:
    """Return the numbers of all elements of runs. The caller knows that no count is negative."""
    places = np.repeat(starts - counts.cumsum() + counts, counts)
    places += np.arange(len(places), dtype=np.int64)
    return places


def _checked_total(total: int, most: int) -> int:
    if total > most:
        raise RequestRefusedError("limit", f"over {most} entries are too many for one answer")
    return total


def _runs_of(wanted: Wanted, shape: Shape[Any], entries: int) -> tuple[IntArray, IntArray] | None:
    """Return where the runs of a selection begin and end; None if there are more of them than entries."""
    if isinstance(wanted, Runs):
        many = wanted.even is not None and len(wanted.even) > max(entries, _SCANNED)
        return None if many else (wanted.starts, wanted.ends)
    starts, width = np.zeros(1, np.int64), 1
    pairs = [*zip(wanted.modes, shape.extents, strict=True)]
    while pairs and isinstance(pairs[-1][0], range) and pairs[-1][0] == range(pairs[-1][1]):
        width *= pairs.pop()[1]
    length = width
    if pairs and isinstance(pairs[-1][0], range) and len(pairs[-1][0]) and pairs[-1][0].step == 1:
        positions, count = pairs.pop()
        starts, length, width = np.array([positions[0] * width]), len(positions) * width, width * count
    if prod([len(positions) for positions, _ in pairs]) > max(entries, _SCANNED):
        return None
    for positions, count in reversed(pairs):
        starts = np.add.outer(np.asarray(positions, np.int64) * width, starts).reshape(-1)
        width *= count
    return starts, starts + length


def _scan(
    ordinals: IntArray, selections: Sequence[Wanted], shape: Shape[Any]
) -> Iterator[tuple[int, IntArray]]:
    """Yield the numbers of selections and which entries they have, block by block of entries."""
    for start in range(0, len(ordinals) if selections else 0, _SCANNED):
        own = ordinals[start : start + _SCANNED]
        indices = np.unravel_index(own, shape.extents)
        for number, wanted in enumerate(selections):
            yield number, start + np.flatnonzero(_within(wanted, own, indices))


def _within(
    wanted: Wanted, ordinals: IntArray, indices: tuple[IntArray, ...]
) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Return a mask of the entries within a selection of many runs."""
    if isinstance(wanted, Runs):
        even = cast("range", wanted.even)
        kept: np.ndarray[Any, np.dtype[np.bool_]] = (ordinals - even[0]) % even.step < wanted.size // len(
            even
        )
        kept &= (ordinals >= even[0]) & (ordinals < even[-1] + even.step)
        return kept
    kept = np.ones(len(ordinals), np.bool_)
    for own, positions in zip(indices, wanted.modes, strict=True):
        if isinstance(positions, range):
            kept &= (own >= positions.start) & (own < positions.stop)
            kept &= (own - positions.start) % positions.step == 0
        else:
            place = np.minimum(np.searchsorted(positions, own), len(positions) - 1)
            kept &= positions[place] == own
    return kept
