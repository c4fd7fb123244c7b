"""The tiled view of a strided layout: rank 2r over memory that stays as it is.

Element ``(t..., e...)`` is element ``marks[t] + e`` of the layout underneath. Nothing is stored but the
partitions, so memory is the sum of the tiles per mode and never their product.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array, shared_table
from tensorwrapper._integers import to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.layout.axes._tables import sum_table
from tensorwrapper.layout.boxes._common import LayoutCommon, TileView, check_region
from tensorwrapper.layout.boxes._keys import Positional, expand_positional, is_whole, parse_positional
from tensorwrapper.layout.boxes._strided import Strided, new_strided
from tensorwrapper.layout.cells._blocked import Blocked
from tensorwrapper.layout.cells._cell_layout import CellLayout
from tensorwrapper.layout.cells._cells import check_reach
from tensorwrapper.layout.cells._parts import split_items
from tensorwrapper.shape import Partition, Shape, Tiled, Tiling
from tensorwrapper.shape.lowlevel import make_tiling, to_index, to_index_array, to_permutation, wrap
from tensorwrapper.typing import Extents, Index, IntArray, PositionalItem, PositionalKey


@final
@frozen
class TiledStrided(CellLayout):
    """The layout `under`, over a box, seen through a tiling of that box."""

    tiling: Tiling
    under: Strided
    grid_origin: Index

    @property
    def shape(self) -> Shape[Any]:
        return wrap(Tiled(self.tiling.partitions, self.grid_origin))

    @property
    def offset(self) -> int:
        return self.under.offset

    def bounds(self) -> tuple[int, int]:
        return self.under.bounds()

    @property
    def is_contiguous(self) -> bool:
        if not self.under.shape.size:
            return True
        cut: list[int] = []  # modes whose tiles have one element: their tile number runs
        whole: list[int] = []  # modes in one tile: their place in it runs
        both: list[int] = []
        for mode, partition in enumerate(self.tiling.partitions):
            if partition.extent > 1:
                widest, tiles = partition.bounds()[1], int(np.count_nonzero(partition.sizes))
                (cut if widest == 1 else whole if tiles == 1 else both).append(mode)
        # Between tile number and place of one mode nothing else may run: it would come between neighbours.
        first, last = max(cut, default=-1), min(whole, default=self.tiling.rank)
        if len(both) > 1 or not all(first < mode < last for mode in both):
            return False
        # The rest is like a box whose modes are in this order.
        rest = [mode for mode, partition in enumerate(self.tiling.partitions) if partition.extent == 1]
        return self.under.permute(cut + both + whole + rest).is_contiguous

    @property
    def is_injective(self) -> bool:
        return self.under.is_injective

    def elements_of(self, indices: npt.ArrayLike) -> IntArray:
        """Return the absolute elements that an ``(..., 2 * rank)`` array of tiled indices names."""
        array = to_index_array(indices, 2 * self.tiling.rank)
        inside = self.shape.contains(array)
        if not inside.all():
            place = np.unravel_index(int(np.argmin(inside)), inside.shape)
            raise OutOfBoundsError(f"index {tuple(array[place].tolist())} is not in {self.shape}")
        rank = self.tiling.rank
        columns = [
            marks[array[..., k] - start] + array[..., rank + k]
            for k, (marks, start) in enumerate(zip(self.tiling.marks, self.grid_origin, strict=True))
        ]
        return np.stack(columns, axis=-1)

    def moved_to(self, shape: Shape[Any]) -> LayoutCommon:
        implementation = shape.implementation
        if isinstance(implementation, Tiled):
            return TiledStrided(self.tiling, self.under, implementation.grid.origin)
        # Tiles whose own indices do not start at zero are cells like any others.
        return self.as_blocked().moved_to(shape)

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        rank = self.tiling.rank
        numbers = to_index(index, 2 * rank)
        if numbers not in self.shape:
            raise OutOfBoundsError(f"index {numbers} is not in {self.shape}")
        tile = self.tile(numbers[:rank]).shape
        return self.under.offset_of([o + e for o, e in zip(tile.origin, numbers[rank:], strict=True)])

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        return self.under.offsets_of(self.elements_of(indices))

    def index_of(self, offset: SupportsIndex) -> Index:
        wanted, under = to_int(offset, "an offset"), self.under
        element = under.index_of(wanted)
        if not under.is_injective:
            # The element that comes first in the box need not be in the tile that comes first.
            for mode, marks in enumerate(self.tiling.marks):
                under = _first_part(under, mode, marks, wanted)
            element = under.index_of(wanted)
        return self._tiled_index(element)

    def _tiled_index(self, element: Index) -> Index:
        number = self.tiling.tile_of(element)
        tile = self.tiling.tile(number)
        inner = tuple([i - start for i, start in zip(element, tile.origin, strict=True)])
        return tuple([k + start for k, start in zip(number, self.grid_origin, strict=True)]) + inner

    def to_numpy(self) -> IntArray:
        return self.offsets_of(self.shape.indices().to_numpy())

    def at(self, key: PositionalKey) -> LayoutCommon:
        rank = self.tiling.rank
        plain = self._tile_at(key, (0,) * rank)
        if plain is not None:
            extents, _, offset = plain
            return new_strided(extents, (0,) * rank, self.under.strides, offset)
        heads, tails = split_items(expand_positional(key, 2 * rank), rank)
        outer = parse_positional(tuple(heads), self.tiling.grid.extents)
        new = [entry for entry in outer if entry is None]
        numbers = [entry for entry in outer if isinstance(entry, int)]
        if len(numbers) == rank:
            tile = self.under.window(self.tiling.tile(numbers))
            inside = Strided(tile.shape.zero_based(), tile.strides, tile.offset)
            lead = tuple([k + start for k, start in zip(numbers, self.grid_origin, strict=True)])
            return inside.at((*new, *tails), lead)
        runs = [entry for entry in outer if isinstance(entry, tuple) and entry[1] == 1]
        if new or len(runs) < rank or not all(map(is_whole, tails)):
            return self._cover(outer, tails)
        parts = zip(self.tiling.partitions, runs, strict=True)
        tiling = make_tiling(tuple([p.run(start, start + count) for p, (start, _, count) in parts]))
        return TiledStrided(tiling, self.under.window(tiling.elements), (0,) * rank)

    def _cover(self, outer: Sequence[Positional], tails: Sequence[PositionalItem]) -> LayoutCommon:
        """Return the layout of parts of tiles, by a table of those in the box that covers them."""
        partitions: list[Partition] = []
        firsts: list[int] = []
        key: list[PositionalItem] = []
        for entry in outer:
            if entry is None:
                key.append(None)
                continue
            start, step, count = (entry, 1, 1) if isinstance(entry, int) else entry
            last = start + step * (count - 1)
            low, high = (min(start, last), max(start, last) + 1) if count else (0, 0)
            mode = len(firsts)
            partitions.append(self.tiling.partitions[mode].run(low, high))
            firsts.append(self.grid_origin[mode] + low)
            stop = last - low + (1 if step > 0 else -1)
            rest = slice(start - low, None if stop < 0 else stop, step) if count else slice(0, 0)
            key.append(0 if isinstance(entry, int) else rest)
        tiling = make_tiling(tuple(partitions))
        part = TiledStrided(tiling, self.under.window(tiling.elements), tuple(firsts))
        return part.as_blocked().at((*key, *tails))

    def as_blocked(self) -> Blocked:
        """Return the same layout as a table of tiles; O(tiles)."""
        check_reach(*self.under.bounds())
        parts, some = self.tiling.partitions, self.shape.size > 0
        # A stride that is never taken may be of any size, and so may the offset if there is no element.
        pairs = zip(parts, self.under.strides, strict=True)
        steps = [step if some and p.extent > 1 else 0 for p, step in pairs]
        firsts = [p.starts[:-1] * step for p, step in zip(parts, steps, strict=True)]
        starts = sum_table(self.under.offset if some else 0, firsts).reshape(-1)
        return Blocked(self.shape, frozen_array(starts), shared_table(tuple(steps), len(starts)))

    def cell(self, number: int) -> Strided:
        numbers = self.tiling.grid.index(number)
        tile = self.tile([k + start for k, start in zip(numbers, self.grid_origin, strict=True)])
        return Strided(tile.shape.zero_based(), tile.strides, tile.offset)

    def _tile_at(self, numbers: object, first: Index) -> tuple[Extents, Index, int] | None:
        """Return extents, origin and offset of the tile that plain integers name; None if they name none."""
        partitions = self.tiling.partitions
        if type(numbers) is not tuple:
            return None
        given, under = cast("tuple[object, ...]", numbers), self.under
        if len(given) != len(partitions):
            return None
        extents: list[int] = []
        origin: list[int] = []
        offset = under.offset
        modes = zip(given, first, partitions, under.origin, under.strides, strict=True)
        for number, start, partition, base, stride in modes:
            marks = partition.marks
            place = number - start if type(number) is int else -1
            if not 0 <= place < len(marks) - 1:
                return None
            low = marks.item(place)
            extents.append(marks.item(place + 1) - low)
            origin.append(low)
            offset += (low - base) * stride
        return tuple(extents), tuple(origin), offset if 0 not in extents else under.offset

    def tile(self, number: Iterable[SupportsIndex]) -> Strided:
        """Return the layout of one tile, with the offsets of its elements."""
        plain = self._tile_at(number, self.grid_origin)
        if plain is not None:
            extents, origin, offset = plain
            return new_strided(extents, origin, self.under.strides, offset)
        numbers = to_index(number, self.tiling.rank)
        places = [k - start for k, start in zip(numbers, self.grid_origin, strict=True)]
        return self.under.window(self.tiling.tile(places))

    def window(self, region: Shape[Any]) -> LayoutCommon:
        check_region(region, self.shape, "a part of it (slice its shape for the region)")
        rank = self.tiling.rank
        box = region.as_smooth()
        grid_origin, counts = box.origin[:rank], box.extents[:rank]
        rest = [(None, None)] * rank
        ends = [(o, o + n) for o, n in zip(grid_origin, counts, strict=True)]
        firsts = [o - start for o, start in zip(grid_origin, self.grid_origin, strict=True)]
        runs = list(zip(self.tiling.partitions, firsts, counts, strict=True))
        # The slice raises if the region leaves this shape, but not in modes that no tile leads to.
        whole = self.shape[tuple([slice(*pair) for pair in (*ends, *rest)])] == region
        if not whole or any(first < 0 or first + n > p.count for p, first, n in runs):
            return self.as_blocked().window(region)
        tiling = make_tiling(tuple([p.run(first, first + n) for p, first, n in runs]))
        return TiledStrided(tiling, self.under.window(tiling.elements), grid_origin)

    @property
    def tiled(self) -> TileView:
        return TileView(self.tiling, self.under, self.grid_origin)

    def expression(self) -> str:
        under = self.under.expression()
        if any(self.grid_origin):
            return f"<Layout of {self.shape!r}: {under} in tiles>"
        return f"{under}.as_tiled({self.tiling!r})"

    def permute(self, order: Iterable[SupportsIndex]) -> LayoutCommon:
        """Return the layout with the modes permuted: a tiled view if tile modes and inner modes go alike."""
        rank = self.tiling.rank
        modes = to_permutation(order, 2 * rank)
        front = modes[:rank]
        if sorted(front) != list(range(rank)) or modes[rank:] != tuple([m + rank for m in front]):
            return self.as_blocked().permute(modes)
        if front == tuple(range(rank)):
            return self
        tiling = make_tiling(tuple([self.tiling.partitions[m] for m in front]))
        return TiledStrided(tiling, self.under.permute(front), tuple([self.grid_origin[m] for m in front]))


def _first_part(box: Strided, mode: int, marks: IntArray, offset: int) -> Strided:
    """Return the part of a box between the first two marks of a mode that have an element at an offset."""

    def until(stop: int, start: int = 0) -> Strided:
        extents = list(box.extents)
        extents[mode] = stop - start
        base = box.offset + start * box.strides[mode]
        origin = [place + start * (m == mode) for m, place in enumerate(box.origin)]
        return new_strided(tuple(extents), tuple(origin), box.strides, base)

    ends = (marks[1:] - box.origin[mode]).tolist()
    tile = bisect_left(range(len(ends)), True, key=lambda tile: _holds(until(ends[tile]), offset))
    return until(ends[tile], ends[tile - 1] if tile else 0)


def _holds(box: Strided, offset: int) -> bool:
    try:
        box.index_of(offset)
    except OutOfBoundsError:
        return False
    return True
