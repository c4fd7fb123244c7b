"""Dense buffers: one run of elements in memory, and NumPy arrays over parts of it."""

from collections.abc import Callable, Iterator
from typing import Any, Generic, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer._common import BufferCommon
from tensorwrapper.buffer.copies._copy import copy_elements, scatter_elements, take_elements
from tensorwrapper.buffer.strings._checks import fit_string
from tensorwrapper.errors import ConversionError, DTypeError, ReadOnlyError, SizeOverflowError
from tensorwrapper.typing import Array, Extents, Index, IntArray, ScalarT_co

__all__ = ["Dense", "as_dense", "check_dtype", "convert_elements", "fit_elements", "fit_number"]

_HELD = "biufcmM"
"""Kinds of element that a tensor can hold: bool, integers, floats, complex, and times."""


def check_dtype(dtype: "np.dtype[Any]") -> None:
    """Raise unless tensors can hold elements of this type."""
    # bfloat16, float8 and their kin have the kind of structures, and nothing of them.
    if dtype.kind not in _HELD and dtype.type.__module__ != "ml_dtypes":
        text = "; strings() makes tensors of text and bytes" if dtype.kind in "SUTO" else ""
        raise DTypeError(
            f"elements of type {dtype} are not supported: allowed are bool, integers, floats, complex "
            f"numbers, datetime64 and timedelta64, and the types of ml_dtypes{text}"
        )


def fit_number(value: object, dtype: "np.dtype[Any]", what: str) -> Array:
    """Return a number, or a string, as an array of rank 0 of this type, if the type can say it.

    Raises
    ------
    SizeOverflowError
        If the number is not an integer of the type's range.
    ConversionError
        If it is no number at all, or not-a-number where the type has none.
    """
    if dtype.kind in "TO":
        return fit_string(value, dtype, what)
    try:
        given = np.asarray(value).dtype.kind
        number = np.array(value, dtype=dtype)
    except OverflowError as error:
        raise SizeOverflowError(f"{what}={value!r} does not fit elements of type {dtype}") from error
    except (TypeError, ValueError) as error:
        raise ConversionError(f"{what}={value!r} is nothing that elements of type {dtype} can be") from error
    # NumPy reads text as a number, None as not-a-number, and takes any object for true.
    if dtype.kind not in "mM" and (value is None or given in "SUT" or given + dtype.kind == "Ob"):
        raise ConversionError(f"{what}={value!r} is nothing that elements of type {dtype} can be")
    if number.ndim:
        raise ConversionError(f"{what} must be one number, not an array of {number.shape}")
    if dtype.kind in "iu" and bool(np.asarray(value) != number):
        raise SizeOverflowError(f"{what}={value!r} does not fit elements of type {dtype}")
    return number


def fit_elements(array: Array, dtype: "np.dtype[Any]") -> Array:
    """Return an array of this type, or as it is if that surely fits; fractions are dropped, nothing wraps.

    Raises
    ------
    SizeOverflowError
        If an element is not in the range of the type.
    """
    if np.can_cast(array.dtype, dtype, casting="safe"):
        return array
    with np.errstate(invalid="ignore"):
        fitted = copy_elements(array, dtype)
    whole = np.trunc(cast("npt.NDArray[np.floating]", array)) if array.dtype.kind == "f" else array
    if dtype.kind in "iu" and not np.array_equal(fitted, whole):
        raise SizeOverflowError(f"there are elements of {array.dtype} that do not fit type {dtype}")
    return fitted


def convert_elements(array: Array, dtype: "np.dtype[Any]", *, checked: bool = True) -> Array:
    """Return the elements as ones of this type, without gaps, in memory of their own.

    Raises
    ------
    SizeOverflowError
        If they are checked and one is not in the range of the type; else integers wrap round as NumPy's.
    """
    fitted = fit_elements(array, dtype) if checked else array
    return copy_elements(array, dtype) if fitted is array else fitted


