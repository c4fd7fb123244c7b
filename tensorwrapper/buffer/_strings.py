"""Buffers of strings: string data that a write replaces as a whole."""

from collections.abc import Callable, Iterator
from typing import Any, SupportsIndex, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import file_beneath
from tensorwrapper._value_class import value_class
from tensorwrapper.buffer._addresses import all_addresses
from tensorwrapper.buffer._common import BufferCommon
from tensorwrapper.buffer.copies._copy import copy_elements
from tensorwrapper.buffer.strings._checks import string_dtype
from tensorwrapper.buffer.strings._current import CurrentStrings
from tensorwrapper.buffer.strings._data import StringData
from tensorwrapper.buffer.strings._merge import replace_strings
from tensorwrapper.buffer.strings._numpy import NumpyStrings, strings_from_numpy, strings_to_numpy
from tensorwrapper.errors import ConversionError, DTypeError, ReadOnlyError
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.layout.lowlevel import address_batches, plan_copy
from tensorwrapper.typing import Array, IntArray, StringKind, WriteCasting


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Strings(BufferCommon[Any]):
    """A run of strings, or of byte strings, each of any length.

    Elements are read as NumPy's StringDType if they are text, with None for a null, and as objects of type
    ``bytes`` if they are binary: NumPy's fixed-width S would drop NULs at their end.

    A write never reaches the memory that the strings came from: it puts new string data in place of the
    old, which every view of the buffer sees from then on, and costs one pass over where all elements start
    and stop. Strings that are written one by one are gathered until others are read, or they are an eighth
    of all, so that a loop of writes is O(1) each. Threads may read while one writes.

    Parameters
    ----------
    strings
        The elements, which are shared.
    nullable
        Whether an element may be a null. If not given, elements may be if one is.

    Raises
    ------
    ConversionError
        If there is a null, and `nullable` is False.

    Examples
    --------
    >>> import numpy as np
    >>> from tensorwrapper.buffer import StringData, Strings
    >>> buffer = Strings(StringData.from_list(["a", "bc", "d"]))
    >>> buffer.write(np.array([2, 0]), np.array(["héllo", ""], dtype="T"))
    >>> buffer.stored.to_list(), buffer.dtype
    (['', 'bc', 'héllo'], StringDType())
    """

    _strings: CurrentStrings
    _dtype: "np.dtype[np.generic]"
    _nullable: bool
    _is_readonly: bool

    def __init__(self, strings: StringData, *, nullable: bool | None = None) -> None:
        _init(self, CurrentStrings(strings), nullable=_allows(strings, nullable), is_readonly=False)

    @property
    def dtype(self) -> "np.dtype[np.generic]":
        """NumPy's type of the elements: StringDType for text, objects for bytes."""
        return self._dtype

    @property
    def size(self) -> int:
        """Number of elements."""
        return len(self._strings.unmerged)

    @property
    def is_readonly(self) -> bool:
        """True if the elements are read-only."""
        return self._is_readonly

    @property
    def kind(self) -> StringKind:
        """Kind of the elements: text or bytes."""
        return self._strings.unmerged.kind

    @property
    def filename(self) -> str | None:
        """The file in which the bytes of the strings are, if they are in one."""
        return file_beneath(self.stored.data)

    @property
    def nullable(self) -> bool:
        """True if an element may be a null."""
        return self._nullable

    @property
    def stored(self) -> StringData:
        """All elements at one moment; no copy."""
        return self._strings.value

    def as_readonly(self) -> "Strings":
        """Return the same elements as a buffer that cannot be written to; writes to this one show in it."""
        return _make(self._strings, nullable=self._nullable, is_readonly=True)

    def read(self, addresses: IntArray) -> "npt.NDArray[np.generic]":
        strings = self._strings.value.take(addresses.reshape(-1))
        return self.array_of(strings).reshape(addresses.shape)

    def gather(self, places: Iterator[IntArray], size: int) -> "npt.NDArray[np.generic]":
        result: Array = np.empty(size, dtype=self._dtype)
        strings, start = self._strings.value, 0
        for batch in places:
            result[start : start + batch.size] = self.array_of(strings.take(batch.reshape(-1)))
            start += batch.size
        return result

    def array_of(self, strings: StringData) -> Array:
        """Return strings as a flat array of this dtype, made of Python's objects."""
        _allows(strings, self._nullable)  # NumPy would write the word None.
        items = _objects(strings)
        return items if self.kind == "binary" else np.array(items, dtype=self._dtype)

    def write(self, addresses: IntArray, values: Array) -> None:
        self.replace(addresses.reshape(-1), _strings_of(values, self.kind))

    def replace(self, addresses: IntArray, strings: StringData) -> None:
        """Write one string to each address, none of which comes twice; an error changes nothing.

        Raises
        ------
        ReadOnlyError
            If this buffer is read-only.
        ConversionError
            If the strings are of another kind, or a null comes where none may be.
        """
        if self._is_readonly:
            raise ReadOnlyError("this buffer is read-only; copy() gives one that can change")
        if strings.kind != self.kind:
            raise ConversionError(
                f"elements of kind {self.kind!r} do not become ones of kind {strings.kind!r}"
            )
        _allows(strings, self._nullable)
        if len(addresses):
            self._strings.replace(cast("Any", addresses), strings)

    def write_string(self, place: int, value: str | bytes) -> bool:
        if self._is_readonly or type(value) is not (str if self.kind == "utf8" else bytes):
            return False
        if isinstance(value, str) and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                return False
        self._strings.keep(place, value)
        return True

    def check_sums(
        self,
        addresses: IntArray,  # noqa: ARG002 - it refuses
        values: Array,  # noqa: ARG002
        *,
        casting: WriteCasting = "same_kind",  # noqa: ARG002
    ) -> None:
        raise DTypeError("strings are not added up: the elements are not numbers")

    # Elements of a layout: starts and stops are moved, the bytes stay in place.

    def strings_of(self, layout: LayoutCommon) -> StringData:
        """Return the elements in row-major order; the bytes are shared, in O(1) for contiguous elements."""
        size = layout.shape.size
        if size == 1 and not self._strings.is_merged:
            # A loop that reads and writes single elements should not merge all others in every step.
            return StringData.from_list([self._strings.item(layout.offset)], kind=self.kind)
        strings = self.stored
        if not size:
            return strings.slice(0, 0)
        if layout.is_contiguous:
            return strings.slice(layout.offset, layout.offset + size)
        return strings.take(all_addresses(address_batches(layout)))

    def objects_of(self, layout: LayoutCommon) -> Array:
        return _objects(self.strings_of(layout))

    def contains(self, layout: LayoutCommon, value: object) -> bool:
        strings = self.strings_of(layout)
        if value is None:
            return strings.null_count > 0
        if not isinstance(value, str if self.kind == "utf8" else bytes):
            return False
        # A lone surrogate becomes bytes that are not UTF-8, which no element has.
        wanted = value if isinstance(value, bytes) else value.encode(errors="surrogatepass")
        # Compare only elements of the same length.
        places = np.flatnonzero((strings.lengths() == len(wanted)) & strings.is_valid())
        if not wanted or not len(places):
            return len(places) > 0
        table = strings.take(places).pack().data.reshape(len(places), len(wanted))
        return bool((table == np.frombuffer(wanted, dtype=np.uint8)).all(axis=1).any())

    def obstacle(self, layout: LayoutCommon) -> str:  # noqa: ARG002 - of any shape
        return (
            "no array is over the bytes of strings: np.asarray(t), with a dtype or not, copies them, and "
            "to_string_data() has them without a copy"
        )

    def to_array(
        self,
        layout: LayoutCommon,
        dtype: "np.dtype[Any] | None" = None,
        copy: bool | None = None,  # noqa: FBT001
    ) -> Array:
        if not layout.shape.is_box:
            raise ConversionError(super().obstacle(layout))
        if copy is False:
            raise ConversionError("strings become an array only by a copy; copy=False cannot be kept")
        strings = self.strings_of(layout)
        if dtype is None and self.kind == "binary" and strings.null_count:
            # NumPy asks in this way too when it wants S or U, and would then write "None".
            raise ConversionError(
                f"{strings.null_count} elements are nulls: fill_null(value) replaces them, "
                "and dtype=object has None"
            )
        wanted = self.dtype if dtype is None else dtype
        flat = self.array_of(strings) if wanted == self.dtype else _as_dtype(strings, wanted)
        return flat.reshape(layout.shape.extents)

    def like(self, flat: Array) -> "Strings":
        return Strings(_strings_of(flat, self.kind), nullable=self.nullable)

    def collect(self, places: Iterator[IntArray], size: int) -> "Strings":  # noqa: ARG002
        return Strings(self.stored.take(all_addresses(places)), nullable=self.nullable)

    def pack(self, layout: LayoutCommon, *, own: bool = True) -> "Strings":
        # The bytes never change, and may be shared.
        strings = self.strings_of(layout)
        if own:
            strings = strings.pack()
            if strings.data.base is not None and len(strings.data) < len(self.stored.data):
                # A part would keep all of the memory alive.
                data = copy_elements(strings.data)
                data.flags.writeable = False
                strings = attrs.evolve(strings, data=data)
        return Strings(strings, nullable=self.nullable)

    def place(
        self,
        layout: LayoutCommon,
        target: LayoutCommon,
        size: int,
        *,
        threads: SupportsIndex = 1,  # noqa: ARG002 - no bytes are copied
    ) -> "Strings":
        plan_copy(layout, target)  # for what it raises
        nowhere = np.zeros(size, dtype=np.int64)
        empty = StringData.from_ranges(nowhere, nowhere, b"", self.kind)
        placed = replace_strings(empty, all_addresses(address_batches(target)), self.strings_of(layout))
        return Strings(placed, nullable=self.nullable)

    def fit(self, value: object, *, casting: WriteCasting = "same_kind") -> Array:
        return self.array_of(value) if isinstance(value, StringData) else super().fit(value, casting=casting)

    def assign(self, layout: LayoutCommon, values: Array) -> None:
        self.replace(all_addresses(address_batches(layout)), _strings_of(values, self.kind))

    def assign_from(self, layout: LayoutCommon, source: BufferCommon[Any], theirs: LayoutCommon) -> bool:
        self.replace(all_addresses(address_batches(layout)), source.strings_of(theirs))
        return True

    def __repr__(self) -> str:
        nulls = ", nulls allowed" if self._nullable else ""
        return f"<Strings buffer: {self.size} elements of kind {self.kind!r}{nulls}>"

    def __reduce__(self) -> "tuple[Callable[..., Strings], tuple[object, ...]]":
        return _restore, (self._strings.value, self._nullable, self._is_readonly)


