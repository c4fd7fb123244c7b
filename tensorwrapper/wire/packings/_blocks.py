"""The packing ``blocks``: which tiles are present, their elements, and one value for all others."""

import math
from typing import Any, final

import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper._json import Json
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import Blocks
from tensorwrapper.buffer.lowlevel import rises, tile_places
from tensorwrapper.shape import BlockPattern, Tiled
from tensorwrapper.shape.lowlevel import make_block_pattern, make_tiling
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire._protocol_errors import refuse
from tensorwrapper.wire.packings._packing import ElementPacking, Packed, Received, WriteOptions
from tensorwrapper.wire.packings._sparse import describe_fill, read_fill
from tensorwrapper.wire.parts._part_writer import PartWriter


@final
@frozen
class BlocksPacking(ElementPacking):
    """Takes tiles of which some are stored; they are never compressed. A box of such tiles is sparse."""

    @property
    def name(self) -> str:
        return "blocks"

    def pack(self, tensor: Tensor[Any], parts: PartWriter, options: WriteOptions) -> Packed | None:  # noqa: ARG002
        tiles = tensor.buffer.tiles_of(tensor.layout.implementation)
        if tiles is None or tiles.first is None:
            return None
        described: dict[str, Json] = {"present": parts.add_indices(tiles.pattern.ordinals())}
        describe_fill(tiles.fill, described, parts)
        places = tile_places(tiles.pattern)
        stops, offsets = places + np.diff(tiles.pattern.offsets()), tiles.pattern.offsets()

        def place_of(number: int) -> int:
            tile = int(np.searchsorted(stops, number, "right"))
            inside = max(number - int(places[tile]), 0) if tile < len(places) else 0
            return int(offsets[tile]) + inside

        return Packed(tiles.values(), described, place_of)

    def unpack(self, received: Received) -> Blocks[Any]:
        pattern = read_present(received)
        fill = read_fill(received.fields, received.values.dtype, received.parts)
        return Blocks(pattern, received.values, fill_value=fill).as_readonly()


def read_present(received: Received) -> BlockPattern[Any]:
    """Return the pattern of the stored tiles from a foreign message."""
    fields = received.fields
    shape: Any = None if received.layout is None else received.layout.shape.implementation
    if not isinstance(shape, Tiled) or received.layout is None or received.layout.is_tiled:
        refuse("layout", f"{fields} has tiles that are not contiguous")
    if shape.size > MAX_INT64 or math.prod([p.count for p in shape.partitions]) > MAX_INT64:
        refuse("limit", f"{fields} has more tiles or elements than 64 bits can count")
    tiling, what = make_tiling(shape.partitions), fields["present"]
    present = received.parts.indices(what)
    if not rises(present):
        refuse("layout", f"{what} must ascend, each greater than the one before")
    if len(present) and not 0 <= int(present[0]) <= int(present[-1]) < tiling.grid.size:
        refuse("layout", f"{what} are not from 0 to {tiling.grid.size - 1}")
    pattern: BlockPattern[Any] = make_block_pattern(tiling, present)
    if pattern.elements != len(received.values):
        refuse("size", f"{what} have {pattern.elements} elements, but there are {len(received.values)}")
    return pattern
