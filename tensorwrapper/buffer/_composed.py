"""Buffers made of buffers: a table into another one, and several in a row."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Generic, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import check_kind_of, to_items_of
from tensorwrapper._arrays import different, frozen_array
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer._common import BufferCommon
from tensorwrapper.buffer._computed import constant
from tensorwrapper.buffer._nullable import Nullable
from tensorwrapper.buffer.copies._copy import assign_elements
from tensorwrapper.errors import BufferSizeError, ConversionError, DTypeError, ReadOnlyError
from tensorwrapper.shape.lowlevel import to_ordinal_array
from tensorwrapper.typing import Array, IntArray, ScalarT_co


def look_up(addresses: npt.ArrayLike, base: BufferCommon[ScalarT_co]) -> BufferCommon[ScalarT_co]:
    """Return a buffer whose element k is element ``addresses[k]`` of `base`; no element is copied.

    It can be written to if `base` can and no address comes twice.

    Raises
    ------
    BufferSizeError
        If an address is not in `base`.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> base = tw.buffer.Dense(np.array([10, 20, 30]))
    >>> tw.from_buffer(tw.buffer.look_up([2, 0], base), tw.Shape(2)).tolist()
    [30, 10]
    """
    check_kind_of(base, BufferCommon, "look_up takes a buffer")
    # Copy: later changes of the caller's array would not be checked.
    table = frozen_array(to_ordinal_array(addresses).copy())
    if table.ndim != 1:
        raise ConversionError(f"addresses are a flat array, not one of extents {table.shape}")
    if len(table):
        base.check_bounds(int(table.min()), int(table.max()))
    if base.sides is not None:
        return Nullable(Lookup(table, base.sides[0]), Lookup(table, base.sides[1]))
    return Lookup(table, base)


def join(buffers: Sequence[BufferCommon[ScalarT_co]]) -> BufferCommon[ScalarT_co]:
    """Return one buffer of the elements of several, one after the other; no element is copied.

    It can be written to if all of them can, and no two are over the same memory. Where one has room for
    nulls, all have.

    Raises
    ------
    DTypeError
        If they do not all have elements of one type.
    BufferSizeError
        If there is no buffer.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> parts = [tw.buffer.Dense(np.array([1, 2, 3])), tw.buffer.constant(0, 3)]
    >>> tw.from_buffer(tw.buffer.join(parts), tw.Shape(2, 3)).tolist()
    [[1, 2, 3], [0, 0, 0]]
    """
    for part in to_items_of(buffers, "join takes a sequence of buffers"):
        check_kind_of(part, BufferCommon, "join takes a sequence of buffers")
    if not buffers:
        raise BufferSizeError("join needs a buffer, to tell the type of the elements")
    kinds = {part.dtype for part in buffers}
    if len(kinds) > 1:
        raise DTypeError(f"buffers with elements of types {', '.join(map(str, kinds))} do not join")
    if any(part.sides is not None for part in buffers):
        sides = [part.sides or (part, _all_valid(part.size)) for part in buffers]
        return Nullable(join([own[0] for own in sides]), join([own[1] for own in sides]))
    if _share(buffers):
        buffers = [part.as_readonly() for part in buffers]
    ends = np.cumsum([0, *(part.size for part in buffers)], dtype=np.int64)
    return Joined(tuple(buffers), frozen_array(ends))


def _all_valid(size: int) -> BufferCommon[np.bool_]:
    return constant(np.True_, size)


def _share(buffers: Sequence[BufferCommon[Any]]) -> bool:
    """Return True if a buffer comes twice, or two runs of memory overlap, so that addresses share a place."""
    if len(set(map(id, buffers))) < len(buffers):
        return True
    runs = [part.memory for part in buffers if part.memory is not None and part.size]
    bounds = sorted(map(np.lib.array_utils.byte_bounds, runs))
    return any(start < end for (_, end), (start, _) in pairwise(bounds))


@final
@frozen(eq=False, getstate_setstate=False)
class Lookup(BufferCommon[ScalarT_co], Generic[ScalarT_co]):
    """Elements of another buffer, through a table of addresses."""

    addresses: IntArray
    base: BufferCommon[ScalarT_co]
    _distinct: bool | None = attrs.field(default=None, init=False, repr=False)

    @property
    def dtype(self) -> "np.dtype[ScalarT_co]":
        return self.base.dtype

    @property
    def size(self) -> int:
        return len(self.addresses)

    @property
    def is_readonly(self) -> bool:
        distinct = self._distinct
        if distinct is None:
            distinct = len(different(self.addresses)) == len(self.addresses)
            object.__setattr__(self, "_distinct", distinct)
        return not distinct or self.base.is_readonly

    def as_readonly(self) -> "Lookup[ScalarT_co]":
        return Lookup(self.addresses, self.base.as_readonly())

    def read(self, addresses: IntArray) -> "npt.NDArray[ScalarT_co]":
        return self.base.read(self.addresses[addresses])

    def like(self, flat: Array) -> BufferCommon[ScalarT_co]:
        return self.base.like(flat)

    def write(self, addresses: IntArray, values: Array) -> None:
        if self.is_readonly:
            raise ReadOnlyError("the elements that this table names are read-only, or named twice")
        self.base.write(self.addresses[addresses], values)

    def __reduce__(self) -> "tuple[type[Lookup[Any]], tuple[IntArray, BufferCommon[ScalarT_co]]]":
        # Whether addresses are distinct is computed again.
        return Lookup, (self.addresses, self.base)


@final
@frozen(eq=False)
class Joined(BufferCommon[ScalarT_co], Generic[ScalarT_co]):
    """The elements of several buffers, one after the other."""

    _parts: tuple[BufferCommon[ScalarT_co], ...]
    ends: IntArray
    """The address at which each part starts, and the size of all."""

    @property
    def parts(self) -> tuple[BufferCommon[ScalarT_co], ...]:
        return self._parts

    @property
    def dtype(self) -> "np.dtype[ScalarT_co]":
        return self.parts[0].dtype

    @property
    def size(self) -> int:
        return int(self.ends[-1])

    @property
    def is_readonly(self) -> bool:
        return any(part.is_readonly for part in self.parts)

    def as_readonly(self) -> "Joined[ScalarT_co]":
        return Joined(tuple([part.as_readonly() for part in self.parts]), self.ends)

    def read(self, addresses: IntArray) -> "npt.NDArray[ScalarT_co]":
        result: npt.NDArray[ScalarT_co] = np.empty(addresses.shape, self.dtype)
        flat = result.reshape(-1)
        for number, chosen, inner in self._by_part(addresses.reshape(-1)):
            flat[chosen] = self.parts[number].read(inner)
        return result

    def read_run(self, start: int, stop: int) -> "npt.NDArray[ScalarT_co]":
        # Part by part: a table of all addresses would be as large as the elements. One part is not copied.
        first = int(np.searchsorted(self.ends, start, side="right")) - 1
        if stop <= self.ends[first + 1]:
            return self.parts[first].read_run(start - int(self.ends[first]), stop - int(self.ends[first]))
        result: npt.NDArray[ScalarT_co] = np.empty(stop - start, self.dtype)
        while start < stop:
            begin, end = int(self.ends[first]), min(int(self.ends[first + 1]), stop)
            run = self.parts[first].read_run(start - begin, end - begin)
            assign_elements(result[len(result) - (stop - start) :][: end - start], run)
            start, first = end, first + 1
        return result

    def like(self, flat: Array) -> BufferCommon[ScalarT_co]:
        return self.parts[0].like(flat)

    def write(self, addresses: IntArray, values: Array) -> None:
        flat = values.reshape(-1)
        for number, chosen, inner in self._by_part(addresses.reshape(-1)):
            self.parts[number].write(inner, flat[chosen])

    def _by_part(self, addresses: IntArray) -> "list[tuple[int, IntArray, IntArray]]":
        """Return for each part that is touched: its number, which addresses are in it, and where."""
        numbers = np.searchsorted(self.ends, addresses, side="right") - 1
        order = np.argsort(numbers, kind="stable")
        bounds = np.searchsorted(numbers[order], np.arange(len(self.parts) + 1))
        touched = np.flatnonzero(np.diff(bounds)).tolist()
        chosen = [order[bounds[number] : bounds[number + 1]] for number in touched]
        return [(k, some, addresses[some] - self.ends[k]) for k, some in zip(touched, chosen, strict=True)]
