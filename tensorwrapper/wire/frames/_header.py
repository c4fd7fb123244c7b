"""The two header frames: the prefix (magic, level, form, label) and the coordinates.

Prefix: ``ZIO``, one ASCII digit for the level, four bytes for the form padded with spaces, and the label up
to the end of the frame. Coordinates: origin, granule and seqno as three little-endian unsigned 64-bit
integers (the reference writes the host's order, which is the same wherever it runs).
"""

import struct
from functools import lru_cache
from typing import NoReturn, SupportsIndex, final

from tensorwrapper._integers import to_int
from tensorwrapper._value_class import frozen, slot_setters
from tensorwrapper.errors import ConversionError, LocalProtocolError, ProtocolReason, RemoteProtocolError
from tensorwrapper.wire._limits import Limits, how_to_raise

MAGIC = b"ZIO"
_LEVELS = "012345678"
_COORDINATES = struct.Struct("<3Q")
COORDINATES_BYTES = _COORDINATES.size
NOWHERE = _COORDINATES.pack(0, 0, 0)
"""Frame 1 of a message without origin, time and number."""
_PREFIX = 8  # bytes before the label
_REMEMBERED = 4096  # bytes of frame 0: longer ones are parsed each time


@final
@frozen
class Header:
    """Fields of the two header frames; the label is not parsed."""

    form: str
    level: int
    label: str
    origin: int
    granule: int
    seqno: int


_set_form, _set_level, _set_label, _set_origin, _set_granule, _set_seqno = slot_setters(
    Header, "form", "level", "label", "origin", "granule", "seqno"
)


def _refuse_local(reason: ProtocolReason, message: str) -> NoReturn:
    raise LocalProtocolError(reason, message)


def make_header(
    form: object,
    level: SupportsIndex,
    label: str,
    coordinates: tuple[SupportsIndex, SupportsIndex, SupportsIndex],
) -> Header:
    """Return a header of checked values: invalid ones are refused here, not at the peer."""
    if not (isinstance(form, str) and len(form) <= 4 and form.isascii() and form.isprintable()):
        _refuse_local("frame", f"a form is at most four printable ASCII characters, not {form!r}")
    number = level if type(level) is int else _integer(level, "level")
    if not 0 <= number <= 8:
        _refuse_local("frame", f"a level is 0 to 8, not {number}")
    values: list[int] = []
    for name, value in zip(("origin", "granule", "seqno"), coordinates, strict=True):
        coordinate = value if type(value) is int else _integer(value, name)
        if not 0 <= coordinate < 2**64:
            _refuse_local("frame", f"{name} is an unsigned 64-bit integer, not {coordinate}")
        values.append(coordinate)
    return Header(form.rstrip(" "), number, label, *values)


def _integer(value: SupportsIndex, name: str) -> int:
    try:
        return to_int(value, name)
    except ConversionError as error:
        raise LocalProtocolError("frame", str(error)) from error


def pack_prefix(label: str, form: str = "TENS", level: int = 0) -> bytes:
    """Return frame 0 of a header with this label."""
    try:
        raw = label.encode("utf-8", "strict")
    except UnicodeEncodeError as error:
        raise LocalProtocolError("header", f"the label is not valid Unicode: {error.reason}") from error
    return b"%b%d%b%b" % (MAGIC, level, form.ljust(4).encode("ascii"), raw)


def pack_coordinates(header: Header) -> bytes:
    """Return frame 1."""
    return _COORDINATES.pack(header.origin, header.granule, header.seqno)


def unpack_header(prefix: memoryview, coordinates: memoryview, limits: Limits) -> Header:
    """Parse two foreign header frames.

    Raises
    ------
    RemoteProtocolError
        ``frame`` if they are malformed, ``limit`` if the label is too long, ``header`` if it is not UTF-8.
    """
    if prefix.nbytes < _PREFIX:
        raise RemoteProtocolError(
            "frame", f"frame 0 has {prefix.nbytes} bytes; a prefix has at least {_PREFIX}"
        )
    if prefix.nbytes - _PREFIX > limits.label_bytes:
        raise RemoteProtocolError(
            "limit",
            f"the label has {prefix.nbytes - _PREFIX} bytes; at most {limits.label_bytes} are allowed"
            + how_to_raise("label_bytes"),
        )
    raw = prefix.tobytes()
    form, level, label = (_remembered_prefix if len(raw) <= _REMEMBERED else _read_prefix)(raw)
    if coordinates.nbytes != _COORDINATES.size:
        raise RemoteProtocolError(
            "frame", f"frame 1 has {coordinates.nbytes} bytes; coordinates have {_COORDINATES.size}"
        )
    origin, granule, seqno = _COORDINATES.unpack(coordinates)
    return _new_header(form, level, label, origin, granule, seqno)


def _read_prefix(raw: bytes) -> tuple[str, int, str]:
    """Return form, level and label of a foreign frame 0 that is long enough."""
    if raw[:3] != MAGIC:
        raise RemoteProtocolError("frame", f"frame 0 starts with {raw[:3]!r}, not with {MAGIC!r}")
    level = chr(raw[3])
    if level not in _LEVELS:
        raise RemoteProtocolError("frame", f"the level is {level!r}, not a digit from 0 to 8")
    try:
        form = raw[4:_PREFIX].decode("ascii")
    except UnicodeDecodeError as error:
        raise RemoteProtocolError("frame", f"the form {raw[4:_PREFIX]!r} is not ASCII") from error
    try:
        label = raw[_PREFIX:].decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        raise RemoteProtocolError("header", f"the label is not UTF-8: {error.reason}") from error
    return form.rstrip(" "), int(level), label


# Streams repeat them; and equal labels are one text then, whose hash is known.
_remembered_prefix = lru_cache(maxsize=128)(_read_prefix)


def _new_header(form: str, level: int, label: str, origin: int, granule: int, seqno: int) -> Header:
    header = object.__new__(Header)
    _set_form(header, form)
    _set_level(header, level)
    _set_label(header, label)
    _set_origin(header, origin)
    _set_granule(header, granule)
    _set_seqno(header, seqno)
    return header
