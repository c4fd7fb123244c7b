"""`Blocks`: the elements of the present tiles of a pattern, one tile after the other, and one value else."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Generic, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import different
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._memory import filled_memory, memory_for
from tensorwrapper._value_class import value_class
from tensorwrapper.buffer._addresses import packed_layout
from tensorwrapper.buffer._casts import convert_elements, equal_elements, fit_number
from tensorwrapper.buffer._common import BufferCommon, Dense
from tensorwrapper.buffer._elements import check_dtype, holds_strings
from tensorwrapper.buffer._sparse import Sparse, make_sparse
from tensorwrapper.buffer._sparse_merge import is_fill, to_fill
from tensorwrapper.buffer.blocks._present import PresentTiles, tile_places
from tensorwrapper.buffer.copies._copy import assign_elements, scatter_elements, take_elements
from tensorwrapper.errors import BufferSizeError, DTypeError, ReadOnlyError, SizeOverflowError
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.layout.lowlevel import (
    InverseMap,
    address_batches,
    new_strided,
    tile_major,
    tile_table,
    tile_view,
)
from tensorwrapper.shape import BlockPattern, Tiling
from tensorwrapper.shape.lowlevel import make_block_pattern
from tensorwrapper.typing import Array, IntArray, WriteCasting
from tensorwrapper.typing import ScalarT_co as S

_BATCH = 1 << 20  # elements at a time


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Blocks(BufferCommon[S], Generic[S]):
    """The tiles of a box of which some are stored: one after the other by number, each row-major.

    Addresses count all tiles of the grid in this way, so that a layout holds for any pattern. The memory
    is that of the present tiles and three integers for each.

    Parameters
    ----------
    pattern
        The stored tiles.
    values
        Their elements, a flat array; it is not copied, and writes go into it.
    fill_value
        The element of all other tiles.

    Raises
    ------
    BufferSizeError
        If there are not as many values as the present tiles have elements.
    DTypeError
        If the values are strings, or of a type that tensors do not have.
    SizeOverflowError
        If the box has more than 2**63 - 1 elements.

    Examples
    --------
    >>> import numpy as np
    >>> from tensorwrapper import BlockPattern, Tiling
    >>> from tensorwrapper.buffer import Blocks
    >>> pattern = BlockPattern(Tiling([1, 2], [2, 1]), [(0, 0), (1, 1)])
    >>> buffer = Blocks(pattern, np.array([1.0, 2.0, 3.0, 4.0]))
    >>> buffer.size, buffer.read(np.arange(9)).tolist()
    (9, [1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 4.0])
    """

    in_tiles: ClassVar[bool] = True

    pattern: BlockPattern[Any]
    """The stored tiles."""
    values: Dense[S]
    """Their elements."""
    _fill: Array
    _runs: "tuple[IntArray, IntArray, IntArray] | None"

    def __init__(
        self, pattern: BlockPattern[Any], values: "npt.NDArray[S]", *, fill_value: object = 0
    ) -> None:
        check_dtype(values.dtype)
        if holds_strings(values.dtype):
            raise DTypeError(f"blocks have numbers, truth values or times, not {values.dtype}")
        if values.shape != (pattern.elements,) or not values.flags.c_contiguous:
            raise BufferSizeError(
                f"the {pattern.count} present tiles have {pattern.elements} elements, in one flat array "
                f"without gaps, not in one of extents {values.shape}"
            )
        size = pattern.tiling.elements.size
        if size > MAX_INT64:
            raise SizeOverflowError(f"{size} addresses do not fit into 64 bits")
        fill = to_fill(fit_number(fill_value, values.dtype, "fill_value"))
        _init(self, pattern, Dense(cast("Any", values)), fill)

    @property
    def dtype(self) -> "np.dtype[S]":
        """The type of the elements."""
        return self.values.dtype

    @property
    def size(self) -> int:
        """The number of addresses, which is that of the elements of the box."""
        return self.pattern.tiling.elements.size

    @property
    def is_readonly(self) -> bool:
        """True if the elements cannot be written to."""
        return self.values.is_readonly

    @property
    def fill_value(self) -> "npt.NDArray[S]":
        """The element of every absent tile: an array of rank 0."""
        return cast("npt.NDArray[S]", self._fill)

    @property
    def filename(self) -> str | None:
        """The file in which the stored elements are, if they are in one."""
        return self.values.filename

    def as_readonly(self) -> "Blocks[S]":
        """Return the same elements as a buffer that cannot be written to; no copy."""
        return make_blocks(self.pattern, self.values.as_readonly(), self._fill)

    def guarded(self) -> "Blocks[S]":
        return make_blocks(self.pattern, self.values.guarded(), self._fill)

    # The addresses of the present tiles.

    def _found(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return of each present tile with elements its first address, its place in memory, and its end."""
        runs = self._runs
        if runs is None:
            places, volumes = tile_places(self.pattern), self.pattern.volumes()
            kept = np.flatnonzero(volumes)
            starts = places[kept]
            runs = starts, self.pattern.offsets()[:-1][kept], starts + volumes[kept]
            object.__setattr__(self, "_runs", runs)
        return runs

    def _locate(self, addresses: IntArray) -> "tuple[IntArray, npt.NDArray[np.bool_]]":
        """Return the place in memory of each of a flat array of addresses, and whether it has one."""
        starts, befores, stops = self._found()
        if not len(starts):
            return np.zeros_like(addresses), np.zeros(len(addresses), np.bool_)
        tile = np.maximum(np.searchsorted(starts, addresses, "right") - 1, 0)
        has = (addresses >= starts[tile]) & (addresses < stops[tile])
        return addresses - starts[tile] + befores[tile], has

    def _addresses(self) -> IntArray:
        """Return the addresses of all stored elements, ascending."""
        starts, befores, stops = self._found()
        return np.arange(self.values.size) + np.repeat(starts - befores, stops - starts)

    def tiles_of(self, layout: LayoutCommon) -> PresentTiles[S] | None:
        layout = layout.without_layers().unnamed()
        view = tile_view(layout)
        first = None if view is None else view.grid_origin
        tiling = _tiling_of_box(layout, self.pattern.tiling) if view is None else view.tiling
        if tiling is None:
            return None
        whole = tile_major(tiling, 0) == (layout if view is None else view.under)
        if whole and _same_sizes(tiling, self.pattern.tiling):
            pattern = self.pattern
            if tiling != pattern.tiling:
                pattern = make_block_pattern(tiling, pattern.ordinals())
            return PresentTiles(pattern, self.values, self.fill_value, first, None)
        turned = None if view is not None else self._turned(layout, tiling)
        if turned is not None:
            return turned
        every = BlockPattern(tiling)
        if view is None:
            starts, strides = _table_of_box(layout, tiling)
        else:
            starts, strides = tile_table(layout, every.tiles(), view)
        found = self._present(starts, strides, every)
        return (
            None if found is None else PresentTiles(found[0], self.values, self.fill_value, first, found[1])
        )

    def _turned(self, layout: LayoutCommon, tiling: Tiling[Any]) -> PresentTiles[S] | None:
        """Return the tiles of the whole box with its modes permuted; None of other layouts. O(tiles)."""
        order = order_of_box(layout, self.pattern.tiling)
        if order is None:
            return None
        pattern, back = self.pattern.permute(order), [order.index(mode) for mode in range(tiling.rank)]
        slots = self.pattern.slots(pattern.tiles()[:, back])
        strides = PresentTiles(self.pattern, self.values, self.fill_value, None, None).places()[1]
        table = self.pattern.offsets()[:-1][slots], strides[slots][:, order]
        found: BlockPattern[Any] = make_block_pattern(tiling, pattern.ordinals())
        return PresentTiles(found, self.values, self.fill_value, None, table)

    def _present(
        self, places: IntArray, strides: IntArray, every: BlockPattern[Any]
    ) -> "tuple[BlockPattern[Any], tuple[IntArray, IntArray]] | None":
        """Return which tiles of a layout are stored, and where; None if one is stored only in part."""
        starts, befores, stops = self._found()
        filled = every.volumes() > 0
        ends = strides * (every.tile_extents() - 1)
        least: IntArray = places + np.minimum(ends, 0).sum(axis=1)
        greatest: IntArray = places + np.maximum(ends, 0).sum(axis=1)
        before: IntArray = np.searchsorted(starts, least, "right") - 1
        if not len(starts):
            present = np.zeros(len(places), np.bool_)
        else:
            tile = np.maximum(before, 0)
            present = (least >= starts[tile]) & (least < stops[tile])
            inside = present & (greatest < stops[tile])
            apart: npt.NDArray[np.bool_] = ~present & (
                np.searchsorted(starts, greatest, "right") - 1 == before
            )
            if not (inside | apart | ~filled).all():
                return None
            present &= filled
            places = places - starts[tile] + befores[tile]
        pattern = make_block_pattern(every.tiling, np.flatnonzero(present))
        return pattern, (places[present], strides[present])

    def narrowed(self, layout: LayoutCommon) -> "tuple[LayoutCommon, BufferCommon[S]]":
        # A tile by itself is dense: its own memory, or one constant for all of its elements.
        box = layout.strided_box()
        if box is None:
            return layout, self
        extents, origin, strides, offset = box
        if not layout.shape.size:
            nothing = Dense(cast("Any", np.empty(0, self.dtype))).as_readonly()
            return new_strided(extents, origin, (0,) * len(extents), 0), nothing
        least, greatest = layout.bounds()
        place, has = self._locate(np.array([least, greatest]))
        if has.all() and place[1] - place[0] == greatest - least:
            moved = new_strided(extents, origin, strides, offset + int(place[0]) - least)
            return moved, self.values
        starts = self._found()[0]
        ends = np.searchsorted(starts, [least, greatest], "right")
        if has.any() or ends[0] != ends[1]:
            return layout, self
        constant = Dense(cast("Any", self._fill.reshape(1))).as_readonly()
        return new_strided(extents, origin, (0,) * len(extents), 0), constant

    def memory_of(self, layout: LayoutCommon) -> "npt.NDArray[S] | None":
        if not layout.shape.is_box:
            return None
        layout = layout.without_layers().unnamed()
        found, buffer = self.narrowed(layout)
        # Writes to an absent tile would go nowhere.
        return buffer.memory_of(found) if buffer is self.values else None

    # Elements at addresses.

    def read(self, addresses: IntArray) -> "npt.NDArray[S]":
        flat = addresses.reshape(-1)
        places, has = self._locate(flat)
        result: npt.NDArray[S] = np.full(len(flat), self._fill, dtype=self.dtype)
        stored = np.flatnonzero(has)
        found = take_elements(self.values.flat, iter([places[stored]]), len(stored))
        scatter_elements(found, (stored,), result)
        return result.reshape(addresses.shape)

    def read_run(self, start: int, stop: int) -> "npt.NDArray[S]":
        starts, befores, stops = self._found()
        result: npt.NDArray[S] = filled_memory((stop - start,), self._fill, self.dtype)
        first, last = int(np.searchsorted(stops, start, "right")), int(np.searchsorted(starts, stop, "left"))
        if first < last:
            low = int(befores[first]) + max(start - int(starts[first]), 0)
            high = int(befores[last - 1]) + min(stop, int(stops[last - 1])) - int(starts[last - 1])
            moves = starts - befores - start
            for begin in range(low, high, _BATCH):
                end = min(begin + _BATCH, high)
                places = np.arange(begin, end)
                places += moves[np.searchsorted(befores, places, "right") - 1]
                scatter_elements(self.values.flat[begin:end], (places,), result)
        return result

    def write(self, addresses: IntArray, values: Array) -> None:
        self._check_writeable()
        flat, given = addresses.reshape(-1), values.reshape(-1)
        places, has = self._locate(flat)
        self._check_absent(flat, given, has)
        scatter_elements(given[has], (places[has],), self.values.flat)

    def _check_writeable(self) -> None:
        if self.is_readonly:
            raise ReadOnlyError("this memory is read-only; copy() gives some that can change")

    def _check_absent(self, addresses: IntArray, values: Array, has: "npt.NDArray[np.bool_]") -> None:
        """Raise if something else than the fill would be written into a tile that is absent."""
        odd = np.flatnonzero(~has)
        self._refuse_absent(addresses[odd[~is_fill(values[odd], self._fill)]])

    def _refuse_absent(self, addresses: IntArray) -> None:
        """Raise if there is an address, which is one of an absent tile."""
        if len(addresses):
            tiled: Any = self.pattern.tiling.shape
            tile = tuple(tiled.index(int(addresses[0]))[: self.pattern.rank])
            raise ReadOnlyError(
                f"the tile {tile} is absent, and its elements are {self._fill[()]}: with_tiles() makes a "
                "copy that has it"
            )

    def accumulate(self, addresses: IntArray, values: Array, *, casting: WriteCasting = "same_kind") -> None:
        flat, given = addresses.reshape(-1), values.reshape(-1)
        places, has = self._addable(flat, given)
        self.values.accumulate(places[has], given[has], casting=casting)

    def check_sums(self, addresses: IntArray, values: Array, *, casting: WriteCasting = "same_kind") -> None:
        flat, given = addresses.reshape(-1), values.reshape(-1)
        places, has = self._addable(flat, given)
        self.values.check_sums(places[has], given[has], casting=casting)

    def _addable(self, addresses: IntArray, values: Array) -> "tuple[IntArray, npt.NDArray[np.bool_]]":
        places, has = self._locate(addresses)
        self._refuse_absent(addresses[~has & (values != 0)])
        return places, has

    # Elements of a layout.

    def _reached(self, layout: LayoutCommon) -> tuple[IntArray, IntArray]:
        """Return the ordinals at which a layout reaches stored elements, ascending, and their places."""
        found = self.tiles_of(layout)
        if found is None:
            places, ordinals = InverseMap(layout).elements(self._addresses())
            return ordinals, places
        ordinals = found.ordinals().to_numpy().reshape(-1)
        places = found.source().to_numpy().reshape(-1)
        if (ordinals[1:] > ordinals[:-1]).all():
            return ordinals, places
        order = np.argsort(ordinals)
        return ordinals[order], places[order]

    def stored_of(self, layout: LayoutCommon) -> "tuple[IntArray, npt.NDArray[S]]":
        found = self.tiles_of(layout)
        if found is not None:
            return found.stored()
        ordinals, places = self._reached(layout)
        return ordinals, take_elements(self.values.flat, iter([places]), len(places))

    def count_stored(self, layout: LayoutCommon) -> int:
        found = self.tiles_of(layout)
        return len(self._reached(layout)[0]) if found is None else found.pattern.elements

    def elements_of(self, layout: LayoutCommon) -> "npt.NDArray[S]":
        size = layout.shape.size
        if layout.is_contiguous and size:
            return self.read_run(layout.offset, layout.offset + size)
        with memory_for(size * self.dtype.itemsize // 8, "elements, those of absent tiles among them"):
            found = self.tiles_of(layout)
            return self.gather(address_batches(layout), size) if found is None else found.dense()

    def own_elements_of(self, layout: LayoutCommon) -> "npt.NDArray[S]":
        return self.elements_of(layout)

    def equals(
        self, layout: LayoutCommon, other: BufferCommon[Any], theirs: LayoutCommon, *, equal_nan: bool
    ) -> bool:
        mine, yours = self.tiles_of(layout), other.tiles_of(theirs)
        if mine is not None and yours is not None and mine.pattern == yours.pattern:
            absent = mine.pattern.elements < layout.shape.size
            return (
                not absent or equal_elements(mine.fill, yours.fill, equal_nan=equal_nan)
            ) and equal_elements(mine.values(), yours.values(), equal_nan=equal_nan)
        if other.fill_value is None:
            return super().equals(layout, other, theirs, equal_nan=equal_nan)
        ordinals, values = self.stored_of(layout)
        own = make_sparse(ordinals, values, layout.shape.size, self._fill)
        packed = own.pack(_packed(layout))
        return packed.equals(_packed(layout), other, theirs, equal_nan=equal_nan)

    def obstacle(self, layout: LayoutCommon) -> str:
        ways = "to_dense() fills it" if layout.shape.is_box else "untiled().to_dense() fills it"
        return f"a tensor of blocks is not an array: {ways}, packed_values() has the present tiles"

    def to_array(
        self,
        layout: LayoutCommon,
        dtype: "np.dtype[Any] | None" = None,
        copy: bool | None = None,  # noqa: FBT001
    ) -> Array:
        found, buffer = (layout, self) if not layout.shape.is_box else self.narrowed(layout.unnamed())
        if buffer is self:
            return self.as_array(layout)
        return buffer.to_array(found, dtype, copy)

    def like(self, flat: Array) -> BufferCommon[S]:
        kept = np.flatnonzero(~is_fill(flat, self._fill))
        return make_sparse(kept, take_elements(flat, iter([kept]), len(kept)), len(flat), self._fill)

    def collect(self, places: Iterator[IntArray], size: int) -> BufferCommon[S]:
        return self.like(self.gather(places, size))

    def pack(self, layout: LayoutCommon, *, own: bool = True) -> BufferCommon[S]:
        found = self.tiles_of(layout)
        if found is not None and found.first is not None:
            return Blocks(found.pattern, found.own_values() if own else found.values(), fill_value=self._fill)
        if layout.shape.rank:
            return sparse_of_tiles(*self.stored_of(layout), layout.shape.size, self._fill)
        return Dense(cast("Any", self.elements_of(layout)))

    def convert(self, layout: LayoutCommon, dtype: "np.dtype[Any]", *, checked: bool) -> BufferCommon[Any]:
        packed = self.pack(layout, own=False)
        if isinstance(packed, Blocks):
            values = convert_elements(packed.values.flat, dtype, checked=checked)
            fill = convert_elements(self._fill, dtype, checked=checked)
            return Blocks(packed.pattern, values, fill_value=fill)
        return packed.convert(_packed(layout), dtype, checked=checked)

    # Writing.

    def assign(self, layout: LayoutCommon, values: Array) -> None:
        self._check_writeable()
        flat = values.reshape(-1) if values.size <= 1 or values.flags.c_contiguous else values.flat
        # Nothing is written unless all may be.
        for check in (True, False):
            start = 0
            for batch in address_batches(layout):
                places = batch.reshape(-1)
                part = np.asarray(flat[start : start + len(places)])
                own, has = self._locate(places)
                if check:
                    self._check_absent(places, part, has)
                else:
                    scatter_elements(part[has], (own[has],), self.values.flat)
                start += len(places)

    def assign_from(self, layout: LayoutCommon, source: BufferCommon[Any], theirs: LayoutCommon) -> bool:
        fill = source.fill_value
        if fill is None or not is_fill(fill.astype(self.dtype), self._fill):
            return False
        self._check_writeable()
        given, values = source.stored_of(theirs)
        elements: Array = np.empty(values.shape, self.dtype)
        assign_elements(elements, values)
        ordinals, places = self._reached(layout)
        near = np.searchsorted(ordinals, given)
        has = ordinals.take(near, mode="clip") == given if len(ordinals) else np.zeros(len(given), np.bool_)
        if not has.all():
            odd = given[~has]
            addresses = layout.offsets_of(layout.shape.indices_at(odd))
            self._check_absent(addresses, elements[~has], np.zeros(len(odd), np.bool_))
        self.values.flat[places] = self._fill
        scatter_elements(elements[has], (places[near[has]],), self.values.flat)
        return True

    def __repr__(self) -> str:
        grid = " x ".join(map(str, self.pattern.grid.extents)) or "1"
        return (
            f"<Blocks buffer: {self.pattern.count} of {grid} tiles, {self.values.size} elements of type "
            f"{self.dtype}, else {self._fill}>"
        )

    def __reduce__(self) -> "tuple[Callable[..., Blocks[Any]], tuple[object, ...]]":
        return make_blocks, (self.pattern, self.values, self._fill)


def make_blocks(pattern: BlockPattern[Any], values: Dense[Any], fill: Array) -> Blocks[Any]:
    """Return the buffer of parts that are known to fit."""
    buffer: Blocks[Any] = object.__new__(Blocks)
    _init(buffer, pattern, values, to_fill(fill))
    return buffer


def _init(buffer: Blocks[Any], pattern: BlockPattern[Any], values: Dense[Any], fill: Array) -> None:
    own = {"pattern": pattern, "values": values, "_fill": fill, "_runs": None}
    for name, value in own.items():
        object.__setattr__(buffer, name, value)


def sparse_of_tiles(ordinals: IntArray, values: Array, size: int, fill: Array) -> Sparse[Any]:
    """Return the sparse buffer of elements of tiles, of which some may be the fill."""
    kept = np.flatnonzero(~is_fill(values, fill))
    return make_sparse(ordinals[kept], take_elements(values, iter([kept]), len(kept)), size, fill)


def order_of_box(layout: LayoutCommon, tiling: Tiling[Any]) -> list[int] | None:
    """Return the order of modes in which a layout has the box of a tiling, stored by tiles; else None."""
    if layout.tiles is None or layout.shape.rank != tiling.rank or layout.inner_order is None:
        return None
    # The fastest mode of storage is the last of this tiling.
    last = tiling.rank - 1
    order = [last - layout.inner_order.index(mode) for mode in range(tiling.rank)]
    return order if tile_major(tiling, 0).permute(order) == layout else None


def _packed(layout: LayoutCommon) -> LayoutCommon:
    return packed_layout(layout.shape).implementation


def _same_sizes(one: Tiling[Any], other: Tiling[Any]) -> bool:
    return len(one.partitions) == len(other.partitions) and all(
        a.is_congruent(b) for a, b in zip(one.partitions, other.partitions, strict=True)
    )


def _tiling_of_box(layout: LayoutCommon, stored: Tiling[Any]) -> Tiling[Any] | None:
    """Return the tiles of a box, of which each is a part of a stored one; None if it has no such.

    Narrow tiles, as those of vectors, may have strides in common: then a mode is cut where the tile changes.
    """
    if layout.tiles is not None or layout.placed_tiles is not None:
        return layout.tiles or layout.placed_tiles
    shape, strides = layout.shape, layout.mode_strides
    if strides is None or not shape.is_box or not shape.rank:
        return None
    if not shape.size:
        return Tiling(*[[n] for n in shape.extents], origin=shape.origin)
    every, sizes = tile_major(stored, 0), list[IntArray]()
    for extent, stride in zip(shape.extents, strides, strict=True):
        if extent > stored.grid.size:
            # A line through all tiles: they are fewer than its elements.
            changes = _changes(BlockPattern(stored).offsets() - layout.offset, stride, extent)
        else:
            offsets = layout.offset + np.arange(extent, dtype=np.int64) * stride
            tiles = stored.tiles_of(every.indices_at(offsets))
            changes = np.flatnonzero((tiles[1:] != tiles[:-1]).any(axis=1)) + 1
        sizes.append(np.diff(np.concatenate([[0], changes, [extent]])))
    return Tiling(*sizes, origin=shape.origin)


def _changes(starts: IntArray, stride: int, extent: int) -> IntArray:
    """Return at which steps from address 0 the tile changes; `starts` are first addresses of tiles."""
    if not stride:
        return np.empty(0, np.int64)
    steps = -(-starts // stride) if stride > 0 else starts // stride + 1
    return different(steps[(steps > 0) & (steps < extent)])


def _table_of_box(layout: LayoutCommon, tiling: Tiling[Any]) -> tuple[IntArray, IntArray]:
    """Return place and strides of each tile of a box of tiles, or of a box that is one tile."""
    strides = layout.mode_strides
    if strides is not None:
        steps = np.array(strides, dtype=np.int64)
        firsts = BlockPattern(tiling).tile_origins() - np.array(tiling.origin, dtype=np.int64)
        return firsts @ steps + layout.offset, np.broadcast_to(steps, firsts.shape)
    numbers = [np.arange(p.count) for p in tiling.partitions]
    starts, steps = cast("Any", layout).tile_table(numbers)
    return starts.reshape(-1), steps.reshape(-1, tiling.rank)
