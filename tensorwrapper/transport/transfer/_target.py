"""`Target`: the memory into which the parts of a received tensor are written."""

from typing import Any, cast, final

import numpy as np

from tensorwrapper._arrays import are_truths
from tensorwrapper.buffer.lowlevel import write_elements
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExtentMismatchError,
    ReadOnlyError,
    RemoteProtocolError,
)
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.transport.transfer._boxes import boxes_of_run
from tensorwrapper.typing import Array
from tensorwrapper.wire import Limits
from tensorwrapper.wire.lowlevel import TensorHeader, refuse


@final
class Target:
    """The parts of a tensor that arrives in runs, each written into its place.

    Raises
    ------
    ExtentMismatchError, DTypeError, ReadOnlyError, ConversionError
        If `out` has other extents or another type than the tensor, or is read-only.
    RemoteProtocolError
        If there is no `out`, and new memory would exceed the limits.
    """

    __slots__ = ("_array", "_dtype", "_flat", "_out", "_parts", "_skeleton")

    def __init__(self, skeleton: TensorHeader, out: object, limits: Limits) -> None:
        self._skeleton = skeleton
        self._out: Tensor[Any] | None = None
        # The elements as an array, if they are written into strided memory.
        self._array: Array | None = None
        elements, self._dtype = skeleton.elements, np.dtype(np.uint8)
        self._flat: Array | None = None
        if out is not None:
            self._take_out(skeleton, out)
        there = self._is_there()
        own = [0 if k == elements and there else size for k, size in enumerate(skeleton.sizes)]
        if sum(own) > limits.received_bytes:
            refuse("limit", f"a tensor of {sum(own)} bytes is over the {limits.received_bytes} allowed")
        try:
            parts: list[Array] = [np.empty(size, np.uint8) for size in own]
        except (MemoryError, ValueError):
            refuse("limit", f"there is no memory for a tensor of {sum(own)} bytes")
        self._parts = parts
        if there:
            self._lend(elements)

    def _is_there(self) -> bool:
        return self._flat is not None or self._array is not None

    def _lend(self, elements: int) -> None:
        if self._flat is not None:
            self._parts[elements] = self._flat

    def _take_out(self, skeleton: TensorHeader, out: object) -> None:
        given = as_tensor(out)
        plan = skeleton.plan
        if given.is_readonly:
            raise ReadOnlyError("cannot receive into out=, which is read-only")
        if plan.layout is not None:
            wanted = plan.layout.shape.extents
            if not given.shape.is_box or given.shape.extents != wanted:
                raise ExtentMismatchError(
                    f"received a tensor of {plan.layout.shape}, but out= has {given.shape}"
                )
        dtype = plan.logical or plan.dtype
        if given.dtype.newbyteorder("=") != dtype.newbyteorder("="):
            raise DTypeError(f"received elements of {dtype}, but out= has {given.dtype}")
        if cast("object", given.buffer.memory) is None:
            raise ConversionError(f"out= must have memory, unlike {given.buffer!r}")
        self._out, self._dtype = given, dtype
        if skeleton.item_sizes[skeleton.elements] != dtype.itemsize or given.dtype != dtype:
            # The message packs elements differently from memory: assemble first, then assign.
            return
        if given.layout.is_contiguous and given.size * dtype.itemsize == skeleton.sizes[skeleton.elements]:
            self._flat = given.elements().view(np.uint8)
            return
        array = given.buffer.memory_of(given.layout.implementation)
        if array is not None and plan.shape is None and array.shape == tuple(given.shape.extents):
            self._array = array

    def memory(self, part: int, first: int, count: int) -> memoryview | None:
        """Return the memory of a run; None if the run must be written by `put`."""
        if self._array is not None and part == self._skeleton.elements:
            return None
        size = self._skeleton.item_sizes[part]
        return self._parts[part][first * size : (first + count) * size].data

    def put(self, first: int, data: memoryview) -> None:
        """Write a run of elements that is not contiguous in memory."""
        if self._array is None:
            raise ConversionError("these elements are contiguous and are written directly")
        flat = np.frombuffer(data, self._dtype)
        at = 0
        for key, size in boxes_of_run(self._array.shape, first, len(flat)):
            # The ellipsis yields an array even for one element.
            box = self._array[(*key, ...)]
            write_elements(box, flat[at : at + size].reshape(box.shape))
            at += size

    def tensor(self) -> Tensor[Any]:
        """Return the tensor, after all of it has arrived.

        Raises
        ------
        RemoteProtocolError
            If its parts contradict one another.
        ExtentMismatchError
            If it is not a tensor of the shape of `out`.
        """
        out = self._out
        if out is not None and self._array is not None:
            self._check_bools()
            return out
        made = self._skeleton.assemble(self._parts)
        if out is None:
            return made
        if made.shape != out.shape and not (made.shape.is_box and out.shape.is_box):
            raise ExtentMismatchError(f"received a tensor of {made.shape}, but out= has {out.shape}")
        if self._flat is None:
            out.assign(made)
        return out

    def _check_bools(self) -> None:
        array = self._array
        # Check as readers of messages do, because NumPy computes nonsense with other values.
        if array is not None and not are_truths(array):
            raise RemoteProtocolError("integrity", "received a bool that is neither 0 nor 1")
