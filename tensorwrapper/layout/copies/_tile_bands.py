"""Copies between a box and its tiles, by bands of tiles: one table serves all bands of one extent."""

from typing import cast, final

import numpy as np

from tensorwrapper._arrays import different
from tensorwrapper._value_class import frozen
from tensorwrapper.layout.axes._tables import sum_table
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._strided import Strided
from tensorwrapper.layout.copies._table import Planes
from tensorwrapper.layout.tiles._tile_major import TileMajor
from tensorwrapper.typing import IntArray

_SMALL = 2048  # elements of a block up to which a table costs less than a copy of each block
_TIMES = 4  # how often a table should serve
_LARGEST = 1 << 20  # elements of a band, whose table should stay in the cache


@final
@frozen(eq=False)
class Bands:
    """A strided layout and tile-major storage of one box; ``to_tiles`` says which is the target."""

    box: Strided
    tiles: TileMajor
    to_tiles: bool

    @property
    def mode(self) -> int:
        """The mode that is slowest among the tiles."""
        return self.tiles.outer_order[-1]

    def planes(self) -> Planes:
        """Return an iterator over the extents of bands: the places in one, and where all of them begin."""
        partition = self.tiles.tiling.partitions[self.mode]
        sizes = partition.sizes
        for size in different(sizes[sizes > 0]).tolist():
            starts = partition.starts[:-1][sizes == size]
            box, tiles = self._places(size, int(starts[0]))
            corners = np.zeros((len(starts), self.tiles.shape.rank), dtype=np.int64)
            corners[:, self.mode] = starts
            leads = self._offsets(self.box, corners), self._offsets(self.tiles, corners)
            if self.to_tiles:
                yield box, tiles, leads[0], leads[1]
            else:
                yield tiles, box, leads[1], leads[0]

    @staticmethod
    def _offsets(layout: Strided | TileMajor, places: IntArray) -> IntArray:
        return layout.offsets_of(places + np.array(layout.shape.origin, dtype=np.int64))

    def _places(self, size: int, start: int) -> tuple[IntArray, IntArray]:
        """Return where the elements of a band lie in the box and in its tiles, seen from the first of it."""
        extents = list(self.box.extents)
        extents[self.mode] = 1
        line = np.stack([axis.reshape(-1) for axis in np.indices(extents)], axis=1)
        line[:, self.mode] = start
        first = self._offsets(self.tiles, line)
        # Along the mode each tile has one step.
        line[:, self.mode] += size > 1
        steps = self._offsets(self.tiles, line) - first
        tiles = first - first[0] + np.arange(size, dtype=np.int64)[:, np.newaxis] * steps
        box = self._box_places(size, extents)
        flat = tiles.reshape(-1)
        if not self.to_tiles or int(flat.max()) != len(flat) - 1:
            return box, flat
        # In the memory order of the target, so that it is written sequentially.
        sorted_box = np.empty_like(box)
        sorted_box[flat] = box
        return sorted_box, np.arange(len(flat), dtype=np.int64)

    def _box_places(self, size: int, extents: list[int]) -> IntArray:
        strides = self.box.strides
        tables = [
            np.arange(n, dtype=np.int64) * (step if n > 1 else 0)
            for n, step in zip(extents, strides, strict=True)
        ]
        tables = [np.arange(size, dtype=np.int64) * strides[self.mode], *tables]
        return sum_table(0, tables).reshape(-1)


def bands_of(source: LayoutCommon, target: LayoutCommon, count: int) -> Bands | None:
    """Return a copy between a box and its tiles by bands, if that is quicker than `count` regions."""
    first, second = (source, target) if target.tiles is not None else (target, source)
    if first.mode_strides is None or second.tiles is None:
        return None
    box, tiles = cast("Strided", first), cast("TileMajor", second)
    size = source.shape.size
    sizes = tiles.tiling.partitions[tiles.outer_order[-1]].sizes
    line = size // int(sizes.sum())
    forms = int(different(sizes).sum())
    if size > _SMALL * count or int(sizes.max()) * line > _LARGEST or forms * line * _TIMES > size:
        return None
    return Bands(box, tiles, to_tiles=target is tiles)
