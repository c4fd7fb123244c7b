"""Views computed: at once, part by part, as arrays, lists and numbers."""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Generic, SupportsIndex, TypedDict, Unpack, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import check_kind_of, surely_fits
from tensorwrapper._integers import to_count
from tensorwrapper._memory import new_memory
from tensorwrapper._value_class import evolve
from tensorwrapper.buffer import BufferCommon, Nullable
from tensorwrapper.buffer.lowlevel import buffer_of, check_write, holds_strings, write_elements
from tensorwrapper.errors import BufferSizeError, ConversionError, DTypeError, ExportError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import (
    Strided,
    TiledStrided,
    fastest_first,
    new_row_major,
    new_strided,
    row_major_layout,
    wrap_layout,
)
from tensorwrapper.selection.execution._read_sources import Cancel, Progress, ReadProgress, run_plan, run_view
from tensorwrapper.selection.execution._write_in_memory import (
    ALONE,
    MemoryJob,
    Target,
    is_array,
    is_in_memory,
    new_array,
    new_tensor,
    reads_from,
    source_tensor,
    target_array,
    threads_for,
)
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.facade._computed_rows import ComputedRows
from tensorwrapper.selection.facade._view_base import ViewBase
from tensorwrapper.selection.jagged._flatten import in_order
from tensorwrapper.selection.plans._nulls import (
    has_null_bytes,
    has_nullable,
    sides_of_view,
    with_room_for_nulls,
)
from tensorwrapper.selection.plans._source_reads import is_away, is_sparse, sparse_unread
from tensorwrapper.selection.sources._read_source import Versions
from tensorwrapper.shape import Shape, ShapeLike
from tensorwrapper.shape.lowlevel import ModeNames, OperandShapes, make_smooth, names_of, wrap
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.tensor.lowlevel import TensorCommon, as_computed, hand_over, make_tensor
from tensorwrapper.typing import Array, Extents, Index, IndexT_co, Order, ScalarT_co

if TYPE_CHECKING:
    from typing_extensions import CapsuleType

    from tensorwrapper.selection.plans._plan import Plan

_RUN = 1 << 6  # elements of the fastest mode of a source that a region has at least


def region_extents(view: Expression, most: int) -> Extents:
    """Return the extents of regions of at most so many elements.

    They have all positions of the last modes, as many as fit. Where the memory of a source runs along
    another mode, they have some run of that first: single elements would load a line of memory each.
    """
    extents = view.shape.extents
    steps = [1] * len(extents)
    left = most
    fastest = _fastest(view)
    if fastest is not None:
        steps[fastest] = min(extents[fastest], _RUN, left)
        left //= steps[fastest]
    for mode in reversed(range(len(extents))):
        more = min(extents[mode], left * steps[mode])
        left = left * steps[mode] // more
        steps[mode] = more
    return tuple(steps)


def _fastest(view: Expression) -> int | None:
    strides = view.layout.implementation.mode_strides
    if view.node.source is None or strides is None:
        return None
    moving = [mode for mode, step in enumerate(strides) if step]
    return min(moving, key=lambda mode: abs(strides[mode]), default=None)


def regions(shape: Shape[Any], steps: Extents) -> Iterator[Shape]:
    """Return an iterator over the regions of a box in row-major order; the last ones may be smaller."""
    extents, origin, names = shape.extents, shape.origin, names_of(shape)
    for corner in product(*[range(0, n, step) for n, step in zip(extents, steps, strict=True)]):
        own = tuple([min(step, n - at) for at, step, n in zip(corner, steps, extents, strict=True)])
        start = tuple([at + first for at, first in zip(corner, origin, strict=True)])
        yield wrap(make_smooth(own, start), names)


def row_regions(shape: Shape[Any], most: int, before: Index = ()) -> Iterator[Shape]:
    """Return an iterator over the regions of rows in row-major order, none of more than so many elements.

    They have as many rows as fit; a row that alone has more elements is cut inside, and so on downwards.
    `before` are the indices of the rows inside one another of which the regions are.
    """
    part = shape.chip(before) if before else shape
    splits, first = OperandShapes.splits_under(part, 1), part.origin_at(())
    count, low = len(splits) - 1, 0
    leading = tuple([slice(k, k + 1) for k in before])
    while low < count:
        high = int(splits.searchsorted(splits.item(low) + most, "right")) - 1
        if high > low:
            yield shape[(*leading, slice(first + low, first + high))]
        else:
            yield from row_regions(shape, most, (*before, first + low))
        low = max(high, low + 1)


