"""Operations on the modes of a layout over a box: each is a new layout of the same memory.

They act on base and axis maps, so strided layouts and those with cycles and tables go the same way; the
result is strided wherever it can be.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias, cast, final, get_args

import numpy as np
import numpy.typing as npt

from tensorwrapper._error_text import brief
from tensorwrapper._integers import completed, to_count, to_counts, to_int, to_ints
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, ExtentError, LayoutError, OutOfBoundsError, RankError
from tensorwrapper.layout.axes._axis import AxisMap, Based, Stride, Table
from tensorwrapper.layout.axes._split import SEARCHED, split_axis
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._separable import Separable, from_axes, over_box
from tensorwrapper.layout.boxes._strided import Strided, new_strided, packed_strides
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import integer_array, make_smooth, mode_of, wrap
from tensorwrapper.typing import Extents, Index, IntArray

Boundary: TypeAlias = Literal["wrap", "edge", "reflect", "symmetric"]
"""How a mode goes on beyond its ends; the words are those of ``numpy.pad``."""
PadWidths: TypeAlias = "Iterable[tuple[SupportsIndex, SupportsIndex]]"
"""How many positions come before and after each mode."""


def pad_positions(extent: int, before: int, after: int, boundary: Boundary) -> IntArray:
    """Return the positions of a mode that a padded mode consists of; each is in ``[0, extent)``.

    Examples
    --------
    >>> pad_positions(3, 4, 2, "reflect").tolist(), pad_positions(3, 4, 2, "symmetric").tolist()
    ([0, 1, 2, 1, 0, 1, 2, 1, 0], [2, 2, 1, 0, 0, 1, 2, 2, 1])
    """
    return positions_beyond(np.arange(-before, extent + after, dtype=np.int64), extent, boundary)


def positions_beyond(places: IntArray, extent: "int | IntArray", boundary: Boundary) -> IntArray:
    """Return the positions for places in and beyond modes of these extents, at least 1.

    Raises
    ------
    ConversionError
        If the boundary does not exist.
    """
    if not isinstance(cast("object", boundary), str) or boundary not in get_args(Boundary):
        raise ConversionError(
            f'boundary must be "wrap", "edge", "reflect" or "symmetric", not {brief(boundary)}: '
            "a layout repeats places, it has none for a constant"
        )
    found: IntArray
    if boundary == "wrap":
        found = places % extent
    elif boundary == "edge":
        found = np.clip(places, 0, extent - 1)
    else:
        # There and back again: with both ends twice, or each once.
        both = boundary == "symmetric"
        period = 2 * extent if both else np.maximum(2 * extent - 2, 1)
        there = places % period
        found = np.minimum(there, (period - 1 if both else period) - there)
    return found


def positions_of_rows(lengths: IntArray, before: int, after: int, boundary: Boundary) -> IntArray:
    """Return what `pad_positions` does of rows of these lengths, 1 at least, one row after the other.

    Examples
    --------
    >>> positions_of_rows(np.array([3, 1]), 1, 1, "wrap").tolist()
    [2, 0, 1, 2, 0, 0, 0, 0]
    """
    longer = lengths + (before + after)
    begins = np.cumsum(longer) - longer
    places = np.arange(int(longer.sum()), dtype=np.int64) - np.repeat(begins + before, longer)
    return positions_beyond(places, np.repeat(lengths, longer), boundary)


def pad(layout: LayoutCommon, widths: PadWidths, boundary: Boundary) -> Strided | Separable:
    """Return the layout whose modes go on beyond their ends; the elements keep their indices."""
    base, axes = layout.mode_maps("pad")
    positions_beyond(np.zeros(0, np.int64), 1, boundary)  # for what it raises
    counts = _to_widths(widths, len(axes))
    parts = [
        _padded(axis, number, *own, boundary)
        for number, (axis, own) in enumerate(zip(axes, counts, strict=True))
    ]
    maps = tuple([axis for _, axis in parts])
    extents = tuple([axis.extent for axis in maps])
    origin = [start - before for start, (before, _) in zip(layout.shape.origin, counts, strict=True)]
    start = base + sum([more for more, _ in parts]) if 0 not in extents else base
    return from_axes(wrap(make_smooth(extents, tuple(origin))), start, maps)


def _padded(axis: AxisMap, number: int, before: int, after: int, boundary: Boundary) -> Based:
    if not before and not after:
        return 0, axis
    if not axis.extent:
        raise LayoutError(f"mode {number} has extent 0: there is no position to pad it with")
    if boundary == "wrap":
        return axis.wrap_pad(before, after)
    return axis.gather(pad_positions(axis.extent, before, after, boundary))


def _to_widths(widths: PadWidths, rank: int) -> Sequence[tuple[int, int]]:
    try:
        pairs = list(widths)
    except TypeError as error:
        raise ConversionError(f"widths are one pair (before, after) per mode, not {widths!r}") from error
    counts = [to_counts(pair, "the widths of a pad") for pair in pairs]
    if len(counts) != rank or any(len(pair) != 2 for pair in counts):
        raise RankError(f"widths are one pair (before, after) per mode, {rank} in all, not {counts}")
    return [(before, after) for before, after in counts]


_Smooth = Strided | Separable


def _rebuilt(base: int, parts: Sequence[tuple[int, AxisMap]], origin: Sequence[int]) -> _Smooth:
    """Return the layout of new axis maps, each with the constant that it split off."""
    axes = tuple([axis for _, axis in parts])
    extents = tuple([axis.extent for axis in axes])
    start = base + sum([more for more, _ in parts]) if 0 not in extents else base
    return over_box(extents, tuple(origin), start, axes)


def per_mode(values: Iterable[SupportsIndex], rank: int, what: str) -> tuple[int, ...]:
    numbers = to_ints(values, what)
    if len(numbers) != rank:
        raise RankError(f"{what} has one entry per mode, {rank} in all, not {len(numbers)}: {brief(numbers)}")
    return numbers


def rotate(layout: LayoutCommon, shifts: Iterable[SupportsIndex]) -> _Smooth:
    """Return the layout whose position j of a mode is position ``(j - shift) mod extent``: NumPy's roll."""
    base, axes = layout.mode_maps("rotate")
    numbers = per_mode(shifts, len(axes), "a rotation")
    parts = [
        axis.rotate(k) if k and axis.extent else (0, axis) for axis, k in zip(axes, numbers, strict=True)
    ]
    return _rebuilt(base, parts, layout.shape.origin)


