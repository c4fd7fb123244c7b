"""The work of methods of tensors in tiles: present tiles, and tensors of more or fewer of them."""

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import numpy_kind
from tensorwrapper._lazy import naming_extras
from tensorwrapper._memory import memory_for
from tensorwrapper.buffer import Blocks, Dense
from tensorwrapper.buffer.lowlevel import (
    PresentTiles,
    convert_elements,
    copy_elements,
    is_fill,
    make_blocks,
    packed_layout,
    picked_tiles,
    symmetry_for,
)
from tensorwrapper.errors import (
    ConversionError,
    ExportError,
    ExtentMismatchError,
    LayoutError,
    OutOfBoundsError,
    PatternError,
)
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import (
    TileView,
    make_blocked,
    new_strided,
    tile_major,
    tile_table,
    tile_view,
    wrap_layout,
)
from tensorwrapper.shape import BlockPattern, Shape, Symmetry, SymmetryLike, Tiling, as_symmetry
from tensorwrapper.shape.lowlevel import ModeNames, make_block_pattern, names_of, to_threshold
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.rows._tile_blocks import (
    NormOrder,
    TileSource,
    check_block_extents,
    flat_values,
    norms_of,
    norms_of_fill,
    read_blocks,
)
from tensorwrapper.tensor.rows._tiles import tile_numbers
from tensorwrapper.tensor.tiles._symmetric import (
    packed_tiles_of,
    symmetric_over,
    symmetric_tensor,
    with_symmetry,
)
from tensorwrapper.typing import Array, Index, IntArray, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.tensor._tensor import Tensor
    from tensorwrapper.tensor.facade._blocks import TileChoice


def present(tensor: TensorBase[Any], what: str) -> PresentTiles[ScalarT_co]:
    """Return the present tiles and their places; a dense tensor has all tiles."""
    held = tensor._layout.implementation
    found = tensor._buffer.tiles_of(held)
    if found is not None:
        return found
    if tensor._buffer.in_tiles:
        raise LayoutError(
            f"{what}: parts of several tiles are one here, and {tensor.shape} has no tiling; "
            "slices of whole tiles, slices of the box and permutations leave one"
        )
    held = held.without_layers().unnamed()
    view = tile_view(held)
    if view is None:
        raise tensor._no_tiles(what)
    tensor._buffer.require_numbers(what)
    if tensor._buffer.fill_value is not None or tensor._buffer.nullable:
        way = "fill_null(0)" if tensor._buffer.nullable else "tw.blocks(s, tiling)"
        raise ConversionError(f"{what} takes dense or block-sparse tensors: {way} makes one")
    every = BlockPattern(view.tiling)
    table: tuple[IntArray, IntArray] | None = tile_table(held, every.tiles(), view)
    memory = tensor._buffer
    if not isinstance(memory, Dense):
        memory, table = Dense(cast("Any", tensor.elements())), None
    zero: npt.NDArray[ScalarT_co] = np.zeros((), tensor.dtype)
    return PresentTiles(every, memory, zero, view.grid_origin, table)


def made_of(
    tiles: PresentTiles[Any], pattern: BlockPattern[Any], values: Array, names: ModeNames | None
) -> "tuple[Layout[Any], Blocks[Any]]":
    """Return layout and buffer of elements of the tiles of a pattern, over the same shape; no copy."""
    fill = tiles.fill.astype(values.dtype, copy=False)
    buffer = make_blocks(pattern, Dense(cast("Any", values)), fill)
    return tiles.over(pattern).layout(names), buffer


def converted(
    tiles: PresentTiles[Any], dtype: "np.dtype[Any]", names: ModeNames | None, *, checked: bool
) -> "tuple[Layout[Any], Blocks[Any]]":
    """Return layout and buffer of the elements, and of the fill, as ones of another type."""
    convert_elements(tiles.fill, dtype, checked=checked)  # which is cast below
    values = convert_elements(tiles.values(), dtype, checked=checked)
    return made_of(tiles, tiles.pattern, values, names)


def over(
    tensor: TensorBase[Any],
    tiles: PresentTiles[Any],
    pattern: BlockPattern[Any],
    values: Array,
) -> "Tensor[Any]":
    """Return the tensor of these elements of the tiles of a pattern, and the fill of others."""
    me: Any = tensor
    made: Tensor[Any] = me._make(*made_of(tiles, pattern, values, names_of(tensor.shape)))
    return made


