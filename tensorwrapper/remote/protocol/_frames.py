"""Frames of requests and answers: ZIO messages of the form JSON, whose label has the key ``tw``.

The first coordinate is the number of the request; the other two are 0. `Frames` are the parts.
"""

import struct
from collections.abc import Sequence
from typing import Final, NoReturn, cast, final

from tensorwrapper._json import Json, dump_json
from tensorwrapper._json_fields import Field, FieldReason
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ProtocolError, RefusalReason, RequestRefusedError
from tensorwrapper.typing import BufferLike
from tensorwrapper.wire import Limits
from tensorwrapper.wire.lowlevel import frame_views, load_label, split_frames

_PREFIX: Final = b"ZIO0JSON"
_NUMBERS: Final = struct.Struct("<3Q")
_COORDINATES: Final = _NUMBERS.size
"""Bytes of the second frame: three numbers of 64 bits."""

_REASONS: Final[dict[str, RefusalReason]] = {"limit": "limit", "schema": "schema"}


@final
@frozen(eq=False)
class ParsedFrames:
    """Parsed frames of one message: its number, its verb, the fields of the verb, and its parts."""

    number: int
    verb: str
    field: Field
    parts: tuple[memoryview, ...]


def refuse_field(path: str, reason: FieldReason, text: str) -> NoReturn:
    """Refuse a field of a request."""
    raise RequestRefusedError(_REASONS[reason], f"{path} {text}")


def write_frames(number: int, verb: str, said: Json, parts: Sequence[BufferLike] = ()) -> list[memoryview]:
    """Return the frames of a message."""
    return labelled(number, label_of(verb, said), parts)


def label_of(verb: str, said: Json) -> bytes:
    """Return the first frame of a message."""
    return _PREFIX + dump_json({"tw": {verb: said}}).encode()


def labelled(number: int, label: bytes, parts: Sequence[BufferLike] = ()) -> list[memoryview]:
    """Return the frames of a message that has a first frame."""
    return frame_views([label, _NUMBERS.pack(number, 0, 0), *parts])


def read_frames(frames: Sequence[BufferLike], limits: Limits) -> ParsedFrames:
    """Parse untrusted frames of any verb.

    Raises
    ------
    RequestRefusedError
        If the frames are not a message of this protocol.
    """
    try:
        header, parts = split_frames(frames, limits)
        label = Field(load_label(header.label, limits), "the label", refuse_field)
    except ProtocolError as error:
        reason: RefusalReason = "limit" if error.reason == "limit" else "label"
        raise RequestRefusedError(reason, plain_limit(str(error))) from error
    if header.form != "JSON":
        raise RequestRefusedError("label", f"the form is JSON, not {header.form!r}")
    label.object({"tw"}, None)
    said = label["tw"].mapping()
    if len(said) != 1:
        label["tw"].refuse(f"has one verb, not {len(said)}")
    verb = next(iter(said))
    return ParsedFrames(header.origin, verb, label["tw"][verb], parts)


def plain_limit(text: str) -> str:
    """Return the text of an error without advice on message limits, which does not apply here."""
    return text.partition("; limits=Limits(")[0]


def number_of(frames: Sequence[memoryview]) -> int | None:
    """Return the number of a message, even of an unreadable one; None without a number."""
    if len(frames) < 2 or frames[1].nbytes != _COORDINATES:
        return None
    return cast("int", _NUMBERS.unpack(frames[1])[0])