def repeat(layout: LayoutCommon, times: Iterable[SupportsIndex]) -> _Smooth:
    """Return the layout with every mode repeated whole: NumPy's tile."""
    base, axes = layout.mode_maps("repeat")
    counts = [to_count(n, "a number of times") for n in per_mode(times, len(axes), "a repetition")]
    parts = [axis.repeat(n) if n != 1 else (0, axis) for axis, n in zip(axes, counts, strict=True)]
    return _rebuilt(base, parts, layout.shape.origin)


def repeat_each(layout: LayoutCommon, mode: SupportsIndex, times: SupportsIndex) -> _Smooth:
    """Return the layout with every position of a mode repeated: NumPy's repeat."""
    base, axes = layout.mode_maps("repeat_each")
    number, count = mode_of(mode, len(axes)), to_count(times, "a number of times")
    parts = [axis.repeat_each(count) if m == number else (0, axis) for m, axis in enumerate(axes)]
    return _rebuilt(base, parts, layout.shape.origin)


def gather(layout: LayoutCommon, mode: SupportsIndex, positions: npt.ArrayLike) -> _Smooth:
    """Return the layout of the given positions of a mode, counted from 0, negative from the end."""
    base, axes = layout.mode_maps("gather")
    box = layout.shape.implementation
    extents, origin = box.extents, box.origin
    number, places = places_of(extents, mode, positions)
    more, axis = axes[number].gather(places)
    before, after = slice(number), slice(number + 1, None)
    extents = (*extents[before], axis.extent, *extents[after])
    return over_box(
        extents,
        (*origin[before], 0, *origin[after]),
        base + more if 0 not in extents else base,
        (*axes[before], axis, *axes[after]),
    )


