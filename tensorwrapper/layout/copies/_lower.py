"""From two layouts of one shape to the cheapest exact way to copy between them."""

from tensorwrapper.layout.boxes._common import LayoutCommon, check_int64
from tensorwrapper.layout.boxes._hierarchical import Hierarchical
from tensorwrapper.layout.boxes._separable import axes_of
from tensorwrapper.layout.boxes._strided import Strided, row_major
from tensorwrapper.layout.cells._blocked import Blocked, Packed, rows_of
from tensorwrapper.layout.copies._block import StridedCopy, strided_copy
from tensorwrapper.layout.copies._gather import gather_copy
from tensorwrapper.layout.copies._pieces import Pieced, joint_pieces, pieces_of
from tensorwrapper.layout.copies._steps import CellCopy, Celled, CopySteps, OrdinalCopy, RegionCopy, cells_of
from tensorwrapper.layout.operations._composite import Composite
from tensorwrapper.layout.operations._nested import flat_implementation
from tensorwrapper.layout.tiles._tile_major import TileMajor
from tensorwrapper.layout.tiles._tiled import TiledStrided
from tensorwrapper.layout.tiles._tiles_in_memory import Mosaic
from tensorwrapper.shape import Tiling

__all__ = ["lower"]

_Tiles = TileMajor | Mosaic
"""Layouts whose offsets are no sum over the modes."""

_FEW = 16  # regions that are copied one by one, whatever they are
_STRETCH = 4  # positions with one step from which tables would cut runs that are worth having


def lower(source: LayoutCommon, target: LayoutCommon) -> StridedCopy | CopySteps:
    """Return the copy between two layouts of congruent shapes, of which the target is injective."""
    size = source.shape.size
    if not size:
        return StridedCopy((0,), 0, (1,), 0, (1,))
    sides = _same_box(flat_implementation(source), flat_implementation(target))
    if all(_runs_on(side) for side in sides):
        return strided_copy([(size, 1, 1)], sides[0].offset, sides[1].offset)
    a, b = [_plain(side) for side in sides]
    if isinstance(a, Strided) and isinstance(b, Strided):
        modes = zip(a.shape.extents, a.strides, b.strides, strict=True)
        return strided_copy(modes, a.offset, b.offset)
    for side in (a, b):
        check_int64(side, side.offset)
    if isinstance(a, Pieced) and isinstance(b, Pieced):
        return _of_pieces(a, b)
    if isinstance(a, Celled) and isinstance(b, Celled):
        inner = min(_width(a), _width(b))
        if inner:
            return CellCopy(cells_of(a, inner), cells_of(b, inner))
    return OrdinalCopy(a, b)


def _width(held: Celled) -> int:
    """Return how many modes a cell has; none if a table has a place for every element."""
    return held.strides.shape[1] if isinstance(held, Blocked) else rows_of(held.shape).columns.leaf_rank


def _runs_on(held: LayoutCommon) -> bool:
    # Whether a composite is contiguous is known only when all its offsets are.
    return not isinstance(held, Composite) and held.is_contiguous


def _plain(held: LayoutCommon) -> LayoutCommon:
    """Return the strided form of a layout where it has one."""
    if isinstance(held, Hierarchical):
        return held.flat
    if isinstance(held, TileMajor) and held.is_contiguous:
        return row_major(held.shape, held.offset)
    return held


def _same_box(source: LayoutCommon, target: LayoutCommon) -> tuple[LayoutCommon, LayoutCommon]:
    """Return layouts of the box of elements instead of those of its tiled shape, where both have one."""
    tiled = [side for side in (source, target) if isinstance(side, TiledStrided)]
    if not tiled or not all(isinstance(side, TiledStrided | Packed) for side in (source, target)):
        return source, target
    return _untiled(source, tiled[0].tiling), _untiled(target, tiled[0].tiling)


def _untiled(held: LayoutCommon, tiling: Tiling) -> LayoutCommon:
    if isinstance(held, TiledStrided):
        return held.under
    # Elements of a tiled shape, packed in its row-major order, lie tile after tile.
    order = tuple(range(tiling.rank - 1, -1, -1))
    return TileMajor(tiling, order, order, 1, held.offset)


def _of_pieces(source: Pieced, target: Pieced) -> StridedCopy | CopySteps:
    modes = range(source.shape.rank)
    pieces = tuple([joint_pieces(pieces_of(source, mode), pieces_of(target, mode)) for mode in modes])
    regions = RegionCopy(source, target, pieces)
    if regions.count == 1:
        extents, start, steps, goal, goal_steps = next(next(regions.tables()).rows())
        return strided_copy(zip(extents, steps, goal_steps, strict=True), start, goal)
    if regions.count <= _FEW or isinstance(source, _Tiles) or isinstance(target, _Tiles):
        return regions
    (from_base, from_axes), (to_base, to_axes) = axes_of(source, "copy"), axes_of(target, "copy")
    wide = [mode for mode in modes if source.shape.extents[mode] > 1]
    narrowest = min(wide, key=lambda mode: to_axes[mode].gap())
    if len(pieces[narrowest]) > 1 and source.shape.extents[narrowest] >= _STRETCH * len(pieces[narrowest]):
        return regions
    return gather_copy((from_base, to_base), list(zip(from_axes, to_axes, strict=True)))
