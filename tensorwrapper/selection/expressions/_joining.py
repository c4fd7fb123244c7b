"""Nodes that join views along a mode: one after the other, in turns, and under a new mode."""

# The field of a frozen class implements an abstract property of the same name.
# pyright: reportIncompatibleMethodOverride=false

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from operator import attrgetter
from types import EllipsisType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast, final

import attrs
import numpy as np

from tensorwrapper._arrays import CACHED, last_run, run_of, splits_of
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._json import Json
from tensorwrapper._value_class import frozen, slot_setters
from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import assign_indexed, join_into, take_along, write_elements
from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.layout import AxisMap, Layout, LayoutCommon, Stride
from tensorwrapper.layout.lowlevel import Strided
from tensorwrapper.selection.expressions._axis_pieces import Part, Run, parts_in_a_row
from tensorwrapper.selection.expressions._expression import (
    Expression,
    Job,
    Node,
    NodeFields,
    NodeWriter,
    Shares,
    memories_of,
    whole,
)
from tensorwrapper.selection.expressions._ordinals import Whole
from tensorwrapper.selection.expressions._routing import SharedMode
from tensorwrapper.selection.expressions._source_node import reading_of
from tensorwrapper.selection.expressions._traversal import inlined
from tensorwrapper.selection.operations._operation import grouped
from tensorwrapper.selection.runners._leaves import Runner, Window, full_window
from tensorwrapper.selection.runners._pieces import PlacedRunner, write_at
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.selection.transforms._transform import maps_of
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import stored_parts
from tensorwrapper.typing import Array, Extents, IntArray

_POINTS = 512  # points for each part, on average, from which a part is worth the calls that it takes
_MOST = 1 << 19  # points at a time, of which five numbers are held
_RUN = 512  # bytes of a run that are copied while the part of a point is found
_NEAR = 24  # parts that are copied whole in that time, if together they have no more bytes than the next
_MANY_BYTES = 1 << 12
_LONG = 1 << 15  # and while that of a run of elements is, of which there are fewer for each part


