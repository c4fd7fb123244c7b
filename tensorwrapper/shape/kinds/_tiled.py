"""Tiled shapes: jagged shapes whose extents are a product of per-mode partitions.

The outer modes number the tiles, the inner modes the elements of a tile, from 0. Nothing is stored but the
partitions, so memory is the sum of the tiles per mode and never their product; ordinals have a closed form.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, SupportsIndex, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import digest_of, frozen_array, run_of
from tensorwrapper._integers import MAX_INT64, to_int, to_ints
from tensorwrapper._memory import memory_for
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import OutOfBoundsError, RankError, SizeOverflowError
from tensorwrapper.shape.boxes._common import (
    to_index,
    to_index_array,
    to_ordinal_array,
    walk_batches,
)
from tensorwrapper.shape.boxes._keys import WHOLE, Entry, check_ascending, mode_count, mode_of
from tensorwrapper.shape.boxes._smooth import (
    Smooth,
    SmoothCommon,
    SmoothView,
    box_ordinal,
    check_inside,
    make_smooth,
    to_permutation,
)
from tensorwrapper.shape.kinds._jagged import JaggedCommon
from tensorwrapper.shape.rows._canonical import MOST_ROWS_OF_TOKENS, tiled_token, token_of
from tensorwrapper.shape.rows._columns import Origins, check_int64
from tensorwrapper.shape.rows._partition import Partition
from tensorwrapper.shape.rows._rearrange import build_rows
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import Extents, Index, IntArray, Order


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Tiled(JaggedCommon):
    """The shape of a tiled box, of twice its rank.

    Parameters
    ----------
    partitions
        The partition of each mode of the box.
    grid_origin
        The number of the first tile in each mode; a slice of the outer modes keeps its numbers.
    """

    _partitions: tuple[Partition, ...] = attrs.field(alias="partitions")
    _grid_origin: Index = attrs.field(alias="grid_origin")
    _rows: Rows | None = attrs.field(default=None, init=False)

    if TYPE_CHECKING:

        def __init__(self, partitions: tuple[Partition, ...], grid_origin: Index) -> None: ...

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """The partition of each mode of the box."""
        return self._partitions

    @property
    def grid(self) -> Smooth:
        """The tile numbers, as a box."""
        return make_smooth(tuple([p.count for p in self._partitions]), self._grid_origin)

    @property
    def rows(self) -> Rows:
        """The shape as columns, one row per tile: made when first asked for, then remembered."""
        rows = self._rows
        if rows is None:
            with memory_for(len(self._partitions) * self.grid.size, "extents of tiles"):
                rows = self._make_rows()
            object.__setattr__(self, "_rows", rows)
        return rows

    def _make_rows(self) -> Rows:
        levels: list[tuple[IntArray, Origins]] = []
        n_nodes = 1
        for partition, start in zip(self._partitions, self._grid_origin, strict=True):
            levels.append((np.full(n_nodes, partition.count), start))
            n_nodes *= partition.count
        sizes = np.meshgrid(*[p.sizes for p in self._partitions], indexing="ij")
        leaf = np.stack([s.reshape(-1) for s in sizes], axis=1)
        return build_rows(levels, leaf, [0] * len(self._partitions))

    # Closed forms: what follows overrides the derived methods for speed, and gives the same answers.

    @property
    def rank(self) -> int:
        return 2 * len(self._partitions)

    @property
    def outer_rank(self) -> int:
        return len(self._partitions)

    @property
    def size(self) -> int:
        return math.prod([p.extent for p in self._partitions])

    @property
    def origin(self) -> Index:
        return self._grid_origin + (0,) * len(self._partitions)

    @property
    def _has_tiles(self) -> bool:
        return all(p.count for p in self._partitions)

    def bounding_box(self, prefix: Index = ()) -> tuple[Extents, Index]:
        outer = self.outer_rank
        if len(prefix) >= outer:
            return self._tile(prefix[:outer]).bounding_box(prefix[outer:])
        if prefix:
            return self.rows.box_under(prefix)
        return tuple([self.extent_bounds(mode)[1] for mode in range(self.rank)]), self.origin

    def _tile(self, number: Index) -> Smooth:
        grid = self.grid
        check_inside(grid.extents, grid.origin, number)
        sizes = [
            p.tile(k - start)[0] for p, k, start in zip(self._partitions, number, grid.origin, strict=True)
        ]
        return make_smooth(tuple(sizes), (0,) * len(sizes))

    def extent_at(self, prefix: Iterable[SupportsIndex]) -> int:
        numbers = to_ints(prefix, "a prefix")
        outer = self.outer_rank
        if len(numbers) >= self.rank:
            raise RankError(f"the prefix {numbers} leaves no mode of a shape of rank {self.rank}")
        if len(numbers) < outer:
            return self.grid.extent_at(numbers)
        tile = self._tile(numbers[:outer])
        check_inside(tile.extents, tile.origin, numbers[outer:], numbers[:outer])
        return tile.extents[len(numbers) - outer]

    def origin_at(self, prefix: Iterable[SupportsIndex]) -> int:
        numbers = to_ints(prefix, "a prefix")
        self.extent_at(numbers)
        return self.origin[len(numbers)]

    def extent_bounds(self, mode: SupportsIndex) -> tuple[int, int]:
        number, outer = mode_of(mode, self.rank), self.outer_rank
        if number < outer:
            reached = all(p.count for p in self._partitions[:number])
            count = self._partitions[number].count if reached else 0
            return count, count
        before = self._partitions[: number - outer]
        if not (self._has_tiles and all(p.extent for p in before)):
            return 0, 0
        return self._partitions[number - outer].bounds()

    def dependencies(self, mode: SupportsIndex) -> tuple[int, ...]:
        number = mode_of(mode, self.rank)
        return () if self.is_uniform(number) else (number - self.outer_rank,)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Tiled):
            return self._grid_origin == other._grid_origin and self._same_sizes(other)
        return JaggedCommon.__eq__(self, other)

    def _same_sizes(self, other: "Tiled") -> bool:
        mine, theirs = self._partitions, other._partitions
        return len(mine) == len(theirs) and all(
            a.count == b.count and np.array_equal(a.sizes, b.sizes) for a, b in zip(mine, theirs, strict=True)
        )

    @property
    def rows_tell_all(self) -> bool:
        """Return True if `rows` have all stored extents: without tiles, they cannot store all sizes."""
        if self._has_tiles:
            return True
        first = next(mode for mode, p in enumerate(self._partitions) if not p.count)
        behind = self._partitions[first:]
        return not any(p.count for p in behind) and not any(p.extent for p in self._partitions)

    def token(self) -> tuple[object, ...]:
        if not self.rows_tell_all:
            return "tiled", *self._grid_origin, *[digest_of(p.sizes) for p in self._partitions]
        if self.grid.size <= MOST_ROWS_OF_TOKENS:
            return JaggedCommon.token(self)
        # Canonical rows: modes of even tiles after the last uneven mode are not rows.
        counts, sizes = [p.count for p in self._partitions], [p.sizes for p in self._partitions]
        uneven = [mode for mode, own in enumerate(sizes) if (own != own[0]).any()]
        k = uneven[-1] + 1 if uneven else 1
        if math.prod(counts[:k]) > MOST_ROWS_OF_TOKENS:
            return tiled_token(self._grid_origin, sizes)
        levels: list[tuple[IntArray, Origins]] = [
            (np.full(math.prod(counts[:mode]), counts[mode]), self._grid_origin[mode]) for mode in range(k)
        ]
        table = np.meshgrid(*sizes[:k], indexing="ij")
        columns = [own.reshape(-1) for own in table]
        even = [np.full_like(columns[0], own[0]) for own in sizes[k:]]
        inner = [np.full_like(columns[0], count) for count in counts[k:]]
        leaf = np.stack([*inner, *columns, *even], axis=1)
        origins: list[Origins] = [*self._grid_origin[k:], *[0] * len(sizes)]
        return token_of(build_rows(levels, leaf, origins))

    def __hash__(self) -> int:
        # Defining __eq__ takes the inherited hash away.
        return JaggedCommon.__hash__(self)

    def ordinal(self, index: Iterable[SupportsIndex]) -> int:
        numbers, outer = to_index(index, self.rank), self.outer_rank
        tile = self._tile(numbers[:outer])
        inner = box_ordinal(tile.extents, tile.origin, numbers[outer:], numbers[:outer])
        before, width, rest = 0, 1, self.size
        for partition, start, k, extent in zip(
            self._partitions, self._grid_origin, numbers[:outer], tile.extents, strict=True
        ):
            rest //= max(partition.extent, 1)
            before += width * rest * (int(partition.marks[k - start]) - partition.origin)
            width *= extent
        return before + inner

    def index(self, ordinal: SupportsIndex) -> Index:
        number, size = to_int(ordinal, "an ordinal"), self.size
        if not 0 <= number < size:
            raise OutOfBoundsError(f"ordinal {number} is outside [0, {size})")
        width, rest = 1, size
        tile: list[int] = []
        extents: list[int] = []
        for partition in self._partitions:
            rest //= partition.extent
            k = partition.tile_of(partition.origin + number // (width * rest))
            extent, start = partition.tile(k)
            number -= width * rest * (start - partition.origin)
            width *= extent
            tile.append(k)
            extents.append(extent)
        inner = make_smooth(tuple(extents), (0,) * len(extents)).index(number)
        return tuple([k + start for k, start in zip(tile, self._grid_origin, strict=True)]) + inner

    def _extents_at(self, tiles: IntArray) -> tuple[IntArray, IntArray]:
        """Return extents and relative starts of the tiles with these numbers, counted from 0."""
        outer = self.outer_rank
        extents, starts = np.empty_like(tiles), np.empty_like(tiles)
        for mode in range(outer):
            marks = self._partitions[mode].marks
            starts[:, mode] = marks[tiles[:, mode]] - marks[0]
            extents[:, mode] = marks[tiles[:, mode] + 1] - marks[tiles[:, mode]]
        return extents, starts

    def contains(self, indices: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        array, outer = to_index_array(indices, self.rank), self.outer_rank
        flat = array.reshape(-1, self.rank)
        inside = self.grid.contains(flat[:, :outer])
        tiles = np.where(inside[:, np.newaxis], flat[:, :outer] - np.array(self._grid_origin), 0)
        if inside.any():
            extents, _ = self._extents_at(tiles)
            inside &= ((flat[:, outer:] >= 0) & (flat[:, outer:] < extents)).all(axis=1)
        return inside.reshape(array.shape[:-1])

    def ordinals(self, indices: npt.ArrayLike) -> IntArray:
        array, outer = to_index_array(indices, self.rank), self.outer_rank
        self._check_int64()
        flat = array.reshape(-1, self.rank)
        inside = self.contains(flat)
        if not inside.all():
            raise OutOfBoundsError(
                f"index {tuple(flat[int(np.argmin(inside))].tolist())} is not in this shape"
            )
        extents, starts = self._extents_at(flat[:, :outer] - np.array(self._grid_origin))
        inner = np.zeros(len(flat), dtype=np.int64)
        before = np.zeros(len(flat), dtype=np.int64)
        width = np.ones(len(flat), dtype=np.int64)
        rest = self.size
        for mode, partition in enumerate(self._partitions):
            rest //= max(partition.extent, 1)
            before += width * rest * starts[:, mode]
            width *= extents[:, mode]
            inner = inner * extents[:, mode] + flat[:, outer + mode]
        return (before + inner).reshape(array.shape[:-1])

    def indices_at(self, ordinals: npt.ArrayLike) -> IntArray:
        # First what the shape is: an ordinal beyond 64 bits may well be in it.
        self._check_int64()
        numbers = to_ordinal_array(ordinals)
        size, outer = self.size, self.outer_rank
        if numbers.size and not (int(numbers.min()) >= 0 and int(numbers.max()) < size):
            raise OutOfBoundsError(f"ordinals from {numbers.min()} to {numbers.max()} leave [0, {size})")
        left = numbers.reshape(-1).copy()
        indices = np.empty((len(left), self.rank), dtype=np.int64)
        width = np.ones(len(left), dtype=np.int64)
        extents = np.empty((len(left), outer), dtype=np.int64)
        rest = size
        for mode, partition in enumerate(self._partitions):
            rest //= max(partition.extent, 1)
            marks = partition.marks
            tile = run_of(marks, marks[0] + left // (width * rest))
            left -= width * rest * (marks[tile] - marks[0])
            extents[:, mode] = marks[tile + 1] - marks[tile]
            width *= extents[:, mode]
            indices[:, mode] = tile + self._grid_origin[mode]
        for mode in range(outer - 1, -1, -1):
            left, indices[:, outer + mode] = np.divmod(left, extents[:, mode])
        return indices.reshape(*numbers.shape, self.rank)

    def _check_int64(self) -> None:
        if self.size > MAX_INT64:
            raise SizeOverflowError("this shape has ordinals beyond 64 bits; use ordinal() and index()")

    def walk(self, order: Order) -> Iterator[Index]:
        if order == "F":
            from tensorwrapper.shape.rows._f_order import walk_f_order  # noqa: PLC0415 - few go in F order

            return walk_f_order(self, self.grid.size)
        return walk_batches(self.size, self.indices_at) if self.size <= MAX_INT64 else self._walk_tiles()

    def _walk_tiles(self) -> Iterator[Index]:
        """Walk tile by tile, for more elements than arrays of ordinals can number."""
        for number in self.grid.walk("C"):
            for place in self._tile(number).walk("C"):
                yield number + place

    def select(self, entries: tuple[Entry, ...], *, clip: bool = False) -> SmoothCommon | JaggedCommon:
        outer = self.outer_rank
        outside, inside = entries[:outer], entries[outer:]
        if all(type(entry) is int for entry in outside):
            number = cast("Index", outside)
            self._tile(number)
            leaf = SmoothView(self, number)
            return leaf if all(e == WHOLE for e in inside) else leaf.select(inside, clip=clip, lead=number)
        if all(e == WHOLE for e in inside) and not any(type(entry) is int for entry in outside):
            check_ascending(outside)
            box = self._select_tiles(outside, clip=clip)
            runs = zip(self._partitions, box.origin, box.extents, self._grid_origin, strict=True)
            parts = tuple([p.run(a - start, a - start + n) for p, a, n, start in runs])
            if self._has_tiles and not all(box.extents):
                return _without_tiles(parts, box.origin)
            return Tiled(parts, box.origin)
        return JaggedCommon.select(self, entries, clip=clip)

    def _select_tiles(self, entries: tuple[Entry, ...], *, clip: bool) -> Smooth:
        box = self.grid
        for mode in range(1, self.outer_rank + 1):
            box = self.grid.select((*entries[:mode], *[WHOLE] * (self.outer_rank - mode)), clip=clip)
            if not box.extents[mode - 1]:
                # No prefix leads to the modes that follow, so none of their bounds leaves a row.
                break
        return box

    def translate_by(self, offset: Iterable[SupportsIndex]) -> JaggedCommon:
        moves, outer = to_index(offset, self.rank, "an offset"), self.outer_rank
        if any(moves[outer:]):
            return JaggedCommon.translate_by(self, moves)
        origin = tuple([a + b for a, b in zip(self._grid_origin, moves[:outer], strict=True)])
        for mode, (start, partition) in enumerate(zip(origin, self._partitions, strict=True)):
            check_int64(mode, start, partition.count)
        return Tiled(self._partitions, origin)

    def leading(self, modes: SupportsIndex) -> SmoothCommon | JaggedCommon:
        count = mode_count(modes, self.rank)
        return self.grid.leading(count) if count <= self.outer_rank else JaggedCommon.leading(self, count)

    def copy(self) -> "Tiled":
        """Return the same tiles with separate marks; a slice shares those of its tiling."""
        kept = [p if _owns(p.marks) else Partition(frozen_array(p.marks.copy())) for p in self._partitions]
        same = all(a is b for a, b in zip(kept, self._partitions, strict=True))
        return self if same else Tiled(tuple(kept), self._grid_origin)

    def cut_rows(self, start: int, stop: int) -> tuple[int, JaggedCommon]:
        first, rest = self._grid_origin[0], [WHOLE] * (self.rank - 1)
        before = self.select(((first, first + start), *rest)).size
        cut = cast("JaggedCommon", self.select(((first + start, first + stop), *rest)))
        return before, cut.zero_based()

    def zero_based(self) -> JaggedCommon:
        return Tiled(self._partitions, (0,) * self.outer_rank)

    def permute(self, order: Iterable[SupportsIndex]) -> JaggedCommon:
        modes, outer = to_permutation(order, self.rank), self.outer_rank
        front = modes[:outer]
        if modes != front + tuple([m + outer for m in front]):
            return JaggedCommon.permute(self, modes)
        if not self._has_tiles and self.rows_tell_all:
            return JaggedCommon.permute(self, modes)
        origin = tuple([self._grid_origin[m] for m in front])
        return Tiled(tuple([self._partitions[m] for m in front]), origin)

    def __repr__(self) -> str:
        return f"Tiled({self._partitions}, {self._grid_origin})"

    def __reduce__(
        self,
    ) -> tuple[Callable[[tuple[Partition, ...], Index], "Tiled"], tuple[tuple[Partition, ...], Index]]:
        return Tiled, (self._partitions, self._grid_origin)


def _without_tiles(parts: tuple[Partition, ...], origin: Index) -> Tiled:
    """Return the tiling of a slice without tiles, which has as much information as rows."""
    first = next(mode for mode, p in enumerate(parts) if not p.count)
    nothing = Partition(frozen_array(np.zeros(1, dtype=np.int64)))
    before = [Partition(frozen_array(np.zeros(p.count + 1, dtype=np.int64))) for p in parts[:first]]
    behind = [nothing] * (len(parts) - first)
    return Tiled((*before, *behind), origin[: first + 1] + (0,) * (len(parts) - first - 1))


def _owns(marks: IntArray) -> bool:
    """Tell whether an array keeps no longer one alive; a frozen array is a view of itself, writeable."""
    base = cast("object", marks.base)
    return base is None or (isinstance(base, np.ndarray) and cast("IntArray", base).nbytes == marks.nbytes)
