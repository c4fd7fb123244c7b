"""Copy plans at work: elements move between two runs of memory as a plan says."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import SupportsIndex, TypeAlias, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import check_kind_of
from tensorwrapper._compiled import copy_boxes, copy_runs
from tensorwrapper._integers import to_threads
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.copies._copy import _count
from tensorwrapper.buffer.copies._strided_copy import copy_strided, in_threads
from tensorwrapper.buffer.copies._strided_rows import copy_lines
from tensorwrapper.errors import BufferSizeError, ConversionError, DTypeError, ReadOnlyError
from tensorwrapper.layout import CopyPlan, Layout
from tensorwrapper.layout.lowlevel import (
    CopyTable,
    plan_copy,
)
from tensorwrapper.typing import Array, IntArray

_BlockRow: TypeAlias = "tuple[Sequence[int], int, Sequence[int], int, Sequence[int]]"
"""Extents of a block, its start and its strides in the source, and both in the target."""

_BYTES = 1 << 20  # bytes at a time, where elements pass through memory in between
_LONG = 1 << 12  # bytes from which a run is copied by itself
_LARGE = 1 << 15  # bytes from which a block is worth a look at its order of modes
_SMALL = 1 << 11  # bytes up to which blocks of one form are worth a search for the others
_ALIKE = 4  # how many smaller blocks of one form there must be for them to be copied at once
_FEW = 4  # blocks per thread from which threads are given blocks, and not parts of each block

_Memory: TypeAlias = npt.NDArray[np.uint8]
_Places: TypeAlias = tuple[IntArray, IntArray]


@final
@frozen(eq=False)
class _Move:
    """The memory of both sides, and the type as which elements are moved."""

    source: _Memory
    target: _Memory
    unit: "np.dtype[np.generic]"


def copy_between(
    source: Array, source_layout: Layout, target: Array, target_layout: Layout, *, threads: SupportsIndex = 1
) -> None:
    """Write each element of `source` to where `target_layout` puts it in `target`.

    As `run_copy`, with a plan made for the two layouts.

    Examples
    --------
    >>> import numpy as np
    >>> from tensorwrapper import Layout, Shape
    >>> packed = np.zeros(6)
    >>> copy_between(np.arange(6.0), Layout(Shape(2, 3)), packed, Layout(Shape(2, 3), order="F"))
    >>> packed
    array([0., 3., 1., 4., 2., 5.])
    """
    for layout in (source_layout, target_layout):
        check_kind_of(layout, Layout, "elements are copied from one layout to another")
    run_copy(
        plan_copy(source_layout.implementation, target_layout.implementation), source, target, threads=threads
    )


def run_copy(plan: CopyPlan, source: Array, target: Array, *, threads: SupportsIndex = 1) -> None:
    """Move the elements of a plan from one flat array to another; other places of the target are kept.

    Nothing the size of the data is allocated, except where both arrays share memory that is read and
    written: then the source is copied first.

    Parameters
    ----------
    plan
        The plan of the copy.
    source, target
        One-dimensional arrays without gaps, of one dtype.
    threads
        How many threads copy; they end with the copy. Two bring contiguous memory little and permuted
        modes up to twice the speed.

    Raises
    ------
    BufferSizeError
        If an offset of the plan is outside an array.
    DTypeError
        If the arrays differ in dtype.
    ReadOnlyError
        If the target cannot be written to.
    """
    check_kind_of(plan, CopyPlan, "elements are copied by a plan")
    count = to_threads(threads)
    reads = _reads(plan, len(source))
    _check(source, reads, "source")
    _check(target, plan.target_bounds, "target")
    if source.dtype != target.dtype:
        raise DTypeError(f"elements of type {source.dtype} do not move to memory of type {target.dtype}")
    if not target.flags.writeable:
        raise ReadOnlyError("the target of the copy is read-only")
    if not plan.elements:
        return
    if _overlap(plan, reads, source, target):
        if source.ctypes.data == target.ctypes.data and plan.is_view:
            return
        source = _apart(source, reads)
    move = _Move(source.view(np.uint8), target.view(np.uint8), _unit(source.dtype))
    _run(plan, move, count)
    _count(plan.nbytes(source.dtype.itemsize))


def _reads(plan: CopyPlan, size: int) -> tuple[int, int]:
    """Return between which offsets a plan reads: those that are known without a search, if that suffices."""
    reach = plan.steps.source_reach
    return plan.source_bounds if reach is None or reach[0] < 0 or reach[1] >= size else reach


def _check(flat: Array, bounds: tuple[int, int], what: str) -> None:
    if flat.ndim != 1 or not flat.flags.c_contiguous:
        raise ConversionError(f"the {what} must be a flat array without gaps, not one of shape {flat.shape}")
    least, greatest = bounds
    if least < 0 or greatest >= len(flat):
        raise BufferSizeError(
            f"the {what} layout needs offsets {least} to {greatest}; the array has {len(flat)} elements"
        )


def _overlap(plan: CopyPlan, reads: tuple[int, int], source: Array, target: Array) -> bool:
    """Return True if the memory that is read reaches into the memory that is written."""
    size = source.dtype.itemsize
    (a, b), (c, d) = reads, plan.target_bounds
    start, goal = source.ctypes.data, target.ctypes.data
    return start + a * size < goal + (d + 1) * size and goal + c * size < start + (b + 1) * size


def _apart(source: Array, bounds: tuple[int, int]) -> Array:
    """Return a copy of the source within bounds, at the same offsets; memory below them is never touched."""
    least, greatest = bounds
    copy = np.empty(greatest + 1, dtype=source.dtype)
    copy[least:] = source[least : greatest + 1]
    _count(copy[least:].nbytes)
    return copy


def _unit(dtype: "np.dtype[np.generic]") -> "np.dtype[np.generic]":
    """Return a type of the same size whose elements are copied without conversion."""
    size = dtype.itemsize
    return np.dtype(f"u{size}" if size in {1, 2, 4, 8} else "c16" if size == 16 else f"V{size}")


def _run(plan: CopyPlan, move: _Move, threads: int) -> None:
    steps = plan.steps
    block = steps.in_bytes(move.unit.itemsize)
    if block is not None:
        _copy_block(move, threads, block)
        return
    if _copy_elements(plan, move):
        return
    planes, length = steps.planes(), steps.run_length
    if planes is not None:
        for starts, goals, from_, to in planes:
            leads = list(zip(from_.tolist(), to.tolist(), strict=True))
            shares = [leads[k::threads] for k in range(min(threads, len(leads)))]
            in_threads(partial(_copy_planes, move, (starts, goals), length), shares, threads)
    else:
        for table in steps.blocks():
            if len(table) < _FEW * threads:
                for few in table.joined().rows(move.unit.itemsize):
                    _copy_block(move, threads, few)
                continue
            marks = [len(table) * k // threads for k in range(threads + 1)]
            shared_out = [table.part(slice(*ends)) for ends in pairwise(marks)]
            in_threads(partial(_copy_table, move), shared_out, threads)


def _copy_elements(plan: CopyPlan, move: _Move) -> bool:
    """Copy elements that go one after the other; tell whether there are no others."""
    steps = plan.steps
    elements = steps.elements()
    if elements is None:
        return False
    source, target = move.source.view(move.unit), move.target.view(move.unit)
    runs = steps.runs()
    if runs is not None:
        starts, splits, shift = runs
        if copy_runs(source, target, starts, splits[:-1], splits[1:], shift):
            return True
    for places, goal in elements:
        # Both sides have been checked; checking again in NumPy would copy the target.
        np.take(source, places, out=target[goal : goal + len(places)], mode="clip")
    return True


def _copy_table(move: _Move, table: CopyTable) -> None:
    """Copy blocks: large ones and those unlike all others one by one, the others all of one form at once."""
    size = move.unit.itemsize
    mean = table.size() * size // max(len(table), 1)
    if not len(table) or (mean <= _LARGE and _copied_by_loops(move, table)):
        return
    table = table.joined()
    if mean < _SMALL:
        if copy_lines(table, move.source.view(move.unit), move.target.view(move.unit)):
            return
        order, marks = table.groups()
        if len(marks) * _ALIKE < len(table):
            for first, last in pairwise(marks.tolist()):
                rows = order[first:last]
                _copy_alike(move, table.part(rows[:1]), table.source[rows], table.target[rows])
            return
    if table.are_runs():
        _copy_runs(move, table)
        return
    if mean > _LARGE:
        for row in table.rows(size):
            _copy_block(move, 1, row)
        return
    unit, memory, goals = move.unit, move.source, move.target
    # As `_copy_block`, without a call: half the time of small blocks.
    for extents, start, steps, goal, goal_steps in table.rows(size):
        block: Array = np.ndarray(extents, unit, goals, goal, goal_steps)
        block[...] = np.ndarray(extents, unit, memory, start, steps)


def _copied_by_loops(move: _Move, table: CopyTable) -> bool:
    """Copy blocks in loops in C if they are there; tell whether that was done."""
    sides = table.source, table.source_strides, table.target, table.target_strides
    return copy_boxes(move.source.view(move.unit), move.target.view(move.unit), table.extents, sides)


def _copy_runs(move: _Move, table: CopyTable) -> None:
    source, target = move.source.view(move.unit), move.target.view(move.unit)
    for count, start, goal in table.runs_of_rows():
        target[goal : goal + count] = source[start : start + count]


def _copy_block(move: _Move, threads: int, row: _BlockRow) -> None:
    """Copy one block, given in bytes."""
    extents, start, steps, goal, goal_steps = row
    unit = move.unit
    # NumPy checks both against the memory once more.
    source: Array = np.ndarray(extents, unit, move.source, start, steps)
    target: Array = np.ndarray(extents, unit, move.target, goal, goal_steps)
    if threads == 1 and len(extents) and steps[-1] == goal_steps[-1]:
        # Nothing to gain: the fastest mode is the same.
        np.copyto(target, source)
    else:
        copy_strided(target, source, threads=threads)


def _copy_alike(move: _Move, form: CopyTable, sources: IntArray, targets: IntArray) -> None:
    """Copy blocks of one form: they are rows of a view in which one block starts at each element."""
    (row,) = form.rows()
    extents, steps, goal_steps = list(row[0]), list(row[2]), list(row[4])
    length = 1
    if extents and steps[-1] == goal_steps[-1] == 1:
        length = extents.pop()
    left, low = _blocks_everywhere(move.source, move.unit, length, extents, steps)
    right, goal_low = _blocks_everywhere(move.target, move.unit, length, extents, goal_steps)
    batch = max(_BYTES // (length * math.prod(extents) * move.unit.itemsize), 1)
    for first in range(0, len(sources), batch):
        rows = slice(first, first + batch)
        right[targets[rows] + goal_low] = left[sources[rows] + low]


def _blocks_everywhere(
    memory: _Memory, unit: "np.dtype[np.generic]", length: int, extents: list[int], steps: list[int]
) -> tuple[Array, int]:
    """Return all blocks of one form, and the offset of a block by its number.

    A run is one element as long as it is; the blocks overlap in memory.
    """
    size = unit.itemsize
    reaches = [(n - 1) * step for n, step in zip(extents, steps, strict=False)]
    low, high = sum([min(r, 0) for r in reaches]), sum([max(r, 0) for r in reaches])
    count = len(memory) // size - (high - low) - (length - 1)
    strides = [size, *[step * size for step in steps[: len(extents)]]]
    return np.ndarray((count, *extents), _run_of(unit, length), memory, -low * size, strides), low


def _run_of(unit: "np.dtype[np.generic]", length: int) -> "np.dtype[np.generic]":
    return unit if length == 1 else np.dtype(f"V{length * unit.itemsize}")


def _copy_planes(move: _Move, places: _Places, length: int, leads: list[tuple[int, int]]) -> None:
    """Copy runs of one length from the places of a plane to its goals, once for each pair of starts."""
    starts, goals = places
    lows = int(starts.min()), int(goals.min())
    starts, goals = starts - lows[0], goals - lows[1]
    left, right = [
        _blocks_everywhere(memory, move.unit, length, [], [])[0] for memory in (move.source, move.target)
    ]
    if length * move.unit.itemsize >= _LONG:
        pairs = list(zip(starts.tolist(), goals.tolist(), strict=True))
        whole, aim = move.source.view(move.unit), move.target.view(move.unit)
        for start, goal in leads:
            for a, b in pairs:
                from_, to = a + start + lows[0], b + goal + lows[1]
                aim[to : to + length] = whole[from_ : from_ + length]
        return
    to_run, from_run = length == 1 and _follow_on(goals), length == 1 and _follow_on(starts)
    batch = max(_BYTES // (length * move.unit.itemsize), 1)
    for start, goal in leads:
        taken, given = left[start + lows[0] :], right[goal + lows[1] :]
        if to_run:
            np.take(taken, starts, out=given[: len(goals)], mode="clip")
        elif from_run:
            given[goals] = taken[: len(starts)]
        else:
            for first in range(0, len(starts), batch):
                rows = slice(first, first + batch)
                given[goals[rows]] = taken[starts[rows]]


def _follow_on(places: IntArray) -> bool:
    first, last = int(places[0]), int(places[-1])
    return first == 0 and last == len(places) - 1 and bool((np.diff(places) == 1).all())
