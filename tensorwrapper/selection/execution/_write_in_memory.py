"""Write views in memory: targets and new memory, and the recursion in which each node writes its part."""

import math
import os
from typing import Any, Final, SupportsIndex, TypeAlias, cast, final

import numpy as np

from tensorwrapper._arrays import CACHED
from tensorwrapper._integers import MAX_INT64, to_threads
from tensorwrapper._memory import new_memory
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import buffer_of, check_write, packed_layout, write_elements
from tensorwrapper.errors import BufferSizeError, ConversionError, ExtentMismatchError, ReadOnlyError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import (
    Expression,
    Job,
    Node,
    at_zero,
    check_boxes,
    memory_of,
    whole,
)
from tensorwrapper.selection.expressions._ordinals import at_ordinals, pushed
from tensorwrapper.selection.plans._source_reads import leaves_of, source_of
from tensorwrapper.selection.runners._cells import write_by_number
from tensorwrapper.selection.runners._leaves import BLOCK, MemoryLeaf, Runner, Window, cut
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.selection.transforms._transform import take_apart
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, Extents, Index, IntArray

_LARGE = 1 << 25  # bytes from which memory, and its pages, are better written by two threads

Target: TypeAlias = "Tensor[Any] | Array"
"""Target of the elements of a view: a strided tensor, or an array."""


def source_tensor(view: Expression) -> Tensor[Any] | None:
    """Return the tensor of a view, if it selects from one tensor by a layout."""
    tensor = view.node.tensor
    return None if tensor is None else make_tensor(view.layout, tensor.buffer)


def target_array(out: Target, shape: Shape[Any], dtype: "np.dtype[Any]") -> Array:
    """Return the array over the memory that a view of this shape and type is written into.

    Raises
    ------
    ExtentMismatchError
        If it has other extents.
    DTypeError
        If elements of the type do not become ones of its type as NumPy's "same_kind" allows.
    ReadOnlyError
        If it cannot be written to.
    ConversionError
        If it is a tensor that is not an array.
    """
    if isinstance(out, Tensor):
        array = out.buffer.memory_of(out.layout.implementation)
        if array is None:
            raise ConversionError(f"a view is written into an array, or a tensor with strides, not {out!r}")
        readonly = out.is_readonly
    else:
        array, readonly = out, not out.flags.writeable
    if array.shape != shape.extents:
        raise ExtentMismatchError(f"a view of extents {shape.extents} does not fit into {array.shape}")
    if readonly:
        raise ReadOnlyError("the target cannot be written to, or has one place for several indices")
    check_write(np.empty(0, dtype), array.dtype)  # of no elements: the types alone
    return array


def threads_for(nbytes: int, threads: SupportsIndex | None) -> int:
    """Return how many threads write a result: the given number, or two where that surely pays."""
    if threads is not None:
        return to_threads(threads)
    return 2 if nbytes >= _LARGE and _processors() > 1 else 1


def _processors() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def new_array(extents: Extents, dtype: "np.dtype[Any]", order: Index) -> Array:
    """Return new memory without gaps, of which mode ``order[k]`` is the k-th fastest."""
    # NumPy multiplies the others of an empty array all the same.
    if math.prod([n for n in extents if n]) * dtype.itemsize > MAX_INT64:
        raise BufferSizeError(f"elements of {dtype} in extents {extents} do not fit into an address space")
    slowest_first = order[::-1]
    array: Array = new_memory([extents[mode] for mode in slowest_first], dtype)
    return array.transpose(sorted(range(len(order)), key=slowest_first.__getitem__))


def new_tensor(array: Array, shape: Shape[Any], order: Index) -> Tensor[Any, Any]:
    """Return the tensor over new memory at the indices of a shape."""
    flat = array.transpose(order[::-1]).reshape(-1)
    plain = order == tuple(range(array.ndim - 1, -1, -1))
    return make_tensor(packed_layout(shape) if plain else Layout(shape, order=order), buffer_of(flat))


def is_array(source: Tensor[Any]) -> bool:
    """Return True if a tensor is an array or raises as one; otherwise its elements are gathered."""
    return (
        not source.shape.is_box
        or source.buffer.stores_orbits
        or source.buffer.memory is None
        or source.buffer.memory_of(source.layout.implementation) is not None
    )


def reads_from(view: Expression, target: Array) -> bool:
    """Return True if memory that a view in normal form reads may be in an array."""
    for leaf in leaves_of(view):
        if leaf.node.tensor is not None:
            memory = cast("TensorSource", source_of(leaf)).owner.memory
            # The memory behind a composed or computed buffer is unknown.
            if memory is None or np.may_share_memory(memory, target):
                return True
    return False


