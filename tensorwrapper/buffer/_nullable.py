"""`Nullable`: elements of which some are nulls, as values and one truth value at each address."""

from collections.abc import Callable, Iterator
from typing import Any, Generic, SupportsIndex, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._value_class import value_class
from tensorwrapper.buffer._addresses import packed_layout
from tensorwrapper.buffer._casts import equal_elements
from tensorwrapper.buffer._common import BufferCommon, Dense
from tensorwrapper.buffer._elements import contains_value, holds_strings
from tensorwrapper.buffer.copies._copy import copy_elements
from tensorwrapper.errors import BufferSizeError, ConversionError, DTypeError, ReadOnlyError
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Array, IntArray, ScalarT_co, WriteCasting


def clear_nulls(elements: Array, valid: "npt.NDArray[np.bool_]") -> Array:
    """Return elements with zeros where they are not valid; no copy if there are zeros already."""
    nulls = ~valid
    if elements[nulls].view(np.uint8).any():
        elements = copy_elements(elements)
        elements[nulls] = np.zeros((), elements.dtype)
    return elements


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Nullable(BufferCommon[ScalarT_co], Generic[ScalarT_co]):
    """Values, and at the same addresses whether each is valid or a null. One layout leads to both.

    The value under a null is undefined: it is never shown, and written as zero. Elements are read as an
    array only where all are valid.

    Parameters
    ----------
    values
        The elements; numbers, truth values or times.
    validity
        For each of them whether it is there.

    Raises
    ------
    DTypeError
        If the values are strings, or `validity` has other elements than truth values.
    ConversionError
        If the values are sparse, or nullable themselves.
    BufferSizeError
        If they are not as many.

    Examples
    --------
    >>> import numpy as np
    >>> from tensorwrapper.buffer import Dense, Nullable
    >>> buffer = Nullable(Dense(np.array([1, 2, 3])), Dense(np.array([True, False, True])))
    >>> buffer.read(np.array([2, 0])).tolist(), buffer.null_count
    ([3, 1], 1)
    """

    values: BufferCommon[ScalarT_co]
    validity: BufferCommon[np.bool_]

    def __init__(self, values: BufferCommon[ScalarT_co], validity: BufferCommon[np.bool_]) -> None:
        if holds_strings(values.dtype):
            raise DTypeError("strings may be null already: strings(values, nullable=True)")
        if validity.dtype != np.bool_:
            raise DTypeError(f"validity has truth values, not {validity.dtype}")
        for own in (values, validity):
            if own.fill_value is not None or own.nullable:
                raise ConversionError(
                    f"elements of {own!r} do not become nullable: to_dense() has all of them"
                )
        if values.size != validity.size:
            raise BufferSizeError(
                f"{values.size} values do not have {validity.size} truth values beside them"
            )
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "validity", validity)

    @property
    def dtype(self) -> "np.dtype[ScalarT_co]":
        """The type of the values."""
        return self.values.dtype

    @property
    def size(self) -> int:
        """Number of addresses."""
        return self.values.size

    @property
    def is_readonly(self) -> bool:
        """True if values or nulls cannot be written."""
        return self.values.is_readonly or self.validity.is_readonly

    @property
    def nullable(self) -> bool:
        """True."""
        return True

    @property
    def sides(self) -> tuple[BufferCommon[ScalarT_co], BufferCommon[np.bool_]]:
        """The values, and whether they are valid."""
        return self.values, self.validity

    @property
    def null_count(self) -> int:
        """Number of nulls. O(size)."""
        return self.size - int(np.count_nonzero(self.validity.read_run(0, self.size)))

    @property
    def owner(self) -> "Nullable[ScalarT_co]":
        """The buffer that can be written to, of which this is the guarded side; else this one."""
        values, valid = self.values.owner, self.validity.owner
        return self if values is self.values and valid is self.validity else Nullable(values, valid)

    @property
    def filename(self) -> str | None:
        """The file in which values and nulls are, if it is one."""
        return self.values.filename if self.values.filename == self.validity.filename else None

    def as_readonly(self) -> "Nullable[ScalarT_co]":
        """Return the same elements as a buffer that cannot be written to; no copy."""
        return Nullable(self.values.as_readonly(), self.validity.as_readonly())

    def guarded(self) -> "Nullable[ScalarT_co]":
        return Nullable(self.values.guarded(), self.validity.guarded())

    def valid_of(self, layout: LayoutCommon) -> "npt.NDArray[np.bool_]":
        return self.validity.elements_of(layout)

    def check_sums(
        self,
        addresses: IntArray,  # noqa: ARG002 - it refuses
        values: Array,  # noqa: ARG002
        *,
        casting: WriteCasting = "same_kind",  # noqa: ARG002
    ) -> None:
        raise ReadOnlyError(
            "nothing is added to elements that may be nulls: t.fill_null(0) has numbers alone"
        )

    # Reading.

    def _refuse_nulls(self, valid: "npt.NDArray[np.bool_]", *, box: bool = True) -> None:
        count = valid.size - int(np.count_nonzero(valid))
        if not count:
            return
        more = ", `t.to_masked()` is a masked array" if box else ""
        raise ConversionError(
            f"an array cannot store nulls ({count} here): `t.fill_null(0)` replaces them{more}"
        )

    def read(self, addresses: IntArray) -> "npt.NDArray[ScalarT_co]":
        self._refuse_nulls(self.validity.read(addresses))
        return self.values.read(addresses)

    def read_filled(self, addresses: IntArray) -> "npt.NDArray[ScalarT_co]":
        values = self.values.read(addresses)
        values[~self.validity.read(addresses)] = np.zeros((), self.dtype)
        return values

    def gather(self, places: Iterator[IntArray], size: int) -> "npt.NDArray[ScalarT_co]":
        flat = np.empty(size, self.dtype)
        start = 0
        for batch in places:
            flat[start : start + batch.size] = self.read(batch.reshape(-1))
            start += batch.size
        return flat

    def read_run(self, start: int, stop: int) -> "npt.NDArray[ScalarT_co]":
        self._refuse_nulls(self.validity.read_run(start, stop))
        return self.values.read_run(start, stop)

    def elements_of(self, layout: LayoutCommon) -> "npt.NDArray[ScalarT_co]":
        self._refuse_nulls(self.valid_of(layout), box=layout.shape.is_box)
        return self.values.elements_of(layout)

    def objects_of(self, layout: LayoutCommon) -> Array:
        items: Array = np.empty(layout.shape.size, np.object_)
        items[:] = self.values.objects_of(layout)
        items[~self.valid_of(layout)] = cast("Any", None)
        return items

    def contains(self, layout: LayoutCommon, value: object) -> bool:
        valid = self.valid_of(layout)
        if value is None:
            return not valid.all()
        return contains_value(self.values.elements_of(layout)[valid], value)

    def equals(
        self, layout: LayoutCommon, other: BufferCommon[Any], theirs: LayoutCommon, *, equal_nan: bool
    ) -> bool:
        if holds_strings(other.dtype) or other.fill_value is not None:
            return False
        mine, valid = self.values.elements_of(layout), self.valid_of(layout)
        if isinstance(other, Nullable):
            if not np.array_equal(valid, other.valid_of(theirs)):
                return False
            return equal_elements(mine[valid], other.values.elements_of(theirs)[valid], equal_nan=equal_nan)
        return bool(valid.all()) and equal_elements(mine, other.elements_of(theirs), equal_nan=equal_nan)

    def obstacle(self, layout: LayoutCommon) -> str:
        if not layout.shape.is_box:
            more = "" if self.valid_of(layout).all() else ", once `t.fill_null(0)` has replaced nulls"
            return super().obstacle(layout) + more
        return (
            "no array is over elements that may be nulls: np.asarray(t) copies them where none is, "
            "`t.fill_null(0)` replaces nulls, `t.to_masked()` is a masked array"
        )

    # New buffers.

    def like(self, flat: Array) -> "Nullable[ScalarT_co]":
        return Nullable(self.values.like(flat), Dense(np.ones(len(flat), np.bool_)))

    def collect(self, places: Iterator[IntArray], size: int) -> "Nullable[ScalarT_co]":
        batches = list(places)
        return Nullable(self.values.collect(iter(batches), size), self.validity.collect(iter(batches), size))

    def pack(self, layout: LayoutCommon, *, own: bool = True) -> "Nullable[ScalarT_co]":
        return Nullable(self.values.pack(layout, own=own), self.validity.pack(layout, own=own))

    def place(
        self, layout: LayoutCommon, target: LayoutCommon, size: int, *, threads: SupportsIndex = 1
    ) -> "Nullable[ScalarT_co]":
        values = self.values.place(layout, target, size, threads=threads)
        # The other addresses get zeros, which are valid.
        nulls: Dense[np.bool_] = Dense(cast("Any", ~self.valid_of(layout)))
        placed = nulls.place(packed_layout(layout.shape).implementation, target, size, threads=threads)
        return Nullable(values, Dense(~placed.flat))

    def convert(self, layout: LayoutCommon, dtype: "np.dtype[Any]", *, checked: bool) -> "Nullable[Any]":
        valid = self.validity.pack(layout)
        values = self.values.own_elements_of(layout)
        nulls = np.flatnonzero(~valid.read_run(0, valid.size))
        values[nulls] = np.ones((), values.dtype)  # Not each type has a zero.
        made = Dense(cast("Any", values)).convert(
            packed_layout(Shape(len(values))).implementation, dtype, checked=checked
        )
        made.write(nulls, np.zeros(len(nulls), dtype))
        return Nullable(made, valid)

    # Writing.

    def write(self, addresses: IntArray, values: Array) -> None:
        if self.is_readonly:
            raise ReadOnlyError("this memory is read-only; copy() gives some that can change")
        self.values.write(addresses, values)
        self.validity.write(addresses, np.ones(values.shape, np.bool_))

    def assign(self, layout: LayoutCommon, values: Array) -> None:
        self.values.assign(layout, values)
        self.validity.assign(layout, np.ones(values.shape, np.bool_))

    def __repr__(self) -> str:
        return f"<Nullable buffer: {self.size} elements of type {self.dtype}>"

    def __reduce__(
        self,
    ) -> "tuple[Callable[..., Nullable[Any]], tuple[BufferCommon[Any], BufferCommon[Any]]]":
        # Pickles of equal elements have equal bytes.
        flat = self.values.read_run(0, self.size)
        bare = clear_nulls(flat, self.validity.read_run(0, self.size))
        if bare is flat:
            return Nullable, (self.values, self.validity)
        values: Dense[Any] = Dense(cast("Any", bare))
        return Nullable, (values.as_readonly() if self.values.is_readonly else values, self.validity)
