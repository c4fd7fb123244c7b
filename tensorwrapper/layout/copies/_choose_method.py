"""Selection of the cheapest exact copy between two layouts of one shape."""

from functools import partial

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.layout.boxes._common import LayoutCommon, check_int64
from tensorwrapper.layout.copies._elements import element_copy, list_copy
from tensorwrapper.layout.copies._gather import gather_copy
from tensorwrapper.layout.copies._pieces import has_pieces, joint_pieces, pieces_of
from tensorwrapper.layout.copies._steps import CellCopy, OrdinalCopy, RegionCopy, cells_of
from tensorwrapper.layout.copies._strided import StridedCopy, strided_copy
from tensorwrapper.layout.copies._table import CopySteps
from tensorwrapper.layout.tiles._tile_major import TileMajor
from tensorwrapper.shape import Tiling

_FEW = 16  # regions that are copied one by one, whatever they are
_STRETCH = 4  # positions with one step from which tables would cut runs that are worth having


def lower(source: LayoutCommon, target: LayoutCommon) -> CopySteps:
    """Return the copy between two layouts of congruent shapes, of which the target is injective."""
    size = source.shape.size
    if not size:
        return StridedCopy((0,), 0, (1,), 0, (1,))
    sides = _same_box(source.without_layers(), target.without_layers())
    if all(_runs_on(side) for side in sides):
        return strided_copy([(size, 1, 1)], sides[0].offset, sides[1].offset)
    a, b = [side.copy_form() for side in sides]
    from_steps, to_steps = a.mode_strides, b.mode_strides
    if from_steps is not None and to_steps is not None:
        modes = zip(a.shape.extents, from_steps, to_steps, strict=True)
        return strided_copy(modes, a.offset, b.offset)
    if size > MAX_INT64:
        raise SizeOverflowError(f"{size} elements, which do not lie by one stride per mode, leave 64 bits")
    for side in (a, b):
        check_int64(side, side.offset)
    if has_pieces(a) and has_pieces(b):
        return _of_pieces(a, b)
    if a.cell_rank and b.cell_rank:
        inner = min(a.cell_rank, b.cell_rank)
        if inner:
            return list_copy(a, b, partial(_by_cells, a, b, inner)) or _by_cells(a, b, inner)
    return element_copy(a, b) or OrdinalCopy(a, b)


def _by_cells(source: LayoutCommon, target: LayoutCommon, inner: int) -> CellCopy:
    return CellCopy(cells_of(source, inner), cells_of(target, inner))


def _runs_on(layout: LayoutCommon) -> bool:
    # Whether a composite is contiguous is known only when all its offsets are.
    return not layout.is_composite and layout.is_contiguous


def _same_box(source: LayoutCommon, target: LayoutCommon) -> tuple[LayoutCommon, LayoutCommon]:
    """Return layouts of the box of elements instead of those of its tiled shape, where both have one."""
    views = [side.tiled for side in (source, target)]
    tilings = [view.tiling for view in views if view is not None]
    if not tilings or not all(side.is_packed or side.tiled is not None for side in (source, target)):
        return source, target
    return _untiled(source, tilings[0]), _untiled(target, tilings[0])


def _untiled(layout: LayoutCommon, tiling: Tiling) -> LayoutCommon:
    view = layout.tiled
    if view is not None:
        return view.under
    # Elements of a tiled shape, packed in its row-major order, lie tile after tile.
    order = tuple(range(tiling.rank - 1, -1, -1))
    return TileMajor(tiling, order, order, 1, layout.offset)


def _of_pieces(source: LayoutCommon, target: LayoutCommon) -> CopySteps:
    modes = range(source.shape.rank)
    pairs = zip(pieces_of(source), pieces_of(target), strict=True)
    pieces = tuple([joint_pieces(*pair) for pair in pairs])
    regions = RegionCopy(source, target, pieces)
    if regions.count == 1:
        extents, start, steps, goal, goal_steps = next(next(regions.tables()).rows())
        return strided_copy(zip(extents, steps, goal_steps, strict=True), start, goal)
    if regions.count <= _FEW or source.keeps_tiles or target.keeps_tiles:
        return regions
    (from_base, from_axes), (to_base, to_axes) = source.mode_maps("copy"), target.mode_maps("copy")
    wide = [mode for mode in modes if source.shape.extents[mode] > 1]
    narrowest = min(wide, key=lambda mode: to_axes[mode].gap())
    if len(pieces[narrowest]) > 1 and source.shape.extents[narrowest] >= _STRETCH * len(pieces[narrowest]):
        return regions
    return gather_copy((from_base, to_base), list(zip(from_axes, to_axes, strict=True)))
