"""Messages of plain tensors: packed boxes without further keys. Most messages are such, and are fast.

The format is the same: this module does the work of `Writer` and `Reader` in fewer steps, and leaves
all other tensors, and all errors, to them.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tensorwrapper._arrays import are_truths, as_truths
from tensorwrapper.layout.lowlevel import row_major_layout
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_dense
from tensorwrapper.typing import Array, Index
from tensorwrapper.wire._limits import DEFAULT_LIMITS, Limits
from tensorwrapper.wire.codec._plain_label import REMEMBERED, Plain, plain_label
from tensorwrapper.wire.codec._plan import PlainPart, check_written, plain_parts
from tensorwrapper.wire.frames._buffers import check_several
from tensorwrapper.wire.frames._header import COORDINATES_BYTES, NOWHERE, pack_prefix
from tensorwrapper.wire.packings._table import known_packings
from tensorwrapper.wire.parts._dtypes import known_dtype

_TENS = b"ZIO0TENS"

_SURE = 2**18
"""Characters of a label that has fewer values and tensors than any reader takes."""

_SHAPES = 1024
"""Labels of one tensor that are cached: as many as the shapes in a file of thousands of tensors may be."""

_SURE_BYTES = 2**36
"""Bytes of a message of which no extent is over the limit."""


def plain_part(tensor: object) -> tuple[str, Index, int, memoryview] | None:
    """Return kind, extents, bytes per element and memory of a packed box; None for anything else.

    An array need not become a tensor first.
    """
    if type(tensor) is np.ndarray:
        array: Array = tensor
        known = known_dtype(array.dtype)
        if known is None or not array.flags.c_contiguous:
            return None
        return known[0], array.shape, known[1], _bytes_of(array, known[0])
    if type(tensor) is not Tensor:
        return None
    held: Tensor[Any] = tensor
    flat = held.buffer.memory
    if flat is None or (known := known_dtype(flat.dtype)) is None:
        return None
    layout = held.layout.implementation
    shape = layout.shape
    box = shape.implementation
    if not box.is_box:
        return None
    extents = box.extents
    # Most have the layout of their extents, which is one object.
    if held.layout is not row_major_layout(extents) and (
        layout.tiled is not None or not layout.is_contiguous or any(box.origin) or layout.names is not None
    ):
        return None
    size = math.prod(extents)
    if size != len(flat):
        flat = flat[layout.offset : layout.offset + size] if size else flat[:0]
    return known[0], extents, known[1], _bytes_of(flat, known[0])


def _bytes_of(array: Array, kind: str) -> memoryview:
    if kind == "b":
        array = as_truths(array)
    # Python casts memory a good deal faster than NumPy, but not all of it.
    if kind != "c" and array.size:
        return array.data.cast("B")
    return array.reshape(-1).view(np.uint8).data


def _prefix(plain: tuple[Plain, ...]) -> bytes:
    text = plain_label(plain)
    sizes = [math.prod(shape) * word for _, _, shape, word in plain]
    if not is_surely_read(text, plain, sizes):
        check_written(text, sum(sizes), DEFAULT_LIMITS)
    return pack_prefix(text)


def is_surely_read(text: str, plain: Sequence[Plain], sizes: Sequence[int]) -> bool:
    """Return whether a reader with the default limits takes the label of these tensors, surely.

    Without elements, the extents behind an empty mode may be of any size; else none is larger than the
    bytes that are there.
    """
    ranks = [len(shape) for _, _, shape, _ in plain]
    return len(text) <= _SURE and all(sizes) and sum(sizes) <= _SURE_BYTES and max(ranks, default=0) <= 32


_remembered_prefix = lru_cache(maxsize=REMEMBERED)(_prefix)


def plain_message(tensors: Sequence[object]) -> tuple[bytes, list[memoryview]] | None:
    """Return frame 0 and the parts of a message of plain tensors, each in its part; None if one is not.

    Raises
    ------
    LocalProtocolError
        If a reader would refuse it.
    ConversionError
        If it is one tensor and not a sequence of them.
    """
    check_several(tensors, "tensors")
    described: list[Plain] = []
    payload: list[memoryview] = []
    for tensor in tensors:
        found = plain_part(tensor)
        if found is None:
            return None
        kind, extents, word, data = found
        described.append((kind, len(payload), extents, word))
        payload.append(data)
    plain = tuple(described)
    return (_remembered_prefix(plain) if len(plain) <= REMEMBERED else _prefix(plain)), payload


def plain_frames(tensor: object, rest: bytes) -> list[bytes | memoryview] | None:
    """Return the frames of a message of one plain tensor, which is apart in part 1; None for others.

    `Writer` has those that need other packings, or larger limits than the default ones.

    Parameters
    ----------
    rest
        The other keys of the label as JSON, at most a few thousand bytes: from a comma on, with the bracket
        that closes the label.
    """
    found = plain_part(tensor)
    start = None if found is None else _start(*found[:3])
    if found is None or start is None or known_packings().strangers:
        return None
    return [start + rest, NOWHERE, b"", found[3]]


@lru_cache(maxsize=_SHAPES)
def _start(kind: str, extents: Index, word: int) -> bytes | None:
    """Return frame 0 of one plain tensor up to the end of its entry; None if readers might refuse it."""
    plain = ((kind, 1, extents, word),)
    text = plain_label(plain)
    return pack_prefix(text[:-1]) if is_surely_read(text, plain, [math.prod(extents) * word]) else None


@lru_cache(maxsize=_SHAPES)
def plain_entry(start: bytes) -> PlainPart | None:
    """Return the entry of the one tensor in frame 0 up to the end of TENS, as `plain_frames` writes it.

    None for all else: `read_apart` reads other messages.
    """
    if start[:8] != _TENS or not start.isascii():
        return None
    plain = plain_parts(start[8:].decode("ascii") + "}", DEFAULT_LIMITS)
    return plain[0] if plain is not None and len(plain) == 1 and plain[0][0] == 1 else None


def read_apart(frames: Sequence[memoryview], limits: Limits) -> tuple[list[Array], str] | None:
    """Return the tensors of a message as read-only arrays, and the rest of its label as unparsed text.

    All of them are plain, and their label has the form of this library's writers; else the result is None.
    A caller that knows the other keys compares that text instead of parsing JSON.
    """
    if limits is not DEFAULT_LIMITS or len(frames) < 2 or len(frames[1]) != COORDINATES_BYTES:
        return None
    raw = bytes(frames[0])
    # The first list that ends with an object is that of the tensors.
    stop = raw.find(b"]}") + 2
    if raw[:8] != _TENS or stop < 2 or len(raw) > _SURE or not raw.isascii():
        return None
    text = raw[8:].decode("ascii")
    plain = plain_parts(text[: stop - 8] + "}", limits)
    if plain is None:
        return None
    read: list[Array] = []
    for entry in plain:
        flat = _elements(entry, frames[2:])
        if flat is None or entry[4] is None or (entry[2].kind == "b" and not are_truths(flat)):
            return None
        read.append(flat.reshape(entry[4]))
    return read, text[stop - 8 :]


def read_plain(plain: Sequence[PlainPart], parts: Sequence[memoryview]) -> tuple[Tensor[Any], ...] | None:
    """Return the tensors of plain descriptions over the parts; None if one does not fit, or needs a copy."""
    read: list[Tensor[Any]] = []
    for entry in plain:
        flat = _elements(entry, parts)
        _, _, dtype, layout, extents = entry
        if flat is None or (dtype.kind == "b" and not are_truths(flat)):
            return None
        read.append(make_dense(layout, flat, None if extents is None else flat.reshape(extents)))
    return tuple(read)


def _elements(entry: PlainPart, parts: Sequence[memoryview]) -> Array | None:
    """Return the elements of a plain description in its part; None if they do not fit, or need a copy."""
    part, nbytes, dtype = entry[:3]
    if not 0 <= part < len(parts) or parts[part].nbytes != nbytes:
        return None
    flat: Array = np.frombuffer(parts[part], dtype)
    flags = flat.flags
    if not flags.aligned:
        return None
    flags.writeable = False
    return flat
