"""Sparse buffers: addresses of a few elements, their values, and one value for all others."""

from collections.abc import Callable, Iterator
from typing import Any, Generic, SupportsIndex, cast, final, overload

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import file_beneath, frozen_array, frozen_values, unmasked_array
from tensorwrapper._integers import MAX_INT64, to_count
from tensorwrapper._memory import filled_memory
from tensorwrapper._value_class import value_class
from tensorwrapper.buffer._atomic_value import AtomicValue
from tensorwrapper.buffer._casts import convert_elements, equal_elements, fit_number
from tensorwrapper.buffer._common import BufferCommon
from tensorwrapper.buffer._elements import check_dtype
from tensorwrapper.buffer._sparse_merge import (
    check_addresses,
    is_fill,
    merge,
    nearest,
    to_fill,
)
from tensorwrapper.buffer._sums import add_at, check_sums
from tensorwrapper.buffer.copies._copy import (
    assign_elements,
    copy_elements,
    join_elements,
    scatter_elements,
    take_elements,
)
from tensorwrapper.errors import BufferSizeError, ReadOnlyError, SizeOverflowError
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.layout.lowlevel import InverseMap
from tensorwrapper.shape.lowlevel import to_ordinal_array
from tensorwrapper.typing import Array, IntArray, Integer, WriteCasting
from tensorwrapper.typing import ScalarT_co as S

Stored = tuple[IntArray, Array]
"""Ascending addresses, and the element at each."""

