"""`lengths_of`: read the starts and lengths of rows from all of their holders."""

import itertools
from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np

from tensorwrapper.remote.client._tensor import RemoteTensor
from tensorwrapper.remote.shards._shard_pool import Spread
from tensorwrapper.remote.shards._source import ShardSource, found_tiles
from tensorwrapper.remote.shards._split_selection import cuts_of
from tensorwrapper.selection import Runs
from tensorwrapper.typing import IntArray


def _rows_of(tensor: RemoteTensor, rows: Runs) -> tuple[IntArray, IntArray]:
    """Return where runs of rows begin in a tensor, and the lengths of all of the rows."""
    if tensor._facts.rows is not None:
        starts, lengths, _ = tensor._rows(rows)
        return starts, lengths
    # Rows of one length have a shape that says so in a word.
    lengths = tensor.shape.cell_table().extents[:, 0]
    return (np.cumsum(lengths) - lengths)[rows.starts], lengths[rows.numbers()]


def lengths_of(source: ShardSource, rows: Runs) -> tuple[IntArray, IntArray]:
    """Return where runs of rows begin among the elements of all, and the lengths of all of the rows.

    Raises
    ------
    ShardsLostError
        If no holder has some of them.
    """
    sharding = source.sharding
    pieces = {piece.tile: piece for piece in cuts_of(rows, [sharding.row_marks])}
    elements = sharding.tiling.marks[0]
    starts = np.empty(rows.size, np.int64)
    lengths = np.empty(rows.size, np.int64)

    def work(spread: Spread, address: str, tiles: Sequence[int]) -> Iterator[tuple[int, Exception | None]]:
        for tile, found in itertools.chain.from_iterable(found_tiles(spread, address, tiles)):
            if isinstance(found, Exception):
                yield tile, found
                continue
            local, place = cast("Runs", pieces[tile].local), pieces[tile].place
            begins, own = _rows_of(found, local)
            before = np.cumsum(own) - own
            # Rows of a run are contiguous, so only its first has a separate start.
            first = np.cumsum(local.lengths) - local.lengths
            shift = begins - before[first]
            starts[place] = elements[tile] + before + np.repeat(shift, local.lengths)
            lengths[place] = own
            yield tile, None

    for _ in Spread(source.pool, source.name, sharding, pieces, work).done():
        pass
    return starts[np.cumsum(rows.lengths) - rows.lengths], lengths