def places_of(extents: Extents, mode: SupportsIndex, positions: npt.ArrayLike) -> tuple[int, IntArray]:
    """Return the number of a mode of a box, and positions of it, none of them negative.

    Raises
    ------
    OutOfBoundsError
        If there is no such position.
    RankError
        If there is no such mode, or the positions are not in one axis.
    """
    number = mode_of(mode, len(extents))
    places = integer_array(positions, "positions")
    if places.ndim != 1:
        raise RankError(f"positions of one mode form one axis, not an array of shape {places.shape}")
    extent = extents[number]
    # As unsigned numbers, negative ones exceed all others: mostly one look is enough.
    if not places.size or int(places.view(places.dtype.str.replace("i", "u")).max()) < extent:
        return number, places.astype(np.int64, copy=False)
    if int(places.min()) < -extent or int(places.max()) >= extent:
        wrong = places[(places < -extent) | (places >= extent)]
        raise OutOfBoundsError(
            f"position {int(wrong[0])} is outside mode {number}, which has extent {extent}"
        )
    signed = places.astype(np.int64, copy=False)
    return number, np.where(signed < 0, signed + extent, signed)


def broadcast(layout: LayoutCommon, shape: Shape[Any]) -> _Smooth:
    """Return the layout over `shape` that repeats modes of extent 1 and adds leading modes."""
    own = layout.shape.extents
    base, axes = layout.mode_maps("broadcast")
    new = shape.rank - len(own)
    if new < 0:
        raise LayoutError(f"a layout of {layout.shape} does not broadcast to {shape}, which has fewer modes")
    for mode, (extent, wanted) in enumerate(zip(own, shape.extents[new:], strict=True)):
        if extent not in {1, wanted}:
            raise LayoutError(
                f"mode {mode} of {layout.shape} has extent {extent}, which does not broadcast to {wanted}"
            )
    pairs = list(zip(own, shape.extents[new:], strict=True))
    steps = layout.mode_strides
    if steps is not None:
        # Most are such: no maps need be made.
        kept = [step if n == wanted else 0 for (n, wanted), step in zip(pairs, steps, strict=True)]
        return Strided(shape, (*[0] * new, *kept), base)
    parts: list[AxisMap] = [Stride(extent, 0) for extent in shape.extents[:new]]
    parts += [
        axis if n == wanted else Stride(wanted, 0) for (n, wanted), axis in zip(pairs, axes, strict=True)
    ]
    return from_axes(shape, base, tuple(parts))


def unsqueeze(layout: LayoutCommon, mode: SupportsIndex) -> _Smooth:
    """Return the layout with a new mode of extent 1 at `mode`, which counts from the end if negative."""
    base, axes = layout.mode_maps("unsqueeze")
    number = mode_of(mode, len(axes) + 1)
    origin = layout.shape.origin
    parts = [(0, axis) for axis in axes]
    parts.insert(number, (0, Stride(1, 0)))
    return _rebuilt(base, parts, (*origin[:number], 0, *origin[number:]))


def squeeze(layout: LayoutCommon, modes: Iterable[int] | None) -> _Smooth:
    """Return the layout without some modes of extent 1; all of them if None is given."""
    base, axes = layout.mode_maps("squeeze")
    chosen = squeezable(layout.shape.extents, modes)
    # A map of one position is a stride, which is 0 there.
    kept = [mode for mode in range(len(axes)) if mode not in chosen]
    return _rebuilt(base, [(0, axes[m]) for m in kept], [layout.shape.origin[m] for m in kept])