def pattern(tensor: TensorBase[Any]) -> BlockPattern:
    """Return the present tiles; a dense tiled tensor has all."""
    return present(tensor, "pattern").pattern


def packed_values(tensor: TensorBase[Any]) -> "npt.NDArray[ScalarT_co]":
    """Return the elements that are stored, as a flat array: those of the present tiles, one by one."""
    return present(tensor, "packed_values").values()


def present_tiles(tensor: TensorBase[Any]) -> "Iterator[tuple[Index, Tensor[ScalarT_co]]]":
    """Return an iterator over the present tiles: number and view, which keeps its origin in the box."""
    found = present(tensor, "present_tiles")
    me: Any = tensor
    starts, strides = found.places()
    first = np.array(found.first or (0,) * found.pattern.rank, dtype=np.int64)
    # A part of an injective layout is injective.
    injective = tensor._layout.is_injective or None
    is_readonly = tensor._buffer.is_readonly or not injective
    held = found.held.as_readonly() if is_readonly else found.held
    tables = (found.pattern.tiles() + first, found.pattern.tile_extents(), found.pattern.tile_origins())
    rows = (map(tuple, table.tolist()) for table in (*tables, strides))
    for number, extents, origin, steps, start in zip(*rows, starts.tolist(), strict=True):
        layout = new_strided(extents, origin, steps, start, injective=injective)
        yield number, me._make(wrap_layout(layout), held)


def to_pattern(tiles: PresentTiles[Any], chosen: "TileChoice", what: str) -> BlockPattern[Any]:
    """Return a pattern of the tiling of this tensor."""
    tiling = tiles.pattern.tiling
    if not isinstance(chosen, BlockPattern):
        first = tiles.first or (0,) * tiling.rank
        view = TileView(tiling, tile_major(tiling, 0), first)
        numbers = tile_numbers(view, chosen) - np.array(first, dtype=np.int64)
        return BlockPattern(tiling, numbers)
    given: BlockPattern[Any] = chosen
    if given.rank != tiling.rank or given.tiling.elements.extents != tiling.elements.extents:
        raise ExtentMismatchError(
            f"{what}: a pattern of {given.tiling.elements} is not one of {tiling.elements}"
        )
    for mode, (mine, theirs) in enumerate(zip(tiling.partitions, given.tiling.partitions, strict=True)):
        if not mine.is_congruent(theirs):
            raise ExtentMismatchError(
                f"{what}: the pattern cuts mode {mode} otherwise: retile() of it takes the tiling of a tensor"
            )
    return make_block_pattern(tiling, given.ordinals())


def keep_tiles(
    tensor: TensorBase[Any],
    tiles: "TileChoice",
    symmetry: "SymmetryLike | None" = None,
    tolerance: float = 0.0,
) -> "Tensor[ScalarT_co]":
    """Return a tensor in which just these tiles are present; a copy of their elements."""
    if symmetry is not None:
        return _keep_orbits(tensor, tiles, symmetry, tolerance)
    found = present(tensor, "keep_tiles")
    pattern = to_pattern(found, tiles, "keep_tiles")
    return over(tensor, found, pattern, _own(found.at(pattern), found))


def _keep_orbits(
    tensor: TensorBase[Any], tiles: "TileChoice", symmetry: "SymmetryLike", tolerance: float
) -> "Tensor[ScalarT_co]":
    """Return a tensor of the orbits of these tiles, of which one tile is stored each."""
    own, known = symmetry_for(as_symmetry(symmetry), tensor.dtype), _packed_in(tensor)
    if known is not None and own.rank == known[1].rank and own <= known[1]:
        view = known[0]
        nothing: PresentTiles[Any] = PresentTiles(
            BlockPattern(view.tiling, []), Dense(np.empty(0)), np.zeros(()), view.grid_origin, None
        )
        pattern = to_pattern(nothing, tiles, "keep_tiles")
        return symmetric_tensor(tensor, pattern, own)
    found = present(tensor, "keep_tiles")
    pattern = to_pattern(found, tiles, "keep_tiles").closure(own)
    return with_symmetry(tensor, found, pattern, own, tolerance)


