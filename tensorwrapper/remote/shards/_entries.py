"""`entries_of`: read the stored entries of a sparse tensor from all holders of its parts."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tensorwrapper.buffer.lowlevel import make_sparse
from tensorwrapper.layout import Layout
from tensorwrapper.remote.shards._shard_pool import Spread
from tensorwrapper.remote.shards._source import ShardSource, found_tiles, pieces_by_tile
from tensorwrapper.selection import Wanted
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, IntArray


def entries_of(source: ShardSource, selections: Sequence[Wanted]) -> Tensor[Any]:
    """Return a sparse tensor of the shape of a source, with the stored entries within selections.

    Raises
    ------
    ShardsLostError
        If no holder has some of the tiles.
    """
    sharding = source.sharding
    extents = sharding.shape.extents
    pieces = pieces_by_tile(sharding, selections)
    found: dict[int, tuple[IntArray, Array]] = {}

    def work(spread: Spread, address: str, tiles: Sequence[int]) -> Iterator[tuple[int, Exception | None]]:
        for tile, part in itertools.chain.from_iterable(found_tiles(spread, address, tiles)):
            if isinstance(part, Exception):
                yield tile, part
                continue
            stored = part._stored_in([piece.local for _, piece in pieces[tile]])
            numbers, values = stored.buffer.stored_of(stored.layout.implementation)
            box = sharding.box_of(tile)
            local = np.unravel_index(numbers, [side.stop - side.start for side in box])
            places = np.zeros_like(numbers)
            for own, side, extent in zip(local, box, extents, strict=True):
                places = places * extent + (own + side.start)
            found[tile] = places, values
            yield tile, None

    for _ in Spread(source.pool, source.name, sharding, pieces, work).done():
        pass
    parts = found.values()
    numbers = np.concatenate([np.empty(0, np.int64), *[own for own, _ in parts]])
    values = np.concatenate([np.empty(0, sharding.dtype), *[own for _, own in parts]])
    # Entries of two tiles may interleave.
    order = np.argsort(numbers, kind="stable")
    layout = source.layout
    return make_tensor(
        Layout(sharding.shape) if layout is None else layout,
        make_sparse(
            numbers[order], values[order], sharding.size, np.asarray(sharding.fill_value)
        ).as_readonly(),
    )
