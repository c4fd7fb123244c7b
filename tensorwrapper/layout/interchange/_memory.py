"""Layouts over bytes: the common part of array protocols, and the check that all offsets are inside."""

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import to_dtype as named_dtype
from tensorwrapper._error_text import brief
from tensorwrapper._integers import to_count, to_counts, to_int, to_ints
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import (
    BufferSizeError,
    ConversionError,
    DTypeError,
    LayoutError,
    RankError,
    SizeOverflowError,
)
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._strided import Strided, packed_strides
from tensorwrapper.layout.interchange._losses import ExchangeFormat, check_possible, loss_report
from tensorwrapper.shape import LossReport, Shape
from tensorwrapper.shape.lowlevel import make_smooth, wrap
from tensorwrapper.typing import Extents, Index

MAX_RANK = 64
"""As many modes as the buffer protocol and NumPy allow."""

_ADDRESSES = 2**64

LayoutT = TypeVar("LayoutT")
LayoutT_co = TypeVar("LayoutT_co", covariant=True)


@final
@frozen
class MemoryLayout(Generic[LayoutT_co]):
    """A layout over memory described by an array protocol. The memory was not read.

    Attributes
    ----------
    layout
        The offset of each element, in elements; the lowest one is 0.
    dtype
        The type of the elements.
    byte_offset
        The distance from the start of the given memory, a buffer or an address, to the lowest element. It is
        negative if a mode descends from an address.
    nbytes
        Number of bytes from the lowest element to the end of the highest.
    address
        The address of the lowest element; None if the memory was given as an object.
    is_readonly
        True if the owner forbids writing.
    is_copied
        True if the owner made a copy for the export, which is freed with it.
    device
        DLPack's device type and number; (1, 0) is the memory of the processor.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> memory = Layout.from_memoryview(memoryview(bytes(6))[::-2])
    >>> memory.layout.strides, memory.layout.offset, memory.byte_offset, memory.nbytes
    ((-2,), 4, -4, 5)
    """

    layout: LayoutT_co
    dtype: "np.dtype[Any]"
    byte_offset: int
    nbytes: int
    address: int | None = None
    is_readonly: bool = False
    is_copied: bool = False
    device: tuple[int, int] = (1, 0)


@final
@frozen
class ByteForm:
    """A strided layout in bytes, as the protocols want it."""

    strides: Index
    offset: int
    steps: Index
    """The strides in elements."""
    lost: LossReport


def box(extents: Sequence[int], origin: Sequence[int] | None = None) -> Shape[Any]:
    """Return a smooth shape of integers that have been checked."""
    return wrap(make_smooth(tuple(extents), (0,) * len(extents) if origin is None else tuple(origin)))


def with_layout(memory: MemoryLayout[Strided], layout: LayoutT) -> MemoryLayout[LayoutT]:
    """Return the same facts with the facade in place of the layout."""
    return MemoryLayout(
        layout,
        memory.dtype,
        memory.byte_offset,
        memory.nbytes,
        memory.address,
        memory.is_readonly,
        memory.is_copied,
        memory.device,
    )


def at_address(
    memory: MemoryLayout[Strided], address: int, within: tuple[int, int] | None = None
) -> MemoryLayout[Strided]:
    """Return a layout with its origin at an address, if all bytes are inside.

    `within` is the address and the number of the allowed bytes; None allows all of 64 bits.
    """
    first = address + memory.byte_offset
    if not 0 <= first <= first + memory.nbytes <= _ADDRESSES:
        raise SizeOverflowError(f"elements from address {first} to {first + memory.nbytes} leave 64 bits")
    if memory.nbytes and not address:
        raise BufferSizeError(f"a layout of {memory.nbytes} bytes cannot lie at address 0")
    if within is not None:
        check_inside(first - within[0], memory.nbytes, within[1])
    return attrs.evolve(memory, address=first)


def at_offset(memory: MemoryLayout[Strided], offset: int, allowed: int) -> MemoryLayout[Strided]:
    """Return a layout with its origin `offset` bytes into a buffer, if no byte lies outside."""
    # An empty layout has no element that could lie anywhere.
    first = offset + memory.byte_offset if memory.nbytes else 0
    check_inside(first, memory.nbytes, allowed)
    return attrs.evolve(memory, byte_offset=first)


def check_inside(first: int, nbytes: int, allowed: int) -> None:
    """Raise unless bytes from `first` on lie within `allowed` bytes from 0 on. In Python integers."""
    if nbytes and not 0 <= first <= first + nbytes <= allowed:
        raise BufferSizeError(
            f"the layout needs the bytes {first} to {first + nbytes} of a memory of {allowed} bytes"
        )


def settled(extents: Extents, strides: Index) -> Index:
    """Return strides in which those that are never stepped along have one form.

    In row-major order without gaps they are what they would be there, else 1.
    """
    packed = packed_strides(extents, range(len(extents) - 1, -1, -1))
    if same_steps(extents, strides, packed):
        return packed
    return tuple([step if n > 1 else 1 for n, step in zip(extents, strides, strict=True)])


