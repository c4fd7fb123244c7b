"""Two modes merged to one, and one mode split in two, of layouts over any shape; nothing is copied.

The elements stay in place. A contiguous row-major layout stays so, in O(1) besides the new shape. Otherwise
cells keep their offsets. If a new cell would have no strides, elements are found by their ordinals. So the
shape of the result depends on the shape of the operand alone, not on its places.
"""

from typing import Any

import numpy as np

from tensorwrapper._arrays import shared_table, splits_of
from tensorwrapper.errors import LayoutError, RankError
from tensorwrapper.layout.axes._axis import Table
from tensorwrapper.layout.boxes._common import LayoutCommon, ModeOperation, check_int64
from tensorwrapper.layout.boxes._modes import merge_modes
from tensorwrapper.layout.boxes._separable import over_box
from tensorwrapper.layout.boxes._strided import new_strided
from tensorwrapper.layout.cells._blocked import Blocked, Packed, make_blocked
from tensorwrapper.layout.cells._parts import PlacedRows
from tensorwrapper.layout.operations._regroup_rows import merge_rows, split_rows, split_run
from tensorwrapper.layout.operations._user_layout import PartLayout
from tensorwrapper.shape import Jagged, Rows, Shape
from tensorwrapper.shape.lowlevel import rows_under, wrap
from tensorwrapper.typing import Index, IntArray


def merge_mode(layout: LayoutCommon, mode: int) -> LayoutCommon:
    """Return the layout in which `mode` counts on in the mode before it; all modes start at zero then."""
    if mode < 1:
        raise RankError(f"mode {mode} has no mode before it in which it could count on")
    if layout.shape.is_box:
        return layout.at(()).change(ModeOperation("flatten", lambda box: _merge_of_box(box, mode)))
    if layout.is_packed:
        return _packed(merge_rows(rows_under(layout.shape), mode), layout.offset)
    if isinstance(layout, PartLayout) and layout.shape.rank > 2:
        return PartLayout(layout.under, merge_mode(layout.ordinals, mode))
    table = PlacedRows.of(layout)
    inner = mode - table.rows.outer_rank
    strides = table.strides if inner < 0 else _merged_strides(table, inner) if inner else None
    if strides is None and inner and table.width > 2:
        # No stride leads through a mode of the new cells; by ordinals they stay cells.
        return PartLayout(layout, _packed(merge_rows(rows_under(layout.shape), mode), 0))
    if strides is None:
        # Each step of the mode that is merged goes its own way: the table must reach down to there.
        table = table.unrolled(mode + 1)
        strides = table.strides
    return _placed(merge_rows(table.rows, mode), table.starts, strides)


def _merge_of_box(layout: LayoutCommon, mode: int) -> LayoutCommon:
    base, axes = layout.mode_maps("flatten")
    try:
        return merge_modes(layout, mode - 1, mode)
    except LayoutError:
        outer, inner = [axis.offsets_at(np.arange(axis.extent)) for axis in axes[mode - 1 : mode + 1]]
        start, merged = Table(np.add.outer(outer, inner).reshape(-1)).simplify()
        maps = (*axes[: mode - 1], merged, *axes[mode + 1 :])
        return over_box(tuple([axis.extent for axis in maps]), (0,) * len(maps), base + start, maps)


def _merged_strides(table: PlacedRows, inner: int) -> IntArray | None:
    """Return the strides where two modes of each cell are one; None if they do not follow one another."""
    if not table.width:
        return table.strides
    extents, strides = table.rows.columns.leaf_extents(*table.rows.leaves), table.strides
    first, second = extents[:, inner - 1], extents[:, inner]
    # Compared by division, which cannot wrap; a mode of one index takes no step.
    steps, rest = np.divmod(strides[:, inner - 1], np.where(second > 1, second, 1))
    follow = (steps == strides[:, inner]) & (rest == 0)
    if not (follow | (first <= 1) | (second <= 1)).all():
        return None
    merged = np.delete(strides, inner, axis=1)
    merged[:, inner - 1] = np.where(second > 1, strides[:, inner], strides[:, inner - 1])
    return merged


def split_mode_by(
    layout: LayoutCommon, mode: int, counts: IntArray, parents: IntArray | None
) -> Packed | Blocked | PartLayout:
    """Return the layout with `mode` split into new rows with `counts` indices each.

    See `split_rows` for `parents` and for errors.
    """
    strides = layout.mode_strides
    if not mode and strides is not None:
        return _split_of_box(layout, strides, counts)
    if layout.shape.rank == 1:
        rows, _ = split_run(counts, layout.shape.extents)
        return make_blocked(_shape_of(rows), layout.to_numpy(), shared_table((), layout.shape.size))
    if not mode and layout.shape.is_box:
        # The first mode of the cells has no stride; by ordinals they stay cells.
        return PartLayout(layout, Packed(_shape_of(split_run(counts, layout.shape.extents)[0]), 0))
    if isinstance(layout, PartLayout) and not layout.shape.is_box:
        return PartLayout(layout.under, split_mode_by(layout.ordinals, mode, counts, parents))
    rows, parents = split_rows(rows_under(layout.shape), mode, counts, parents)
    if layout.is_packed or (strides is not None and layout.is_contiguous):
        return Packed(_shape_of(rows), layout.offset)
    table = PlacedRows.of(layout).unrolled(mode)
    if rows.columns.leaf_rank > max(table.width, 1):
        return PartLayout(layout, Packed(_shape_of(rows), 0))
    starts, steps = table.starts, table.strides
    if mode == layout.shape.rank - table.width:
        before = splits_of(table.rows.columns.leaf_extents(*table.rows.leaves)[:, 0])
        owners = np.repeat(np.arange(len(starts)), np.diff(parents))
        firsts = splits_of(counts)[:-1] - before[owners]
        starts = starts[owners] + firsts * steps[owners, 0]
        steps = steps[owners]
    return make_blocked(_shape_of(rows), starts, steps)


def _split_of_box(layout: LayoutCommon, strides: Index, counts: IntArray) -> Packed | Blocked:
    """Return a box as cells that follow one another in mode 0."""
    rows, marks = split_run(counts, layout.shape.extents)
    if layout.is_contiguous:
        return Packed(_shape_of(rows), layout.offset)
    check_int64(layout, layout.offset)
    starts = layout.offset + marks[:-1] * strides[0]
    return make_blocked(_shape_of(rows), starts, shared_table(strides, len(counts)), layout.offset)


def _shape_of(rows: Rows) -> Shape[Any]:
    return wrap(Jagged(rows))


def _packed(made: Rows | int, offset: int) -> LayoutCommon:
    if isinstance(made, int):
        return new_strided((made,), (0,), (1,), offset)
    return Packed(_shape_of(made), offset)


def _placed(made: Rows | int, starts: IntArray, strides: IntArray) -> LayoutCommon:
    if not isinstance(made, int):
        return make_blocked(_shape_of(made), starts, strides)
    base, axis = Table(starts).simplify()
    return over_box((made,), (0,), base, (axis,))