def _objects(strings: StringData) -> Array:
    """Return strings as a flat array of Python's objects."""
    items: Array = np.empty(len(strings), dtype=np.object_)
    items[:] = cast("Any", strings.to_list())
    return items


def _as_dtype(strings: StringData, dtype: "np.dtype[Any]") -> Array:
    """Return strings as an array of one of NumPy's dtypes for them."""
    if dtype.kind not in "SUTO":
        raise DTypeError(
            f"strings do not become elements of type {dtype}: allowed are S, U, StringDType, object"
        )
    if dtype.kind == "O":
        return _objects(strings)
    if dtype.kind == "T" and strings.null_count and not hasattr(dtype, "na_object"):
        raise ConversionError(f"{strings.null_count} elements are nulls, which {dtype} cannot store")
    array = strings_to_numpy(strings, cast("NumpyStrings", dtype.kind))
    if dtype.kind in "SU" and 0 < dtype.itemsize < array.dtype.itemsize:
        raise ConversionError(f"the longest element needs {array.dtype}; {dtype} would cut it")
    return array if dtype.kind in "SU" and not dtype.itemsize else copy_elements(array, dtype)


def _allows(strings: StringData, nullable: bool | None) -> bool:  # noqa: FBT001 - three answers, not two
    """Return whether nulls may be among elements; raise if there are some that may not."""
    if nullable is None:
        return strings.null_count > 0
    if not nullable and strings.null_count:
        k = int(np.argmin(strings.is_valid()))
        raise ConversionError(
            f"element {k} is a null, and nulls are not allowed here: fill_null(value) says what stands for "
            "them, and strings(..., nullable=True) makes a tensor that has room for some"
        )
    return nullable


