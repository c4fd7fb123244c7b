"""`SymmetricBlocks`: tiles of a symmetric box, of which one of each orbit is stored."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Generic, NamedTuple, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._memory import memory_for
from tensorwrapper._value_class import value_class
from tensorwrapper.buffer._addresses import packed_layout
from tensorwrapper.buffer._casts import convert_elements, equal_elements
from tensorwrapper.buffer._common import BufferCommon, Dense
from tensorwrapper.buffer._sparse_merge import is_fill, to_fill
from tensorwrapper.buffer.blocks._blocks import Blocks, make_blocks, order_of_box
from tensorwrapper.buffer.blocks._present import PresentTiles, row_major_table
from tensorwrapper.buffer.copies._copy import copy_elements, join_elements
from tensorwrapper.buffer.symmetric._checks import acted
from tensorwrapper.buffer.symmetric._symmetric import symmetry_for
from tensorwrapper.errors import BufferSizeError, PatternError, ReadOnlyError
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.layout.lowlevel import address_batches, new_strided, tile_major, tile_view
from tensorwrapper.shape import BlockPattern, Symmetry
from tensorwrapper.shape.lowlevel import columns_of, fold_columns, orientations
from tensorwrapper.typing import Array, IntArray
from tensorwrapper.typing import ScalarT_co as S


class _Table(NamedTuple):
    """Places of the elements of all tiles in the memory of the stored ones."""

    slots: IntArray
    """Stored tile of which each is a copy."""
    starts: IntArray
    """The place of its first element."""
    strides: IntArray
    """A row of strides for each."""
    negative: "npt.NDArray[np.bool_]"
    conjugate: "npt.NDArray[np.bool_]"


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class SymmetricBlocks(BufferCommon[S], Generic[S]):
    """The tiles of a symmetric box of which one of each orbit is stored, and one value for absent ones.

    Addresses are those of `Blocks`. Another tile of an orbit is the stored one with its modes exchanged: a
    view, or a copy with other signs or conjugates. The buffer is read-only, as `Symmetric` is.

    Parameters
    ----------
    stored
        The stored tiles: the greatest ones of their orbits.
    values
        Their elements, a flat array; it is not copied.
    symmetry
        The symmetry of the box, which tiles on diagonals have as well.
    fill_value
        The element of all tiles of other orbits.

    Raises
    ------
    BufferSizeError
        If there are not as many values as the stored tiles have elements.
    PatternError
        If a stored tile is not the greatest one of its orbit, or the symmetry changes the fill.
    ExtentMismatchError, RankError
        If the tiling does not fit the symmetry.
    DTypeError, SymmetryError
        If elements of this type cannot have the symmetry.

    Examples
    --------
    >>> import numpy as np
    >>> from tensorwrapper import BlockPattern, Symmetry, Tiling
    >>> from tensorwrapper.buffer import SymmetricBlocks
    >>> stored = BlockPattern(Tiling([1, 1], [1, 1]), [(1, 0), (1, 1)])
    >>> buffer = SymmetricBlocks(stored, np.array([2.0, 3.0]), Symmetry.parse("s2"))
    >>> buffer.size, buffer.read(np.arange(4)).tolist()
    (4, [0.0, 2.0, 2.0, 3.0])
    """

    in_tiles: ClassVar[bool] = True
    stores_orbits: ClassVar[bool] = True

    stored: BlockPattern[Any]
    """The stored tiles."""
    values: Dense[S]
    """Their elements."""
    symmetry: Symmetry
    """The symmetry of the box."""
    _index: Blocks[Any]
    _table: _Table

    def __init__(
        self,
        stored: BlockPattern[Any],
        values: "npt.NDArray[S]",
        symmetry: Symmetry,
        *,
        fill_value: object = 0,
    ) -> None:
        own = symmetry_for(symmetry, values.dtype)
        if values.shape != (stored.elements,) or not values.flags.c_contiguous:
            raise BufferSizeError(
                f"the {stored.count} stored tiles have {stored.elements} elements, in one flat array without "
                f"gaps, not in one of extents {values.shape}"
            )
        if stored.unique(own) != stored:
            raise PatternError(
                "the stored tiles are the greatest ones of their orbits: pattern.unique(symmetry) has these"
            )
        fill = np.asarray(Blocks(stored, values, fill_value=fill_value).fill_value)
        kinds = {(o.sign, o.conjugate) for o in own.operations}
        images = np.array([acted(fill, sign, conjugate=conjugate) for sign, conjugate in kinds])
        if not is_fill(images, fill).all():
            raise PatternError(
                f"the symmetry {own} changes the fill {fill[()]}: only zero may be between tiles"
            )
        _init(self, stored, Dense(cast("Any", values)), own, fill)

    @property
    def dtype(self) -> "np.dtype[S]":
        """The type of the elements."""
        return self.values.dtype

    @property
    def size(self) -> int:
        """The number of addresses, which is that of the elements of the box."""
        return self._index.size

    @property
    def is_readonly(self) -> bool:
        """True: elements are written through `values`."""
        return True

    @property
    def fill_value(self) -> "npt.NDArray[S]":
        """The element of every absent tile: an array of rank 0."""
        return cast("npt.NDArray[S]", self._index.fill_value)

    @property
    def filename(self) -> str | None:
        """The file in which the stored elements are, if they are in one."""
        return self.values.filename

    @property
    def pattern(self) -> BlockPattern[Any]:
        """The tiles that stored ones stand for."""
        return self._index.pattern

    def orbit_sizes(self) -> IntArray:
        """Return how many tiles each stored one represents."""
        return np.bincount(self._table.slots, minlength=self.stored.count)

    def as_readonly(self) -> "SymmetricBlocks[S]":
        """Return the same elements over memory that cannot be written to; no copy."""
        return self._over(self.values.as_readonly())

    def why_readonly(self) -> str:
        return (
            "one stored tile of a symmetric tensor represents several, so it is read-only: write through "
            "packed_values(), or to the copy that keep_tiles(t.pattern) makes"
        )

    def _over(self, values: Dense[Any]) -> "SymmetricBlocks[Any]":
        """Return the buffer with other elements of the same tiles."""
        made: SymmetricBlocks[Any] = object.__new__(SymmetricBlocks)
        fill = self.fill_value.astype(values.dtype, copy=False)
        _fill(made, self.stored, values, self.symmetry, self._table, _index(self.pattern, fill))
        return made

    # Elements of a layout.

    def _is_whole(self, layout: LayoutCommon) -> bool:
        """Return True if a layout is all of the box, or of its tiles, in their order."""
        plain = layout.without_layers().unnamed()
        view = tile_view(plain)
        if view is not None and view.tiling.rank == self.stored.rank:
            return tile_major(view.tiling, 0) == view.under and view.under == tile_major(
                self.stored.tiling, 0
            )
        return plain == tile_major(self.stored.tiling, 0)

    def symmetry_of(self, layout: LayoutCommon) -> Symmetry | None:
        if self._is_whole(layout):
            return self.symmetry
        order = order_of_box(layout.without_layers().unnamed(), self.stored.tiling)
        return None if order is None else self.symmetry.permute(order)

    def packed_of(self, layout: LayoutCommon) -> "npt.NDArray[S] | None":
        return self.values.flat if self._is_whole(layout) else None

    def tiles_of(self, layout: LayoutCommon) -> PresentTiles[S] | None:
        found = self._index.tiles_of(layout)
        if found is None:
            return None
        if not found.pattern.count:
            nothing = Dense(self.values.flat[:0]).as_readonly()
            return PresentTiles(found.pattern, nothing, self.fill_value, found.first, None)
        moved = self._moved(*found.places(), found.pattern.tile_extents())
        if moved is None:
            return None
        (starts, strides, tiles), table = moved, self._table
        negative, conjugate = table.negative[tiles], table.conjugate[tiles]
        held = self.values.as_readonly()
        if negative.any() or conjugate.any():
            # Elements with other signs, and conjugates, lie behind one another.
            kinds = 2 * conjugate + negative
            used, places = np.unique(kinds, return_inverse=True)
            flat = self.values.flat
            parts = [acted(flat, -1 if k & 1 else 1, conjugate=k > 1) for k in used.tolist()]
            held = Dense(cast("Any", join_elements(parts, flat.dtype))).as_readonly()
            starts = starts + places.reshape(-1) * len(flat)
        return PresentTiles(found.pattern, held, self.fill_value, found.first, (starts, strides))

    def _moved(
        self, places: IntArray, strides: IntArray, extents: IntArray
    ) -> tuple[IntArray, IntArray, IntArray] | None:
        """Return starts and strides in memory, and the tiles, of parts of tiles in a line of all.

        None if one is not a part of a tile whose modes are those of the tile.
        """
        tiles, filled = self._owners(places), extents.prod(axis=1) > 0
        volumes, sizes = self.pattern.volumes()[tiles], self.pattern.tile_extents()[tiles]
        own = self._table.strides[tiles]
        rest = places - self.pattern.offsets()[tiles]
        first = _digits(rest, sizes)
        steps, least, greatest = np.zeros_like(strides), first.copy(), first.copy()
        for mode in range(strides.shape[1]):
            several = np.flatnonzero((extents[:, mode] > 1) & filled)
            following = rest[several] + strides[several, mode]
            if not ((following >= 0) & (following < volumes[several])).all():
                return None
            moves = _digits(following, sizes[several]) - first[several]
            steps[several, mode] = (moves * own[several]).sum(axis=1)
            ends = moves * (extents[several, mode, None] - 1)
            least[several] += np.minimum(ends, 0)
            greatest[several] += np.maximum(ends, 0)
        if not ((least >= 0) & (greatest < np.maximum(sizes, 1)))[filled].all():
            return None
        return self._table.starts[tiles] + (first * own).sum(axis=1), steps, tiles

    def _owners(self, places: IntArray) -> IntArray:
        """Return the tiles of places in a line of all tiles."""
        return np.maximum(np.searchsorted(self.pattern.offsets()[:-1], places, "right") - 1, 0)

    def _located(self, places: IntArray) -> tuple[IntArray, IntArray]:
        """Return where elements at places in a line of all tiles are in memory, and their tiles."""
        tiles = self._owners(places)
        digits = _digits(places - self.pattern.offsets()[tiles], self.pattern.tile_extents()[tiles])
        return self._table.starts[tiles] + (digits * self._table.strides[tiles]).sum(axis=1), tiles

    def narrowed(self, layout: LayoutCommon) -> "tuple[LayoutCommon, BufferCommon[S]]":
        held, buffer = self._index.narrowed(layout)
        if buffer is self._index:
            return layout, self
        box = held.strided_box()
        if buffer is not self._index.values or box is None:
            return held, cast("BufferCommon[S]", buffer)
        extents, origin, strides, offset = box
        shape = (1, len(extents))
        found = self._moved(
            np.array([offset]),
            np.array(strides, np.int64).reshape(shape),
            np.array(extents, np.int64).reshape(shape),
        )
        if found is None:
            return layout, self
        starts, steps, tiles = found
        negative, conjugate = bool(self._table.negative[tiles[0]]), bool(self._table.conjugate[tiles[0]])
        moved = new_strided(extents, origin, tuple(steps[0].tolist()), int(starts[0]))
        if not negative and not conjugate:
            return moved, self.values.as_readonly()
        own = acted(self.values.elements_of(moved), -1 if negative else 1, conjugate=conjugate)
        return packed_layout(layout.shape).implementation, Dense(cast("Any", own)).as_readonly()

    def memory_of(self, layout: LayoutCommon) -> "npt.NDArray[S] | None":
        if not layout.shape.is_box:
            return None
        found, buffer = self.narrowed(layout.without_layers().unnamed())
        return None if buffer is self else buffer.memory_of(found)

    def read(self, addresses: IntArray) -> "npt.NDArray[S]":
        flat = addresses.reshape(-1)
        places, has = self._index._locate(flat)
        result: npt.NDArray[S] = np.full(len(flat), self.fill_value, dtype=self.dtype)
        stored = np.flatnonzero(has)
        found, tiles = self._located(places[stored])
        own: Array = self.values.flat[found]
        self._turn_signs(own, tiles)
        result[stored] = own
        return result.reshape(addresses.shape)

    def _turn_signs(self, elements: Array, tiles: IntArray) -> None:
        """Give elements of stored tiles the signs that they have in other tiles, and conjugate them."""
        table = self._table
        for mask, change in ((table.negative[tiles], np.negative), (table.conjugate[tiles], np.conjugate)):
            if mask.any():
                elements[mask] = change(elements[mask])

    def elements_of(self, layout: LayoutCommon) -> "npt.NDArray[S]":
        size = layout.shape.size
        with memory_for(size * self.dtype.itemsize // 8, "elements, those of absent tiles among them"):
            found = self.tiles_of(layout)
            return self.gather(address_batches(layout), size) if found is None else found.dense()

    def own_elements_of(self, layout: LayoutCommon) -> "npt.NDArray[S]":
        found = self.elements_of(layout)
        return copy_elements(found) if np.may_share_memory(found, self.values.flat) else found

    def whole(self) -> Blocks[S]:
        """Return all tiles by themselves; a copy of their elements."""
        tiles = cast("PresentTiles[S]", self.tiles_of(tile_major(self.stored.tiling, 0)))
        return make_blocks(self.pattern, Dense(tiles.own_values()), self.fill_value).as_readonly()

    def stored_of(self, layout: LayoutCommon) -> "tuple[IntArray, npt.NDArray[S]]":
        found = self.tiles_of(layout)
        return self.whole().stored_of(layout) if found is None else found.stored()

    def count_stored(self, layout: LayoutCommon) -> int:
        return self._index.count_stored(layout)

    def equals(
        self, layout: LayoutCommon, other: BufferCommon[Any], theirs: LayoutCommon, *, equal_nan: bool
    ) -> bool:
        same = isinstance(other, SymmetricBlocks) and (other.stored, other.symmetry) == (
            self.stored,
            self.symmetry,
        )
        mine, yours = self.packed_of(layout), other.packed_of(theirs) if same else None
        if mine is not None and yours is not None and self.fill_value == other.fill_value:
            return equal_elements(mine, yours, equal_nan=equal_nan)
        return self.whole().equals(layout, other, theirs, equal_nan=equal_nan)

    def obstacle(self, layout: LayoutCommon) -> str:
        return self._index.obstacle(layout)

    def to_array(
        self,
        layout: LayoutCommon,
        dtype: "np.dtype[Any] | None" = None,
        copy: bool | None = None,  # noqa: FBT001 - as NumPy's protocol has it
    ) -> Array:
        found, buffer = (layout, self) if not layout.shape.is_box else self.narrowed(layout.unnamed())
        return self.as_array(layout) if buffer is self else buffer.to_array(found, dtype, copy)

    # New buffers.

    def like(self, flat: Array) -> BufferCommon[S]:
        return cast("BufferCommon[S]", self._index.like(flat))

    def collect(self, places: Iterator[IntArray], size: int) -> BufferCommon[S]:
        return self.like(self.gather(places, size))

    def pack(self, layout: LayoutCommon, *, own: bool = True) -> BufferCommon[S]:
        if self._is_whole(layout):
            values = self.values.flat
            return self._over(Dense(copy_elements(values))) if own else self
        return self.whole().pack(layout, own=own)

    def convert(self, layout: LayoutCommon, dtype: "np.dtype[Any]", *, checked: bool) -> BufferCommon[Any]:
        real = dtype.kind != "c" == self.dtype.kind
        negatives = dtype.kind in "ifcm" or self.symmetry.positive == self.symmetry
        if self._is_whole(layout) and negatives and not real:
            return self._over(Dense(convert_elements(self.values.flat, dtype, checked=checked)))
        return self.whole().convert(layout, dtype, checked=checked)

    def write(self, addresses: IntArray, values: Array) -> None:  # noqa: ARG002 - it refuses
        raise ReadOnlyError(self.why_readonly())

    def assign(self, layout: LayoutCommon, values: Array) -> None:  # noqa: ARG002 - it refuses
        raise ReadOnlyError(self.why_readonly())

    def __repr__(self) -> str:
        grid = " x ".join(map(str, self.pattern.grid.extents)) or "1"
        return (
            f"<SymmetricBlocks buffer: {self.stored.count} for {self.pattern.count} of {grid} tiles, "
            f"{self.values.size} elements of type {self.dtype}, else {self.fill_value[()]}, symmetry "
            f"{self.symmetry}>"
        )

    def __reduce__(self) -> "tuple[Callable[..., SymmetricBlocks[Any]], tuple[object, ...]]":
        return make_symmetric_blocks, (self.stored, self.values.flat, self.symmetry, self.fill_value)


def make_symmetric_blocks(
    stored: BlockPattern[Any], values: Array, symmetry: Symmetry, fill: Array
) -> SymmetricBlocks[Any]:
    """Return the buffer of parts that are known to fit."""
    made: SymmetricBlocks[Any] = object.__new__(SymmetricBlocks)
    _init(made, stored, Dense(cast("Any", values)), symmetry, to_fill(fill))
    return made


def _init(
    buffer: SymmetricBlocks[Any],
    stored: BlockPattern[Any],
    values: Dense[Any],
    symmetry: Symmetry,
    fill: Array,
) -> None:
    pattern: BlockPattern[Any] = stored.closure(symmetry)
    turned = orientations(symmetry, pattern.tiles())
    slots = stored.slots(turned.indices)
    strides = np.empty_like(turned.permutations)
    own = row_major_table(stored.tile_extents())[slots]
    np.put_along_axis(strides, turned.permutations, own, axis=1)
    starts = stored.offsets()[:-1][slots]
    table = _Table(slots, starts, strides, turned.signs < 0, turned.conjugate)
    _fill(buffer, stored, values, symmetry, table, _index(pattern, fill))


def _index(pattern: BlockPattern[Any], fill: Array) -> Blocks[Any]:
    """Return a buffer that knows the places of elements in a line of all tiles, without memory for them."""
    nothing = np.broadcast_to(np.zeros((), fill.dtype), (pattern.elements,))
    return make_blocks(pattern, Dense(cast("Any", nothing)), fill)


def _fill(
    buffer: SymmetricBlocks[Any],
    stored: BlockPattern[Any],
    values: Dense[Any],
    symmetry: Symmetry,
    table: _Table,
    index: Blocks[Any],
) -> None:
    own = {"stored": stored, "values": values, "symmetry": symmetry, "_table": table, "_index": index}
    for name, value in own.items():
        object.__setattr__(buffer, name, value)


def _digits(places: IntArray, extents: IntArray) -> IntArray:
    """Return the row-major index of each place in a box with the given extents."""
    found = np.empty_like(extents)
    for mode in range(extents.shape[1] - 1, -1, -1):
        width = np.maximum(extents[:, mode], 1)
        found[:, mode], places = places % width, places // width
    return found


def project_tiles(stored: BlockPattern[Any], values: Array, symmetry: Symmetry) -> Array:
    """Return the elements of stored tiles, those on diagonals with the symmetry that they must have.

    An element becomes what the greatest index of its orbit within the tile says. A view if no tile is on a
    diagonal.
    """
    tiles, extents, offsets = stored.tiles(), stored.tile_extents(), stored.offsets()
    # Tiles of which the same numbers are equal keep the same operations.
    same = np.array([[row.index(n) for n in row] for row in tiles.tolist()], np.int64).reshape(tiles.shape)
    kinds, which = np.unique(np.concatenate([same, extents], axis=1), axis=0, return_inverse=True)
    result: Array | None = None
    for number, kind in enumerate(kinds.tolist()):
        rank = stored.rank
        own, sizes = symmetry.select(*[(first,) for first in kind[:rank]]), tuple(kind[rank:])
        if own.is_trivial:
            continue
        folded = fold_columns(own, columns_of(np.arange(int(np.prod(sizes))), sizes), sizes)
        sources = own.ordinals(sizes)
        starts = offsets[:-1][which.reshape(-1) == number]
        if result is None:
            result = copy_elements(values)
        places = starts[:, None] + np.arange(len(folded.offsets))
        found: Array = (
            values[starts[:, None] + sources[np.maximum(folded.offsets, 0)]]
            if len(sources)
            else np.zeros(places.shape, values.dtype)
        )
        for mask, change in ((folded.negative, np.negative), (folded.conjugate, np.conjugate)):
            if mask is not None:
                found[:, mask] = change(found[:, mask])
        if folded.zero is not None:
            found[:, folded.zero] = 0
        if values.dtype.kind == "c":
            _make_own_conjugates(found, own, sizes)
        result[places] = found
    return values if result is None else result


def _make_own_conjugates(found: Array, symmetry: Symmetry, extents: tuple[int, ...]) -> None:
    """Leave the real parts, or the imaginary ones, of the elements that are their own conjugates."""
    columns = columns_of(np.arange(int(found.shape[1])), extents)
    for operation in symmetry.operations:
        if operation.conjugate:
            stays = np.ones(found.shape[1], np.bool_)
            for mode, other in enumerate(operation.permutation):
                stays &= columns[mode] == columns[other]
            if operation.sign > 0:
                found.imag[:, stays] = 0
            else:
                found.real[:, stays] = 0
