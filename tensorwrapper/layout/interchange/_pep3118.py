"""The buffer protocol (PEP 3118): its fields from a layout, and the layout behind a memoryview."""

import re
import sys
from typing import Any, cast, final

import attrs
import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, DTypeError
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._strided import Strided
from tensorwrapper.layout.interchange._memory import MemoryLayout, byte_form, read_bytes, to_dtype
from tensorwrapper.shape import LossReport
from tensorwrapper.typing import BufferLike, Extents, Index

# The struct module's letters, where NumPy has others or where their size depends on the byte order given.
_NATIVE = {"?": "?", "c": "S1", "n": "p", "N": "P", "w": "U1", "Zf": "F", "Zd": "D", "Zg": "G", "s": "S1"}
_STANDARD = {"l": "i4", "L": "u4", "q": "i8", "Q": "u8", "i": "i4", "I": "u4", "h": "i2", "H": "u2"}
_FORMAT = re.compile(r"([@=<>!^]?)(\d{0,9})([a-zA-Z?]|Z[fdg])", re.ASCII)


@final
@frozen
class BufferInfo:
    """The fields of a ``Py_buffer`` that a layout determines.

    Attributes
    ----------
    format
        The element type, in the codes of the struct module.
    itemsize
        The bytes of an element.
    shape
        The extents.
    strides
        In bytes.
    offset
        From the start of the memory to the element at the origin (``buf``), in bytes.
    lost
        Properties that these fields lack.
    """

    format: str
    itemsize: int
    shape: Extents
    strides: Index
    offset: int
    lost: LossReport


def buffer_info_of(layout: LayoutCommon, dtype: "np.dtype[Any]", nbytes: int | None) -> BufferInfo:
    """Return a layout as the fields of a buffer."""
    try:
        text = memoryview(cast("BufferLike", np.empty(0, dtype))).format
    except (ValueError, TypeError) as error:
        raise DTypeError(f"the buffer protocol has no word for elements of type {dtype}") from error
    form = byte_form("buffer", layout, dtype, nbytes)
    return BufferInfo(text, dtype.itemsize, layout.shape.extents, form.strides, form.offset, form.lost)


def read_memoryview(view: object) -> MemoryLayout[Strided]:
    """Return the layout of a memoryview, without reading its elements."""
    if not isinstance(view, memoryview):
        raise ConversionError(f"a memoryview is needed, not {type(view).__name__}; memoryview(x) makes one")
    try:
        extents, strides, suboffsets = view.shape, view.strides, view.suboffsets
    except ValueError as error:
        raise ConversionError("the memoryview has been released") from error
    if any(offset >= 0 for offset in suboffsets or ()):
        raise ConversionError(
            f"a buffer with suboffsets {suboffsets} follows pointers, and no layout says where to"
        )
    memory = read_bytes(extents, strides, _dtype_of(view.format, view.itemsize), 1, "a memoryview")
    return attrs.evolve(memory, is_readonly=view.readonly)


def _dtype_of(text: str, itemsize: int) -> "np.dtype[Any]":
    match = _FORMAT.fullmatch(text)
    if match is None:
        raise DTypeError(f"the buffer format {text!r} is not a single number")
    order, count, letter = match.groups()
    name = _NATIVE.get(letter, letter)
    if order not in ("", "@", "^"):
        name = _STANDARD.get(letter, name)
    if letter in "sw":
        name = name[0] + (count or "1")
    elif count not in ("", "1"):
        raise DTypeError(f"the buffer format {text!r} is several numbers at once")
    dtype = to_dtype(name)
    if order in (">", "!") or (order == "<" and sys.byteorder == "big"):
        dtype = dtype.newbyteorder(">" if order in (">", "!") else "<")
    if dtype.itemsize != itemsize:
        raise DTypeError(f"elements of format {text!r} have {dtype.itemsize} bytes, not {itemsize}")
    return dtype