def _init(buffer: Strings, store: CurrentStrings, *, nullable: bool, is_readonly: bool) -> None:
    dtype = string_dtype(store.unmerged.kind, nullable=nullable)
    values = {"_strings": store, "_dtype": dtype, "_nullable": nullable, "_is_readonly": is_readonly}
    for name, value in values.items():
        object.__setattr__(buffer, name, value)


def _make(store: CurrentStrings, *, nullable: bool, is_readonly: bool) -> Strings:
    buffer: Strings = object.__new__(Strings)
    _init(buffer, store, nullable=nullable, is_readonly=is_readonly)
    return buffer


def _restore(
    strings: StringData,
    nullable: bool,  # noqa: FBT001 - pickle passes what it restores by position
    is_readonly: bool,  # noqa: FBT001
) -> Strings:
    return _make(CurrentStrings(strings), nullable=nullable, is_readonly=is_readonly)


def _strings_of(values: Array, kind: StringKind) -> StringData:
    if values.dtype.kind == "T":
        return strings_from_numpy(values)
    return StringData.from_list(values.reshape(-1).tolist(), kind=kind)


def strings_of_array(flat: Array) -> Strings:
    """Return the buffer of the strings in a flat array: text, or objects that are bytes."""
    if flat.dtype.kind == "T":
        return Strings(_strings_of(flat, "utf8"), nullable=hasattr(flat.dtype, "na_object"))
    return Strings(_strings_of(flat, "binary"))
