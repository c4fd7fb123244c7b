"""A tensor in blocks on a server: its pattern is requested once, tiles when a selection is computed."""

from typing import Any, cast, final

import attrs
import numpy as np

from tensorwrapper._memory import memory_for
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import UnreadBlocks, blocks_away, packed_layout, rises, symmetry_for
from tensorwrapper.errors import RemoteProtocolError, TensorWrapperError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import wrap_layout
from tensorwrapper.remote.client._source import RemoteSource
from tensorwrapper.remote.protocol._elements import PRESENT, STORED, UNIQUE
from tensorwrapper.remote.protocol._events import Facts
from tensorwrapper.selection import Runs, View, as_view
from tensorwrapper.shape import BlockPattern, Shape, Symmetry, Tiled
from tensorwrapper.shape.lowlevel import make_block_pattern, make_tiling, names_of, unnamed_shape, wrap
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, IntArray


def pattern_of(facts: Facts, source: RemoteSource) -> BlockPattern[Any]:
    """Return the present tiles of a tensor on a server, with one request for 8 bytes per tile.

    Raises
    ------
    RemoteProtocolError
        If the answer is not a pattern of its tiles, or its tiles have another number of elements.
    """
    tiled = unnamed_shape(source.shape).implementation
    if not isinstance(tiled, Tiled):
        raise RemoteProtocolError("size", f"{facts.name!r} has present tiles, but its shape has none")
    tiling, count = make_tiling(tiled.partitions), cast("int", facts.present)
    if facts.box is not None and len(facts.box) == tiling.rank:
        tiling = tiling.translate_to(facts.box)
    if not 0 <= count <= min(tiling.grid.size, 2**62):
        raise RemoteProtocolError("size", f"{facts.name!r} has {count} of {tiling.grid.size} tiles")
    line = attrs.evolve(
        source, shape=Shape(count), dtype=np.dtype(np.int64), cast=PRESENT, is_whole=False, held_itemsize=8
    )
    numbers: Any = as_view(line).compute().elements()
    if not rises(numbers) or (count and not 0 <= int(numbers[0]) <= int(numbers[-1]) < tiling.grid.size):
        raise RemoteProtocolError(
            "size", f"the present tiles of {facts.name!r} do not ascend, or leave the grid"
        )
    pattern: BlockPattern[Any] = make_block_pattern(tiling, numbers)
    if pattern.elements != facts.entries:
        raise RemoteProtocolError(
            "size", f"{facts.name!r} stores {facts.entries} elements, but its tiles have {pattern.elements}"
        )
    return pattern


def symmetry_of_tiles(facts: Facts, source: RemoteSource, pattern: BlockPattern[Any]) -> Symmetry | None:
    """Return the symmetry for which a server stores one tile per orbit; None if it stores all tiles.

    Raises
    ------
    RemoteProtocolError
        If the description does not match the tiles.
    """
    if facts.symmetry is None:
        return None
    try:
        own = symmetry_for(Symmetry.parse(facts.symmetry), source.dtype)
        # Memory needed to find the orbits of all tiles.
        with memory_for(own.order * pattern.count * (pattern.rank + 2), "numbers of tiles of orbits"):
            fits = pattern.closure(own) == pattern
    except TensorWrapperError as error:
        raise RemoteProtocolError("schema", f"the symmetry of {facts.name!r} is invalid: {error}") from error
    if not fits:
        raise RemoteProtocolError("schema", f"the tiles of {facts.name!r} are not those of its symmetry")
    return own


@final
@frozen
class StoredLine:
    """Elements of the stored tiles on a server, fetched on demand."""

    source: RemoteSource

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        return self.source.dtype

    def fetch(self, places: IntArray) -> Array:
        """Return the elements at ascending, distinct places."""
        found: Array = np.empty(len(places), self.dtype)
        for _ in self.source.read([Runs(places)], [found]).completed():
            pass
        return found


class RemoteBlocks:
    """A tensor in blocks on a server. Selections know their tiles, and fetch elements when computed."""

    __slots__ = ("_line", "pattern", "tensor")

    def __init__(self, facts: Facts, source: RemoteSource, fill: Array) -> None:
        tiled = cast("Tiled", unnamed_shape(source.shape).implementation)
        self.pattern: BlockPattern[Any] = pattern_of(facts, source)
        """Pattern of the present tiles."""
        symmetry = symmetry_of_tiles(facts, source, self.pattern)
        what, pattern = STORED, self.pattern
        if symmetry is not None:
            what, pattern = UNIQUE, pattern.unique(symmetry)
        self._line: RemoteSource = attrs.evolve(
            source, shape=Shape(pattern.elements), cast=what, is_whole=False
        )
        buffer = blocks_away(StoredLine(self._line), self.pattern, fill, symmetry)
        shape: Shape[Any] = wrap(
            Tiled(self.pattern.tiling.partitions, tiled.grid.origin), names_of(source.shape)
        )
        self.tensor: Tensor[Any] = make_tensor(packed_layout(shape), buffer)
        """The whole tensor. Its elements are fetched on access."""

    def view(self, layout: Layout[Any]) -> View[Any]:
        """Return a view of the elements in a layout of the tiles; for a single tile a dense view."""
        buffer = cast("UnreadBlocks[Any]", self.tensor.buffer)
        if buffer.orbits is None:
            held, found = buffer.index.narrowed(layout.implementation.unnamed())
            if found is buffer.index.values:
                return as_view(attrs.evolve(self._line, layout=wrap_layout(held)))
            if found is not buffer.index:
                return as_view(make_tensor(wrap_layout(held), found))
        return as_view(make_tensor(layout, buffer))
