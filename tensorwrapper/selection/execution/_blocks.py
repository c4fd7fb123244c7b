"""Views of tensors in blocks computed: in blocks as well, where the tiles of all operands fit together."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from tensorwrapper.buffer import Blocks, Dense
from tensorwrapper.buffer.lowlevel import make_blocks, packed_layout
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import tile_major, wrap_layout
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.plans._source_reads import leaves_of
from tensorwrapper.shape import BlockPattern, Partition, Shape, Tiled, Tiling
from tensorwrapper.shape.lowlevel import make_block_pattern, make_tiling, unnamed_shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, IntArray


def in_blocks(
    view: Expression, shape: Shape[Any], ordinals: IntArray, values: Array, fill: Array
) -> Tensor[Any] | None:
    """Return the tensor in blocks of entries of a view; None if the tiles of its operands do not fit.

    A tile is present that has an entry, also one that equals the fill. O(entries + tiles).
    """
    tensors = [leaf.node.tensor for leaf in leaves_of(view)]
    if not all(own is not None and own.buffer.in_tiles for own in tensors):
        return None
    tiling = _tiling_of(view) if shape.is_box and not shape.has_layers else None
    if tiling is None or tiling.elements.extents != shape.extents:
        return None
    tiling = tiling.translate_to(shape.origin)
    under = tile_major(tiling, 0)
    buffer = _tiles_at(tiling, under.offsets_of(shape.indices_at(ordinals)), values, fill)
    return make_tensor(wrap_layout(under), buffer)


def over_rows(line: Tensor[Any], shape: Shape[Any]) -> Tensor[Any]:
    """Return the tensor of rows whose elements, in order, were computed: in blocks over the grid of tiles."""
    buffer, layout = line.buffer, line.layout.implementation
    plain: Any = unnamed_shape(shape).implementation
    if not isinstance(plain, Tiled):
        return make_tensor(Layout(shape), buffer.pack(layout))
    ordinals, values = buffer.stored_of(layout)
    made = _tiles_at(make_tiling(plain.partitions), ordinals, values, np.asarray(buffer.fill_value))
    return make_tensor(packed_layout(shape), made)


def _tiles_at(tiling: Tiling[Any], places: IntArray, values: Array, fill: Array) -> Blocks[Any]:
    """Return the buffer of elements at addresses, which count all tiles one after the other."""
    offsets = BlockPattern(tiling).offsets()
    tiles: IntArray = np.searchsorted(offsets, places, "right") - 1
    found, slots = np.unique(tiles, return_inverse=True)
    pattern: BlockPattern[Any] = make_block_pattern(tiling, found)
    flat: Array = np.full(pattern.elements, fill, values.dtype)
    flat[pattern.offsets()[slots.reshape(-1)] + places - offsets[tiles]] = values
    return make_blocks(pattern, Dense(cast("Any", flat)), fill)


def _tiling_of(view: Expression) -> Tiling[Any] | None:
    """Return how a box is cut by the tiles of its operands; None if they do not fit together."""
    node, tensor = view.node, view.node.tensor
    if tensor is not None:
        tiles = tensor.buffer.tiles_of(view.layout.implementation)
        return None if tiles is None or tiles.first is not None else tiles.pattern.tiling
    if not view.is_whole:
        return None
    if node.is_kept:
        return _tiling_of(node.operands[0])
    if node.ordered is not None:
        return _tiling_of(node.ordered)
    if node.is_elementwise:
        return _agreed([_tiling_of(own) for own in node.operands if own.shape.rank])
    return _joined([(mode, positions, _tiling_of(own)) for mode, positions, own in node.shared()])


def _agreed(tilings: Sequence[Tiling[Any] | None]) -> Tiling[Any] | None:
    """Return the one tiling of all operands, wherever they begin."""
    first = tilings[0] if tilings else None
    if first is None or not all(
        own is not None and _alike(own.partitions, first.partitions) for own in tilings
    ):
        return None
    return first


def _alike(one: Sequence[Partition], other: Sequence[Partition]) -> bool:
    return len(one) == len(other) and all(a.is_congruent(b) for a, b in zip(one, other, strict=True))


def _joined(pieces: Sequence[tuple[int, range, Tiling[Any] | None]]) -> Tiling[Any] | None:
    """Return the tiling of pieces one after the other along one mode, whose other modes are cut alike."""
    ordered = sorted(pieces, key=lambda own: own[1].start)
    parts: list[Tiling[Any]] = [own for _, _, own in ordered if own is not None]
    if not ordered or len(parts) < len(ordered) or any(own.step != 1 for _, own, _ in ordered):
        return None
    mode = ordered[0][0]
    rests = [[p for k, p in enumerate(own.partitions) if k != mode] for own in parts]
    if any(other != mode for other, _, _ in ordered) or not all(_alike(rest, rests[0]) for rest in rests):
        return None
    sizes: list[Any] = [own.sizes for own in parts[0].partitions]
    sizes[mode] = np.concatenate([own.partitions[mode].sizes for own in parts])
    return Tiling(*sizes)
