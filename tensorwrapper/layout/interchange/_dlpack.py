"""DLPack: the fields of a ``DLTensor`` from a layout, and the layout behind a capsule.

A capsule is read and not consumed: its name stays, so that its owner still frees it, and its elements are not
read. The layouts of the structures are those of DLPack 1.x (``dltensor_versioned``) and of 0.x
(``dltensor``), whose tensor is the same.
"""

import ctypes
from typing import Any, ClassVar, Final, Protocol, cast, final, runtime_checkable

import attrs
import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, DTypeError, RankError
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._strided import Strided
from tensorwrapper.layout.interchange._memory import MAX_RANK, MemoryLayout, at_address, byte_form, read_bytes
from tensorwrapper.shape import LossReport
from tensorwrapper.typing import Extents, Index

_CODES: Final = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_KINDS: Final = {code: kind for kind, code in _CODES.items()}
_HANDLES: Final = frozenset((4, 7, 8))
"""Devices (OpenCL, Vulkan, Metal) whose data are not addresses."""

_READ_ONLY, _COPIED = 1, 2
_MAJOR = 1
_NEWEST = (1, 0)
_NAMES: Final = (b"dltensor_versioned", b"dltensor")


@runtime_checkable
class SupportsDLPack(Protocol):
    """A producer of DLPack capsules, with or without the keywords of version 1."""

    def __dlpack__(self) -> object: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


@final
@frozen
class DLTensor:
    """The fields of a ``DLTensor`` that a layout determines.

    Attributes
    ----------
    shape
        The extents.
    strides
        In elements.
    byte_offset
        From the start of the memory to the element at the origin, in bytes.
    code
        0 signed, 1 unsigned, 2 floating, 5 complex, 6 bool.
    bits
        Of one element.
    lanes
        Numbers per element; always 1.
    lost
        Properties that these fields lack.
    """

    shape: Extents
    strides: Index
    byte_offset: int
    code: int
    bits: int
    lanes: int
    lost: LossReport


def dltensor_of(layout: LayoutCommon, dtype: "np.dtype[Any]", nbytes: int | None) -> DLTensor:
    """Return a layout as the fields of a DLTensor."""
    if dtype.kind not in _CODES or not dtype.isnative:
        raise DTypeError(
            f"DLPack has no word for elements of type {dtype}: allowed are bools, integers, floats and "
            "complex numbers in the byte order of the machine"
        )
    form = byte_form("dlpack", layout, dtype, nbytes)
    code, bits = _CODES[dtype.kind], dtype.itemsize * 8
    return DLTensor(layout.shape.extents, form.steps, form.offset, code, bits, 1, form.lost)


class _Export(Protocol):
    def __call__(self, *, max_version: tuple[int, int] = ...) -> object: ...


class _Tensor(ctypes.Structure):
    _fields_: ClassVar = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Versioned(ctypes.Structure):
    _fields_: ClassVar = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def read_dlpack(source: object) -> MemoryLayout[Strided]:
    """Return the layout of a capsule, which is not consumed, or of its producer."""
    capsule = _capsule_of(source) if isinstance(source, SupportsDLPack) else source
    for name in _NAMES:
        if _is_valid(capsule, name):
            break
    else:
        raise ConversionError(
            f"{type(source).__name__} has no __dlpack__ and is not a capsule that is still to be consumed"
        )
    # The structures belong to the capsule, which lives to the end of this function.
    address = cast("int", _pointer_of(capsule, name))
    if name == b"dltensor":
        return _read(_Tensor.from_address(address), 0)
    managed = _Versioned.from_address(address)
    if managed.major != _MAJOR:
        raise ConversionError(f"DLPack {managed.major}.{managed.minor} is not known, only {_MAJOR}.x")
    return _read(managed.tensor, managed.flags)


def _capsule_of(source: SupportsDLPack) -> object:
    export = cast("_Export", source.__dlpack__)
    try:
        try:
            return export(max_version=_NEWEST)
        except TypeError:
            # A producer from before version 1 knows no such keyword.
            return export()
    except BufferError as error:
        raise ConversionError(f"{type(source).__name__} cannot be exported: {error}") from error


def _read(tensor: _Tensor, flags: int) -> MemoryLayout[Strided]:
    rank = tensor.ndim
    if not 0 <= rank <= MAX_RANK:
        raise RankError(f"a DLPack tensor has at most {MAX_RANK} modes, not {rank}")
    if rank and not tensor.shape:
        raise ConversionError(f"a DLPack tensor of {rank} modes has no shape")
    dtype = _dtype_of(tensor.code, tensor.bits, tensor.lanes)
    # No strides are those of row-major order without gaps, in producers from before version 1.2.
    strides = tensor.strides[:rank] if tensor.strides or not rank else None
    memory = read_bytes(
        tensor.shape[:rank] if rank else [], strides, dtype, dtype.itemsize, "a DLPack tensor"
    )
    device = tensor.device_type, tensor.device_id
    offset = memory.byte_offset + tensor.byte_offset
    memory = attrs.evolve(
        memory,
        byte_offset=offset,
        device=device,
        is_readonly=bool(flags & _READ_ONLY),
        is_copied=bool(flags & _COPIED),
    )
    if device[0] in _HANDLES:
        return memory
    if memory.nbytes and not tensor.data:
        raise ConversionError(f"a DLPack tensor of {memory.nbytes} bytes has no memory")
    return at_address(memory, tensor.data or 0)


def _dtype_of(code: int, bits: int, lanes: int) -> "np.dtype[Any]":
    if lanes != 1:
        raise DTypeError(f"DLPack elements of {lanes} lanes are vectors; a layout counts in single numbers")
    if bits % 8 or not bits:
        raise DTypeError(
            f"DLPack elements of {bits} bits do not fill bytes; a layout counts in whole elements"
        )
    kind = _KINDS.get(code)
    try:
        if kind is not None:
            return np.dtype(f"{kind}{bits // 8}")
    except TypeError:
        pass
    raise DTypeError(f"DLPack's type code {code} with {bits} bits is nothing that NumPy knows")
