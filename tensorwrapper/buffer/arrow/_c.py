"""Consumer of Arrow's C data interface: the structures, and their ownership.

A producer returns two capsules, one with a schema and one with an array. The consumer of the array takes
over its ownership: it marks the producer's structure as released, and calls the release function of its
copy once, when the memory is no longer needed.

The layout of the structures is fixed by Arrow's specification, "The Arrow C data interface".
"""

import ctypes
import weakref
from typing import ClassVar, Final, Protocol, final

import numpy as np

from tensorwrapper.buffer.strings._bitmap import Bytes
from tensorwrapper.errors import ConversionError, StringDataError


class ArrowTypeLike(Protocol):
    """A type or a field of Arrow, of any library."""

    def __arrow_c_schema__(self) -> object:
        """Return a capsule with a schema."""
        ...


class ArrowSchema(ctypes.Structure):
    """Type of an array: a format string, a name, flags."""

    _fields_: ClassVar = [
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_void_p),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


class ArrowArray(ctypes.Structure):
    """Addresses of the buffers of an array."""

    _fields_: ClassVar = [
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", ctypes.POINTER(ctypes.c_void_p)),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


class ArrowStream(ctypes.Structure):
    """Arrays of one schema, one after the other."""

    _fields_: ClassVar = [
        ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


# A separate prototype: other code may change the types of the one in ctypes.pythonapi.
_pointer_of: Final = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_Release: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_MOST_METADATA: Final = 1 << 24  # pairs, or bytes of one: no schema has more


def pointer_in(capsule: object, name: bytes) -> int:
    """Return the address that a capsule of this name holds."""
    try:
        return int(_pointer_of(capsule, name) or 0)
    except ValueError as error:
        raise ConversionError(f"a capsule named {name.decode()!r} was expected, not {capsule!r}") from error


def first_pointer(table: int) -> int:
    """Return the first address of a table of them."""
    return int(ctypes.c_void_p.from_address(table).value or 0)


def metadata_of(schema: ArrowSchema) -> dict[bytes, bytes]:
    """Return the pairs of keys and values that a schema has beside its format.

    Raises
    ------
    ConversionError
        If the lengths of keys and values are none.
    """
    if not schema.metadata:
        return {}
    place = schema.metadata

    def number() -> int:
        nonlocal place
        found = int(ctypes.c_int32.from_address(place).value)
        place += 4
        if not 0 <= found <= _MOST_METADATA:
            raise ConversionError(f"metadata of an Arrow schema has no part of length {found}")
        return found

    def text() -> bytes:
        nonlocal place
        length = number()
        place += length
        return ctypes.string_at(place - length, length)

    return {text(): text() for _ in range(number())}


def arrow_metadata(kind: ArrowTypeLike) -> dict[bytes, bytes]:
    """Return the metadata of a type or a field of Arrow, such as those of an extension."""
    capsule = kind.__arrow_c_schema__()
    return metadata_of(ArrowSchema.from_address(pointer_in(capsule, b"arrow_schema")))


def release(structure: ctypes.Structure) -> None:
    """Call the release function of a structure, unless that was done before or the structure moved away."""
    function = structure.release
    if function:
        _Release(function)(ctypes.addressof(structure))
        structure.release = None


@final
class ForeignArray:
    """An Arrow array taken over from its producer: released when the last array over its memory is gone."""

    __slots__ = ("__weakref__", "owner", "structure")

    def __init__(self, address: int) -> None:
        self.owner: ForeignArray | None = None
        source = ArrowArray.from_address(address)
        self.structure: ArrowArray = ArrowArray.from_buffer_copy(source)
        if not source.release:
            raise ConversionError("the Arrow array was released, or another consumer has taken it over")
        source.release = None
        # Not __del__, which may run when the interpreter has cleared this module already.
        weakref.finalize(self, release, self.structure).atexit = False

    def memory(self, buffer: int, nbytes: int, first: int = 0) -> Bytes:
        """Return bytes of one of the buffers as a read-only array that keeps the whole Arrow array alive."""
        if not nbytes:
            return np.zeros(0, dtype=np.uint8)
        given = self.structure
        address = given.buffers[buffer] if given.buffers and buffer < given.n_buffers else None
        if not address:
            raise StringDataError(f"buffer {buffer} of the Arrow array, of {nbytes} bytes, is missing")
        return np.asarray(_Memory(self, address + first, nbytes))

    def child(self, number: int = 0, of: int = 1) -> "ForeignArray":
        """Return a child, of lists the only one, which has their elements; it keeps this array alive."""
        given = self.structure
        if given.n_children != of or not given.children:
            what = "lists has one child" if of == 1 else f"records has {of} children"
            raise StringDataError(f"an Arrow array of {what}, not {given.n_children}")
        child: ForeignArray = object.__new__(ForeignArray)
        child.owner = self
        pointers = (ctypes.c_void_p * of).from_address(given.children)
        address = pointers[number]
        if not address:
            raise StringDataError(f"child {number} of an Arrow array is missing")
        child.structure = ArrowArray.from_address(address)
        return child


@final
class _Memory:
    """Foreign memory for NumPy: an array over it keeps this object, and so the owner, alive."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: ForeignArray, address: int, nbytes: int) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": (nbytes,),
            "data": (address, True),
        }