def squeezable(extents: Extents, modes: Iterable[int] | None) -> set[int]:
    """Return the modes of extent 1 that are dropped: those given, or all."""
    if modes is None:
        return {mode for mode, extent in enumerate(extents) if extent == 1}
    chosen = {mode_of(mode, len(extents)) for mode in modes}
    for mode in sorted(chosen):
        if extents[mode] != 1:
            raise ExtentError(
                f"mode {mode} has extent {extents[mode]}; only a mode of extent 1 can be dropped"
            )
    return chosen


def sliding_window(layout: LayoutCommon, mode: SupportsIndex, length: SupportsIndex) -> _Smooth:
    """Return the layout of all runs of `length` positions of a mode; a last mode counts within the run."""
    base, axes = layout.mode_maps("sliding_window")
    number, width = mode_of(mode, len(axes)), to_int(length, "the length of a window")
    axis = axes[number]
    if not 1 <= width <= axis.extent:
        raise ExtentError(
            f"a window over mode {number}, of extent {axis.extent}, has a length of 1 to "
            f"{axis.extent}, not {width}"
        )
    if not isinstance(axis, Stride):
        raise LayoutError(
            f"mode {number} has no single stride, so windows over it are not a layout: copy it first"
        )
    parts: list[tuple[int, AxisMap]] = [(0, a) for a in axes]
    parts[number] = (0, Stride(axis.extent - width + 1, axis.step))
    parts.append((0, Stride(width, axis.step)))
    return _rebuilt(base, parts, (*layout.shape.origin, 0))


def diagonal(layout: LayoutCommon, first: SupportsIndex, second: SupportsIndex) -> _Smooth:
    """Return the layout of the elements whose positions in two modes agree; the new mode is the last."""
    base, axes = layout.mode_maps("diagonal")
    a, b = mode_of(first, len(axes)), mode_of(second, len(axes))
    if a == b:
        raise RankError(f"a diagonal needs two different modes, not {a} twice")
    count = min(axes[a].extent, axes[b].extent)
    start = layout.shape.origin[a]
    if layout.shape.origin[b] != start:
        start = 0
    (more, left), (also, right) = axes[a].take(0, 1, count), axes[b].take(0, 1, count)
    if isinstance(left, Stride) and isinstance(right, Stride):
        joined: tuple[int, AxisMap] = (more + also, Stride(count, left.step + right.step))
    else:
        own, table = Table(left.offsets() + right.offsets()).simplify()
        joined = (more + also + own, table)
    kept = [mode for mode in range(len(axes)) if mode not in {a, b}]
    origin = [layout.shape.origin[mode] for mode in kept]
    return _rebuilt(base, [*[(0, axes[m]) for m in kept], joined], [*origin, start])


def split_mode(layout: LayoutCommon, mode: SupportsIndex, counts: Extents) -> _Smooth:
    """Return the layout in which one mode counts in several, the last of them fastest."""
    base, axes = layout.mode_maps("split_mode")
    number = mode_of(mode, len(axes))
    axis = axes[number]
    product = math.prod(counts)
    if product != axis.extent:
        raise ExtentError(f"mode {number} of extent {axis.extent} does not split into {counts}")
    parts = split_axis(axis, counts)
    if parts is None:
        rule = f" (of more than {SEARCHED} positions it is decided by rule)" if axis.extent > SEARCHED else ""
        raise LayoutError(f"mode {number} has no single stride along the parts {counts}{rule}: copy it first")
    before = [(0, a) for a in axes[:number]]
    after = [(0, a) for a in axes[number + 1 :]]
    origin = layout.shape.origin
    return _rebuilt(
        base, [*before, *parts, *after], (*origin[:number], *[0] * len(counts), *origin[number + 1 :])
    )


