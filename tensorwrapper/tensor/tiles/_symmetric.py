"""Tensors in blocks that store one tile of each orbit of a symmetry."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tensorwrapper.buffer import Dense, SymmetricBlocks
from tensorwrapper.buffer.lowlevel import (
    PresentTiles,
    UnreadBlocks,
    check_tolerance,
    copy_elements,
    differ,
    make_symmetric_blocks,
    mismatch_text,
    project_tiles,
    row_major_table,
    symmetry_for,
)
from tensorwrapper.errors import SymmetryError
from tensorwrapper.layout.lowlevel import tile_major, tile_view
from tensorwrapper.shape import BlockPattern, Symmetry, SymmetryLike, as_symmetry
from tensorwrapper.shape.lowlevel import names_of, orientations
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.rows._tile_blocks import elements_of_tiles
from tensorwrapper.typing import Array, IntArray

if TYPE_CHECKING:
    from tensorwrapper.tensor._tensor import Tensor


def packed_tiles_of(tensor: TensorBase[Any]) -> "SymmetricBlocks[Any] | None":
    """Return the buffer of a whole tensor of which one tile of each orbit is stored; None of others."""
    buffer: object = tensor.buffer
    if isinstance(buffer, UnreadBlocks) and buffer.orbits is not None:
        buffer = cast("object", buffer.brought(tensor.layout.implementation)[1])
    if isinstance(buffer, SymmetricBlocks):
        own: SymmetricBlocks[Any] = buffer
        return None if own.packed_of(tensor.layout.implementation) is None else own
    return None


def symmetric_over(
    tensor: TensorBase[Any],
    tiles: PresentTiles[Any],
    stored: BlockPattern[Any],
    values: Array,
    symmetry: Symmetry,
) -> "Tensor[Any]":
    """Return the tensor of elements of stored tiles that have a symmetry, over the shape of a tensor."""
    me: Any = tensor
    buffer = make_symmetric_blocks(stored, values, symmetry, tiles.fill.astype(values.dtype, copy=False))
    made: Tensor[Any] = me._make(tiles.over(buffer.pattern).layout(names_of(tensor.shape)), buffer)
    return made


def symmetric_tensor(
    tensor: TensorBase[Any], pattern: BlockPattern[Any], symmetry: Symmetry
) -> "Tensor[Any]":
    """Return the tiles of a pattern of a packed symmetric tensor that has at least this symmetry; a copy."""
    view = cast("Any", tile_view(tensor.layout.implementation.without_layers().unnamed()))
    stored = pattern.closure(symmetry).unique(symmetry)
    values = elements_of_tiles(tensor, stored)
    tiles: PresentTiles[Any] = PresentTiles(
        stored, Dense(cast("Any", values)), np.zeros((), values.dtype), view.grid_origin, None
    )
    return symmetric_over(tensor, tiles, stored, values, symmetry)


def with_symmetry(
    tensor: TensorBase[Any],
    tiles: PresentTiles[Any],
    given: BlockPattern[Any],
    symmetry: SymmetryLike,
    tolerance: float,
) -> "Tensor[Any]":
    """Return the tensor of the orbits of given tiles, of which one tile is stored each.

    Elements of all given tiles are compared with those that stored ones say.

    Raises
    ------
    SymmetryError
        If an element differs by more than the tolerance, or that is negative or NaN.
    ExtentMismatchError, RankError
        If the tiling does not fit the symmetry.
    DTypeError
        If elements of this type cannot have it.
    """
    own = symmetry_for(as_symmetry(symmetry), tensor.dtype)
    check_tolerance(tolerance)
    stored = given.unique(own)
    values = tiles.at(given)
    packed = project_tiles(stored, _of_orbits(values, given, stored, own), own)
    made = symmetric_over(tensor, tiles, stored, copy_elements(packed) if packed is values else packed, own)
    buffer = cast("SymmetricBlocks[Any]", made.buffer)
    SymmetricBlocks(stored, buffer.values.flat, own, fill_value=buffer.fill_value)  # checks the fill
    held = tile_major(stored.tiling, 0)
    expected = cast("PresentTiles[Any]", buffer.tiles_of(held)).at(given)
    wrong = differ(values, expected, tolerance)
    if wrong.any():
        _refuse(given, values, np.flatnonzero(wrong), own, tolerance)
    return made


def _of_orbits(
    values: Array, given: BlockPattern[Any], stored: BlockPattern[Any], symmetry: Symmetry
) -> Array:
    """Return the elements of stored tiles, each of a given one of its orbit: itself if that is given."""
    tiles = given.tiles()
    turned = orientations(symmetry, tiles)
    slots = stored.slots(turned.indices)
    others = (turned.indices != tiles).any(axis=1)
    order = np.lexsort((others, slots))
    firsts = order[np.flatnonzero(np.diff(slots[order], prepend=-1))]
    strides = np.take_along_axis(
        row_major_table(given.tile_extents())[firsts], turned.permutations[firsts], axis=1
    )
    starts = given.offsets()[:-1][firsts]
    table: tuple[IntArray, IntArray] = (starts, strides)
    fill = np.zeros((), values.dtype)
    found: Array = PresentTiles(stored, Dense(cast("Any", values)), fill, None, table).values()
    found = copy_elements(found) if np.may_share_memory(found, values) else found
    volumes = np.diff(stored.offsets())
    for mask, change in (
        (turned.signs[firsts] < 0, np.negative),
        (turned.conjugate[firsts], np.conjugate),
    ):
        if mask.any():
            chosen = np.repeat(mask, volumes)
            found[chosen] = change(found[chosen])
    return found


_MOST = 1 << 16
"""Elements among which the first difference is searched for the message."""


def _refuse(
    given: BlockPattern[Any], values: Array, wrong: IntArray, symmetry: Symmetry, tolerance: float
) -> None:
    """Raise for the first index, in row-major order, of an element that differs from its canonical one."""
    wrong = wrong[:_MOST]
    offsets, extents = given.offsets(), given.tile_extents()
    tiles = np.searchsorted(offsets, wrong, "right") - 1
    rest, rank = wrong - offsets[tiles], given.rank
    indices = np.empty((len(wrong), rank), np.int64)
    for mode in range(rank - 1, -1, -1):
        width = extents[tiles, mode]
        indices[:, mode], rest = rest % width, rest // width
    origins = given.tile_origins() - np.array(given.tiling.origin, dtype=np.int64)
    indices += origins[tiles]
    orders = np.array([own.permutation for own in symmetry.operations], np.int64).reshape(-1, rank)
    candidates = np.unique(indices[:, orders].reshape(-1, rank), axis=0)

    def read(columns: tuple[IntArray, ...]) -> Array:
        rows = np.stack(
            [
                np.broadcast_to(own, np.broadcast_shapes(*[c.shape for c in columns])).reshape(-1)
                for own in columns
            ],
            axis=1,
        )
        owners = given.tiling.tiles_of(rows + np.array(given.tiling.origin, dtype=np.int64))
        slots = given.slots(owners)
        inside = rows - origins[np.maximum(slots, 0)]
        steps = row_major_table(extents)[np.maximum(slots, 0)]
        places = given.offsets()[:-1][np.maximum(slots, 0)] + (inside * steps).sum(axis=1)
        return np.where(slots >= 0, values[places], np.zeros((), values.dtype))

    canonical = symmetry.canonical_indices(candidates)
    ours, theirs = read(tuple(candidates.T)), read(tuple(canonical.indices.T))
    theirs = np.where(canonical.signs < 0, np.negative(theirs), theirs)
    theirs = np.where(canonical.conjugate, np.conjugate(theirs), theirs)
    theirs = np.where(canonical.signs == 0, np.zeros((), theirs.dtype), theirs)
    differs = differ(ours, theirs, tolerance)
    index = tuple(candidates[int(differs.argmax())].tolist())
    raise SymmetryError(mismatch_text(read, symmetry, index, tolerance))
