"""Computed views: memory for the result, and checks of a given target."""

import math
import os
from typing import Any, SupportsIndex, TypeAlias, cast

import numpy as np

from tensorwrapper._integers import MAX_INT64, to_threads
from tensorwrapper._memory import new_memory
from tensorwrapper.buffer.lowlevel import buffer_of, check_write, packed_layout
from tensorwrapper.errors import (
    BufferSizeError,
    ConversionError,
    ExtentMismatchError,
    ReadOnlyError,
)
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.plans._source_reads import leaves_of, source_of
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, Extents, Index

__all__ = [
    "Target",
    "is_array",
    "new_array",
    "new_tensor",
    "reads_from",
    "source_tensor",
    "target_array",
    "threads_for",
]

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
    dense = source.buffer.memory is not None
    if source.buffer.stores_orbits:
        return False
    return (
        not source.shape.is_box
        or not dense
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
