"""Targets that read what other libraries hand out in memory: Arrow's C interface, DLPack, PEP 3118.

Addresses are taken on trust, as these protocols have it: what is forged here always lies in memory that is
there. All that can be checked is hostile: formats, numbers, flags, and what stands in the memory.
"""

import contextlib
import ctypes
import warnings
from typing import Any

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Layout, buffer
from tensorwrapper.buffer.arrow._c import ArrowArray, ArrowSchema
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.layout.interchange._dlpack import _Tensor, _Versioned
from tests.fuzz.draw import Draw, random_inputs
from tests.fuzz.target import Target

ROOM = 1 << 16
"""Bytes of the memory that forged structures point into: more than any length that they say."""

_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@_RELEASE
def _released(_address: int) -> None:
    """Free nothing: Python owns what was forged."""


_RELEASED = ctypes.cast(_released, ctypes.c_void_p).value
FORMATS = [
    b"+l",
    b"+L",
    b"+w:2",
    b"+w:0",
    b"l",
    b"i",
    b"b",
    b"u",
    b"U",
    b"z",
    b"Z",
    b"vu",
    b"vz",
    b"g",
    b"tsn:",
]
FORMATS += [
    b"+s",
    b"+w:",
    b"+w:x",
    b"+w:-1",
    b"+w:99999999999999999999",
    b"",
    b"n",
    b"w:3",
    b"tsn:UTC",
    b"\xff",
]
FORMATS += [b"+w:1_0", b"+vl", b"+r", b"c", b"e"]


class ForgedArrow:
    """An Arrow array made of drawn numbers; it keeps all that its structures point to."""

    def __init__(self, d: Draw) -> None:
        self._kept: list[Any] = []
        # As deep as a chain of children goes.
        schema, array = None, None
        for _ in range(1 + d.byte() % 4):
            schema, array = self._level(d, schema, array)
        self.schema, self.array = schema, array

    def _level(self, d: Draw, schema: Any, array: Any) -> tuple[Any, Any]:
        children = 1 if array is not None and d.byte() < 240 else 0
        form = d.choice(FORMATS)
        table = [ctypes.pointer(child) if child is not None else None for child in (schema, array)]
        arrays = (ctypes.c_void_p * 1)(ctypes.cast(table[1], ctypes.c_void_p).value if table[1] else 0)
        schemas = (ctypes.c_void_p * 1)(ctypes.cast(table[0], ctypes.c_void_p).value if table[0] else 0)
        count, first = (d.byte() % 12, d.byte() % 4) if d.byte() < 230 else (-1, d.byte() % 4 - 2)
        memories = [self._memory(d, k, form) for k in range(4)]
        pointers = (ctypes.c_void_p * 4)(*[ctypes.addressof(memory) for memory in memories])
        if d.byte() > 240:
            pointers[d.byte() % 3] = None
        made = ArrowSchema(format=form, n_children=children, release=_RELEASED)
        made.children = ctypes.addressof(schemas) if children else None
        if d.byte() > 250:
            made.dictionary = ctypes.addressof(made)
        views = form in (b"vu", b"vz")
        buffers = d.choice((3, 3, 4)) if views else d.choice((3, 3, 3, 2, 1, 0))
        numbers = ArrowArray(
            length=count, null_count=d.choice((0, 0, -1, 1)), offset=first, n_buffers=buffers
        )
        numbers.buffers = ctypes.cast(pointers, ctypes.POINTER(ctypes.c_void_p))
        numbers.n_children, numbers.release = children, _RELEASED
        numbers.children = ctypes.addressof(arrays) if children else None
        self._kept += [*memories, pointers, table, arrays, schemas, made, numbers]
        return made, numbers

    def _memory(self, d: Draw, number: int, form: bytes) -> Any:
        memory = ctypes.create_string_buffer(ROOM)
        if number == 1 and form in (b"+l", b"u", b"z", b"+L", b"U", b"Z"):
            # Offsets say how long the data is: they are wrong in order only.
            wide = ctypes.c_int32 if form in (b"+l", b"u", b"z") else ctypes.c_int64
            places = [max(min(place, 1000), -1000) for place in d.ascending(12)]
            array = (wide * len(places))(*places)
            ctypes.memmove(memory, array, ctypes.sizeof(array))
        elif form in (b"vu", b"vz") and number in (2, 3):
            # The last buffer has the lengths of those before it.
            sizes = (ctypes.c_int64 * 2)(100, 100)
            ctypes.memmove(memory, sizes, ctypes.sizeof(sizes))
        else:
            piece = d.raw(d.byte() % 64)
            ctypes.memmove(memory, piece, len(piece))
        return memory

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        pairs = ((self.schema, b"arrow_schema"), (self.array, b"arrow_array"))
        return tuple(_new_capsule(ctypes.addressof(item), name, None) for item, name in pairs)  # type: ignore[return-value]


