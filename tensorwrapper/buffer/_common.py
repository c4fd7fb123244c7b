"""The base class of buffers, and buffers of one run of memory: `BufferCommon` and `Dense`.

They share a module because methods of any buffer that make new elements return a dense one by default.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, SupportsIndex, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import times_like, to_dtype
from tensorwrapper._arrays import file_beneath
from tensorwrapper._value_class import slot_setters, value_class
from tensorwrapper.buffer._addresses import copied_by_plan, few_places, packed_layout
from tensorwrapper.buffer._casts import check_write, convert_elements, equal_elements
from tensorwrapper.buffer._elements import contains_value, holds_strings, kind_of
from tensorwrapper.buffer._sums import add_at, check_sums
from tensorwrapper.buffer.copies._copy import (
    copy_elements,
    scatter_elements,
    take_elements,
    take_windows,
    write_number,
)
from tensorwrapper.errors import (
    BufferSizeError,
    ConversionError,
    DTypeError,
    ReadOnlyError,
    SizeOverflowError,
)
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.layout.lowlevel import address_batches
from tensorwrapper.typing import Array, Extents, Index, IntArray, ScalarT_co, WriteCasting

if TYPE_CHECKING:
    from tensorwrapper.buffer.blocks._present import PresentTiles
    from tensorwrapper.buffer.strings._data import StringData
    from tensorwrapper.shape import Symmetry

_BATCH: Final = 1 << 20  # addresses at a time


def _as_text(array: Array, dtype: "np.dtype[Any]") -> Array:
    """Return numbers or times as text of a fixed width, which NumPy would cut.

    Raises
    ------
    SizeOverflowError
        If an element is longer.
    """
    found = array.astype(dtype.kind)
    if not dtype.itemsize:
        return found
    longest = int(np.strings.str_len(found).max(initial=0))
    if longest > dtype.itemsize // np.dtype(f"{dtype.kind}1").itemsize:
        needed = f"{dtype.kind}{longest}"
        raise SizeOverflowError(f"the longest element needs {needed} as text; {dtype} would cut it")
    return found.astype(dtype)


class BufferCommon(ABC, Generic[ScalarT_co]):
    """Abstract: `dtype`, `size`, `is_readonly`, `as_readonly`, `read` and `write`.

    A buffer is a run of elements at the addresses 0 to ``size - 1``; a layout says which index has which
    address. Addresses were checked before they come here: `read` and `write` need not look.

    All other methods have defaults built on these six, which a buffer may override for speed. Methods with a
    layout apply to the elements that it reaches, in row-major order.
    """

    __slots__ = ()

    in_tiles: ClassVar[bool] = False
    """True if tiles are stored separately, so that one of them is simpler than all."""
    stores_orbits: ClassVar[bool] = False
    """True if one stored element represents several, which a symmetry makes equal."""

    @property
    @abstractmethod
    def dtype(self) -> "np.dtype[ScalarT_co]":
        """The type of the elements."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of addresses."""

    @property
    @abstractmethod
    def is_readonly(self) -> bool:
        """True if the elements are read-only."""

    @property
    def memory(self) -> "npt.NDArray[ScalarT_co] | None":
        """The run of memory of the elements; None if they are in none, or in more than one."""
        return None

    @property
    def owner(self) -> "BufferCommon[ScalarT_co]":
        """The buffer that can be written to, of which this is the guarded side; else this one."""
        return self

    @property
    def fill_value(self) -> "npt.NDArray[ScalarT_co] | None":
        """The element at all addresses that are not stored, an array of rank 0; None if all are stored."""
        return None

    @property
    def takes_sparse(self) -> bool:
        """True if sparse tensors may be written to it; a dense buffer would store all their elements."""
        return self.fill_value is not None

    @property
    def parts(self) -> "tuple[BufferCommon[ScalarT_co], ...]":
        """The buffers that this one joins, one after the other; none if it joins none."""
        return ()

    @property
    def filename(self) -> str | None:
        """The file in which the elements are, and from which they are read when they are used, if in one."""
        names = {part.filename for part in self.parts} or {file_beneath(self.memory)}
        return names.pop() if len(names) == 1 else None

    @property
    def nullable(self) -> bool:
        """True if an element may be a null."""
        return holds_strings(self.dtype) and hasattr(self.dtype, "na_object")

    @property
    def sides(self) -> "tuple[BufferCommon[ScalarT_co], BufferCommon[np.bool_]] | None":
        """Values, and at the same addresses whether they are valid; None if the elements tell of nulls."""
        return None

    @abstractmethod
    def as_readonly(self) -> "BufferCommon[ScalarT_co]":
        """Return the same elements as a buffer that cannot be written to; no copy."""

    def why_readonly(self) -> str:
        """Return the reason why the elements of a read-only buffer cannot be written, and an alternative."""
        return (
            "the memory of this tensor is read-only, or repeated in a tensor of which this is a view; "
            "copy() gives one that can change"
        )

    def guarded(self) -> "BufferCommon[ScalarT_co]":
        """Return the elements for a layout that gives several indices one place: at most to be added to."""
        return self.as_readonly()

    def accumulate(self, addresses: IntArray, values: Array, *, casting: WriteCasting = "same_kind") -> None:
        """Add one value to each address, also where an address comes several times.

        Errors are those of `check_sums`, before anything is added.
        """
        self.check_sums(addresses, values, casting=casting)
        raise ReadOnlyError(f"a {type(self).__name__} buffer does not say how elements are added")

    def check_sums(
        self,
        addresses: IntArray,  # noqa: ARG002 - most refuse
        values: Array,  # noqa: ARG002
        *,
        casting: WriteCasting = "same_kind",  # noqa: ARG002
    ) -> None:
        """Raise the errors of `accumulate`: ReadOnlyError, DTypeError or SizeOverflowError; or do nothing."""
        raise ReadOnlyError(f"elements of a {type(self).__name__} buffer are not added to; copy() gives some")

    @abstractmethod
    def read(self, addresses: IntArray) -> "npt.NDArray[ScalarT_co]":
        """Return the elements at these addresses, in a new array of the same extents."""

    def read_filled(self, addresses: IntArray) -> "npt.NDArray[ScalarT_co]":
        """Return elements as `read` does, with zero, or False, for nulls."""
        return self.read(addresses)

    @abstractmethod
    def write(self, addresses: IntArray, values: Array) -> None:
        """Write one value to each address; no address comes twice, and `values` has their extents.

        All values are of this buffer's dtype. Either all are written, or an error changes nothing.
        """

    def gather(self, places: Iterator[IntArray], size: int) -> "npt.NDArray[ScalarT_co]":
        """Return the elements at addresses that come in batches and number `size` in all: a flat array."""
        result, start = np.empty(size, dtype=self.dtype), 0
        for batch in places:
            result[start : start + batch.size] = self.read(batch.reshape(-1))
            start += batch.size
        return result

    def read_run(self, start: int, stop: int) -> "npt.NDArray[ScalarT_co]":
        """Return the elements at the addresses from `start` up to `stop`: a flat array, or a view of one."""
        steps = range(start, stop, _BATCH)
        return self.gather((np.arange(a, min(a + _BATCH, stop)) for a in steps), stop - start)

    def check_bounds(self, least: int, greatest: int) -> None:
        """Raise unless all addresses from `least` to `greatest` exist, so that a view is safe."""
        if least < 0 or greatest >= self.size:
            raise BufferSizeError(
                f"the layout needs offsets {least} to {greatest}; the buffer has {self.size} elements"
            )

    # Elements of a layout.

    def tiles_of(self, layout: LayoutCommon) -> "PresentTiles[ScalarT_co] | None":  # noqa: ARG002 - none
        """Return which tiles of a layout of tiles are stored; None if all elements are, or by themselves."""
        return None

    def narrowed(self, layout: LayoutCommon) -> "tuple[LayoutCommon, BufferCommon[ScalarT_co]]":
        """Return the layout and the buffer of just the tile that a layout reaches, if that is simpler."""
        return layout, self

    def brought(self, layout: LayoutCommon) -> "tuple[LayoutCommon, BufferCommon[ScalarT_co]]":
        """Return layout and buffer of the same elements in memory; the buffer itself if it is in memory."""
        return layout, self

    def fetched_for(self, layouts: Sequence[LayoutCommon]) -> "BufferCommon[ScalarT_co]":  # noqa: ARG002 - here
        """Return the buffer with the elements that several layouts need at hand; itself in memory."""
        return self

    def asked_of(self, layouts: Sequence[LayoutCommon]) -> "tuple[Any, IntArray] | None":  # noqa: ARG002 - here
        """Return the source elsewhere that layouts read, and the numbers of its elements; None in memory."""
        return None

    def symmetry_of(self, layout: LayoutCommon) -> "Symmetry | None":  # noqa: ARG002 - none is known
        """Return the symmetry of the elements of a box, of which each orbit is stored once; else None."""
        return None

    def packed_of(self, layout: LayoutCommon) -> "npt.NDArray[ScalarT_co] | None":  # noqa: ARG002 - none
        """Return the memory of the elements that are stored for others too; None if there is no such."""
        return None

    def memory_of(self, layout: LayoutCommon) -> "npt.NDArray[ScalarT_co] | None":  # noqa: ARG002 - none
        """Return the array over the memory that a layout in strides addresses, or None; O(rank)."""
        return None

    def cells_of(
        self,
        starts: IntArray,  # noqa: ARG002 - of memory only
        strides: IntArray,  # noqa: ARG002
        extents: Extents,  # noqa: ARG002
    ) -> "npt.NDArray[ScalarT_co] | None":
        """Return cells of one size, of rank 1 or more, as an array of them; None if no array does it."""
        return None

    def elements_of(self, layout: LayoutCommon) -> "npt.NDArray[ScalarT_co]":
        """Return the elements as a flat array; a view if they are contiguous, else a copy."""
        size = layout.shape.size
        if layout.is_contiguous and size:
            return self.read_run(layout.offset, layout.offset + size)
        return self.gather(address_batches(layout), size)

    def own_elements_of(self, layout: LayoutCommon) -> "npt.NDArray[ScalarT_co]":
        """Return the elements as a new flat array that shares no memory."""
        if layout.is_contiguous:
            return self.own_run(layout.offset, layout.offset + layout.shape.size)
        return self.elements_of(layout)

    def own_run(self, start: int, stop: int) -> "npt.NDArray[ScalarT_co]":
        """Return the elements from one address to another as a new flat array that shares no memory."""
        run = self.read_run(start, stop)
        # It may be a view, also where it is of one part of a joined buffer.
        return run if run.base is None else copy_elements(run)

    def objects_of(self, layout: LayoutCommon) -> Array:
        """Return the elements as a flat array whose ``tolist()`` has Python's numbers or strings."""
        return self.elements_of(layout)

    def strings_of(self, layout: LayoutCommon) -> "StringData":
        """Return the elements as string data; numbers raise ConversionError."""
        if not holds_strings(self.dtype):
            raise ConversionError(f"elements of type {self.dtype} are not strings")
        from tensorwrapper.buffer.strings._data import StringData  # noqa: PLC0415 - numbers need none

        return StringData.from_list(self.objects_of(layout).tolist(), kind=kind_of(self.dtype))

    def stored_of(self, layout: LayoutCommon) -> "tuple[IntArray, npt.NDArray[ScalarT_co]]":
        """Return the stored elements: ordinals, ascending, and the element at each."""
        return np.arange(layout.shape.size), self.elements_of(layout)

    def count_stored(self, layout: LayoutCommon) -> int:
        """Return how many elements are stored."""
        return layout.shape.size

    def valid_of(self, layout: LayoutCommon) -> "npt.NDArray[np.bool_]":
        """Return for each element whether it is there, and no null."""
        if not self.nullable:
            return np.ones(layout.shape.size, np.bool_)
        return self.strings_of(layout).is_valid()

    def nbytes_of(self, layout: LayoutCommon) -> int:
        """Return the number of bytes of the elements, as if they were packed."""
        if holds_strings(self.dtype):
            return self.strings_of(layout).nbytes
        return layout.shape.size * self.dtype.itemsize

    def contains(self, layout: LayoutCommon, value: object) -> bool:
        """Return True if an element equals `value`."""
        if self.fill_value is None:
            return contains_value(self.elements_of(layout), value)
        _, values = self.stored_of(layout)
        absent = len(values) < layout.shape.size
        return contains_value(values, value) or (absent and contains_value(self.fill_value, value))

    def equals(
        self, layout: LayoutCommon, other: "BufferCommon[Any]", theirs: LayoutCommon, *, equal_nan: bool
    ) -> bool:
        """Return True if these elements equal those of a layout of an equal shape in another buffer."""
        if holds_strings(self.dtype) or holds_strings(other.dtype):
            if holds_strings(self.dtype) != holds_strings(other.dtype):
                return False
            return self.strings_of(layout).equals(other.strings_of(theirs))
        if other.sides is not None:
            return other.equals(theirs, self, layout, equal_nan=equal_nan)
        one, two = self.memory_of(layout), other.memory_of(theirs)
        if one is None or two is None:
            one, two = self.elements_of(layout), other.elements_of(theirs)
        return equal_elements(one, two, equal_nan=equal_nan)

    def write_string(self, place: int, value: str | bytes) -> bool:  # noqa: ARG002
        """Write one string to an address if it fits in place, and return True if it did."""
        return False

    def obstacle(self, layout: LayoutCommon) -> str:
        """Return why no array can be over these elements, and the alternative."""
        if not layout.shape.is_box:
            ways = "`r.to_padded()` fills it, `r.cells()` has its parts"
            return f"a tensor of shape {layout.shape} is not an array: {ways}"
        return f"no array is over the elements of {self!r}: np.asarray(t) and t.copy() read them all"

    def as_array(self, layout: LayoutCommon) -> "npt.NDArray[ScalarT_co]":
        """Return the array over the same memory, read-only if several indices share a place.

        If no array can be over it ConversionError says why.
        """
        array = self.memory_of(layout)
        if array is None:
            raise ConversionError(self.obstacle(layout))
        if array.flags.writeable and not layout.is_injective:
            array.flags.writeable = False
        return array

    def to_array(
        self,
        layout: LayoutCommon,
        dtype: "np.dtype[Any] | None" = None,
        copy: bool | None = None,  # noqa: FBT001 - as NumPy's protocol has it
    ) -> Array:
        """Return the elements of a box as an array, over the same memory unless that needs a copy.

        Raises
        ------
        ConversionError
            If the shape is not a box, or only a copy can be given and `copy` is False.
        """
        array: Array
        if copy is not False and layout.shape.is_box and self.memory_of(layout) is None:
            # Elements without strides, or without memory, are read into a new array.
            flat = self.own_elements_of(layout) if copy else self.elements_of(layout)
            array, copy = flat.reshape(layout.shape.extents), None
        else:
            array = self.as_array(layout)
        wanted = None if dtype is None else times_like(to_dtype(dtype), array.dtype)
        if wanted is not None and wanted != array.dtype:
            if copy is False:
                raise ConversionError(f"elements of {array.dtype} become {dtype} only by a copy; copy=False")
            try:
                if wanted.kind in "SU":
                    return _as_text(array, wanted)
                return convert_elements(array, wanted)
            except (TypeError, ValueError) as error:
                raise DTypeError(
                    f"elements of type {array.dtype} do not become ones of {dtype}: {error}"
                ) from error
        return copy_elements(array) if copy else array

    # New buffers of the same elements.

    def like(self, flat: Array) -> "BufferCommon[ScalarT_co]":
        """Return a buffer of the kind that new elements of this one get, over a flat array; no copy."""
        return Dense(cast("Any", flat))

    def collect(self, places: Iterator[IntArray], size: int) -> "BufferCommon[ScalarT_co]":
        """Return a buffer of the elements at addresses that come in batches and number `size` in all."""
        return self.like(self.gather(places, size))

    def pack(self, layout: LayoutCommon, *, own: bool = True) -> "BufferCommon[ScalarT_co]":
        """Return a buffer of just these elements, one after the other.

        It shares nothing that can change with this one, unless it need not be its `own`.
        """
        return self.like(self.own_elements_of(layout) if own else self.elements_of(layout))

    def place(
        self, layout: LayoutCommon, target: LayoutCommon, size: int, *, threads: SupportsIndex = 1
    ) -> "BufferCommon[ScalarT_co]":
        """Return a buffer of `size` elements, with these where another layout puts them, else 0 or "".

        Raises
        ------
        LayoutError
            If the layouts are over different shapes, or `target` gives two indices one place.
        """
        packed = packed_layout(layout.shape).implementation
        source = Dense(cast("np.ndarray[tuple[int], np.dtype[ScalarT_co]]", self.elements_of(layout)))
        return source.place(packed, target, size, threads=threads)

    def require_numbers(self, what: str) -> None:
        """Raise DTypeError if the elements are strings, with which `what` cannot be done.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([1, 2]).buffer.require_numbers("a sum")
        >>> tw.strings(["a"]).buffer.require_numbers("a sum")
        Traceback (most recent call last):
        tensorwrapper.errors.DTypeError: a sum needs numbers, and the elements are strings of kind 'utf8'
        """
        if holds_strings(self.dtype):
            kind = kind_of(self.dtype)
            raise DTypeError(f"{what} needs numbers, and the elements are strings of kind {kind!r}")

    def convert(self, layout: LayoutCommon, dtype: "np.dtype[Any]", *, checked: bool) -> "BufferCommon[Any]":
        """Return a buffer of these elements, one after the other, as ones of another type.

        Raises
        ------
        SizeOverflowError
            If they are checked, and one is not in the range of the type.
        DTypeError
            If they are strings.
        """
        self.require_numbers("astype")
        memory = self.memory
        run = None if memory is None else layout.run()
        array = memory[run] if memory is not None and run is not None else self.memory_of(layout)
        elements = self.elements_of(layout) if array is None else array
        return Dense(cast("Any", convert_elements(elements, dtype, checked=checked).reshape(-1)))

    # Writing.

    def fit(self, value: object, *, casting: WriteCasting = "same_kind") -> Array:
        """Return numbers, or string data, as a new array of this dtype, by the rules of `check_write`."""
        from tensorwrapper.buffer.strings._data import StringData  # noqa: PLC0415 - numbers need none

        if isinstance(value, StringData):
            if value.null_count and self.dtype.kind == "T" and not hasattr(self.dtype, "na_object"):
                # NumPy would write "None".
                raise ConversionError(
                    f"{value.null_count} elements are nulls, which {self.dtype} cannot store"
                )
            values: Array = np.empty(len(value), self.dtype)
            values[...] = np.array(value.to_list(), np.object_)
            return values
        given = check_write(value, self.dtype, casting=casting)
        own: Array = np.empty(given.shape, self.dtype)
        own[...] = given
        return own

    def assign(self, layout: LayoutCommon, values: Array) -> None:
        """Write one value of this dtype to each place of a layout that gives every index its own.

        The values share no memory with this buffer.
        """
        start, flat = 0, values.reshape(-1) if values.size <= 1 or values.flags.c_contiguous else values.flat
        for batch in address_batches(layout):
            places = batch.reshape(-1)
            self.write(places, np.asarray(flat[start : start + len(places)]))
            start += len(places)

    def assign_from(
        self,
        layout: LayoutCommon,  # noqa: ARG002 - most know no better way
        source: "BufferCommon[Any]",  # noqa: ARG002
        theirs: LayoutCommon,  # noqa: ARG002
    ) -> bool:
        """Write the elements of another buffer if that is better than through an array; tell whether it was.

        The two layouts are over congruent shapes.
        """
        return False


