"""A tensor in blocks at a server: its pattern comes once, and the present tiles of a selection."""

from typing import Any, cast

import attrs
import numpy as np

from tensorwrapper.buffer import Blocks, Dense
from tensorwrapper.buffer.lowlevel import make_blocks, packed_layout, rises
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.layout import Layout, LayoutCommon
from tensorwrapper.layout.lowlevel import wrap_layout
from tensorwrapper.remote.client._source import RemoteSource
from tensorwrapper.remote.protocol._elements import PRESENT, STORED
from tensorwrapper.remote.protocol._events import Facts
from tensorwrapper.selection import View, as_view
from tensorwrapper.shape import BlockPattern, Shape, Tiled
from tensorwrapper.shape.lowlevel import make_block_pattern, make_tiling, names_of, unnamed_shape, wrap
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array

__all__ = ["RemoteBlocks", "pattern_of"]


def pattern_of(facts: Facts, source: RemoteSource) -> BlockPattern[Any]:
    """Return which tiles of a tensor at a server are present; one request of 8 bytes for each.

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
            "size", f"{facts.name!r} stores {facts.entries} elements, and its tiles have {pattern.elements}"
        )
    return pattern


class RemoteBlocks:
    """The present tiles of a tensor at a server, of which selections are brought here."""

    __slots__ = ("_index", "_line", "pattern", "shape")

    def __init__(self, source: RemoteSource, pattern: BlockPattern[Any], fill: Array) -> None:
        tiled = cast("Tiled", unnamed_shape(source.shape).implementation)
        self.shape: Shape[Any] = wrap(
            Tiled(pattern.tiling.partitions, tiled.grid.origin), names_of(source.shape)
        )
        self.pattern: BlockPattern[Any] = pattern
        """Which tiles are present."""
        self._line = attrs.evolve(source, shape=Shape(pattern.elements), cast=STORED, is_whole=False)
        # A buffer of that pattern knows the places of elements. These take no memory here.
        nothing = np.broadcast_to(np.zeros((), source.dtype), (pattern.elements,))
        self._index: Blocks[Any] = make_blocks(pattern, Dense(cast("Any", nothing)), fill)

    def view(self, layout: Layout[Any] | None = None) -> "View[Any] | None":
        """Return the elements that a layout of the tiles reaches, brought here; None if it has no tiling."""
        wanted = packed_layout(self.shape) if layout is None else layout
        held, buffer = self._index.narrowed(wanted.implementation.unnamed())
        if buffer is self._index.values:
            # A tile by itself is dense.
            flat = Dense(cast("Any", self._read(held, held.shape.size))).as_readonly()
            return as_view(make_tensor(packed_layout(wanted.shape), flat))
        if buffer is not self._index:
            return as_view(make_tensor(wrap_layout(held), buffer))
        tiles = self._index.tiles_of(wanted.implementation)
        if tiles is None:
            return None
        values = Dense(cast("Any", self._read(tiles.source(), tiles.pattern.elements)))
        found = make_blocks(tiles.pattern, values, tiles.fill).as_readonly()
        return as_view(make_tensor(tiles.layout(names_of(wanted.shape)), found))

    def _read(self, layout: LayoutCommon, size: int) -> Array:
        """Return the elements that a layout reaches in the line of all that are stored."""
        if not size:
            return np.empty(0, self._line.dtype)
        seen: Any = as_view(attrs.evolve(self._line, layout=wrap_layout(layout)))
        return cast("Array", seen.compute().elements())