def _read_arrow(data: bytes) -> list[Any]:
    d = Draw(data)
    kind = d.byte() % 3
    forged = ForgedArrow(d)
    if kind == 1:
        return [buffer.strings_from_arrow(forged), forged]
    return [tw.as_tensor(forged, null_rows="empty" if kind else "refuse"), forged]


def _use_arrow(read: list[Any]) -> None:
    value, _ = read
    repr(value)
    if isinstance(value, tw.Tensor):
        assert value.drop_null().size + value.null_count == value.size
        assert len(value.is_valid().elements()) == value.size
        value.tolist()
    else:
        value.to_list()


class ForgedDlpack:
    """A DLPack tensor made of drawn numbers."""

    def __init__(self, d: Draw) -> None:
        name = d.choice((b"dltensor", b"dltensor_versioned"))
        extents, strides = d.integers(), d.integers()
        rank = len(extents) if d.byte() < 230 else d.integer() % 2**31
        wrapped = [
            [number % 2**63 if number > 2**63 else number for number in row] for row in (extents, strides)
        ]
        self._arrays = [(ctypes.c_int64 * 70)(*row) for row in wrapped]
        pointers = [ctypes.cast(row, ctypes.POINTER(ctypes.c_int64)) for row in self._arrays]
        self._memory = ctypes.create_string_buffer(ROOM)
        fields = {
            "data": ctypes.addressof(self._memory),
            "device_type": d.choice((1, 1, 1, 2, 4)),
            "ndim": rank,
        }
        fields |= {
            "code": d.choice((0, 1, 2, 5, 6, 4, 17)),
            "bits": d.choice((64, 32, 8, 16, 1, 128, 0, 255)),
        }
        fields |= {"lanes": d.choice((1, 1, 1, 2, 0)), "byte_offset": d.choice((0, 0, 8, 2**63, 2**64 - 1))}
        tensor = _Tensor(**fields)
        if d.byte() < 240:
            tensor.shape = pointers[0]
        if d.byte() < 200:
            tensor.strides = pointers[1]
        major = d.choice((1, 1, 1, 2, 0))
        versioned = _Versioned(major=major, flags=d.byte() % 4, tensor=tensor)
        self._managed = tensor if name == b"dltensor" else versioned
        self.capsule = _new_capsule(ctypes.addressof(self._managed), name, None)

    def __dlpack__(self, **_options: object) -> object:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def _read_dlpack(data: bytes) -> list[Any]:
    forged = ForgedDlpack(Draw(data))
    return [Layout.from_dlpack(forged), forged]


def _use_memory(read: list[Any]) -> None:
    found = read[0]
    repr(found)
    assert found.nbytes >= 0
    low, high = found.layout.bounds()
    assert low == 0
    assert not found.layout.shape.size or (high + 1) * found.dtype.itemsize == found.nbytes


class _Interface:
    def __init__(self, fields: Any) -> None:
        self.__array_interface__ = fields