_CHECKED: Final = 1 << 24
"""Bytes of elements that are looked at together, whether another type may hold them."""


class Running(TypedDict):
    """Options of a computation, as `compute` takes them."""

    threads: SupportsIndex | None
    progress: Progress | None
    cancel: Cancel | None


class ViewRunning(ViewBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: as `ViewBase`."""

    __slots__ = ()

    def plan(self, region: ShapeLike | None = None) -> "Plan":
        """Return the writes and reads of computing the view, or a region of it, without reading anything.

        Parameters
        ----------
        region
            A box inside the shape; the whole shape if not given.

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> plan = sel.concat([[1, 2, 3], [4, 5]])[1:4].plan()
        >>> [(step.kind, step.window, step.nbytes) for step in plan.steps]
        [('copy', (range(0, 2),), 16), ('copy', (range(2, 3),), 8)]
        """
        if region is not None:
            return self._by(Layout.window, region).plan()
        plan = self._plan
        if plan is None:
            from tensorwrapper.selection.plans._plan import plan_of  # noqa: PLC0415 - few elements need no plan

            if self._expression.is_box:
                plan = plan_of(self.normal_form())
            else:
                tiles = self._expression.layout.implementation.tiled if is_away(self._expression) else None
                if tiles is None:
                    elements = self._make(in_order(self._expression))
                else:
                    # They stay a box, of which as much is read.
                    elements = self._make(Expression(self._expression.node, wrap_layout(tiles.under)))
                plan = evolve(plan_of(elements.normal_form()), rows=self.shape)
            sides = sides_of_view(self._expression, to_compute=False)
            if sides is not None:
                plan = evolve(plan, validity=self._make(sides[1]).plan())
            object.__setattr__(self, "_plan", plan)
        return plan

    def compute(
        self,
        out: "Target | None" = None,
        order: Order | Iterable[SupportsIndex] = "C",
        *,
        threads: SupportsIndex | None = None,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
        scheduler: object = None,
    ) -> "Tensor[ScalarT_co, IndexT_co]":
        """Return the elements as a tensor in new memory, at the same indices.

        Beside the result a few MiB are needed, and for sources that are not in this process the data on its
        way. A jagged, sparse or string tensor that is only sliced keeps its kind.

        Parameters
        ----------
        out
            Target to write into, which is returned as a tensor: a tensor with strides, or an array, of these
            extents, any strides and a type that the elements can be cast to; or an object with writable
            DLPack memory, such as a tensor of PyTorch. Where it shares memory with a source, the elements are
            computed apart first.
        order
            How new memory is filled: "C", "F", or the modes from the fastest to the slowest.
        threads
            How many threads copy large parts. If not given, two for results of 32 MiB and more, where this
            process may use two processors, else one.
        progress
            Called with the bytes written so far, and of all, now and then.
        cancel
            A `threading.Event`, or any object with an `is_set` method: once that is true, the computation
            ends.
        scheduler
            Scheduler for the tasks of Dask that the view reads: a client of a cluster, or "threads", "sync"
            and the like. Selections are split at chunks, and transferred without change.

        Raises
        ------
        ComputationCancelledError
            If it was cancelled. Elements already in `out` are kept; reads of sources are cancelled.
        ExtentMismatchError, DTypeError, ReadOnlyError
            If `out` does not fit.

        Examples
        --------
        >>> import numpy as np
        >>> from tensorwrapper import selection as sel
        >>> v = sel.interleave([[0, 2, 4], [1, 3]])
        >>> v.compute().tolist()
        [0, 1, 2, 3, 4]
        >>> out = np.zeros((5, 2))
        >>> v.compute(out[:, 1]).shape, out[:, 1].tolist()
        (Shape(5), [0.0, 1.0, 2.0, 3.0, 4.0])
        """
        out = None if out is None else _to_target(out)
        if scheduler is not None:
            return _into(hand_over("compute_over", self, scheduler), out)
        made: Tensor[Any, Any] | None = None
        plain = out is None and threads is None and progress is None and cancel is None
        if plain and isinstance(order, str) and order == "C":
            made = self._at_once()
        if made is None:
            made = self._computed(out, order, threads, progress, cancel)
        if out is None and self.dtype.kind == "O" and has_null_bytes(self._expression):
            return cast("Tensor[ScalarT_co, IndexT_co]", with_room_for_nulls(made))
        return made

    def _computed(
        self,
        out: "Target | None",
        order: Order | Iterable[SupportsIndex],
        threads: SupportsIndex | None,
        progress: Progress | None,
        cancel: Cancel | None,
    ) -> Tensor[Any, Any]:
        """Return what `compute` returns; bytes have room for nulls only if there is one."""
        view = self._expression
        source = source_tensor(view)
        if source is not None and _is_kept(source):
            return _copied(source, out)
        running: Running = {"threads": threads, "progress": progress, "cancel": cancel}
        if source is None and not view.is_box:
            return _into(self._of_rows(**running), out)
        here = is_in_memory(view)
        made = None if here else self._with_nulls(order, **running)
        if made is not None:
            return _into(made, out)
        if out is not None and (_is_nullable(out) or not surely_fits(self.dtype, out.dtype)):
            return self._checked_into(out, **running)
        made = None if here else self._of_sparse()
        if made is not None:
            return _into(made, out)
        fastest = fastest_first(order, self.shape.rank)
        count = threads_for(self.nbytes, threads)
        watch = ReadProgress(self.nbytes, progress, cancel)
        watch.check()
        if out is None:
            array = new_array(self.shape.extents, self.dtype, fastest)
            self._write(array, count, watch, here=here)
            return new_tensor(array, self.shape, fastest)
        target = target_array(out, self.shape, self.dtype)
        if reads_from(view, target):
            target[...] = self.compute(threads=count, progress=progress, cancel=cancel)
        else:
            self._write(target, count, watch, here=here)
        written: Tensor[Any, Any] = out if isinstance(out, Tensor) else as_tensor(out)
        return written

    def _checked_into(self, out: Target, **running: Unpack[Running]) -> Tensor[Any, Any]:
        """Write elements into ones of a type that may not hold them, by the rule of `assign`."""
        target = None if _is_nullable(out) else target_array(out, self.shape, self.dtype)
        if target is None or self.shape.has_layers or reads_from(self._expression, target):
            return _copied(self.compute(**running), out)
        starts = self.shape.origin
        for region, block in self.blocks(_CHECKED, **running):
            place = zip(region.origin, starts, region.extents, strict=True)
            own = tuple([slice(first - start, first - start + count) for first, start, count in place])
            target[own] = check_write(block.elements().reshape(region.extents), target.dtype)
        return out if isinstance(out, Tensor) else as_tensor(out)

    def _write(self, target: Array, threads: int, watch: ReadProgress, *, here: bool) -> None:
        """Write all elements of a box: those that are in memory at once, others by a plan."""
        if here:
            view = self._expression
            flat = Expression(view.node, view.layout.flatten()) if view.layout.shape.has_layers else view
            run_view(flat, target, threads, watch)
        else:
            run_plan(self.plan(), target, threads, watch)

    def _at_once(self) -> Tensor[Any, Any] | None:
        """Return the elements in new memory in row-major order, if there is a short way to them.

        There is one to a box if all are in memory, and its places are evenly spaced or those of a node.
        """
        view = self._expression
        tensor = view.node.tensor
        if tensor is None and view.node.source is not None:
            return None if has_nullable(view) else self._directly()
        known = view.layout.implementation
        buffer = None if tensor is None else tensor.buffer
        box = known.strided_box()
        if box is None:
            return None if buffer is not None else self._in_turn()
        extents, origin, strides, offset = box
        if 0 in extents or (buffer is not None and buffer.stores_orbits):
            return None
        memory = None if buffer is None else buffer.memory_of(known)
        names = known.names
        if memory is None:
            node = view.node
            of_parts = buffer is not None and node.is_dense and (view.written is None or not node.is_constant)
            run = known.run() if of_parts else None
            if buffer is not None and run is not None:
                # A run of a buffer of several parts, which are read into new memory at once.
                return make_tensor(
                    _new_layout(extents, origin, names), buffer_of(buffer.own_run(run.start, run.stop))
                )
            if not is_in_memory(view):
                return None
        array = new_memory(extents, view.dtype)
        threads = threads_for(array.nbytes, None)
        if memory is not None:
            write_elements(array, memory, threads=threads)
        else:
            if names is not None or any(origin):
                zeros = (0,) * len(extents)
                view = Expression(view.node, wrap_layout(new_strided(extents, zeros, strides, offset)))
            view.node.write_into(view, array, ALONE if threads == 1 else MemoryJob(threads))
        # Of most views all places are taken, as in new memory.
        as_new = not offset and known.run() is not None
        layout = self._expression.layout if as_new else _new_layout(extents, origin, names)
        return make_tensor(layout, buffer_of(array.reshape(-1)))

    def _in_turn(self) -> Tensor[Any, Any] | None:
        """Return what `_at_once` returns, of a node of which other places are taken than those of a slice."""
        view = self._expression
        known = view.layout.implementation
        shape = known.shape
        if not shape.is_box or known.names is not None or any(shape.origin) or not is_in_memory(view):
            return None
        extents = shape.extents
        array = new_memory(extents, view.dtype)
        threads = threads_for(array.nbytes, None)
        (ALONE if threads == 1 else MemoryJob(threads)).write(view, array)
        return make_tensor(row_major_layout(extents), buffer_of(array.reshape(-1)))

    def _directly(self) -> Tensor[Any, Any] | None:
        """Return the elements of one selection of a source elsewhere, if it has a short way for it."""
        direct = self._direct
        if direct is None:
            from tensorwrapper.selection.execution._single_source import direct_of  # noqa: PLC0415 - as in plan

            # A concurrent thread finds an equal one.
            direct = direct_of(self._expression, self.plan)
            object.__setattr__(self, "_direct", direct)
        return direct.compute()

    def _of_sparse(self) -> Tensor[Any, Any] | None:
        """Return the stored elements of a box, if it reads sparse tensors."""
        normal = self.normal_form()
        if is_sparse(normal):
            from tensorwrapper.selection.execution._sparse import sparse_of  # noqa: PLC0415 - few are sparse

            return sparse_of(normal, self.shape, lambda own: np.asarray(self._make(own).compute()))
        fill = sparse_unread(self._expression, normal)
        if fill is None:
            return None
        from tensorwrapper.selection.execution._sparse import nothing_stored  # noqa: PLC0415 - few are sparse

        return nothing_stored(fill, self.shape, self.dtype)

    def _with_nulls(
        self, order: Order | Iterable[SupportsIndex], **running: Unpack[Running]
    ) -> Tensor[Any, Any] | None:
        """Return the elements of a box with room for nulls: values, and whether they are valid."""
        sides = sides_of_view(self._expression)
        if sides is None:
            return None
        values, valid = [self._make(own).compute(order=order, **running) for own in sides]
        if values.layout != valid.layout:
            valid = valid.to_layout(values.layout)
        if holds_strings(values.dtype):
            return make_tensor(values.layout, _with_null_strings(values.buffer, valid.buffer))
        return make_tensor(values.layout, Nullable(values.buffer, cast("Any", valid.buffer)))

    def _of_rows(self, **running: Unpack[Running]) -> Tensor[Any, Any]:
        """Return rows that are put together: their elements in order, under their shape; tiles stay a box."""
        tiles = self._expression.layout.implementation.tiled
        if tiles is not None:
            under = self._make(Expression(self._expression.node, wrap_layout(tiles.under)))
            box = under.compute(**running)
            if box.buffer.in_tiles:
                # Tiles of another box are seen through the strides of its elements.
                box = make_tensor(Layout(box.shape), box.buffer.pack(box.layout.implementation))
            inner = cast("Strided", box.layout.implementation)
            seen = TiledStrided(tiles.tiling, inner, tiles.grid_origin)
            return make_tensor(wrap_layout(seen, names_of(self.shape)), box.buffer)
        source = self._expression.node.source
        if isinstance(source, ComputedRows) and running["progress"] is None and running["cancel"] is None:
            computed = source.selected(self._expression.layout)
            if computed is not None:
                return computed
        line = self._make(in_order(self._expression)).compute(**running)
        if not line.buffer.in_tiles:
            return make_tensor(Layout(self.shape), line.buffer)
        from tensorwrapper.selection.execution._blocks import over_rows  # noqa: PLC0415 - few are in tiles

        return over_rows(line, self.shape)

    def blocks(
        self,
        max_bytes: SupportsIndex,
        *,
        threads: SupportsIndex | None = None,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> Iterator[tuple[Shape, Tensor[Any]]]:
        """Return an iterator over regions of the view and their elements: for views that do not fit memory.

        Regions come in row-major order. Regions of a box have all positions of the last modes if these fit,
        and a run of the mode of largest stride; those of rows have as many rows as fit, or a part of a row
        that does not fit.

        Parameters
        ----------
        max_bytes
            How many bytes the elements of a region have at most.
        threads, progress, cancel
            As `compute` takes them; progress counts the whole view.

        Raises
        ------
        BufferSizeError
            If not even one element has so few bytes.

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> v = sel.iota((2, 3), 1)
        >>> [(region.origin, block.tolist()) for region, block in v.blocks(24)]
        [((0, 0), [[0, 1, 2]]), ((1, 0), [[0, 1, 2]])]
        """
        most = to_count(max_bytes, "max_bytes") // max(self.dtype.itemsize, 1)
        if not most:
            raise BufferSizeError(f"an element of {self.dtype} has more than {max_bytes} bytes")
        watch = ReadProgress(self.nbytes, progress, cancel)
        if self.shape.has_layers:
            flat = self._by(Layout.flatten)
            return _nested_blocks(
                flat._blocks(most, threads_for(self.nbytes, threads), watch, cancel), self.shape.layers
            )
        return self._blocks(most, threads_for(self.nbytes, threads), watch, cancel)

    def _blocks(
        self, most: int, threads: int, watch: ReadProgress, cancel: Cancel | None
    ) -> Iterator[tuple[Shape, Tensor[Any]]]:
        if not self.shape.size:
            return
        versions = Versions()
        expression = self._expression
        box = expression.is_box
        steps = region_extents(expression, most) if box else ()
        for region in regions(self.shape, steps) if box else row_regions(self.shape, most):
            watch.check()
            part = self._by(Layout.window, region)
            away = part.plan().away
            versions.check(away)
            block = part.compute(threads=threads, cancel=cancel)
            versions.check(away)
            watch.advance(block.nbytes)
            yield region, block

    def copy(self) -> "Tensor[ScalarT_co, IndexT_co]":
        """Return the elements in new memory: the same as `compute`."""
        return self.compute()

    def elements(self) -> "npt.NDArray[ScalarT_co]":
        """Return the elements as a flat array in row-major order.

        As for a tensor, it is a view of the memory if they are contiguous, else a copy.
        """
        source = source_tensor(self._expression)
        return (self.compute() if source is None else source).elements()

    def to_numpy(self) -> "np.ndarray[IndexT_co, np.dtype[ScalarT_co]]":
        """Return the elements as an array.

        If they are strided in memory, it is an array over that memory, and read-only where elements
        repeat, as for a tensor; else it is a new one. ``np.asarray`` does the same.
        """
        array: np.ndarray[IndexT_co, np.dtype[ScalarT_co]] = self._as_array(None, None)
        return array

    def _as_array(self, dtype: "np.dtype[Any] | None", copy: bool | None) -> Any:  # noqa: ANN401, FBT001
        source = source_tensor(self._expression)
        if source is not None and is_array(source):
            return source.__array__(dtype, copy)
        if copy is False:
            raise ConversionError("the elements of this view are not in memory; copy=False is not possible")
        return self.compute().__array__(dtype, None)

    def _memory(self) -> Tensor[Any]:
        """Return the tensor over the memory that the view shows, if there is one."""
        source = source_tensor(self._expression)
        if source is None or not is_array(source):
            raise ExportError(
                "the elements of this view are not in strided memory: compute() returns a tensor whose "
                "elements are"
            )
        return source

    def as_memoryview(self) -> memoryview:
        """Return the memory that the view shows, with its extents and strides; no copy.

        Raises
        ------
        ExportError
            If the view is not strided memory: ``compute()`` returns a tensor that is.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> sel.as_view(tw.as_tensor([[1, 2, 3], [4, 5, 6]]))[:, ::2].as_memoryview().tolist()
        [[1, 3], [4, 6]]
        """
        return self._memory().as_memoryview()

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> "CapsuleType":
        memory = self._memory()
        return memory.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # the CPU

    def _as_lists(self) -> Any:  # noqa: ANN401
        source = source_tensor(self._expression)
        return (self.compute() if source is None else source).tolist()

    def array_equal(self, other: "ViewBase[Any] | Tensor[Any]", *, equal_nan: bool = False) -> bool:
        """Return True if shapes and elements are equal."""
        theirs = as_computed(other)
        if not isinstance(cast("object", theirs), Tensor):
            raise ConversionError(
                f"a view is compared with a view or a tensor, not with a {type(theirs).__name__}: "
                "use as_tensor"
            )
        return self.shape == theirs.shape and self.compute().array_equal(theirs, equal_nan=equal_nan)

    def __contains__(self, value: object) -> bool:
        return value in self.compute()


def _nested_blocks(
    found: Iterator[tuple[Shape, Tensor[Any]]], layers: tuple[int, ...]
) -> Iterator[tuple[Shape, Tensor[Any]]]:
    for region, block in found:
        nested = Layout.nested(block.layout, layers=layers)
        yield Shape.nested(region, layers=layers), make_tensor(nested, block.buffer)


def _new_layout(extents: Extents, origin: Index, names: ModeNames | None) -> Layout[Any]:
    """Return the layout of new memory, which most tensors of the same extents share."""
    if names is None and not any(origin):
        return row_major_layout(extents)
    return wrap_layout(new_row_major(extents, origin), names)


def _is_kept(source: Tensor[Any]) -> bool:
    """Return True if a tensor that is only sliced keeps its kind, and is not an array."""
    buffer = source.buffer
    odd = source.is_sparse or source.is_nullable or buffer.stores_orbits or holds_strings(source.dtype)
    return odd or not source.shape.is_box


def _with_null_strings(values: BufferCommon[Any], valid: BufferCommon[Any]) -> BufferCommon[Any]:
    """Return strings with a null where one is not valid, or was a null before."""
    from tensorwrapper.buffer import StringData, Strings  # noqa: PLC0415 - for strings alone

    marks = valid.read_run(0, valid.size)
    line = new_row_major((values.size,))
    data = values.strings_of(line)
    null = StringData.from_list([None], kind=data.kind)
    places = np.where(marks, np.arange(len(data)), len(data))
    return Strings(StringData.concat([data, null]).take(places), nullable=True)


def _to_target(out: object) -> "Target":
    """Return the target of a computation; an object with DLPack becomes a tensor over its memory."""
    given: Any = out
    if isinstance(out, np.ma.MaskedArray):
        raise DTypeError(
            "out= is a masked array, whose mask would hide elements; out.data is the array below"
        )
    if hasattr(type(out), "__dlpack__") and not isinstance(out, np.ndarray | TensorCommon):
        return as_tensor(given, copy=False)
    check_kind_of(given, (np.ndarray, Tensor), "out= is an array or a tensor, and a view is assigned to")
    return cast("Target", out)


def _is_nullable(out: "Target") -> bool:
    return isinstance(out, Tensor) and out.is_nullable


def _into(made: Tensor[Any, Any], out: "Target | None") -> Tensor[Any, Any]:
    """Return new elements, or a target that they were written to."""
    return made if out is None else _copied(made, out)


def _copied(source: Tensor[Any], out: "Target | None") -> Tensor[Any, Any]:
    if out is None:
        return source.copy()
    target = out if isinstance(out, Tensor) else as_tensor(out)
    target.assign(source)
    return target
