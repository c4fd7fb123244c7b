"""Payload parts that are being written: those of tensors first, index arrays and the like after them."""

from collections.abc import Callable
from itertools import repeat
from typing import Any, final

import numpy as np

from tensorwrapper._arrays import as_truths
from tensorwrapper._json import Json
from tensorwrapper.buffer.lowlevel import copy_elements
from tensorwrapper.errors import LocalProtocolError
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, IntArray
from tensorwrapper.wire._limits import DEFAULT_LIMITS, Limits

_EMPTY = memoryview(b"")


@final
class PartWriter:
    """Collects the parts of one message; packings add parts beside a tensor's main part.

    Examples
    --------
    >>> import numpy as np
    >>> parts = PartWriter(1)
    >>> parts.add_indices(np.array([0, 2, 5])), [part.nbytes for part in parts.payload]
    (1, [0, 24])
    """

    __slots__ = (
        "_added",
        "_apart",
        "_elements",
        "_empty",
        "_limits",
        "_n_tensors",
        "_shapes",
        "by_number",
        "where",
    )

    by_number: dict[int, memoryview]
    """The parts that are there, each as its bytes."""

    where: str
    """The tensor that is being written, as errors name it."""

    def __init__(self, n_tensors: int, *, apart: bool = False, limits: Limits = DEFAULT_LIMITS) -> None:
        self._n_tensors = n_tensors
        self._limits = limits
        self._empty = 0.0
        # Files have every second part, from part 0 on, for bytes that align the next one.
        self._apart = apart
        self.by_number = {}
        # By identity: one partition used for several modes or tensors travels once.
        self._added: dict[int, tuple[int, Array]] = {}
        self._shapes: dict[tuple[int, ...], tuple[dict[str, Json], float, object]] = {}
        self._elements: tuple[Tensor[Any], Array] | None = None
        self.where = "a tensor"

    @property
    def payload(self) -> list[memoryview]:
        """The parts in order."""
        return list(map(self.by_number.get, range(max(self.by_number, default=-1) + 1), repeat(_EMPTY)))

    def claim_empty(self, places: float) -> None:
        """Count places without elements, as `PartReader.claim_empty` does; raise if it would refuse them."""
        self._empty += places
        if self._empty > self._limits.empty_elements:
            raise LocalProtocolError(
                "limit",
                f"{self.where} could not be read again: it has {places:.0f} places without elements; "
                "limits=Limits(empty_elements=...) can raise it, here and for a reader",
            )

    def check_extent(self, greatest: int) -> None:
        """Raise if a reader would refuse the greatest of some extents."""
        if greatest > self._limits.extent:
            raise LocalProtocolError(
                "limit",
                f"{self.where} could not be read again: a mode has the extent {greatest}, and "
                f"{self._limits.extent} is the limit; limits=Limits(extent=...) can raise it, here and for a "
                "reader",
            )

    def describe_once(
        self, owner: object, window: tuple[int, ...], describe: Callable[[], dict[str, Json]]
    ) -> dict[str, Json]:
        """Return the description of a window of an object; its first call makes it, and adds the parts.

        Places without elements count for every tensor that has the shape, as they do for a reader.
        """
        known = self._shapes.get((id(owner), *window))
        if known is not None:
            self.claim_empty(known[1])
            return known[0]
        before = self._empty
        fields = describe()
        # The owner is kept, so that no other object takes its place in memory.
        self._shapes[id(owner), *window] = fields, self._empty - before, owner
        return fields

    def add_indices(self, array: IntArray) -> int:
        """Put integers into a separate part, as little-endian int64, and return its number."""
        known = self._added.get(id(array))
        if known is not None:
            return known[0]
        return self._add(array, np.ascontiguousarray(array, dtype="<i8").view(np.uint8).data)

    def add_elements(self, array: Array) -> int:
        """Put elements of any type into a separate part, little-endian, and return its number."""
        return self._add(array, as_bytes(array, array.dtype.newbyteorder("<")))

    def _add(self, array: Array, data: memoryview) -> int:
        part = self._n_tensors + len(self._added)
        if self._apart:
            part = 2 * part + 1
        self.by_number[part] = data
        self._added[id(array)] = (part, array)
        return part

    def row_major(self, tensor: Tensor[Any], dtype: "np.dtype[Any]") -> Array:
        """Return the elements of a tensor as a flat array of a type that differs in byte order at most.

        Without a copy if they are contiguous. The last result is cached: several packings may try one tensor.
        """
        kept = self._elements
        if kept is not None and kept[0] is tensor and kept[1].dtype == dtype:
            return kept[1]
        if tensor.dtype == dtype:
            flat: Array = tensor.elements()
        else:
            # Packed and brought into byte order in one copy, where there is memory to copy from.
            array = tensor.buffer.memory_of(tensor.layout.implementation)
            flat = copy_elements(tensor.elements() if array is None else array, dtype).reshape(-1)
        self._elements = tensor, flat
        return flat


def as_bytes(flat: Array, dtype: "np.dtype[Any]") -> memoryview:
    """Return the bytes of elements in a type that differs in byte order at most."""
    flat = as_truths(flat) if flat.dtype == dtype else copy_elements(flat, dtype)
    if dtype.itemsize in (16, 32) and dtype.kind in "fc" and dtype.char in "gG":
        flat = _without_padding(flat)
    return flat.view(np.uint8).data


def _without_padding(flat: Array) -> Array:
    """Return long doubles with their six padding bytes zeroed: they may contain secrets of the process."""
    clean = copy_elements(flat)
    clean.view(np.uint8).reshape(-1, 16)[:, 10:] = 0
    return clean