_PLACES = 1 << 19  # places of a table that are looked at together
_DEEP = 40  # views inside one another up to which recursion goes down


@final
@frozen(eq=False)
class MemoryJob(Job):
    """Writes views of memory; nothing is cached between two parts."""

    threads: int = 1  # pyright: ignore[reportIncompatibleMethodOverride]

    def write(self, view: Expression, out: Array) -> None:
        """Write the elements of a box from zero on into memory of its extents."""
        if out.ndim == 1 and out.size > _PLACES and view.layout.implementation.strided_box() is None:
            # Each element needs several numbers.
            for block in cut(out.shape, _PLACES):
                part = Expression(view.node, view.layout[block])
                view.node.write_into(part, out[block], self)
        elif out.size:
            view.node.write_into(view, out, self)

    def elements(self, view: Expression) -> Runner:
        memory = memory_of(view)
        return PartRunner(at_zero(view), self) if memory is None else MemoryLeaf(memory)

    def cells(self, view: Expression, out: Array) -> None:
        node = view.node
        operands = node.operands
        given: tuple[Runner, ...] = ()
        target = out
        if operands:
            check_boxes(node)
            if view.is_whole:
                if node.is_elementwise and out.size <= CACHED:
                    arrays = [memory_of(own) for own in operands]
                    if all(own is not None for own in arrays):
                        write_elements(out, node.checked_values((), cast("list[Array]", arrays)))
                        return
                given = tuple(map(self.elements, operands))
            elif (transform := take_apart(view.layout, node.extents)) is not None:
                given = tuple([self.elements(pushed(own, transform)) for own in operands])
            elif self.by_number(node, view.layout, out):
                return
            else:
                # Places that no rule per mode leads to are written one by one, in row-major order.
                ordinals = view.layout.to_numpy().reshape(-1)
                given = tuple([self.elements(at_ordinals(own, ordinals)) for own in operands])
                view = at_ordinals(whole(node), ordinals)
                target = out.reshape(-1) if out.flags.c_contiguous else np.empty(out.size, out.dtype)
        node.write_cells(view, given, target, self.threads)
        if target is not out and not out.flags.c_contiguous:
            write_elements(out, target.reshape(out.shape))

    def by_number(self, node: Node, layout: Layout[Any], out: Array) -> bool:
        if out.size <= BLOCK:
            return False
        if out.ndim > 1 or layout.implementation.strided_box() is not None:
            # The places are runs, or lie near one another; those of a table may lie anywhere.
            write_by_number(self.elements(whole(node)), layout, out)
            return True
        for block in cut(out.shape):
            node.write_into(Expression(node, layout[block]), out[block], self)
        return True


ALONE: Final = MemoryJob()
"""The work of one thread."""


@final
@frozen(eq=False)
class PartRunner(Runner):
    """Parts of a box at zero, each filled on request."""

    view: Expression
    job: MemoryJob

    @property
    def extents(self) -> Extents:
        return self.view.extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.view.dtype

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:  # noqa: ARG002
        view = self.view
        if out.shape != view.extents:
            view = Expression(view.node, view.layout[(*window, ...)])
        self.job.write(view, out)

    def points(self, places: tuple[IntArray, ...]) -> Array:
        extents = self.extents
        ordinals = np.ravel_multi_index(places, extents) if extents else np.zeros(1, dtype=np.int64)
        found: Array = np.empty(ordinals.shape, self.dtype)
        if found.size:
            self.job.write(at_ordinals(self.view, ordinals), found)
        return found


def is_in_memory(view: Expression) -> bool:
    """Return True if `write_into` can write a view: all in this process, dense, and without shared nodes.

    A plan reads only the needed elements of remote sources, and computes shared nodes once.
    """
    if 0 in view.extents or (view.written is not None and view.node.is_constant):
        return False  # Its source may have been sparse, and then the result is, too.
    if view.node.is_dense:
        return True
    met: set[int] = set()
    waiting = [(view, 0)]
    while waiting:
        own, depth = waiting.pop()
        if own.node.is_dense or own.node.is_constant:
            continue
        node = own.node.routed()
        if node.is_dense:
            continue
        if node.source is not None or not node.is_filled:
            return False
        operands = node.operands
        if not operands:
            continue
        if id(node) in met or depth == _DEEP:
            return False
        met.add(id(node))
        waiting += [(part, depth + 1) for part in operands]
    return True