@final
@attrs.frozen(eq=False, getstate_setstate=False)
class Dense(BufferCommon[ScalarT_co], Generic[ScalarT_co]):
    """One run of elements: a one-dimensional array without gaps, whose memory it keeps alive.

    Attributes
    ----------
    flat
        The elements. They can be written to if the array can.
    """

    flat: "np.ndarray[tuple[int], np.dtype[ScalarT_co]]"
    _beneath: "Dense[ScalarT_co] | None" = attrs.field(default=None, repr=False)
    """The buffer that can be written to, where this is its guarded side."""

    @property
    def dtype(self) -> "np.dtype[ScalarT_co]":
        """The type of the elements."""
        return self.flat.dtype

    @property
    def size(self) -> int:
        """How many elements there are."""
        return len(self.flat)

    @property
    def writeable(self) -> bool:
        """Whether the elements can be written to."""
        return self.flat.flags.writeable

    def read_only(self) -> "Dense[ScalarT_co]":
        """Return the same run of elements as one that cannot be written to; no copy."""
        flat = self.flat.view()
        flat.flags.writeable = False
        return Dense(flat)

    def guarded(self) -> "Dense[ScalarT_co]":
        flat = self.flat.view()
        flat.flags.writeable = False
        return Dense(flat, self)

    def accumulate(self, addresses: IntArray, values: Array) -> None:
        target = self if self._beneath is None else self._beneath
        if not target.writeable:
            raise ReadOnlyError("this memory is read-only; copy() gives some that can change")
        if not np.can_cast(values.dtype, self.dtype, casting="same_kind"):
            raise DTypeError(f"sums of {values.dtype} do not go into elements of {self.dtype}")
        np.add.at(target.flat, addresses, cast("Any", values))

    def read(self, addresses: IntArray) -> "npt.NDArray[ScalarT_co]":
        return self.gather(iter([addresses.reshape(-1)]), addresses.size).reshape(addresses.shape)

    def write(self, addresses: IntArray, values: Array) -> None:
        if not self.writeable:
            raise ReadOnlyError("this memory is read-only; copy() gives some that can change")
        scatter_elements(values, (addresses,), self.flat)

    def gather(self, places: Iterator[IntArray], size: int) -> "npt.NDArray[ScalarT_co]":
        return take_elements(self.flat, places, size)

    def array(self, extents: Extents, strides: Index, offset: int) -> "npt.NDArray[ScalarT_co]":
        """Return the NumPy array over part of the buffer; strides in elements, no copy. O(rank)."""
        flat = self.flat
        if 0 in extents:
            empty = flat[:0].reshape(extents)
            return cast("npt.NDArray[ScalarT_co]", empty)
        size = flat.dtype.itemsize
        # datetime64 and timedelta64 do not export the buffer protocol; their bytes do.
        source = flat if flat.dtype.kind in "biufc" else flat.view(np.uint8)
        return np.ndarray(
            extents, flat.dtype, buffer=source, offset=offset * size, strides=[s * size for s in strides]
        )

    def __reduce__(self) -> "tuple[Callable[..., Dense[Any]], tuple[Array]]":
        return Dense, (self.flat,)


def as_dense(array: "npt.NDArray[ScalarT_co]") -> "tuple[Dense[ScalarT_co], Index, int]":
    """Return the buffer under an array, with strides and offset in elements; never a copy.

    Raises
    ------
    DTypeError
        If a tensor cannot hold such elements.
    ConversionError
        If the steps of the array are no multiples of its element size, so that offsets cannot count them.
    """
    check_dtype(array.dtype)
    if array.flags.c_contiguous:
        return Dense(array.reshape(-1)), _run_strides(array.shape), 0
    if array.flags.f_contiguous:
        return Dense(array.T.reshape(-1)), _run_strides(array.shape[::-1])[::-1], 0
    size = array.dtype.itemsize
    # The step of a mode with one index is never taken, and may be anything.
    if any(step % size for n, step in zip(array.shape, array.strides, strict=True) if n > 1):
        raise ConversionError(
            f"an array with steps of {array.strides} bytes and elements of {size} bytes has no strides in "
            "elements; pass a copy of it"
        )
    steps = tuple([step // size for step in array.strides])
    # From the lowest address on: the array with its descending modes turned round starts there.
    turned = array[tuple([slice(None, None, -1 if step < 0 else 1) for step in steps])]
    reach = zip(array.shape, steps, strict=True)
    span = 1 + sum([(extent - 1) * abs(step) for extent, step in reach]) if array.size else 0
    # NumPy reads the types of ml_dtypes by a name that some of them do not have; integers have one.
    plain = turned.view(f"u{size}") if array.dtype.type.__module__ == "ml_dtypes" else turned
    run = np.lib.stride_tricks.as_strided(plain, (span,), (size,), writeable=array.flags.writeable)
    flat = run.view(array.dtype)
    offset = sum([(n - 1) * -step for n, step in zip(array.shape, steps, strict=True) if step < 0 and n])
    return Dense(cast("np.ndarray[tuple[int], np.dtype[ScalarT_co]]", flat)), steps, offset


def _run_strides(extents: Extents) -> Index:
    """Return the strides of a box without gaps whose last mode is the fastest."""
    strides: list[int] = []
    step = 1
    for extent in reversed(extents):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))