_Inside = Callable[[IntArray], npt.NDArray[np.bool_]]


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Sparse(BufferCommon[S], Generic[S]):
    """A run of elements of which most are alike: only the others are kept, in order of their addresses.

    Reading searches (O(log stored) per element), writing merges in one pass over all that is stored; an
    element that equals the fill is never stored. Arrays once handed out never change: a write puts new ones
    in their place, which every view of the buffer sees from then on. Threads may read while one writes.

    Parameters
    ----------
    addresses
        Different integers from 0 to ``size - 1``.
    values
        One element for each.
    size
        How many addresses there are; it may be more than any memory holds.
    fill_value
        The element at every other address.

    Raises
    ------
    BufferSizeError
        If an address is not below `size`, or addresses and values differ in number.
    ConversionError
        If an address comes twice.

    Examples
    --------
    >>> import numpy as np
    >>> from tensorwrapper.buffer import Sparse
    >>> buffer = Sparse([6, 2], [1.5, 0.5], size=10**12)
    >>> buffer.addresses, buffer.read(np.array([2, 3, 6]))
    (array([2, 6]), array([0.5, 0. , 1.5]))
    """

    _stored: AtomicValue[Stored]
    _size: int
    _fill: Array
    _is_readonly: bool
    _adding: bool

    @overload
    def __init__(
        self, addresses: npt.ArrayLike, values: "npt.NDArray[S]", size: Integer, *, fill_value: object = 0
    ) -> None: ...
    @overload
    def __init__(
        self: "Sparse[Any]",
        addresses: npt.ArrayLike,
        values: npt.ArrayLike,
        size: Integer,
        *,
        fill_value: object = 0,
    ) -> None: ...
    def __init__(
        self, addresses: npt.ArrayLike, values: npt.ArrayLike, size: SupportsIndex, *, fill_value: object = 0
    ) -> None:
        count = to_count(size, "the size of a buffer")
        if count > MAX_INT64:
            raise SizeOverflowError(f"{count} addresses do not fit into 64 bits")
        elements = unmasked_array(values)
        check_dtype(elements.dtype)
        places = check_addresses(to_ordinal_array(addresses), elements, count)
        number = to_fill(fit_number(fill_value, elements.dtype, "fill_value"))
        stored = merge((places[:0], elements[:0]), places, elements, number)
        _init(self, AtomicValue(stored), count, number, is_readonly=False, adding=True)

    @property
    def dtype(self) -> "np.dtype[S]":
        """The type of the elements."""
        return cast("np.dtype[S]", self._fill.dtype)

    @property
    def size(self) -> int:
        """Number of addresses."""
        return self._size

    @property
    def is_readonly(self) -> bool:
        """True if the elements are read-only."""
        return self._is_readonly

    @property
    def fill_value(self) -> "npt.NDArray[S]":
        """The element at every address that is not stored: an array of rank 0."""
        return cast("npt.NDArray[S]", self._fill)

    @property
    def filename(self) -> str | None:
        """The file in which the stored elements are, if they are in one."""
        return file_beneath(self._stored.value[1])

    @property
    def stored(self) -> "tuple[IntArray, npt.NDArray[S]]":
        """The addresses, ascending, and the elements at them, as of one moment; read-only, no copy."""
        return cast("tuple[IntArray, npt.NDArray[S]]", self._stored.value)

    @property
    def addresses(self) -> IntArray:
        """The addresses of the stored elements, ascending."""
        return self._stored.value[0]

    @property
    def nnz(self) -> int:
        """Number of stored elements; none of them equals the fill."""
        return len(self._stored.value[0])

    def as_readonly(self) -> "Sparse[S]":
        """Return the same elements as a buffer that cannot be written to; writes to this one show in it."""
        return _make(self._stored, self._size, self._fill, is_readonly=True, adding=False)

    def guarded(self) -> "Sparse[S]":
        return _make(self._stored, self._size, self._fill, is_readonly=True, adding=self._adding)

    def read(self, addresses: IntArray) -> "npt.NDArray[S]":
        stored, values = self.stored
        if not len(stored):
            return cast("npt.NDArray[S]", np.full(addresses.shape, self._fill, dtype=self.dtype))
        flat = addresses.reshape(-1)
        near = nearest(stored, flat)
        result = take_elements(values, iter([near]), len(flat))
        result[stored[near] != flat] = self._fill
        return result.reshape(addresses.shape)

    def write(self, addresses: IntArray, values: Array) -> None:
        self.replace(None, addresses, values)

    def replace(self, inside: _Inside | None, addresses: IntArray, values: Array) -> None:
        """Forget the stored elements at which `inside` is true, then write one value to each address.

        Both happen at once: no reader sees the one without the other, and an error changes nothing.

        Parameters
        ----------
        inside
            Function of all stored addresses, ascending, that marks those to become the fill; None for none.
        addresses
            Where to write; no address comes twice.
        values
            Elements of this dtype, as many as there are addresses.
        """
        if self._is_readonly:
            raise ReadOnlyError("this buffer is read-only; copy() gives one that can change")
        with self._stored.lock:
            kept = self._kept(inside)
            self._stored.value = merge(kept, addresses.reshape(-1), values.reshape(-1), self._fill)

    def _kept(self, inside: _Inside | None) -> Stored:
        stored, values = self._stored.value
        if inside is None:
            return stored, values
        kept = np.flatnonzero(~inside(stored))
        return stored[kept], take_elements(values, iter([kept]), len(kept))

    def accumulate(self, addresses: IntArray, values: Array, *, casting: WriteCasting = "same_kind") -> None:
        self._check_addable()
        places, which = np.unique(addresses.reshape(-1), return_inverse=True)
        with self._stored.lock:
            sums = self.read(places)
            add_at(sums, which.reshape(-1), values.reshape(-1), casting)
            self._stored.value = merge(self._stored.value, places, sums, self._fill)

    def check_sums(self, addresses: IntArray, values: Array, *, casting: WriteCasting = "same_kind") -> None:
        self._check_addable()
        places, which = np.unique(addresses.reshape(-1), return_inverse=True)
        check_sums(self.read(places), which.reshape(-1), values.reshape(-1), casting)

    def _check_addable(self) -> None:
        if not self._adding:
            raise ReadOnlyError("this buffer is read-only; copy() gives one that can change")

    # Elements of a layout: nothing here visits elements that are not stored.

    def stored_of(self, layout: LayoutCommon) -> "tuple[IntArray, npt.NDArray[S]]":
        # Where the layout takes them as they come, the elements are not copied, and read-only.
        addresses, values = self.stored
        inverse = InverseMap(layout)
        run = inverse.run(addresses)
        if run is not None:
            places = addresses[run[0] : run[1]]
            return (places - layout.offset if layout.offset else places), values[run[0] : run[1]]
        numbers, ordinals = inverse.elements(addresses)
        return ordinals, take_elements(values, iter([numbers]), len(numbers))

    def count_stored(self, layout: LayoutCommon) -> int:
        return InverseMap(layout).count(self.addresses)

    def elements_of(self, layout: LayoutCommon) -> "npt.NDArray[S]":
        ordinals, values = self.stored_of(layout)
        if layout.shape.size * self.dtype.itemsize > MAX_INT64:
            text = f"{layout.shape.size} elements of {self.dtype} do not fit into an address space"
            raise BufferSizeError(text)
        flat: npt.NDArray[S] = filled_memory((layout.shape.size,), self._fill, self.dtype)
        scatter_elements(values, (ordinals,), flat)
        return flat

    def own_elements_of(self, layout: LayoutCommon) -> "npt.NDArray[S]":
        return self.elements_of(layout)

    def equals(
        self, layout: LayoutCommon, other: BufferCommon[Any], theirs: LayoutCommon, *, equal_nan: bool
    ) -> bool:
        fill = other.fill_value
        if fill is None:
            return super().equals(layout, other, theirs, equal_nan=equal_nan)
        a, b = self.stored_of(layout), other.stored_of(theirs)
        size = layout.shape.size
        if len(a[0]) != len(b[0]) or not np.array_equal(a[0], b[0]):
            places = np.union1d(a[0], b[0])
            a = places, make_sparse(*a, size, self._fill).read(places)
            b = places, make_sparse(*b, size, fill).read(places)
        if len(a[0]) < size and not equal_elements(self._fill, fill, equal_nan=equal_nan):
            return False
        return equal_elements(a[1], b[1], equal_nan=equal_nan)

    def obstacle(self, layout: LayoutCommon) -> str:
        box = layout.shape.is_box
        ways = "to_dense() fills it" if box else "to_padded() and cells() fill it"
        return f"a sparse tensor is not an array: {ways}, coords() and values() have its parts"

    def to_array(
        self,
        layout: LayoutCommon,
        dtype: "np.dtype[Any] | None" = None,  # noqa: ARG002 - nothing is filled without being asked
        copy: bool | None = None,  # noqa: ARG002, FBT001
    ) -> Array:
        return self.as_array(layout)

    def like(self, flat: Array) -> "Sparse[S]":
        kept = np.flatnonzero(~is_fill(flat, self._fill))
        return make_sparse(kept, take_elements(flat, iter([kept]), len(kept)), len(flat), self._fill)

    def collect(self, places: Iterator[IntArray], size: int) -> "Sparse[S]":
        addresses, values = self.stored
        ordinals: list[IntArray] = []
        found: list[Array] = []
        start = 0
        for batch in places:
            flat = batch.reshape(-1)
            if len(addresses):
                near = nearest(addresses, flat)
                hits = np.flatnonzero(addresses[near] == flat)
                ordinals.append(hits + start)
                found.append(take_elements(values, iter([near[hits]]), len(hits)))
            start += len(flat)
        kept = np.concatenate(ordinals) if ordinals else addresses[:0]
        return make_sparse(kept, join_elements(found, self.dtype), size, self._fill)

    def pack(self, layout: LayoutCommon, *, own: bool = True) -> "Sparse[S]":  # noqa: ARG002
        # Stored entries never change, so they may be shared.
        ordinals, values = self.stored_of(layout)
        if len(values) < self.nnz and values.base is not None:
            # A part would keep all of the memory alive.
            ordinals, values = ordinals.copy(), copy_elements(values)
        return make_sparse(ordinals, values, layout.shape.size, self._fill)

    def convert(self, layout: LayoutCommon, dtype: "np.dtype[Any]", *, checked: bool) -> "Sparse[Any]":
        ordinals, values = self.stored_of(layout)
        fill = convert_elements(self._fill, dtype, checked=checked)
        elements = convert_elements(values, dtype, checked=checked)
        return Sparse(ordinals, elements, layout.shape.size, fill_value=fill)

    def assign(self, layout: LayoutCommon, values: Array) -> None:
        # A mode of stride 0 repeats its elements, so check these once, and do not store a mere fill.
        once = tuple([slice(0, 1) if not step else slice(None) for step in values.strides])
        few = values[once]
        other = ~is_fill(few, self._fill)
        if not other.any():
            self._put(layout, np.empty(0, dtype=np.int64), few.reshape(-1)[:0])
            return
        mask = np.broadcast_to(other, values.shape)
        picks = np.broadcast_to(np.arange(few.size).reshape(few.shape), values.shape)[mask]
        taken = take_elements(few.reshape(-1), iter([picks]), len(picks))
        self._put(layout, np.flatnonzero(mask), taken)

    def assign_from(self, layout: LayoutCommon, source: BufferCommon[Any], theirs: LayoutCommon) -> bool:
        # The cost depends on the stored elements of both sides, not on the sizes.
        fill = source.fill_value
        if fill is None or not is_fill(self._cast(fill), self._fill):
            return False
        ordinals, values = source.stored_of(theirs)
        self._put(layout, ordinals, self._cast(values))
        return True

    def _put(self, layout: LayoutCommon, ordinals: IntArray, values: Array) -> None:
        """Make these the stored elements of all that a layout reaches: everything else of it is the fill."""
        places = layout.offsets_of(layout.shape.indices_at(ordinals)) if len(ordinals) else ordinals
        self.replace(InverseMap(layout).has, places, values)

    def _cast(self, values: Array) -> Array:
        if values.dtype == self.dtype:
            return values
        result: Array = np.empty(values.shape, self.dtype)
        assign_elements(result, values)
        return result

    def __repr__(self) -> str:
        return f"<Sparse buffer: {self.nnz} of {self._size} elements of type {self.dtype}, else {self._fill}>"

    def __reduce__(self) -> "tuple[Callable[..., Sparse[Any]], tuple[object, ...]]":
        return _restore, (*self._stored.value, self._size, self._fill, self._is_readonly, self._adding)