def _packed_in(tensor: TensorBase[Any]) -> "tuple[TileView, Symmetry] | None":
    """Return the tiles of a packed symmetric box, and its symmetry; None of other tensors."""
    buffer, view = tensor.buffer, tile_view(tensor.layout.implementation.without_layers().unnamed())
    if view is None or not buffer.stores_orbits or buffer.in_tiles:
        return None
    known = buffer.symmetry_of(view.under)
    return None if known is None or known.is_zero else (view, known)


def stored_pattern(tensor: TensorBase[Any]) -> BlockPattern:
    """Return the stored tiles: of a symmetric tensor one of each orbit, else all that are present."""
    packed = packed_tiles_of(tensor)
    return present(tensor, "stored_pattern").pattern if packed is None else packed.stored


def with_tiles(tensor: TensorBase[Any], tiles: "TileChoice") -> "Tensor[ScalarT_co]":
    """Return a copy in which these tiles are present, too: of the fill, and they can be written to."""
    found = present(tensor, "with_tiles")
    pattern = found.pattern | to_pattern(found, tiles, "with_tiles")
    return over(tensor, found, pattern, _own(found.at(pattern), found))


def retiled(tensor: TensorBase[Any], tiling: Tiling) -> "Tensor[ScalarT_co]":
    """Return a copy cut into other tiles: those are present that share an element with a present one."""
    found = present(tensor, "retiled")
    pattern = found.pattern.retile(tiling)
    me: Any = tensor
    target = make_blocks(pattern, Dense(np.full(pattern.elements, found.fill, found.held.dtype)), found.fill)
    source = make_blocks(found.pattern, Dense(cast("Any", found.values())), found.fill)
    boxes = [me._make(wrap_layout(tile_major(own.pattern.tiling, 0)), own) for own in (source, target)]
    boxes[1].assign(boxes[0])
    return over(tensor, found, pattern, target.values.flat)


def add_tiles(tensor: TensorBase[Any], source: TileSource) -> None:
    """Add blocks to present tiles, in the order given; a tile may come any number of times."""
    found = present(tensor, "add_tiles")
    tensor._check_writeable()
    numbers, blocks = read_blocks(source, "add_tiles")
    tiling = found.pattern.tiling
    first = np.array(found.first or (0,) * tiling.rank, dtype=np.int64)
    table = np.array(numbers, dtype=np.int64).reshape(-1, tiling.rank) - first
    slots = found.pattern.slots(table)
    if (slots < 0).any():
        number = numbers[int(np.argmin(slots))]
        raise OutOfBoundsError(
            f"add_tiles: the tile {number} is absent: with_tiles() makes a copy that has it"
        )
    check_block_extents(found.pattern.tile_extents()[slots], numbers, blocks, "add_tiles")
    if blocks:
        starts, strides = found.places()
        cells = Shape.from_cells((len(blocks),), found.pattern.tile_extents()[slots])
        places = make_blocked(cells, starts[slots], strides[slots]).to_numpy().reshape(-1)
        found.held.accumulate(places, np.concatenate(flat_values(blocks, tensor.dtype)))


def tile_norms(tensor: TensorBase[Any], ord: NormOrder = "fro") -> "Tensor[np.float64]":  # noqa: A002 - as NumPy's norm has it
    """Return the norm of each tile, over the grid: dense, for absent tiles from the fill."""
    found = present(tensor, "tile_norms")
    tiling, me = found.pattern.tiling, cast("Any", tensor)
    with memory_for(tiling.grid.size, "norms of tiles"):
        norms = np.zeros(tiling.grid.extents)
    if found.fill.any():
        volumes = np.ones((), np.int64)
        for partition in tiling.partitions:
            volumes = np.multiply.outer(volumes, partition.sizes)
        norms[...] = norms_of_fill(found.fill, volumes, ord)
    norms.reshape(-1)[found.pattern.ordinals()] = norms_of(found.values(), found.pattern.offsets(), ord)
    outer = tensor.shape.outer() if found.first is not None else tiling.grid
    made: Tensor[np.float64] = me._make(packed_layout(outer), Dense(norms.reshape(-1)))
    return made