def strided_of(layout: LayoutCommon) -> Strided:
    """Return a strided layout without layers and without the nesting of its modes."""
    strided = layout.without_layers().as_strided()
    if strided is not None:
        return cast("Strided", strided)
    raise LayoutError(f"a strided layout is needed; this one is over {layout.shape}")


def byte_form(
    form: ExchangeFormat, layout: LayoutCommon, dtype: "np.dtype[Any]", nbytes: int | None
) -> ByteForm:
    """Return a layout in bytes.

    Raises
    ------
    LayoutError
        If the layout is not strided.
    BufferSizeError
        If it leaves a buffer of `nbytes` bytes.
    SizeOverflowError
        If a number leaves 64 bits.
    """
    check_possible(form, layout)
    strided = strided_of(layout)
    extents, size = strided.shape.extents, dtype.itemsize
    if len(extents) > MAX_RANK:
        raise RankError(f"{form} has at most {MAX_RANK} modes, not {len(extents)}")
    steps = settled(extents, strided.strides)
    # An empty layout gets no offset: it must not name a place outside the buffer.
    offset = strided.offset if 0 not in extents else 0
    least, greatest = strided.bounds()
    if nbytes is not None:
        check_inside(least * size, strided.span * size, nbytes)
    strides = tuple([step * size for step in steps])
    check_fits((*extents, *strides, least * size, (greatest + 1) * size), form)
    read = Strided(box(extents), steps, offset)
    return ByteForm(strides, offset * size, steps, loss_report(form, layout, read))


def check_fits(numbers: Iterable[int], form: str, bits: int = 64) -> None:
    """Raise unless all numbers fit into signed integers of so many bits."""
    most = (1 << (bits - 1)) - 1
    for number in numbers:
        if not -most <= number <= most:
            raise SizeOverflowError(f"{form} holds numbers of {bits} bits, and {number} is none")


def same_steps(extents: Extents, one: Index, other: Index) -> bool:
    """Tell whether strides agree wherever a mode is stepped along."""
    return 0 in extents or all(n == 1 or a == b for n, a, b in zip(extents, one, other, strict=True))


def read_bytes(
    extents: object, strides: object, dtype: "np.dtype[Any]", unit: int, what: str
) -> MemoryLayout[Strided]:
    """Return the layout of a protocol, from its lowest element on, with its position.

    Parameters
    ----------
    extents, strides
        Untrusted values of the protocol; strides None are contiguous in row-major order.
    dtype
        The type of the elements.
    unit
        The unit of strides in bytes: 1, or the size of an element.
    what
        The name of the protocol.
    """
    lengths = to_counts(to_fields(extents, f"the shape of {what}"), f"an extent of {what}")
    if len(lengths) > MAX_RANK:
        raise RankError(f"{what} has at most {MAX_RANK} modes, not {len(lengths)}")
    if strides is None:
        taken: Index = packed_strides(lengths, range(len(lengths) - 1, -1, -1))
    else:
        given = to_ints(to_fields(strides, f"the strides of {what}"), f"a stride of {what}")
        taken = _elements(lengths, given, dtype, unit, what)
    steps = settled(lengths, taken)
    low = Strided(box(lengths), steps, 0).bounds()[0]
    layout = Strided(box(lengths), steps, -low)
    check_fits((*lengths, layout.span * dtype.itemsize), what)
    return MemoryLayout(layout, dtype, low * dtype.itemsize, layout.span * dtype.itemsize)


def _elements(lengths: Extents, given: Index, dtype: "np.dtype[Any]", unit: int, what: str) -> Index:
    """Return strides in elements; those that are never stepped along may be anything, and become 1."""
    if len(given) != len(lengths):
        raise RankError(f"{what} has {len(given)} strides for {len(lengths)} modes")
    steps: list[int] = []
    for mode, (extent, stride) in enumerate(zip(lengths, given, strict=True)):
        if extent < 2 or 0 in lengths:
            steps.append(1)
            continue
        check_fits((stride, stride * unit * (extent - 1)), what)
        step, rest = divmod(stride * unit, dtype.itemsize)
        if rest:
            raise LayoutError(
                f"the stride of mode {mode} of {what} is {stride * unit} bytes, no multiple of the "
                f"{dtype.itemsize} bytes of an element: a layout counts in elements"
            )
        steps.append(step)
    return tuple(steps)


def to_fields(value: object, what: str) -> Sequence[Any]:
    """Return an untrusted list or tuple; lazy sequences are refused."""
    if isinstance(value, list | tuple):
        return cast("Sequence[Any]", value)
    raise ConversionError(f"{what} must be a tuple of integers, not {brief(value)}")


def to_dtype(dtype: npt.DTypeLike) -> "np.dtype[Any]":
    """Return the type of elements, which must have a size and must not be object."""
    found = named_dtype(dtype)
    if found.hasobject or not found.itemsize or found.subdtype is not None:
        raise DTypeError(f"elements of type {found} cannot be described to others as bytes")
    return found


def to_range(within: object) -> tuple[int, int] | None:
    """Return an address and a number of bytes."""
    if within is None:
        return None
    pair = to_fields(within, "a range of memory")
    if len(pair) != 2:
        raise ConversionError(f"a range of memory is an address and a number of bytes, not {within!r}")
    return to_int(pair[0], "an address"), to_count(pair[1], "a number of bytes")