def merge_modes(layout: LayoutCommon, first: SupportsIndex, last: SupportsIndex) -> _Smooth:
    """Return the layout in which the modes `first` to `last` count as one, the last of them fastest."""
    base, axes = layout.mode_maps("merge_modes")
    a, b = mode_of(first, len(axes)), mode_of(last, len(axes))
    if a > b:
        raise RankError(f"modes are merged from a first to a last one, not from {a} to {b}")
    run = axes[a : b + 1]
    merged = _merge(run)
    if merged is None:
        steps = [axis.step if isinstance(axis, Stride) else None for axis in run]
        raise LayoutError(
            f"the modes {a} to {b}, of extents {tuple([axis.extent for axis in run])} and strides {steps}, "
            "do not follow one another in memory, so they are not one mode: copy first"
        )
    origin = layout.shape.origin
    parts = [*[(0, axis) for axis in axes[:a]], (0, merged), *[(0, axis) for axis in axes[b + 1 :]]]
    return _rebuilt(base, parts, (*origin[:a], 0, *origin[b + 1 :]))


def _merge(run: Sequence[AxisMap]) -> AxisMap | None:
    """Return the one map of several modes counted together, if strides follow one another."""
    extents = [axis.extent for axis in run]
    total = math.prod(extents)
    if len(run) == 1:
        return run[0]
    if not total:
        return Stride(0, 0)
    wide = [axis for axis in run if axis.extent > 1]
    if not wide:
        return Stride(1, 0)
    if len(wide) == 1:
        return wide[0]
    step = None
    for axis in reversed(wide):
        if not isinstance(axis, Stride) or (step is not None and axis.step != step):
            return None
        step = axis.step * axis.extent
    last = wide[-1]
    return Stride(total, last.step) if isinstance(last, Stride) else None


def reshape(layout: Strided, extents: Extents) -> Strided:
    """Return the layout of the same elements, in row-major order, under new extents; one may be -1."""
    extents = completed(extents, layout.shape.size)
    strides = _reshape_strides(layout, extents)
    if isinstance(strides, _Obstacle):
        a, b = strides.modes
        old, steps = layout.shape.extents, layout.strides
        raise LayoutError(
            f"{old} does not become {extents} without a copy: mode {a} (stride {steps[a]}) does not "
            f"follow mode {b} (stride {steps[b]}, extent {old[b]})"
        )
    return new_strided(extents, (0,) * len(extents), strides, layout.offset)


def reshape_obstacle(layout: Strided, extents: Extents) -> tuple[int, int] | None:
    """Return the two neighbouring modes that keep a reshape from being a view, if there are any."""
    strides = _reshape_strides(layout, completed(extents, layout.shape.size))
    return strides.modes if isinstance(strides, _Obstacle) else None


@final
@frozen
class _Obstacle:
    """Two modes that would have to be one, but do not follow one another in memory."""

    modes: tuple[int, int]


def _reshape_strides(layout: Strided, new: Extents) -> Index | _Obstacle:
    """Return the strides of the same elements, in row-major order, under new extents.

    NumPy's rule, with signed strides: runs of modes that follow one another in memory are regrouped; modes
    of extent 1 are free.
    """
    extents, strides = layout.shape.extents, layout.strides
    size = math.prod(extents)
    count = math.prod(new)
    if count != size:
        first = f"; `t.reshape(-1)[:{count}].reshape({tuple(new)})` has the first of them"
        raise ExtentError(
            f"{brief(new)} has {brief(count)} elements, but a layout of {extents} has {size}"
            f"{first if 0 < count < size and len(new) < 8 else ''}"
        )
    if not size:
        return packed_strides(new, range(len(new) - 1, -1, -1))
    old = [mode for mode, extent in enumerate(extents) if extent != 1]
    steps = [0] * len(new)
    place = mode = 0
    while place < len(old) and mode < len(new):
        # The shortest runs of old and new modes that have equally many elements.
        count, group = extents[old[place]], new[mode]
        end, stop = place + 1, mode + 1
        while count != group:
            if count < group:
                count *= extents[old[end]]
                end += 1
            else:
                group *= new[stop]
                stop += 1
        for left, right in itertools.pairwise(old[place:end]):
            if strides[left] != strides[right] * extents[right]:
                return _Obstacle((left, right))
        step = strides[old[end - 1]]
        for k in range(stop - 1, mode - 1, -1):
            steps[k] = step
            step *= new[k]
        place, mode = end, stop
    return tuple(steps)