@final
@value_class(eq=False, getstate_setstate=False)
class Dense(BufferCommon[ScalarT_co], Generic[ScalarT_co]):
    """One run of elements: a one-dimensional array without gaps, whose memory it keeps alive."""

    flat: "np.ndarray[tuple[int], np.dtype[ScalarT_co]]"
    """The elements; writable if the array is."""
    _beneath: "Dense[ScalarT_co] | None" = attrs.field(alias="beneath", default=None, repr=False)
    """The buffer that can be written to, where this is its guarded side."""

    def __init__(
        self,
        flat: "np.ndarray[tuple[int], np.dtype[ScalarT_co]]",
        beneath: "Dense[ScalarT_co] | None" = None,
    ) -> None:
        _set_flat(self, flat)
        _set_beneath(self, beneath)

    @property
    def dtype(self) -> "np.dtype[ScalarT_co]":
        """The type of the elements."""
        return self.flat.dtype

    @property
    def size(self) -> int:
        """Number of elements."""
        return len(self.flat)

    @property
    def is_readonly(self) -> bool:
        """True if the elements are read-only."""
        return not self.flat.flags.writeable

    def as_readonly(self) -> "Dense[ScalarT_co]":
        """Return the same run of elements as one that cannot be written to; no copy."""
        flat = self.flat.view()
        flat.flags.writeable = False
        return Dense(flat)

    @property
    def memory(self) -> "npt.NDArray[ScalarT_co]":
        """The elements."""
        return self.flat

    @property
    def owner(self) -> "Dense[ScalarT_co]":
        """The buffer that can be written to, of which this is the guarded side; else this one."""
        return self if self._beneath is None else self._beneath

    def write_number(self, array: Array, key: object, value: float) -> bool:
        """Write a number of Python into an array over this memory if it fits as it is; tell whether."""
        return write_number(array, key, value)

    def guarded(self) -> "Dense[ScalarT_co]":
        return Dense(self.as_readonly().flat, self)

    def accumulate(self, addresses: IntArray, values: Array, *, casting: WriteCasting = "same_kind") -> None:
        add_at(self._addable(), addresses, values, casting)

    def check_sums(self, addresses: IntArray, values: Array, *, casting: WriteCasting = "same_kind") -> None:
        check_sums(self._addable(), addresses, values, casting)

    def _addable(self) -> Array:
        if self.owner.is_readonly:
            raise ReadOnlyError("this memory is read-only; copy() gives some that can change")
        return self.owner.flat

    def read(self, addresses: IntArray) -> "npt.NDArray[ScalarT_co]":
        return self.gather(iter([addresses.reshape(-1)]), addresses.size).reshape(addresses.shape)

    def write(self, addresses: IntArray, values: Array) -> None:
        if self.is_readonly:
            raise ReadOnlyError("this memory is read-only; copy() gives some that can change")
        scatter_elements(values, (addresses,), self.flat)

    def gather(self, places: Iterator[IntArray], size: int) -> "npt.NDArray[ScalarT_co]":
        return take_elements(self.flat, places, size)

    def read_run(self, start: int, stop: int) -> "npt.NDArray[ScalarT_co]":
        return self.flat[start:stop]

    def memory_of(self, layout: LayoutCommon) -> "npt.NDArray[ScalarT_co] | None":
        box = layout.strided_box() or layout.without_layers().strided_box()
        if box is None or self.flat.dtype.kind in "TO":
            return None  # Such elements are objects, over which NumPy makes no array of other strides.
        extents, _, strides, offset = box
        return self.array(extents, strides, offset)

    def cells_of(
        self, starts: IntArray, strides: IntArray, extents: Extents
    ) -> "npt.NDArray[ScalarT_co] | None":
        if self.flat.dtype.kind in "TO" or 0 in extents or not len(starts) or not extents:
            return None
        # Cells of a box share one row of strides.
        if strides.strides[0] and (strides != strides[0]).any():
            return None
        # All cells that have these strides, wherever they begin, are an array whose first mode is that place.
        steps: list[int] = strides[0].tolist()
        low = sum([min(step, 0) * (n - 1) for step, n in zip(steps, extents, strict=True)])
        high = sum([max(step, 0) * (n - 1) for step, n in zip(steps, extents, strict=True)])
        windows = self.array((len(self.flat) - high + low, *extents), (1, *steps), -low)
        return take_windows(windows, starts + low)

    def elements_of(self, layout: LayoutCommon) -> "npt.NDArray[ScalarT_co]":
        size = layout.shape.size
        if layout.is_contiguous:
            return self.flat[layout.offset : layout.offset + size] if size else self.flat[:0]
        array = self.memory_of(layout)
        if array is not None:
            return copy_elements(array).reshape(-1)
        few = few_places(layout, size, len(self.flat))
        if few is not None:
            return take_elements(self.flat, few, size)
        return copied_by_plan(self.flat, layout, packed_layout(layout.shape).implementation, size)

    def place(
        self, layout: LayoutCommon, target: LayoutCommon, size: int, *, threads: SupportsIndex = 1
    ) -> "Dense[ScalarT_co]":
        return Dense(cast("Any", copied_by_plan(self.flat, layout, target, size, threads)))

    def obstacle(self, layout: LayoutCommon) -> str:
        if not layout.shape.is_box:
            return super().obstacle(layout)
        return "no array is over a mode of several strides: np.asarray(t) and t.copy() read all its elements"

    def array(self, extents: Extents, strides: Index, offset: int) -> "npt.NDArray[ScalarT_co]":
        """Return the NumPy array over part of the buffer; strides in elements, no copy. O(rank)."""
        flat = self.flat
        if 0 in extents:
            return cast("npt.NDArray[ScalarT_co]", flat[:0].reshape(extents))
        dtype = flat.dtype
        size = dtype.itemsize
        # datetime64 and timedelta64 do not export the buffer protocol; their bytes do.
        source = flat if dtype.kind in "biufc" else flat.view(np.uint8)
        if 1 in extents:
            # A stride that is never stepped along may be anything, and NumPy takes no large ones even there.
            steps = [s * size if n > 1 else size for n, s in zip(extents, strides, strict=True)]
        else:
            steps = [s * size for s in strides]
        try:
            return np.ndarray(extents, dtype, source, offset * size, steps)
        except ValueError as error:  # With repeated elements it may exceed the size limit of an array.
            raise BufferSizeError(f"elements {extents}: {error}") from error

    def __reduce__(self) -> "tuple[Callable[..., Dense[Any]], tuple[Array]]":
        return Dense, (self.flat,)


_set_flat, _set_beneath = slot_setters(Dense, "flat", "_beneath")  # attrs looks them up by name
