"""NumPy's ``__array_interface__``, version 3: its fields from a layout, and the layout behind its fields."""

import re
from collections.abc import Mapping
from typing import Any, SupportsIndex, cast, final

import attrs
import numpy as np

from tensorwrapper._integers import to_count, to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, DTypeError
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._strided import Strided
from tensorwrapper.layout.interchange._memory import (
    MemoryLayout,
    at_address,
    at_offset,
    byte_form,
    read_bytes,
    to_dtype,
    to_fields,
)
from tensorwrapper.shape import LossReport
from tensorwrapper.typing import BufferLike, Extents, Index

_VERSION = 3
_TYPESTR = re.compile(r"[<>|][biufcmMSUV]\d{1,9}(\[\d{0,9}[A-Za-z]{1,2}\])?", re.ASCII)
_WHAT = "an array interface"


@final
@frozen
class ArrayInterface:
    """The fields of ``__array_interface__`` that a layout determines.

    Attributes
    ----------
    shape
        The extents.
    typestr
        The element type, such as ``"<f8"``.
    strides
        In bytes; None if the elements are contiguous in row-major order.
    offset
        From the start of the memory to the element at the origin, in bytes.
    lost
        Properties that these fields lack.
    """

    shape: Extents
    typestr: str
    strides: Index | None
    offset: int
    lost: LossReport

    def to_dict(
        self, address: SupportsIndex, nbytes: SupportsIndex, *, is_readonly: bool = False
    ) -> dict[str, object]:
        """Return the whole interface over `nbytes` bytes of memory at `address`.

        Raises
        ------
        BufferSizeError
            If an element would lie outside.

        Examples
        --------
        >>> import numpy as np
        >>> from tensorwrapper import Layout, Shape
        >>> fields = Layout(Shape(2, 3)).reverse(1).to_array_interface("<i4")
        >>> fields.to_dict(4096, 24) == {
        ...     "shape": (2, 3), "typestr": "<i4", "strides": (12, -4), "data": (4104, False), "version": 3
        ... }
        True
        """
        start, size = to_int(address, "an address"), to_count(nbytes, "a number of bytes")
        # Reading back the written fields checks them like untrusted ones.
        fields = {"shape": self.shape, "typestr": self.typestr, "strides": self.strides, "version": _VERSION}
        data = start + self.offset, is_readonly
        read_array_interface({**fields, "data": data}, (start, size))
        return {**fields, "data": data}


def array_interface_of(layout: LayoutCommon, dtype: "np.dtype[Any]", nbytes: int | None) -> ArrayInterface:
    """Return a layout as the fields of an array interface."""
    if dtype.names is not None or not _TYPESTR.fullmatch(dtype.str):
        raise DTypeError(f"elements of type {dtype} have no typestr that says them")
    form = byte_form("array_interface", layout, dtype, nbytes)
    extents = layout.shape.extents
    packed = Strided(layout.shape, form.steps, 0).is_contiguous
    return ArrayInterface(extents, dtype.str, None if packed else form.strides, form.offset, form.lost)


def read_array_interface(source: object, within: tuple[int, int] | None) -> MemoryLayout[Strided]:
    """Return the layout of an object, or of a mapping of the fields, without reading memory."""
    fields: object = getattr(source, "__array_interface__", source)
    if not isinstance(fields, Mapping):
        raise ConversionError(f"{type(source).__name__} is not a mapping and has no __array_interface__")
    known = cast("Mapping[str, Any]", fields)
    version = to_int(known.get("version", _VERSION), f"the version of {_WHAT}")
    if version != _VERSION:
        raise ConversionError(f"only version {_VERSION} of the array interface is known, not {version}")
    if known.get("mask") is not None:
        raise ConversionError(f"{_WHAT} with a mask is more than a layout: pass its data and mask apart")
    dtype = _dtype_of(known.get("typestr"))
    memory = read_bytes(known.get("shape"), known.get("strides"), dtype, 1, _WHAT)
    data, offset = known.get("data"), to_int(known.get("offset", 0), f"the offset of {_WHAT}")
    if isinstance(data, tuple | list):
        if offset:
            raise ConversionError(f"{_WHAT} with an address has no offset, which belongs to a buffer")
        return _at_pointer(memory, cast("tuple[object, ...]", data), within)
    if within is not None:
        raise ConversionError("a range of memory goes with an address; a buffer has a range of its own")
    buffer = source if data is None and fields is not source else data
    return memory if buffer is None else _in_buffer(memory, buffer, offset)


def _dtype_of(typestr: object) -> "np.dtype[Any]":
    if not isinstance(typestr, str) or not _TYPESTR.fullmatch(typestr):
        raise DTypeError(
            f"a typestr is a byte order, one of b i u f c m M S U V and a number of bytes, not {typestr!r}"
        )
    return to_dtype(typestr)


def _at_pointer(
    memory: MemoryLayout[Strided], data: "tuple[object, ...]", within: tuple[int, int] | None
) -> MemoryLayout[Strided]:
    pair = to_fields(data, f"the data of {_WHAT}")
    if len(pair) != 2 or type(pair[1]) not in (bool, int, np.bool_):
        raise ConversionError(f"the data of {_WHAT} is an address and whether it is read-only, not {data!r}")
    found = at_address(memory, to_int(pair[0], f"the address of {_WHAT}"), within)
    return attrs.evolve(found, is_readonly=bool(pair[1]))


def _in_buffer(memory: MemoryLayout[Strided], buffer: object, offset: int) -> MemoryLayout[Strided]:
    try:
        view = memoryview(cast("BufferLike", buffer))
    except TypeError as error:
        raise ConversionError(f"the data of {_WHAT} is not a buffer but a {type(buffer).__name__}") from error
    if not view.c_contiguous:
        raise ConversionError(f"the data of {_WHAT} is a buffer in several pieces")
    return attrs.evolve(at_offset(memory, offset, view.nbytes), is_readonly=view.readonly)