TYPES = [
    "<i4",
    "|u1",
    "<f8",
    "|V3",
    "<c16",
    "|O",
    "",
    "<i3",
    "(2,)<i4",
    "<M8[s]",
    "i4,i4",
    3,
    None,
    "|S0",
    ">U2",
]


def _read_interface(data: bytes) -> list[Any]:
    d = Draw(data)
    fields: dict[str, Any] = {
        "shape": d.choice((tuple, list))(d.integers()) if d.byte() < 240 else d.some(),
        "typestr": d.choice(TYPES),
        "version": d.choice((3, 3, 3, 2, None)),
        "data": d.choice((bytes(64), (4096, True), None, bytearray(8), (d.integer(), 0), "x", (1,))),
    }
    if d.byte() % 2:
        fields["strides"] = tuple(d.integers()) if d.byte() < 240 else d.some()
    if d.byte() % 4 == 0:
        fields["offset"] = d.integer() if d.byte() < 240 else d.some()
    if d.byte() > 250:
        fields["mask"] = d.some()
    within = (d.integer(), d.integer()) if d.byte() % 4 == 0 else None
    given = fields if d.byte() % 2 else _Interface(fields)
    return [Layout.from_array_interface(given, within=within)]


LETTERS = [
    b"i",
    b"<i",
    b">q",
    b"2h",
    b"Zd",
    b"?",
    b"c",
    b"s",
    b"5s",
    b"w",
    b"3w",
    b"P",
    b"O",
    b"x",
    b"T{i:a:}",
    b"",
]
LETTERS += [
    b"&i",
    b"@l",
    b"=l",
    b"!d",
    b"e",
    b"999999999s",
    b"0s",
    b"n",
    b"g",
    b"(2)i",
    b"i i",
    b"Zx",
    b"\xff",
]


def _read_memoryview(data: bytes) -> list[Any]:
    """Read what `ctypes` and NumPy hand out, and casts of it."""
    d = Draw(data)
    kinds = [ctypes.c_int8, ctypes.c_int64, ctypes.c_double, ctypes.c_bool, ctypes.c_char, ctypes.c_wchar]
    how = d.byte() % 4
    if how == 0:
        kind: Any = d.choice(kinds)
        for _ in range(d.byte() % 5):
            kind = kind * (d.byte() % 4)
        view = memoryview(kind())
    elif how == 1:

        class Pair(ctypes.Structure):
            _fields_ = [("a", d.choice(kinds)), ("b", d.choice(kinds))]

        view = memoryview((Pair * (d.byte() % 4))())
    elif how == 2:
        text = d.choice(LETTERS).decode("latin-1")
        try:
            view = memoryview(bytes(d.byte() % 65)).cast(text)
        except (ValueError, TypeError):
            view = memoryview(b"")
    else:
        try:
            array = np.zeros([d.byte() % 4 for _ in range(d.byte() % 4)], d.choice(TYPES) or "i4")
            for mode in range(array.ndim):
                step = d.choice((1, -1, 2))
                array = array[(slice(None),) * mode + (slice(None, None, step),)]
            view = memoryview(array)
        except (TypeError, ValueError):
            view = memoryview(b"")
    with contextlib.suppress(TensorWrapperError), warnings.catch_warnings():
        # NumPy's, of what ctypes says.
        warnings.simplefilter("ignore", RuntimeWarning)
        repr(tw.as_tensor(view))
        repr(tw.from_buffer(view, d.integers()))
    return [Layout.from_memoryview(view), view]


TARGETS = [
    Target(
        "arrow-c",
        _read_arrow,
        random_inputs,
        ("as_tensor", "buffer.strings_from_arrow", "from_buffer", "strings"),
        _use_arrow,
    ),
    Target("dlpack", _read_dlpack, random_inputs, ("Layout.from_dlpack",), _use_memory),
    Target("array-interface", _read_interface, random_inputs, ("Layout.from_array_interface",), _use_memory),
    Target("memoryview", _read_memoryview, random_inputs, ("Layout.from_memoryview",), _use_memory),
]
