"""Index transforms over layouts: the layout behind a transform, and the transform behind a layout."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LayoutError, OutOfBoundsError, RankError, SizeOverflowError
from tensorwrapper.layout.axes._axis import AxisMap, Stride, Table
from tensorwrapper.layout.boxes._common import LayoutCommon, check_int64
from tensorwrapper.layout.boxes._separable import Separable, from_axes, indices_at
from tensorwrapper.layout.boxes._strided import Strided, row_major
from tensorwrapper.layout.interchange._losses import check_possible, loss_report
from tensorwrapper.layout.interchange._memory import strided_of
from tensorwrapper.layout.interchange._tensorstore import IndexDomain, IndexTransform, OutputMap
from tensorwrapper.typing import Index, IntArray

_Axis: TypeAlias = tuple[int, AxisMap]
"""A mode of the input, and what its positions add to the place."""


def compose_transform(transform: IndexTransform, layout: LayoutCommon) -> Strided | Separable:
    """Return the layout with the offsets of the transformed indices.

    Raises
    ------
    RankError
        If the number of output maps differs from that of the modes of the layout.
    OutOfBoundsError
        If a transformed index is outside of the shape of the layout.
    LayoutError
        If the layout is not over a box, or index arrays select points that are not a product of modes.
    """
    layout = layout.without_layers()
    base, axes = layout.mode_maps("from_tensorstore")
    shape = transform.domain.shape
    if len(transform.output) != len(axes):
        raise RankError(f"{len(transform.output)} output maps do not fit a layout of {layout.shape}")
    if not shape.size:
        return row_major(shape, layout.offset)
    if layout.span > MAX_INT64 and any(output.index_array is not None for output in transform.output):
        raise SizeOverflowError(f"places that lie {layout.span} apart leave 64 bits")
    parts: list[_Axis] = []
    points: dict[Index, IntArray] = {}
    for mode, (output, axis) in enumerate(zip(transform.output, axes, strict=True)):
        more, found, table = _parts_of(transform, output, axis, layout.shape.origin[mode], mode)
        base += more
        parts.extend(found)
        if table is not None:
            varying = tuple([m for m, n in enumerate(table.shape) if n > 1])
            points[varying] = points[varying] + table if varying in points else table
    for varying, table in points.items():
        more, found = _split(varying, table)
        base += more
        parts.extend(found)
    summed = [
        _sum([axis for m, axis in parts if m == mode], extent) for mode, extent in enumerate(shape.extents)
    ]
    return from_axes(shape, base + sum([more for more, _ in summed]), tuple([axis for _, axis in summed]))


def _parts_of(
    transform: IndexTransform, output: OutputMap, axis: AxisMap, start: int, mode: int
) -> tuple[int, list[_Axis], IntArray | None]:
    """Return a constant, what single modes add to it, and what several modes add together."""
    shape = transform.domain.shape
    if output.index_array is not None:
        array = output.index_array
        low, high = int(array.min()), int(array.max())
    elif output.input_dimension is not None:
        low = shape.origin[output.input_dimension]
        high = low + shape.extents[output.input_dimension] - 1
    else:
        low = high = 0
    first, last = output.offset + output.stride * low - start, output.offset + output.stride * high - start
    if not 0 <= min(first, last) <= max(first, last) < axis.extent:
        raise OutOfBoundsError(
            f"output map {mode} means indices from {min(first, last) + start} to {max(first, last) + start}, "
            f"where the layout has {start} to {start + axis.extent}"
        )
    if first == last:
        return axis.at(first), [], None
    if output.index_array is not None:
        return _looked_up(output, output.index_array, axis, start)
    dimension = output.input_dimension or 0
    more, part = axis.take(first, output.stride, shape.extents[dimension])
    return more, [(dimension, part)], None


def _looked_up(
    output: OutputMap, array: IntArray, axis: AxisMap, start: int
) -> tuple[int, list[_Axis], IntArray | None]:
    # The ends are inside, and so is all between them; numbers on the way there may wrap and come back.
    positions = array * _wrapped(output.stride) + _wrapped(output.offset - start)
    varying = [m for m, n in enumerate(array.shape) if n > 1]
    if len(varying) > 1:
        axis._check_int64()
        return 0, [], axis.offsets_at(positions)
    more, part = axis.gather(positions.ravel())
    return more, [(varying[0], part)], None


def _wrapped(number: int) -> np.int64:
    return np.int64((number + 2**63) % 2**64 - 2**63)


def _split(varying: Index, table: IntArray) -> tuple[int, list[_Axis]]:
    """Return a table of places over several modes as a constant and what each mode adds.

    Raises
    ------
    LayoutError
        If no such sum gives the table.
    """
    origin = table[(0,) * table.ndim]
    edges: list[IntArray] = []
    summed: IntArray = np.full((1,) * table.ndim, origin)
    for mode in varying:
        edge = table[tuple([slice(None) if m == mode else slice(1) for m in range(table.ndim)])] - origin
        edges.append(edge)
        summed = summed + edge
    if not np.array_equal(summed, table):
        raise LayoutError(
            f"index arrays over the modes {varying} choose points, not sums of one offset per mode: "
            "a layout over a box cannot say them"
        )
    simple = [Table(edge.ravel()).simplify() for edge in edges]
    return int(origin) + sum([more for more, _ in simple]), [
        (mode, axis) for mode, (_, axis) in zip(varying, simple, strict=True)
    ]


def _sum(parts: Sequence[AxisMap], extent: int) -> tuple[int, AxisMap]:
    """Return one map with the sums of several maps, or of none."""
    steps = [axis.step for axis in parts if isinstance(axis, Stride)]
    if len(steps) == len(parts):
        return 0, Stride(extent, sum(steps))
    if len(parts) == 1:
        return 0, parts[0]
    return Table(np.sum([axis.offsets() for axis in parts], axis=0)).simplify()


def tensorstore_read(layout: LayoutCommon, offset: int = 0) -> LayoutCommon:
    """Return what a reader makes of the transform of a layout: modes of one position get no stride.

    Without elements it is where the base is, at `offset`.
    """
    implementation = layout.without_layers()
    if not implementation.shape.size:
        return row_major(implementation.shape, offset)
    if implementation.has_mode_maps and implementation.mode_strides is None:
        return implementation
    implementation = strided_of(implementation)
    steps = zip(implementation.shape.extents, implementation.strides, strict=True)
    return Strided(
        implementation.shape, tuple([step if n > 1 else 0 for n, step in steps]), implementation.offset
    )


@frozen(eq=False)
class _Change:
    """Change of an index of the base along a mode of the view, from its first position on."""

    mode: int
    extent: int
    rows: IntArray
    """One row per position; with a step only those of the first and of the last."""
    step: Index | None = None
    """The change from each position to the next, if it is always the same."""

    def column(self, axis: int) -> IntArray:
        """Return the change of one index at all positions."""
        if self.step is None:
            return self.rows[:, axis]
        return np.arange(self.extent, dtype=np.int64) * self.step[axis]

    def stride(self, axis: int) -> int | None:
        """Return the step of one index from each position to the next; None if it varies."""
        if self.step is not None:
            return self.step[axis]
        steps = np.diff(self.rows[:, axis])
        return int(steps[0]) if (steps == steps[0]).all() else None


def transform_of(
    layout: LayoutCommon, base: LayoutCommon, labels: Iterable[str] | None = None
) -> IndexTransform:
    """Return the transform from the indices of a layout to those of its base.

    Raises
    ------
    LayoutError
        If the indices along two modes carry, like the digits of a number: then the index of the base is not a
        sum over the modes. Also if modes of the base overlap.
    OutOfBoundsError
        If an offset does not belong to the base.
    """
    check_possible("tensorstore", layout)
    lost = loss_report("tensorstore", layout, tensorstore_read(layout, base.offset))
    if labels is None and layout.names is not None:
        labels = [name or "" for name in layout.names]
    layout, below = layout.without_layers(), strided_of(base)
    domain = IndexDomain(layout.shape, labels)
    IndexDomain(below.shape)  # the base must have a domain too
    if not layout.shape.size:
        return IndexTransform(domain, tuple([OutputMap(start) for start in below.shape.origin]), lost)
    check_int64(layout, layout.offset)
    _, axes = layout.mode_maps("to_tensorstore")
    first = _lookup(below, np.array([layout.offset]))[0]
    changes = [
        _change_of(below, layout.offset, axis, mode, first)
        for mode, axis in enumerate(axes)
        if axis.extent > 1
    ]
    origin = layout.shape.origin
    outputs: list[OutputMap] = []
    for k, value in enumerate(first.tolist()):
        moving = [change for change in changes if change.rows[:, k].any()]
        _check_no_carry(below, k, value, moving)
        outputs.append(_output_of(origin, k, value, moving))
    return IndexTransform(domain, tuple(outputs), lost)


def _lookup(base: Strided, offsets: IntArray) -> IntArray:
    try:
        return indices_at(base, offsets)
    except LayoutError as error:
        raise LayoutError(
            f"modes of the base interleave, with the strides {base.strides}: places do not split into indices"
        ) from error


def _change_of(base: Strided, offset: int, axis: AxisMap, mode: int, first: IntArray) -> _Change:
    if isinstance(axis, Stride):
        last = axis.extent - 1
        ends = _lookup(base, np.array([offset + axis.step, offset + axis.step * last])) - first
        if np.array_equal(ends[0] * last, ends[1]):
            rows = np.stack([np.zeros_like(first), ends[1]])
            return _Change(mode, axis.extent, rows, tuple(ends[0].tolist()))
    rows = _lookup(base, axis.offsets() + (offset - axis.at(0))) - first
    return _Change(mode, axis.extent, rows)


def _check_no_carry(base: Strided, k: int, value: int, moving: Sequence[_Change]) -> None:
    """Raise unless the sums of all changes are indices of mode `k`: then they are the right ones."""
    low = value + sum([int(change.rows[:, k].min()) for change in moving])
    high = value + sum([int(change.rows[:, k].max()) for change in moving])
    start = base.shape.origin[k]
    if not start <= low <= high < start + base.shape.extents[k]:
        modes = tuple([change.mode for change in moving])
        raise LayoutError(
            f"places along the modes {modes} carry from mode {k} of the base to the one before: its index is "
            "no sum of one number per mode"
        )


def _output_of(origin: Index, k: int, value: int, moving: Sequence[_Change]) -> OutputMap:
    if not moving:
        return OutputMap(value)
    if len(moving) == 1:
        stride = moving[0].stride(k)
        if stride is not None:
            mode = moving[0].mode
            return OutputMap(value - stride * origin[mode], stride, mode)
    array: IntArray = np.full((1,) * len(origin), value, dtype=np.int64)
    for change in moving:
        extents = [1] * len(origin)
        extents[change.mode] = change.extent
        array = array + change.column(k).reshape(extents)
    return OutputMap(0, 1, None, array)
