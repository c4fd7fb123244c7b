"""Sparse buffers: addresses of a few elements, their values, and one value for all others."""

import threading
from collections.abc import Callable
from typing import Any, Generic, SupportsIndex, cast, final, overload

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array
from tensorwrapper._integers import MAX_INT64, to_count
from tensorwrapper._value_class import value_class
from tensorwrapper.buffer._common import BufferCommon
from tensorwrapper.buffer._dense import check_dtype, fit_number
from tensorwrapper.buffer._sparse_merge import check_addresses, frozen_values, merge, nearest, to_fill
from tensorwrapper.buffer.copies._copy import take_elements
from tensorwrapper.errors import DTypeError, ReadOnlyError, SizeOverflowError
from tensorwrapper.shape.lowlevel import to_ordinal_array
from tensorwrapper.typing import Array, IntArray, ScalarT_co

__all__ = ["Sparse", "Stored", "make_sparse"]

Stored = tuple[IntArray, Array]
"""Ascending addresses, and the element at each."""

_Inside = Callable[[IntArray], npt.NDArray[np.bool_]]


@final
class _Store:
    """The elements at hand: one pair of arrays that never change, replaced as a whole by every write.

    A reader takes the pair and works on it, whatever is written meanwhile. Writers wait for one another.
    """

    __slots__ = ("lock", "pair")

    def __init__(self, pair: Stored) -> None:
        self.pair: Stored = pair
        self.lock = threading.Lock()


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Sparse(BufferCommon[ScalarT_co], Generic[ScalarT_co]):
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

    _store: _Store
    _size: int
    _fill: Array
    _writeable: bool
    _adding: bool

    @overload
    def __init__(
        self,
        addresses: npt.ArrayLike,
        values: "npt.NDArray[ScalarT_co]",
        size: SupportsIndex,
        *,
        fill_value: object = 0,
    ) -> None: ...
    @overload
    def __init__(
        self: "Sparse[Any]",
        addresses: npt.ArrayLike,
        values: npt.ArrayLike,
        size: SupportsIndex,
        *,
        fill_value: object = 0,
    ) -> None: ...
    def __init__(
        self, addresses: npt.ArrayLike, values: npt.ArrayLike, size: SupportsIndex, *, fill_value: object = 0
    ) -> None:
        count = to_count(size, "the size of a buffer")
        if count > MAX_INT64:
            raise SizeOverflowError(f"{count} addresses do not fit into 64 bits")
        elements: Array = np.asarray(values)
        check_dtype(elements.dtype)
        places = check_addresses(to_ordinal_array(addresses), elements, count)
        number = to_fill(fit_number(fill_value, elements.dtype, "fill_value"))
        stored = merge((places[:0], elements[:0]), places, elements, number)
        _init(self, _Store(stored), count, number, writeable=True, adding=True)

    @property
    def dtype(self) -> "np.dtype[ScalarT_co]":
        """The type of the elements."""
        return cast("np.dtype[ScalarT_co]", self._fill.dtype)

    @property
    def size(self) -> int:
        """How many addresses there are."""
        return self._size

    @property
    def writeable(self) -> bool:
        """Whether the elements can be written to."""
        return self._writeable

    @property
    def fill_value(self) -> "npt.NDArray[ScalarT_co]":
        """The element at every address that is not stored: an array of rank 0."""
        return cast("npt.NDArray[ScalarT_co]", self._fill)

    @property
    def stored(self) -> "tuple[IntArray, npt.NDArray[ScalarT_co]]":
        """The addresses, ascending, and the elements at them, as of one moment; read-only, no copy."""
        return cast("tuple[IntArray, npt.NDArray[ScalarT_co]]", self._store.pair)

    @property
    def addresses(self) -> IntArray:
        """The addresses of the stored elements, ascending."""
        return self._store.pair[0]

    @property
    def nnz(self) -> int:
        """How many elements are stored; none of them equals the fill."""
        return len(self._store.pair[0])

    def read_only(self) -> "Sparse[ScalarT_co]":
        """Return the same elements as a buffer that cannot be written to; writes to this one show in it."""
        return _make(self._store, self._size, self._fill, writeable=False, adding=False)

    def guarded(self) -> "Sparse[ScalarT_co]":
        return _make(self._store, self._size, self._fill, writeable=False, adding=self._adding)

    def read(self, addresses: IntArray) -> "npt.NDArray[ScalarT_co]":
        stored, values = self.stored
        if not len(stored):
            return cast("npt.NDArray[ScalarT_co]", np.full(addresses.shape, self._fill, dtype=self.dtype))
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
            Told all stored addresses, ascending, says which are to become the fill; None for none.
        addresses
            Where to write; no address comes twice.
        values
            Elements of this dtype, as many as there are addresses.
        """
        if not self._writeable:
            raise ReadOnlyError("this buffer is read-only; copy() gives one that can change")
        with self._store.lock:
            kept = self._kept(inside)
            self._store.pair = merge(kept, addresses.reshape(-1), values.reshape(-1), self._fill)

    def _kept(self, inside: _Inside | None) -> Stored:
        stored, values = self._store.pair
        if inside is None:
            return stored, values
        kept = np.flatnonzero(~inside(stored))
        return stored[kept], take_elements(values, iter([kept]), len(kept))

    def accumulate(self, addresses: IntArray, values: Array) -> None:
        if not self._adding:
            raise ReadOnlyError("this buffer is read-only; copy() gives one that can change")
        if not np.can_cast(values.dtype, self.dtype, casting="same_kind"):
            raise DTypeError(f"sums of {values.dtype} do not go into elements of {self.dtype}")
        places, which = np.unique(addresses.reshape(-1), return_inverse=True)
        with self._store.lock:
            sums = self.read(places)
            np.add.at(sums, which.reshape(-1), cast("Any", values.reshape(-1)))
            self._store.pair = merge(self._store.pair, places, sums, self._fill)

    def __repr__(self) -> str:
        return f"<Sparse buffer: {self.nnz} of {self._size} elements of type {self.dtype}, else {self._fill}>"

    def __reduce__(self) -> "tuple[Callable[..., Sparse[Any]], tuple[object, ...]]":
        return _restore, (*self._store.pair, self._size, self._fill, self._writeable, self._adding)


def _init(
    buffer: Sparse[Any], store: _Store, size: int, fill: Array, *, writeable: bool, adding: bool
) -> None:
    values = {"_store": store, "_size": size, "_fill": fill, "_writeable": writeable, "_adding": adding}
    for name, value in values.items():
        object.__setattr__(buffer, name, value)


def _make(store: _Store, size: int, fill: Array, *, writeable: bool, adding: bool) -> Sparse[Any]:
    buffer: Sparse[Any] = object.__new__(Sparse)
    _init(buffer, store, size, fill, writeable=writeable, adding=adding)
    return buffer


def make_sparse(addresses: IntArray, values: Array, size: int, fill: Array) -> Sparse[Any]:
    """Return the buffer of ascending addresses and elements that are no fill; the arrays are kept as given.

    What is given must not change any more.
    """
    return _restore(addresses, values, size, fill, writeable=True, adding=True)


def _restore(
    addresses: IntArray,
    values: Array,
    size: int,
    fill: Array,
    writeable: bool,  # noqa: FBT001 - pickle passes what it restores by position
    adding: bool,  # noqa: FBT001
) -> Sparse[Any]:
    stored = frozen_array(addresses), frozen_values(values)
    return _make(_Store(stored), size, to_fill(fill), writeable=writeable, adding=adding)