def screened(
    tensor: TensorBase[Any],
    threshold: SupportsFloat | None = None,
    *,
    error: SupportsFloat | None = None,
    ord: NormOrder = "fro",  # noqa: A002
    per: Literal["tile", "element"] = "tile",
) -> "Tensor[ScalarT_co]":
    """Return a copy from which small tiles are dropped; without arguments, tiles of the fill alone."""
    known = _packed_in(tensor)
    if known is not None and not known[1].is_trivial:
        tiling, moves = known[0].tiling, known[1].generators
        if all(tiling.permute(own.permutation) == tiling for own in moves):
            # One tile of each orbit of a packed box is unpacked, and not all tiles.
            tensor = symmetric_tensor(tensor, BlockPattern(tiling), known[1])
    found, packed = present(tensor, "screened"), packed_tiles_of(tensor)
    pattern = found.pattern if packed is None else packed.stored
    values = found.values() if packed is None else packed.values.flat
    offsets = pattern.offsets()
    if threshold is None and error is None:
        starts = np.concatenate([[0], np.cumsum(~is_fill(values, found.fill))])
        kept = np.diff(starts[offsets]) > 0
    else:
        if threshold is not None and error is not None:
            raise PatternError("screened takes a threshold or an error, not both")
        if found.fill.any():
            raise PatternError(f"tiles are screened beside a fill of zero, not of {found.fill[()]}")
        if per not in ("tile", "element"):
            raise PatternError(f"norms are per 'tile' or per 'element', not per {per!r}")
        norms = norms_of(values, offsets, ord if error is None else "fro")
        if error is not None:
            kept = _above(norms, to_threshold(error), None if packed is None else packed.orbit_sizes())
        else:
            if per == "element":
                norms = norms / np.maximum(np.diff(offsets), 1)
            kept = ~(norms < to_threshold(cast("SupportsFloat", threshold)))
    fewer = make_block_pattern(pattern.tiling, pattern.ordinals()[kept])
    if packed is None:
        return over(tensor, found, fewer, _own(found.values_of(kept), found))
    chosen = copy_elements(values) if kept.all() else picked_tiles(values, kept, pattern)
    return symmetric_over(tensor, found, fewer, chosen, packed.symmetry)


def _own(values: "npt.NDArray[ScalarT_co]", tiles: PresentTiles[ScalarT_co]) -> "npt.NDArray[ScalarT_co]":
    """Return elements in an array that shares no memory."""
    return copy_elements(values) if np.may_share_memory(values, tiles.held.flat) else values


def _above(
    norms: "npt.NDArray[np.float64]", error: float, times: IntArray | None = None
) -> "npt.NDArray[np.bool_]":
    """Return which tiles stay if the smallest go, as many as keep the root of their squares in an error."""
    order = np.argsort(norms, kind="stable")  # NaN comes last
    squares = np.square(norms[order])
    gone = np.sqrt(np.cumsum(squares if times is None else squares * times[order])) <= error
    kept = np.ones(len(norms), np.bool_)
    kept[order[gone]] = False
    return kept


def to_bsr(tensor: TensorBase[Any]) -> Any:  # noqa: ANN401 - SciPy has no types
    """Return the tiles of a matrix as a BSR array of SciPy; no copy if they are stored in a row."""
    found = present(tensor, "to_scipy('bsr')")
    tiling = found.pattern.tiling
    bounds = [partition.bounds() for partition in tiling.partitions]
    if tiling.rank != 2 or any(least != most or not most for least, most in bounds):
        raise ExportError(f"a BSR array has blocks of one size of a matrix, not tiles of {tiling!r}")
    if found.fill.any() or numpy_kind(tensor.dtype) not in "biufc":
        raise ExportError(f"a BSR array has numbers, and zeros elsewhere, not {found.fill[()]!r}")
    with naming_extras():
        module: Any = importlib.import_module("scipy.sparse")
    tiles, rows = found.pattern.tiles(), tiling.partitions[0].count
    starts: IntArray = np.searchsorted(tiles[:, 0], np.arange(rows + 1))
    values = found.values().reshape(-1, bounds[0][0], bounds[1][0])
    return module.bsr_array((values, tiles[:, 1], starts), shape=tiling.elements.extents)
