"""`UnreadBlocks`: tiles whose elements are elsewhere, and are fetched when a layout needs them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Generic, Protocol, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import different
from tensorwrapper._value_class import frozen, value_class
from tensorwrapper.buffer._addresses import packed_layout
from tensorwrapper.buffer._common import BufferCommon, Dense
from tensorwrapper.buffer.blocks._blocks import Blocks, make_blocks, sparse_of_tiles
from tensorwrapper.buffer.blocks._present import PresentTiles
from tensorwrapper.buffer.blocks._symmetric_blocks import SymmetricBlocks, make_symmetric_blocks
from tensorwrapper.errors import ReadOnlyError
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.shape import BlockPattern, Symmetry
from tensorwrapper.typing import Array, IntArray
from tensorwrapper.typing import ScalarT_co as S


class Line(Protocol):
    """The elements of the stored tiles, one tile after the other, wherever they are."""

    @property
    def source(self) -> Any:  # noqa: ANN401 - what the floors above read from
        """The source that is read, of one mode."""
        ...

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        ...

    def fetch(self, places: IntArray) -> Array:
        """Return a new array of the elements at different places, which ascend."""
        ...


@final
@frozen(eq=False)
class _AtHand:
    """Elements that were fetched, as the line that they are of."""

    source: Any
    places: IntArray
    """Where they are in the line, ascending."""
    values: Array

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.values.dtype

    def fetch(self, places: IntArray) -> Array:
        return self.values[np.searchsorted(self.places, places)]


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class UnreadBlocks(BufferCommon[S], Generic[S]):
    """Tiles of a box that are stored elsewhere. The pattern is known here; elements are fetched.

    Addresses are those of `Blocks`. Each question about elements fetches those that it needs, each once, and
    keeps none. A symmetric tensor fetches one tile of each orbit.
    """

    in_tiles: ClassVar[bool] = True

    line: Line
    """Line with the elements of stored tiles."""
    index: Blocks[S]
    """Knows the places of elements in a line of all present tiles; it has no memory for them."""
    orbits: "SymmetricBlocks[S] | None"
    """Knows which stored tile each present one is a copy of, where some are not stored."""

    def __init__(self, line: Line, index: Blocks[S], orbits: "SymmetricBlocks[S] | None" = None) -> None:
        for name, value in {"line": line, "index": index, "orbits": orbits}.items():
            object.__setattr__(self, name, value)

    @property
    def dtype(self) -> "np.dtype[S]":
        """The type of the elements."""
        return self.index.dtype

    @property
    def size(self) -> int:
        """The number of addresses, which is that of the elements of the box."""
        return self.index.size

    @property
    def is_readonly(self) -> bool:
        """True: a server is written to through the tensor there."""
        return True

    @property
    def fill_value(self) -> "npt.NDArray[S]":
        """The element of every absent tile: an array of rank 0."""
        return self.index.fill_value

    def as_readonly(self) -> "UnreadBlocks[S]":
        """Return the same elements."""
        return self

    # Fetching.

    def asked_of(self, layouts: Sequence[LayoutCommon]) -> tuple[Any, IntArray]:
        every: list[IntArray] = [np.empty(0, np.int64)]
        for layout in layouts:
            if layout.shape.size == self.size and layout.is_injective:
                # All of it in any order, as a line of all elements in a plan.
                every.append(np.arange((self.index if self.orbits is None else self.orbits).values.size))
            else:
                every.append(different(self._stored_places(self._reached(layout)[1])[0]))
        return self.line.source, different(np.concatenate(every))

    def fetched_for(self, layouts: Sequence[LayoutCommon]) -> "UnreadBlocks[S]":
        _, places = self.asked_of(layouts)
        found: Array = self.line.fetch(places) if len(places) else np.empty(0, self.dtype)
        return UnreadBlocks(_AtHand(self.line.source, places, found), self.index, self.orbits)

    def _stays_whole(self, layout: LayoutCommon) -> bool:
        """Return True if a layout is all of a symmetric tensor, whose tiles stay packed."""
        return self.orbits is not None and self.orbits.packed_of(layout) is not None

    def _stored_places(self, places: IntArray) -> tuple[IntArray, IntArray | None]:
        """Return of places in a line of all present tiles those among the stored ones, and their tiles."""
        return (places, None) if self.orbits is None else self.orbits._located(places)

    def _fetched(self, places: IntArray) -> "npt.NDArray[S]":
        """Return a new array of the elements at places in a line of all present tiles."""
        own, tiles = self._stored_places(places)
        wanted = different(own)
        found: Array = self.line.fetch(wanted) if len(wanted) else np.empty(0, self.dtype)
        if len(wanted) != len(own) or not np.array_equal(wanted, own):
            found = found[np.searchsorted(wanted, own)]
        if self.orbits is not None and tiles is not None:
            self.orbits._turn_signs(found, tiles)
        return cast("npt.NDArray[S]", found)

    def _reached(self, layout: LayoutCommon) -> tuple[IntArray, IntArray]:
        """Return the ordinals at which a layout has elements, ascending, and their places in that line."""
        held, buffer = self.index.narrowed(layout.without_layers().unnamed())
        if buffer is self.index:
            return self.index._reached(layout)
        if buffer is self.index.values:
            return np.arange(held.shape.size), held.to_numpy().reshape(-1)
        return np.empty(0, np.int64), np.empty(0, np.int64)

    def brought(self, layout: LayoutCommon) -> "tuple[LayoutCommon, BufferCommon[S]]":
        # Tiles stay tiles, a tile by itself is dense, and all of a symmetric tensor stays packed.
        orbits = self.orbits
        if orbits is not None and self._stays_whole(layout):
            values = self.line.fetch(np.arange(orbits.values.size))
            return layout, make_symmetric_blocks(orbits.stored, values, orbits.symmetry, self.fill_value)
        held, buffer = self.index.narrowed(layout.without_layers().unnamed())
        packed = packed_layout(layout.shape).implementation
        if buffer is self.index.values:
            return packed, Dense(cast("Any", self._fetched(held.to_numpy().reshape(-1))))
        if buffer is not self.index:
            return packed, Dense(cast("Any", np.full(layout.shape.size, self.fill_value)))
        tiles = self.tiles_of(layout)
        if tiles is None:
            ordinals, places = self.index._reached(layout)
            return packed, sparse_of_tiles(
                ordinals, self._fetched(places), layout.shape.size, self.fill_value
            )
        own: Blocks[S] = make_blocks(tiles.pattern, Dense(cast("Any", tiles.values())), self.fill_value)
        return tiles.layout(None).implementation, own

    def tiles_of(self, layout: LayoutCommon) -> PresentTiles[S] | None:
        found = self.index.tiles_of(layout)
        if found is None:
            return None
        held = _Fetched(found.pattern.elements, self, found)
        return PresentTiles(found.pattern, cast("Dense[S]", held), self.fill_value, found.first, None)

    # Elements.

    def read(self, addresses: IntArray) -> "npt.NDArray[S]":
        flat = addresses.reshape(-1)
        places, has = self.index._locate(flat)
        result: npt.NDArray[S] = np.full(len(flat), self.fill_value, dtype=self.dtype)
        result[has] = self._fetched(places[has])
        return result.reshape(addresses.shape)

    def write(self, addresses: IntArray, values: Array) -> None:  # noqa: ARG002 - it refuses
        raise ReadOnlyError(self.why_readonly())

    def why_readonly(self) -> str:
        return "these tiles are elsewhere: compute() gives a tensor here, which can change"

    def gather(self, places: Iterator[IntArray], size: int) -> "npt.NDArray[S]":
        every = [own.reshape(-1) for own in places]
        # One request, however many batches there are.
        return self.read(np.concatenate(every) if every else np.empty(size, np.int64))

    def elements_of(self, layout: LayoutCommon) -> "npt.NDArray[S]":
        held, buffer = self.brought(layout)
        return buffer.elements_of(held)

    def own_elements_of(self, layout: LayoutCommon) -> "npt.NDArray[S]":
        held, buffer = self.brought(layout)
        return buffer.own_elements_of(held)

    def stored_of(self, layout: LayoutCommon) -> "tuple[IntArray, npt.NDArray[S]]":
        ordinals, places = self._reached(layout)
        return ordinals, self._fetched(places)

    def count_stored(self, layout: LayoutCommon) -> int:
        return len(self._reached(layout)[0])

    def symmetry_of(self, layout: LayoutCommon) -> Symmetry | None:
        return None if self.orbits is None else self.orbits.symmetry_of(layout)

    def packed_of(self, layout: LayoutCommon) -> "npt.NDArray[S] | None":
        return self.brought(layout)[1].packed_of(layout) if self._stays_whole(layout) else None

    def equals(
        self, layout: LayoutCommon, other: BufferCommon[Any], theirs: LayoutCommon, *, equal_nan: bool
    ) -> bool:
        held, buffer = self.brought(layout)
        return buffer.equals(held, other, theirs, equal_nan=equal_nan)

    def obstacle(self, layout: LayoutCommon) -> str:
        return self.index.obstacle(layout)

    def to_array(
        self,
        layout: LayoutCommon,
        dtype: "np.dtype[Any] | None" = None,
        copy: bool | None = None,  # noqa: FBT001 - as NumPy's protocol has it
    ) -> Array:
        held, buffer = self.brought(layout)
        return buffer.to_array(held, dtype, copy)

    def like(self, flat: Array) -> BufferCommon[S]:
        return self.index.like(flat)

    def pack(self, layout: LayoutCommon, *, own: bool = True) -> BufferCommon[S]:  # noqa: ARG002 - it is
        held, buffer = self.brought(layout)
        return buffer.pack(held, own=False)

    def convert(self, layout: LayoutCommon, dtype: "np.dtype[Any]", *, checked: bool) -> BufferCommon[Any]:
        held, buffer = self.brought(layout)
        return buffer.convert(held, dtype, checked=checked)

    def __repr__(self) -> str:
        return f"<UnreadBlocks buffer of {self.line.source!r}: {self.index!r}>"

    def __reduce__(self) -> "tuple[Callable[..., UnreadBlocks[Any]], tuple[object, ...]]":
        symmetry = None if self.orbits is None else self.orbits.symmetry
        return blocks_away, (self.line, self.index.pattern, self.fill_value, symmetry)


def blocks_away(
    line: Line, pattern: BlockPattern[Any], fill: Array, symmetry: Symmetry | None = None
) -> UnreadBlocks[Any]:
    """Return the buffer of present tiles whose stored ones are in a line elsewhere."""
    orbits: SymmetricBlocks[Any] | None = None
    if symmetry is not None:
        stored = pattern.unique(symmetry)
        orbits = make_symmetric_blocks(stored, _nothing(line, stored.elements), symmetry, fill)
    values: Dense[Any] = Dense(cast("Any", _nothing(line, pattern.elements)))
    return UnreadBlocks(line, make_blocks(pattern, values, fill), orbits)


def _nothing(line: Line, count: int) -> Array:
    return np.broadcast_to(np.zeros((), line.dtype), (count,))


@final
class _Fetched(BufferCommon[S], Generic[S]):
    """The elements of some tiles, one tile after the other, fetched when they are used, once."""

    __slots__ = ("_buffer", "_flat", "_size", "_tiles")

    def __init__(self, size: int, buffer: UnreadBlocks[S], tiles: PresentTiles[S]) -> None:
        self._size, self._buffer, self._tiles = size, buffer, tiles
        self._flat: Dense[S] | None = None

    @property
    def _held(self) -> Dense[S]:
        found = self._flat
        if found is None:
            places = self._tiles.source().to_numpy().reshape(-1)
            found = self._flat = Dense(cast("Any", self._buffer._fetched(places)))
        return found

    @property
    def flat(self) -> "npt.NDArray[S]":
        return self._held.flat

    @property
    def dtype(self) -> "np.dtype[S]":
        return self._buffer.dtype

    @property
    def size(self) -> int:
        return self._size

    @property
    def is_readonly(self) -> bool:
        return True

    def as_readonly(self) -> Dense[S]:
        return self._held.as_readonly()

    def read(self, addresses: IntArray) -> "npt.NDArray[S]":
        return self._held.read(addresses)

    def write(self, addresses: IntArray, values: Array) -> None:  # noqa: ARG002 - it refuses
        raise ReadOnlyError(self._buffer.why_readonly())