@final
@frozen(eq=False)
class JoinedRunner(Runner):
    """Arrays of rank 1, one after the other; each is made on first use, and cached."""

    kept: list[Array | None]
    """The arrays that are known. Others may read and complete it at the same time."""
    make: Callable[[int], Array] | None
    """None if all are known."""
    starts: IntArray
    """Start of each array, and the end of the last."""
    dtype: "np.dtype[Any]"  # pyright: ignore[reportIncompatibleMethodOverride]
    runs: "dict[int, Runner]" = attrs.field(factory=dict, init=False, repr=False)
    """Those of runs, by their number of elements."""

    @property
    def extents(self) -> Extents:
        return (self.starts.item(-1),)

    @property
    def parts(self) -> int:
        """Number of arrays."""
        return len(self.kept)

    @property
    def points_together(self) -> int:
        return min(_POINTS * len(self.kept), _MOST)

    @property
    def run_for_point(self) -> int:
        size = self.dtype.itemsize
        short = min(_NEAR * self.starts.item(-1) * size // max(len(self.kept), 1), _MANY_BYTES)
        return max(_RUN, short) // size

    def in_runs(self, width: int) -> Runner:
        """Return the same with each run of so many elements as one; the sizes of all arrays are multiples."""
        if width == 1:
            return self
        # A concurrent thread makes the same.
        return self.runs.get(width) or self.runs.setdefault(width, _RunsRunner(self, width))

    def array(self, number: int) -> Array:
        """Return an array by its number, made on first use."""
        found = self.kept[number]
        if found is None:
            found = self.kept[number] = cast("Callable[[int], Array]", self.make)(number)
        return found

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:
        low, high = window[0].start, window[0].stop
        if low == high:
            return
        begin, end = last_run(self.starts, low), last_run(self.starts, high - 1)
        parts = cast("list[Array]", self.kept[begin : end + 1])
        if self.make is not None:
            parts = [self.array(number) for number in range(begin, end + 1)]
        # The last first: it may be the first as well.
        parts[-1] = parts[-1][: high - self.starts.item(end)]
        parts[0] = parts[0][low - self.starts.item(begin) :]
        if len(parts) == 1:
            write_elements(out, parts[0], threads=threads)
        else:
            join_into(out, parts, 0)

    def _numbers(self, places: IntArray) -> IntArray:
        """Return the number of the array of each place."""
        starts = self.starts
        width = starts.item(1)
        if places.size < len(starts) or not width or starts.item(-1) > width * self.parts:
            return run_of(starts, places)
        # A division takes a tenth of a search, where all but the last are of one length.
        return places // width if (np.diff(starts[:-1]) == width).all() else run_of(starts, places)

    def points(self, places: tuple[IntArray, ...]) -> Array:
        (own,) = places
        found: Array = np.empty(own.shape, self.dtype)
        if not own.size:
            return found
        numbers = self._numbers(own)
        # NumPy sorts numbers of two bytes, which nearly all are, by their digits.
        order = np.argsort(numbers.astype(np.min_scalar_type(len(self.kept))), kind="stable")
        counts = np.bincount(numbers, minlength=len(self.kept))
        ascending = own[order]
        values: Array = np.empty(own.shape, self.dtype)
        chosen = np.flatnonzero(counts)
        ends: list[int] = [0, *np.cumsum(counts[chosen]).tolist()]
        ascending -= np.repeat(self.starts[chosen], counts[chosen])
        for k, number in enumerate(chosen.tolist()):
            part = slice(ends[k], ends[k + 1])
            take_along(values[part], self.array(number), ascending[part], 0)
        assign_indexed(found, (order,), values)
        return found


@final
@frozen(eq=False)
class _RunsRunner(Runner):
    """The same arrays, in which `width` elements side by side are one of many bytes."""

    joined: JoinedRunner
    width: int
    dtype: "np.dtype[Any]" = attrs.field(init=False)  # pyright: ignore[reportIncompatibleMethodOverride]
    _runs: JoinedRunner = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        joined, kind = self.joined, np.dtype((np.void, self.width * self.joined.dtype.itemsize))
        empty: list[Array | None] = [None] * joined.parts
        runs = JoinedRunner(
            empty, lambda number: joined.array(number).view(kind), joined.starts // self.width, kind
        )
        object.__setattr__(self, "dtype", kind)
        object.__setattr__(self, "_runs", runs)

    @property
    def extents(self) -> Extents:
        return self._runs.extents

    @property
    def points_together(self) -> int:
        return self._runs.points_together

    @property
    def run_for_point(self) -> int:
        return _LONG // self.dtype.itemsize

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:
        # The arrays are there; views of them as bytes are made for points only.
        low, high = window[0].start * self.width, window[0].stop * self.width
        self.joined.fill((slice(low, high),), out.view(self.joined.dtype), threads)

    def points(self, places: tuple[IntArray, ...]) -> Array:
        return self._runs.points(places)


_Runs: TypeAlias = tuple[int, Sequence[AxisMap], int]
"""Base and axes of runs, and how many elements each has."""

_FEW = 256  # elements of a part, on average, up to which those of a slice are found one by one
_TOGETHER = 1 << 25  # bytes of runs that are found at a time
_MANY = 4096  # runs of a part, on average, up to which those of rows by a table of positions are


def _parts(given: NodeFields, *, new: bool = False) -> tuple[int, tuple[Expression, ...]]:
    given.only("parts")
    parts = given.parts("parts")
    mode = given.integer(given.kind, 0, 31)
    if mode > parts[0].shape.rank - (not new):
        raise given.refused("bounds", f": there is no mode {mode} in {parts[0].shape}")
    given.alike(parts, -1 if new else mode)
    return mode, parts


_Key: TypeAlias = "tuple[slice | EllipsisType | None, ...]"

# Of each of thousands of parts, without a call of Python.
_EXTENTS, _FLAT, _DTYPE = map(attrgetter, ("extents", "flat", "dtype"))


@final
@frozen(eq=False)
class _Boxes:
    """Tensors of one type in memory, over boxes at zero that agree in all modes but one."""

    tensors: "tuple[Tensor[Any], ...]"
    kept: list[Strided]
    """Their layouts."""
    lines: list[Array] | None
    """The elements of each in row-major order, if all are runs of memory."""
    extents: Extents
    """Those of the first."""
    dtype: "np.dtype[Any]"

    @staticmethod
    def alike(tensors: "Sequence[Tensor[Any]]", mode: int | None) -> "_Boxes | None":
        """Return tensors that agree in all modes but one; None if they do not, or one is named or sparse.

        The same for strings, and for what is elsewhere or begins elsewhere.
        """
        layouts, buffers = stored_parts(tensors)
        if {*map(type, buffers)} != {Dense} or type(layouts[0]) is not Strided:
            return None
        flats: list[Array] = [*map(_FLAT, buffers)]
        dtype = flats[0].dtype
        # Types of other byte order are promoted to those of this machine, as in NumPy.
        if [*map(_DTYPE, flats)].count(dtype) != len(flats) or not dtype.isnative or dtype.kind in "TO":
            return None
        # Tensors of equal extents mostly share a layout, so that there are few.
        numbers = [*map(id, layouts)]
        kinds: dict[int, Strided] = dict(zip(numbers, layouts))  # noqa: B905 - of one length
        if not _agree(kinds.values(), layouts[0].extents, mode):
            return None
        runs = {number: run for number, own in kinds.items() if (run := own.run()) is not None}
        if len(runs) < len(kinds):
            return _new_boxes(tensors, layouts, None, dtype)
        # Most are all of their memory.
        sizes: dict[int, int] = {number: -1 if run.start else run.stop for number, run in runs.items()}
        if [*map(sizes.__getitem__, numbers)] != [*map(len, flats)]:
            flats = [flat[runs[number]] for flat, number in zip(flats, numbers, strict=True)]
        return _new_boxes(tensors, layouts, flats, dtype)

    def lengths(self, mode: int) -> list[int]:
        """Return the extents of a mode."""
        return [own.extents[mode] for own in self.kept]

    def arrays(self) -> list[Array]:
        """Return each as an array over its memory."""
        if self.lines is not None:
            return [*map(np.ndarray.reshape, self.lines, map(_EXTENTS, self.kept))]
        _, buffers = stored_parts(self.tensors)
        return [buffer.memory_of(own) for buffer, own in zip(buffers, self.kept, strict=True)]

    def write_into(
        self, out: Array, mode: int, key: "tuple[slice | EllipsisType | None, ...] | None" = None
    ) -> None:
        """Write them one after the other along a mode of `out`, of each what a key selects."""
        if self.lines is not None and not mode and out.flags.c_contiguous:
            join_into(out.reshape(-1), self.lines, 0)
        else:
            arrays = self.arrays()
            join_into(out, arrays if key is None else [own[key] for own in arrays], mode)


_new: Any = object.__new__
_set_tensors, _set_kept, _set_lines, _set_first, _set_type = slot_setters(
    _Boxes, "tensors", "kept", "lines", "extents", "dtype"
)


def _new_boxes(
    tensors: "Sequence[Tensor[Any]]", kept: list[Strided], lines: list[Array] | None, dtype: "np.dtype[Any]"
) -> _Boxes:
    made: _Boxes = _new(_Boxes)
    _set_tensors(made, tuple(tensors))
    _set_kept(made, kept)
    _set_lines(made, lines)
    _set_first(made, kept[0].extents)
    _set_type(made, dtype)
    return made


def _agree(kinds: "Iterable[LayoutCommon]", first: Extents, mode: int | None) -> bool:
    rank = len(first)
    if mode is not None and not -rank <= mode < rank:
        return False
    # Extents before the mode, and after it; of all modes if there is none.
    before, after = (rank, rank) if mode is None else (mode % rank, mode % rank + 1)
    for own in kinds:
        if type(own) is not Strided or any(own.origin):
            return False
        extents = own.extents
        if extents != first and (
            len(extents) != rank or extents[:before] != first[:before] or extents[after:] != first[after:]
        ):
            return False
    return True


@final
@frozen
class Joining(SharedMode):
    """One operand after the other along a mode, of one dtype."""

    mode: int
    operands: tuple[Expression, ...]
    extents: Extents = attrs.field(init=False, eq=False, repr=False)
    dtype: "np.dtype[Any]" = attrs.field(init=False, eq=False, repr=False)
    offsets: IntArray = attrs.field(init=False, eq=False, repr=False)
    """Start of each operand along the mode, and the extent at the end."""
    _joined: "JoinedRunner | None" = attrs.field(init=False, eq=False, repr=False)
    """Runner of the elements in order, if all are contiguous in memory; cached on first use."""
    _boxes: "_Boxes | None" = attrs.field(default=None, init=False, eq=False, repr=False)
    """Many tensors as operands: views of them are made on first use, by `__getattr__`."""

    name: ClassVar[str] = "concat"
    json_names: ClassVar[tuple[str, ...]] = ("concat",)
    keeps_dtype: ClassVar[bool] = True

    def __attrs_post_init__(self) -> None:
        lengths = [part.extents[self.mode] for part in self.operands]
        if sum(lengths) > MAX_INT64:
            raise SizeOverflowError(f"mode {self.mode} of {len(lengths)} views has {sum(lengths)} positions")
        offsets = splits_of(lengths)
        object.__setattr__(self, "offsets", offsets)
        extents = _with_extent(self.operands[0].extents, self.mode, offsets.item(-1))
        object.__setattr__(self, "extents", extents)
        object.__setattr__(self, "dtype", self.operands[0].dtype)

    @classmethod
    def of_tensors(cls, tensors: "Sequence[Tensor[Any]]", mode: int = 0) -> "Joining | None":
        """Return boxes of one rank and type joined; None if one is named, sparse or not in memory.

        Nothing is made of each: a view for every shard would be ten times the work of joining them.
        """
        boxes = _Boxes.alike(tensors, mode)
        if boxes is None:
            return None
        mode %= len(boxes.extents)
        extent = sum(boxes.lengths(mode))
        if extent > MAX_INT64:
            return None
        made = object.__new__(Joining)
        _set_mode(made, mode)
        _set_extents(made, _with_extent(boxes.extents, mode, extent))
        _set_dtype(made, boxes.dtype)
        _set_boxes(made, boxes)
        return made

    if not TYPE_CHECKING:

        def __getattr__(self, name):  # noqa: ANN001, ANN204
            """Make the operands that are tensors as yet, or their offsets."""
            if name != "offsets" or self._boxes is None:
                return _operands_made(self, name)
            offsets = splits_of(self._boxes.lengths(self.mode))
            # A concurrent thread makes equal ones.
            object.__setattr__(self, "offsets", offsets)
            return offsets

    @property
    def is_dense(self) -> bool:
        if self._boxes is not None:
            return True
        # For many parts this is computed once, and cached with the runner.
        return self._in_memory() is not None

    @property
    def parts(self) -> int:
        return len(self.offsets) - 1

    def __reduce__(self) -> "tuple[Callable[..., Joining], tuple[int, tuple[Expression, ...]]]":
        return Joining, (self.mode, self.operands)

    @classmethod
    def of(cls, mode: int, parts: Iterable[Expression]) -> "Joining":
        """Return parts joined; those that are short joins themselves are laid flat."""
        return cls(mode, inlined(parts, lambda part: _joins(part, mode)))

    def takes_in(self, operand: Expression) -> bool:
        return _joins(operand, self.mode)

    def shared(self) -> tuple[tuple[int, range, Expression], ...]:
        marks = pairwise(self.offsets.tolist())
        return tuple([(self.mode, range(*ends), own) for ends, own in zip(marks, self.operands, strict=True)])

    def operand_at(self, position: int) -> tuple[Expression, int]:
        number = int(np.searchsorted(self.offsets, position, "right")) - 1
        return self.operands[number], position - int(self.offsets[number])

    def parts_of_run(self, run: Run) -> Iterator[Part]:
        return parts_in_a_row(self.offsets, self.operands, run)

    def numbers(self, positions: IntArray) -> tuple[IntArray, IntArray]:
        found = np.searchsorted(self.offsets, positions, "right") - 1
        return found, positions - self.offsets[found]

    def write_into(self, view: Expression, out: Array, job: Job) -> None:
        if view.is_whole:
            if self._boxes is not None:
                self._boxes.write_into(out, self.mode)
                return
            arrays = memories_of(self.operands) if out.size <= CACHED else None
            if arrays is not None:
                join_into(out, arrays, self.mode)
                return
        joined = self._in_memory()
        if joined is None or not _write_joined(joined, self.extents, view.layout, out, job.threads):
            super().write_into(view, out, job)

    def _in_memory(self) -> JoinedRunner | None:
        """Return the runner of all elements in order, if each part is contiguous memory. Cached; O(parts)."""
        try:
            return self._joined
        except AttributeError:
            found = None
            row = math.prod(self.extents[1:])
            if self.mode:
                pass  # The parts of each row are side by side.
            elif self._boxes is not None:
                lines = self._boxes.lines
                if lines is None and len(self.extents) == 1:
                    lines = self._boxes.arrays()
                if lines is not None:
                    found = JoinedRunner([*lines], None, self.offsets * row, self.dtype)
            elif all(_is_line(part) for part in self.operands):
                kept: list[Array | None] = [None] * len(self.operands)
                found = JoinedRunner(kept, partial(_line_of, self.operands), self.offsets * row, self.dtype)
            object.__setattr__(self, "_joined", found)
            return found

    @classmethod
    def from_json(cls, given: NodeFields) -> "Joining":
        return Joining(*_parts(given))


_set_mode, _set_extents, _set_dtype, _set_boxes = slot_setters(Joining, "mode", "extents", "dtype", "_boxes")


@final
@frozen
class Interleaving(SharedMode):
    """Position p of a mode is position ``p div k`` of operand ``p mod k``, of k operands of one dtype."""

    mode: int
    operands: tuple[Expression, ...]

    name: ClassVar[str] = "interleave"
    json_names: ClassVar[tuple[str, ...]] = ("interleave",)

    @property
    def extents(self) -> Extents:
        total = sum([part.extents[self.mode] for part in self.operands])
        return _with_extent(self.operands[0].extents, self.mode, total)

    def shared(self) -> tuple[tuple[int, range, Expression], ...]:
        total, many = self.extents[self.mode], len(self.operands)
        return tuple([(self.mode, range(k, total, many), own) for k, own in enumerate(self.operands)])

    def operand_at(self, position: int) -> tuple[Expression, int]:
        within, number = divmod(position, len(self.operands))
        return self.operands[number], within

    def parts_of_run(self, run: Run) -> Iterator[Part]:
        start, count, first, step = run
        many = len(self.operands)
        common = math.gcd(step, many)
        rounds = many // common
        for turn in range(min(rounds, count)):
            within, number = divmod(first + step * turn, many)
            inside = -((turn - count) // rounds)
            yield Part(start + turn, rounds, inside, self.operands[number], within, step // common)

    def numbers(self, positions: IntArray) -> tuple[IntArray, IntArray]:
        within, found = np.divmod(positions, len(self.operands))
        return found, within

    @classmethod
    def from_json(cls, given: NodeFields) -> "Interleaving":
        mode, parts = _parts(given)
        lengths = [part.extents[mode] for part in parts]
        total, many = sum(lengths), len(lengths)
        if lengths != [-((j - total) // many) for j in range(many)]:
            raise given.refused("cover", f": views of extents {lengths[:8]} do not take turns")
        return Interleaving(mode, parts)


@final
@frozen
class Stacking(Node):
    """Operands of one shape and dtype under a new mode that counts them."""

    mode: int
    operands: tuple[Expression, ...]
    extents: Extents = attrs.field(init=False, eq=False, repr=False)
    dtype: "np.dtype[Any]" = attrs.field(init=False, eq=False, repr=False)
    _boxes: "_Boxes | None" = attrs.field(default=None, init=False, eq=False, repr=False)
    """Many tensors as operands, as those of `Joining`."""

    name: ClassVar[str] = "stack"
    json_names: ClassVar[tuple[str, ...]] = ("stack",)
    keeps_dtype: ClassVar[bool] = True
    is_sharing: ClassVar[bool] = True
    is_cellwise: ClassVar[bool] = False

    def __attrs_post_init__(self) -> None:
        first = self.operands[0]
        object.__setattr__(self, "extents", self._under(first.extents, len(self.operands)))
        object.__setattr__(self, "dtype", first.dtype)

    @classmethod
    def of_tensors(cls, tensors: "Sequence[Tensor[Any]]", mode: int = 0) -> "Stacking | None":
        """Return boxes of one shape and type stacked; None as for `Joining.of_tensors`."""
        boxes = _Boxes.alike(tensors, None)
        rank = 0 if boxes is None else len(boxes.extents) + 1
        if boxes is None or not -rank <= mode < rank:
            return None
        made = object.__new__(Stacking)
        object.__setattr__(made, "mode", mode % rank)
        object.__setattr__(made, "extents", made._under(boxes.extents, len(tensors)))
        object.__setattr__(made, "dtype", boxes.dtype)
        object.__setattr__(made, "_boxes", boxes)
        return made

    if not TYPE_CHECKING:

        def __getattr__(self, name):  # noqa: ANN001, ANN204
            """Make the operands that are tensors as yet."""
            return _operands_made(self, name)

    def __reduce__(self) -> "tuple[Callable[..., Stacking], tuple[int, tuple[Expression, ...]]]":
        return Stacking, (self.mode, self.operands)

    def _under(self, inner: Extents, count: int) -> Extents:
        return (*inner[: self.mode], count, *inner[self.mode :])

    @property
    def is_dense(self) -> bool:
        return self._boxes is not None

    @property
    def title(self) -> str:
        return f"stack(mode={self.mode})"

    def lowered(self) -> Node:
        return Joining(self.mode, tuple([_unsqueezed(part, self.mode) for part in self.operands]))

    def write_into(self, view: Expression, out: Array, job: Job) -> None:
        if not view.is_whole:
            super().write_into(view, out, job)
            return
        new: _Key = (*[slice(None)] * self.mode, None, ...)
        if self._boxes is not None:
            self._boxes.write_into(out, self.mode, new)
            return
        arrays = memories_of(self.operands)
        if arrays is not None:
            join_into(out, [own[new] for own in arrays], self.mode)
            return
        for number, own in enumerate(self.operands):
            key: tuple[slice | int | EllipsisType, ...] = (*[slice(None)] * self.mode, number, ...)
            part = out[key]
            job.elements(own).fill(full_window(part.shape), part, job.threads)

    def shares(self, positions: IntArray, given: Sequence[Array]) -> Shares:  # noqa: ARG002
        numbers = positions[..., self.mode]
        for number, chosen in grouped(numbers):
            yield self.operands[number], chosen, np.delete(positions[chosen], self.mode, axis=-1)

    def to_json(self, write: NodeWriter) -> dict[str, Json]:
        return {"stack": self.mode, "parts": [write.view(part) for part in self.operands]}

    @classmethod
    def from_json(cls, given: NodeFields) -> "Stacking":
        return Stacking(*_parts(given, new=True))


def _operands_made(node: "Joining | Stacking", name: str) -> tuple[Expression, ...]:
    """Return the operands of a node of tensors, which are made on first use."""
    if name != "operands" or node._boxes is None:
        raise AttributeError(name)
    found = tuple([reading_of(TensorSource(own)) for own in node._boxes.tensors])
    # A concurrent thread makes equal ones.
    object.__setattr__(node, "operands", found)
    return found


def _write_joined(
    joined: JoinedRunner, extents: Extents, layout: Layout[Any], out: Array, threads: int
) -> bool:
    """Write elements of many parts by their places; return False where slices of each part take less."""
    known = layout.implementation
    if known.is_contiguous and out.flags.c_contiguous:
        first = known.offset
        joined.fill((slice(first, first + out.size),), out.reshape(-1), threads)
        return True
    box = known.strided_box()
    if box is not None and len(box[0]) == 1 and (abs(box[2][0]) == 1 or box[0][0] == 1):
        (count,), _, (step,), first = box
        low = first if step > 0 or count == 1 else first - (count - 1)
        joined.fill((slice(low, low + count),), out if low == first else out[::-1], threads)
        return True
    if not out.flags.c_contiguous:
        return False
    by_mode = box is None and out.ndim > 1 and known.has_mode_maps
    base, axes, run = _runs_of(layout) if by_mode else (0, (), 1)
    if (by_mode or box is not None) and out.size // run > (_MANY if by_mode else _FEW) * joined.parts:
        return False
    if by_mode:
        _write_runs(joined, math.prod(extents[1:]), (base, axes, run), out)
        return True
    PlacedRunner(joined, layout).fill((slice(0, out.size),), out.reshape(-1), threads)
    return True


def _write_runs(joined: JoinedRunner, row: int, runs: _Runs, out: Array) -> None:
    """Write what a layout with a map for each mode selects, a run at a time."""
    base, axes, run = runs
    places: IntArray = np.array([base], dtype=np.int64)
    for axis in axes:
        places = (places[:, np.newaxis] + axis.offsets()).reshape(-1)
    # No piece crosses the end of a row, and all begin at multiples of their length. They are copied as bytes.
    width = math.gcd(run, row, int(np.gcd.reduce(places))) if out.dtype == joined.dtype else 1
    line, target = joined.in_runs(width), out.reshape(-1)
    pieces: IntArray = np.arange(0, run, width)
    most = max(1, min(line.points_together, _TOGETHER // line.dtype.itemsize) // len(pieces))
    for low in range(0, len(places), most):
        some = (places[low : low + most, np.newaxis] + pieces).reshape(-1)
        part = target[low * run : (low + most) * run]
        write_at(line, some // width, part if width == 1 else part.view(line.dtype))


def _runs_of(layout: Layout[Any]) -> _Runs:
    """Return the base and the axes of runs of a layout, and how many elements follow one another in each."""
    base, axes = cast("tuple[int, tuple[AxisMap, ...]]", maps_of(layout))
    outer, run = list(axes), 1
    while outer and isinstance(outer[-1], Stride) and (outer[-1].step == run or outer[-1].extent == 1):
        run *= outer.pop().extent
    return base, outer, run


def _is_line(part: Expression) -> bool:
    """Return True if the elements of a part lie in memory in their order, one step between them."""
    tensor = part.node.tensor
    if tensor is None or tensor.buffer.memory is None or tensor.dtype.kind in "TO":
        return False
    layout = part.layout.implementation
    return layout.is_contiguous or (layout.shape.rank == 1 and layout.strided_box() is not None)


def _line_of(parts: Sequence[Expression], number: int) -> Array:
    part = parts[number]
    tensor = cast("Tensor[Any]", part.node.tensor)
    return cast("Array", tensor.buffer.memory_of(part.layout.implementation)).reshape(-1)


def _joins(part: Expression, mode: int) -> bool:
    """Return True if a part is itself joined along a mode, and nothing else."""
    node = part.node
    return isinstance(node, Joining) and node.mode == mode and part.is_fresh


def _with_extent(extents: Extents, mode: int, extent: int) -> Extents:
    return (*extents[:mode], extent, *extents[mode + 1 :])


def _unsqueezed(part: Expression, mode: int) -> Expression:
    if maps_of(part.layout) is None and not part.layout.implementation.keeps_tiles:
        part = whole(Whole(part))
    return Expression(part.node, part.layout.unsqueeze(mode))
