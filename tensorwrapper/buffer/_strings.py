"""Buffers of strings: string data that a write replaces as a whole."""

import threading
from collections.abc import Callable, Iterator
from typing import Any, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._value_class import value_class
from tensorwrapper.buffer._common import BufferCommon
from tensorwrapper.buffer._dense import Dense
from tensorwrapper.buffer.strings._checks import string_dtype
from tensorwrapper.buffer.strings._data import StringData
from tensorwrapper.buffer.strings._merge import replace_strings
from tensorwrapper.buffer.strings._numpy import strings_from_numpy
from tensorwrapper.errors import ConversionError, DTypeError, ReadOnlyError
from tensorwrapper.typing import Array, IntArray, StringKind

__all__ = ["Strings", "buffer_of"]


@final
class _Store:
    """The strings at hand: a value that never changes, replaced as a whole by every write.

    A reader takes the value and works on it, whatever is written meanwhile. Writers wait for one another.
    """

    __slots__ = ("lock", "value")

    def __init__(self, value: StringData) -> None:
        self.value: StringData = value
        self.lock = threading.Lock()


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Strings(BufferCommon[np.generic]):
    """A run of strings, or of byte strings, each of any length.

    Elements are read as NumPy's StringDType if they are text, with None for a null, and as objects of type
    ``bytes`` if they are binary: NumPy's fixed-width S would drop NULs at their end.

    A write never reaches the memory that the strings came from: it puts new string data in place of the
    old, which every view of the buffer sees from then on, and costs one pass over where all elements start
    and stop. Threads may read while one writes.

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

    _store: _Store
    _dtype: "np.dtype[np.generic]"
    _nullable: bool
    _writeable: bool

    def __init__(self, strings: StringData, *, nullable: bool | None = None) -> None:
        _init(self, _Store(strings), nullable=_allows(strings, nullable), writeable=True)

    @property
    def dtype(self) -> "np.dtype[np.generic]":
        """How NumPy has the elements: StringDType for text, objects for bytes."""
        return self._dtype

    @property
    def size(self) -> int:
        """How many elements there are."""
        return len(self._store.value)

    @property
    def writeable(self) -> bool:
        """Whether the elements can be written to."""
        return self._writeable

    @property
    def kind(self) -> StringKind:
        """Whether the elements are text or bytes."""
        return self._store.value.kind

    @property
    def nullable(self) -> bool:
        """Whether an element may be a null."""
        return self._nullable

    @property
    def stored(self) -> StringData:
        """All elements, as of one moment; no copy."""
        return self._store.value

    def read_only(self) -> "Strings":
        """Return the same elements as a buffer that cannot be written to; writes to this one show in it."""
        return _make(self._store, nullable=self._nullable, writeable=False)

    def read(self, addresses: IntArray) -> "npt.NDArray[np.generic]":
        strings = self._store.value.take(addresses.reshape(-1))
        return self.array_of(strings).reshape(addresses.shape)

    def gather(self, places: Iterator[IntArray], size: int) -> "npt.NDArray[np.generic]":
        result: Array = np.empty(size, dtype=self._dtype)
        strings, start = self._store.value, 0
        for batch in places:
            result[start : start + batch.size] = self.array_of(strings.take(batch.reshape(-1)))
            start += batch.size
        return result

    def array_of(self, strings: StringData) -> Array:
        """Return strings as a flat array of this dtype, made of Python's objects."""
        _allows(strings, self._nullable)  # NumPy would write the word None.
        items: Array = np.empty(len(strings), dtype=np.object_)
        items[:] = cast("Any", strings.to_list())
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
        if not self._writeable:
            raise ReadOnlyError("this buffer is read-only; copy() gives one that can change")
        if strings.kind != self.kind:
            raise ConversionError(
                f"elements of kind {self.kind!r} do not become ones of kind {strings.kind!r}"
            )
        _allows(strings, self._nullable)
        if len(addresses):
            with self._store.lock:
                self._store.value = replace_strings(self._store.value, addresses, strings)

    def accumulate(self, addresses: IntArray, values: Array) -> None:  # noqa: ARG002 - it refuses
        raise DTypeError("strings are not added up: the elements are no numbers")

    def __repr__(self) -> str:
        nulls = ", nulls allowed" if self._nullable else ""
        return f"<Strings buffer: {self.size} elements of kind {self.kind!r}{nulls}>"

    def __reduce__(self) -> "tuple[Callable[..., Strings], tuple[object, ...]]":
        return _restore, (self._store.value, self._nullable, self._writeable)


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


def _init(buffer: Strings, store: _Store, *, nullable: bool, writeable: bool) -> None:
    dtype = string_dtype(store.value.kind, nullable=nullable)
    values = {"_store": store, "_dtype": dtype, "_nullable": nullable, "_writeable": writeable}
    for name, value in values.items():
        object.__setattr__(buffer, name, value)


def _make(store: _Store, *, nullable: bool, writeable: bool) -> Strings:
    buffer: Strings = object.__new__(Strings)
    _init(buffer, store, nullable=nullable, writeable=writeable)
    return buffer


def _restore(
    strings: StringData,
    nullable: bool,  # noqa: FBT001 - pickle passes what it restores by position
    writeable: bool,  # noqa: FBT001
) -> Strings:
    return _make(_Store(strings), nullable=nullable, writeable=writeable)


def _strings_of(values: Array, kind: StringKind) -> StringData:
    if values.dtype.kind == "T":
        return strings_from_numpy(values)
    return StringData.from_list(values.reshape(-1).tolist(), kind=kind)


def buffer_of(flat: Array) -> BufferCommon[Any]:
    """Return the buffer of a flat array that nobody else has: memory as it is, or the strings in it."""
    if flat.dtype.kind == "T":
        return Strings(_strings_of(flat, "utf8"), nullable=hasattr(flat.dtype, "na_object"))
    if flat.dtype.kind == "O":
        return Strings(_strings_of(flat, "binary"))
    return Dense(cast("Any", flat))