def _init(
    buffer: Sparse[Any],
    store: AtomicValue[Stored],
    size: int,
    fill: Array,
    *,
    is_readonly: bool,
    adding: bool,
) -> None:
    values = {"_stored": store, "_size": size, "_fill": fill, "_is_readonly": is_readonly, "_adding": adding}
    for name, value in values.items():
        object.__setattr__(buffer, name, value)


def _make(
    store: AtomicValue[Stored], size: int, fill: Array, *, is_readonly: bool, adding: bool
) -> Sparse[Any]:
    buffer: Sparse[Any] = object.__new__(Sparse)
    _init(buffer, store, size, fill, is_readonly=is_readonly, adding=adding)
    return buffer


def make_sparse(addresses: IntArray, values: Array, size: int, fill: Array) -> Sparse[Any]:
    """Return the buffer of ascending addresses and elements other than the fill; the arrays are not copied.

    The arrays must not change any more.
    """
    return _restore(addresses, values, size, fill, is_readonly=False, adding=True)


def _restore(
    addresses: IntArray,
    values: Array,
    size: int,
    fill: Array,
    is_readonly: bool,  # noqa: FBT001 - pickle passes what it restores by position
    adding: bool,  # noqa: FBT001
) -> Sparse[Any]:
    stored = frozen_array(addresses), frozen_values(values)
    return _make(AtomicValue(stored), size, to_fill(fill), is_readonly=is_readonly, adding=adding)
