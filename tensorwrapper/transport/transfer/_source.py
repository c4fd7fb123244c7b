"""`Source`: the parts of a tensor to send, read in runs."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, TypeAlias, cast, final

import numpy as np

from tensorwrapper._arrays import are_truths, as_truths
from tensorwrapper.buffer.lowlevel import write_elements
from tensorwrapper.errors import LocalProtocolError
from tensorwrapper.selection import View, as_view, is_lazy
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor, as_tensor, from_buffer
from tensorwrapper.transport.transfer._boxes import boxes_of_run
from tensorwrapper.typing import Array
from tensorwrapper.wire import Limits
from tensorwrapper.wire.lowlevel import DecomposedTensor, TensorHeader, take_apart

_Gather: TypeAlias = Callable[[int, Array], None]
"""Function that writes the elements from a given number on into a flat array."""

_OBJECTS: Final = "TO"


@final
class Source:
    """The parts of a tensor. A run is a view of memory, or is gathered into given memory."""

    __slots__ = ("_dtype", "_gather", "_parts", "rows", "tensor")

    def __init__(
        self,
        tensor: TensorHeader,
        parts: list[memoryview | None],
        gather: _Gather | None = None,
        dtype: "np.dtype[Any] | None" = None,
        rows: int = 1,
    ) -> None:
        self.tensor: TensorHeader = tensor
        self.rows: int = rows
        self._parts, self._gather, self._dtype = parts, gather, dtype

    def view(self, part: int, first: int, count: int) -> memoryview | None:
        """Return the bytes of a run as a view of memory; None if they have to be gathered."""
        data = self._parts[part]
        if data is None:
            return None
        size = self.tensor.item_sizes[part]
        return data[first * size : (first + count) * size]

    def gather(self, first: int, memory: memoryview) -> None:
        """Fill `memory` with the elements from number `first` on."""
        if self._gather is None or self._dtype is None:
            raise LocalProtocolError("layout", "these elements are contiguous in memory; use view()")
        target = np.frombuffer(memory, self._dtype)
        self._gather(first, target)
        if not are_truths(target):
            target[...] = as_truths(target)


def source_of(given: object, limits: Limits) -> Source:
    """Return the source of a tensor, a view or an array. Lazy elements are not computed yet.

    Views of strings and of sparse elements, and those in layers, are computed as a whole.

    Raises
    ------
    LocalProtocolError
        If it cannot be sent, or exceeds these limits of the reader.
    """
    if is_lazy(given) or isinstance(given, View):
        view = as_view(cast("Any", given))
        if _is_in_runs(view):
            return _of_view(view, limits)
        given = view.compute()
    return _of_tensor(as_tensor(given), limits)


def _of_tensor(tensor: Tensor[Any], limits: Limits) -> Source:
    apart = take_apart(tensor, limits)
    _check(apart)
    parts = [_bytes(part) for part in apart.parts]
    if apart.data is not None:
        return Source(apart.whole, [_bytes(apart.data), *parts])
    run = apart.run
    dtype = run.dtype.newbyteorder("<")
    layout, buffer = run.layout, run.buffer
    if dtype == run.dtype and layout.is_contiguous and buffer.memory is not None:
        return Source(apart.whole, [_bytes(run.elements()), *parts])
    array = buffer.memory_of(layout.implementation)
    if array is not None and array.shape == tuple(apart.total.extents):
        rows = math.prod(array.shape[1:])
        return Source(apart.whole, [None, *parts], partial(_of_array, array), dtype, rows)
    return Source(apart.whole, [None, *parts], partial(_of_elements, run), dtype)


def _check(apart: DecomposedTensor) -> None:
    if apart.run.dtype.kind in "fc" and apart.run.dtype.char in "gG":
        raise LocalProtocolError(
            "unsupported", "cannot send long doubles in chunks, as other machines cannot read them"
        )


def _bytes(array: Array) -> memoryview:
    return as_truths(array).view(np.uint8).data if array.size else memoryview(b"")


def _of_array(array: Array, first: int, target: Array) -> None:
    at = 0
    for key, size in boxes_of_run(array.shape, first, len(target)):
        box = array[(*key, ...)]
        write_elements(target[at : at + size].reshape(box.shape), box)
        at += size


def _of_elements(run: Tensor[Any], first: int, target: Array) -> None:
    offsets = run.layout.offsets_of(run.shape.indices()[first : first + len(target)])
    write_elements(target, run.buffer.read(offsets))


def _is_in_runs(view: View[Any]) -> bool:
    shape = view.shape
    if view.dtype.kind in _OBJECTS or shape.has_layers or not shape.rank:
        return False
    if not view.size:
        return True
    # All elements of a view have the same kind of storage as one of them.
    one = view.window(Shape(*[1] * shape.rank, origin=shape.origin)) if shape.is_box else view[:1]
    return not one.compute().is_sparse


def _of_view(view: View[Any], limits: Limits) -> Source:
    shape, dtype = view.shape, view.dtype.newbyteorder("<")
    if shape.is_box:
        # Broadcast one element instead of allocating all; it is never read.
        blank = as_tensor(np.broadcast_to(np.zeros((), dtype), tuple(shape.extents)))
        blank = blank.translate_to(shape.origin).named(*shape.names)
        gather: _Gather = partial(_of_boxes, view)
        rows = math.prod(shape.extents[1:])
    else:
        # The kernel allocates no pages for memory that is never touched.
        blank, gather, rows = from_buffer(np.empty(shape.size, dtype), shape), partial(_of_rows, view), 1
    apart = take_apart(blank, limits)
    _check(apart)
    return Source(apart.whole, [None, *[_bytes(part) for part in apart.parts]], gather, dtype, rows)


def _of_boxes(view: View[Any], first: int, target: Array) -> None:
    at, shape = 0, view.shape
    for region, size in _regions(shape, first, len(target)):
        view.window(region).compute(target[at : at + size].reshape(tuple(region.extents)))
        at += size


def _regions(shape: Shape[Any], first: int, count: int) -> Iterator[tuple[Shape[Any], int]]:
    for key, size in boxes_of_run(shape.extents, first, count):
        starts, extents = list(shape.origin), list(shape.extents)
        for mode, place in enumerate(key):
            start, stop = (place.start, place.stop) if isinstance(place, slice) else (place, place + 1)
            starts[mode] += start
            extents[mode] = stop - start
        yield Shape(*extents, origin=starts), size


def _of_rows(view: View[Any], first: int, target: Array) -> None:
    shape, count = view.shape, len(target)
    indices = shape.indices()
    (begin, *_), (end, *_) = indices[first], indices[first + count - 1]
    before = shape[:begin].size
    # Shapes have absolute indices, but views are sliced from 0.
    origin = shape.as_smooth().origin[0]
    rows = view[begin - origin : end + 1 - origin].compute().elements()
    write_elements(target, rows[first - before : first - before + count])
