"""Answers as frames: `send_answer` writes one, `receive_answer` parses one."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias, assert_never, cast, final, get_args

import numpy as np

from tensorwrapper._json import Json
from tensorwrapper._json_fields import Field
from tensorwrapper.errors import RefusalReason, RemoteProtocolError, RequestRefusedError
from tensorwrapper.remote.protocol._elements import bytes_of
from tensorwrapper.remote.protocol._events import (
    Answer,
    Elements,
    Entries,
    Facts,
    FactsOf,
    FieldRows,
    Names,
    Packed,
    Pinned,
    Pong,
    Reduced,
    Refused,
    Rows,
    Stats,
    Text,
    Welcome,
    Written,
)
from tensorwrapper.remote.protocol._frames import (
    ParsedFrames,
    label_of,
    labelled,
    number_of,
    read_frames,
    write_frames,
)
from tensorwrapper.typing import BufferLike, IntArray
from tensorwrapper.wire import DEFAULT_LIMITS, Limits

_WIDTHS: Final["dict[str, np.dtype[Any]]"] = {"u4": np.dtype("<u4"), "i8": np.dtype("<i8")}
_LEAST_KEYS: Final = frozenset(("name", "version", "kind", "rank", "size", "dtype"))
_MORE_KEYS: Final = frozenset(
    ("shape", "rows", "entries", "fill", "writable", "box", "records", "present", "symmetry")
)
_ROWS_U4: Final = b'{"tw":{"rows":{"as":"u4",'
_TEXT: Final = 4096
_SYMMETRY: Final = 1024
"""Length limit of a symmetry's text; 16 operations of 8 modes are shorter."""
_FIELDS: Final = 256
_LARGEST: Final = 2**63 - 1


def send_answer(number: int, answer: Answer) -> list[memoryview]:
    """Return the frames of the answer to a request.

    Examples
    --------
    >>> frames = send_answer(7, Names(("x",), more=False))
    >>> bytes(frames[0])
    b'ZIO0JSON{"tw":{"names":{"more":false,"names":["x"]}}}'
    >>> receive_answer(frames)
    (7, Names(names=('x',), more=False))
    """
    if isinstance(answer, Elements):
        return labelled(number, _read_label(answer.version), answer.frames)
    if isinstance(answer, Rows):
        # The label is usually the same, so it is cached.
        width, parts = _frames_of_rows(answer)
        return labelled(number, _rows_label(answer.version, width), parts)
    verb, said, frames = _written(answer)
    return write_frames(number, verb, said, frames)


@lru_cache(64)
def _read_label(version: str) -> bytes:
    """Return the first frame of elements, which is the same for all answers of a version."""
    return label_of("read", version)


@lru_cache(64)
def _rows_label(version: str, width: str) -> bytes:
    return label_of("rows", {"version": version, "as": width})


def _frames_of_rows(answer: Rows) -> tuple[str, list[BufferLike]]:
    width = "u4" if int(answer.lengths.max(initial=0)) < 2**32 else "i8"
    starts, lengths = answer.starts.astype("<i8"), answer.lengths.astype(_WIDTHS[width])
    frames: list[BufferLike] = [bytes_of(starts), bytes_of(lengths)]
    if answer.elements is not None:
        frames.append(answer.elements)
    return width, frames


def _written(  # noqa: C901, PLR0912 - a case for each answer
    answer: Answer,
) -> tuple[str, Json, Sequence[BufferLike]]:
    match answer:
        case Welcome():
            said: Json = {
                "server": answer.server,
                "version": answer.version,
                "caps": list(answer.capabilities),
                "answer_bytes": answer.answer_bytes,
                "in_flight": answer.in_flight,
            }
            return "hello", said, ()
        case Pong():
            return "pong", answer.server, ()
        case Pinned():
            return "pin", {"pin": answer.pin, "seconds": answer.seconds}, ()
        case Names():
            return "names", {"names": list(answer.names), "more": answer.more}, ()
        case FactsOf():
            return "facts", [_said_of(own) for own in answer.facts], ()
        case Text():
            return "shape", answer.version, (answer.text.encode(),)
        case Rows():
            width, frames = _frames_of_rows(answer)
            return "rows", {"version": answer.version, "as": width}, frames
        case FieldRows():
            return _written_fields(answer)
        case Elements():
            return "read", answer.version, answer.frames
        case Packed():
            return "packed", answer.version, [answer.data]
        case Entries():
            frames = [bytes_of(answer.counts.astype("<i8")), bytes_of(answer.numbers.astype("<i8"))]
            return "entries", answer.version, [*frames, answer.values]
        case Reduced():
            said = {"version": answer.version, "dtype": answer.dtype, "extents": list(answer.extents)}
            return "reduce", said, [answer.values]
        case Written():
            return "written", answer.version, ()
        case Stats():
            return "stats", dict(answer.counts), ()
        case Refused():
            return "refused", {"reason": answer.reason, "text": answer.text[:_TEXT]}, ()
        case _:
            assert_never(answer)


def _written_fields(answer: FieldRows) -> tuple[str, Json, Sequence[BufferLike]]:
    widths: list[Json] = []
    frames: list[BufferLike] = []
    for starts, lengths in answer.tables:
        width, parts = _frames_of_rows(Rows(answer.version, starts, lengths))
        widths.append(width)
        frames += parts
    for own in answer.elements:
        frames += own
    counts: list[Json] = [len(own) for own in answer.elements]
    said: dict[str, Json] = {"version": answer.version, "as": widths, "fields": list(answer.fields)}
    return "records", {**said, "parts": counts} if answer.elements else said, frames


def _said_of(facts: Facts) -> dict[str, Json]:
    said: dict[str, Json] = {
        "name": facts.name,
        "version": facts.version,
        "kind": facts.kind,
        "rank": facts.rank,
        "size": facts.size,
        "dtype": facts.dtype,
    }
    more: dict[str, Json] = {
        "shape": facts.shape,
        "rows": facts.rows,
        "entries": facts.entries,
        "fill": facts.fill,
        "writable": facts.writable or None,
        "box": None if facts.box is None else list(facts.box),
        "records": None if facts.records is None else list(facts.records),
        "present": facts.present,
        "symmetry": facts.symmetry,
    }
    return {**said, **{key: value for key, value in more.items() if value is not None}}


def receive_answer(frames: Sequence[BufferLike], limits: Limits = DEFAULT_LIMITS) -> tuple[int, Answer]:
    """Return the number of the request that a server answers, and the answer.

    Raises
    ------
    RemoteProtocolError
        If it is not an answer.
    """
    try:
        said = read_frames(frames, limits)
        read = _READERS.get(said.verb)
        if read is None:
            said.field.refuse("is not an answer")
        return said.number, read(said)
    except RequestRefusedError as error:
        text = f"a server's answer is not of the protocol: {error.args[1]}"
        if error.reason == "limit":
            raise RemoteProtocolError("limit", f"{text}, the limit of clients") from error
        raise RemoteProtocolError("schema", text) from error


@final
class AnswerReader:
    """Parser of the answers of one server, which caches the last label of elements and of rows."""

    __slots__ = ("_label", "_limits", "_rows", "_rows_version", "_version")

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._label: bytes | None = None
        self._version = ""
        self._rows, self._rows_version = b"", ""

    def read(self, frames: list[memoryview]) -> tuple[int, Answer]:
        """Return the result of `receive_answer`.

        Raises
        ------
        RemoteProtocolError
            For any other message.
        """
        if len(frames) in (3, 4) and frames[0].tobytes() == self._label:
            number = number_of(frames)
            if number is not None:
                return number, Elements(self._version, tuple(frames[2:]))
        rows = self._quick_rows(frames) if len(frames) in (4, 5) else None
        if rows is not None:
            return rows
        number, answer = receive_answer(frames, self._limits)
        if isinstance(answer, Elements):
            self._label, self._version = bytes(frames[0]), answer.version
        elif isinstance(answer, Rows):
            self._rows = bytes(frames[0])
            self._rows_version = answer.version
        return number, answer

    def _quick_rows(self, frames: list[memoryview]) -> tuple[int, Rows] | None:
        """Return rows with a cached label; None if the label is new or the rows are invalid."""
        if frames[0].tobytes() != self._rows or _ROWS_U4 not in self._rows:
            return None
        number, starts, lengths = number_of(frames), frames[2], frames[3]
        if number is None or starts.nbytes % 8 or lengths.nbytes % 4:
            return None
        first = np.frombuffer(starts, _WIDTHS["i8"]).astype(np.int64)
        if len(first) and int(first.min()) < 0:
            return None
        counts = np.frombuffer(lengths, _WIDTHS["u4"]).astype(np.int64)
        return number, Rows(self._rows_version, first, counts, frames[4] if len(frames) == 5 else None)


def _no_parts(said: ParsedFrames, count: int = 0) -> ParsedFrames:
    if len(said.parts) != count:
        said.field.refuse(f"has {len(said.parts)} parts instead of {count}")
    return said


def _welcome(said: ParsedFrames) -> Answer:
    keys = frozenset(("server", "version", "caps", "answer_bytes", "in_flight"))
    field = _no_parts(said).field.object(keys, None)
    words = [word.text(most=32) for word in field["caps"].items(most=64)]
    most = field["answer_bytes"].count(_LARGEST, 1)
    return Welcome(
        field["server"].text(most=64),
        field["version"].count(2**31),
        tuple(words),
        most,
        field["in_flight"].count(2**31, 1),
    )


def _pong(said: ParsedFrames) -> Answer:
    return Pong(_no_parts(said).field.text(most=64))


def _pinned(said: ParsedFrames) -> Answer:
    field = _no_parts(said).field.object({"pin", "seconds"})
    return Pinned(field["pin"].text(most=64), field["seconds"].count(2**31))


def _names(said: ParsedFrames) -> Answer:
    field = _no_parts(said).field.object({"names", "more"})
    return Names(tuple([own.text() for own in field["names"].items()]), field["more"].boolean())


def _facts(said: ParsedFrames) -> Answer:
    return FactsOf(tuple([_fact(own) for own in _no_parts(said).field.items()]))


def _fact(field: Field) -> Facts:
    field.object(_LEAST_KEYS, _MORE_KEYS)
    return Facts(
        field["name"].text(),
        field["version"].text(),
        field["kind"].text(),
        field["rank"].count(64),
        field["size"].count(_LARGEST),
        field["dtype"].text(most=32),
        field["shape"].text() if "shape" in field else None,
        field["rows"].count(_LARGEST) if "rows" in field else None,
        field["entries"].count(_LARGEST) if "entries" in field else None,
        field["fill"].text(most=64) if "fill" in field else None,
        writable="writable" in field and field["writable"].boolean(),
        box=tuple(field["box"].integers(-_LARGEST, _LARGEST, most_items=32)) if "box" in field else None,
        records=_field_of(field["records"]) if "records" in field else None,
        present=field["present"].count(_LARGEST) if "present" in field else None,
        symmetry=field["symmetry"].text(most=_SYMMETRY) if "symmetry" in field else None,
    )


def _field_of(field: Field) -> tuple[str, int, int]:
    name, number, rank = field.items(length=3)
    return name.text(), number.count(2**31), rank.count(64)


def _shape(said: ParsedFrames) -> Answer:
    _no_parts(said, 1)
    try:
        return Text(said.field.text(), bytes(said.parts[0]).decode())
    except UnicodeDecodeError:
        said.field.refuse("comes with a shape that is not UTF-8")


def _numbers(said: ParsedFrames, part: int, dtype: "np.dtype[Any]") -> IntArray:
    frame = said.parts[part]
    if frame.nbytes % dtype.itemsize:
        said.field.refuse(f"comes with {frame.nbytes} bytes for numbers of {dtype.itemsize}")
    found = np.frombuffer(frame, dtype).astype(np.int64)
    if len(found) and int(found.min()) < 0:
        said.field.refuse("comes with a negative number")
    return found


def _rows(said: ParsedFrames) -> Answer:
    if len(said.parts) != 3:
        _no_parts(said, 2)
    field = said.field.object({"version", "as"})
    starts = _numbers(said, 0, _WIDTHS["i8"])
    lengths = _numbers(said, 1, _WIDTHS[field["as"].one_of(_WIDTHS)])
    return Rows(field["version"].text(), starts, lengths, said.parts[2] if len(said.parts) == 3 else None)


def _records(said: ParsedFrames) -> Answer:
    field = said.field.object({"version", "as", "fields"}, {"parts"})
    widths = [own.one_of(_WIDTHS) for own in field["as"].items(most=_FIELDS)]
    fields = field["fields"].integers(-1, len(widths) - 1, most_items=_FIELDS)
    counts = field["parts"].integers(1, 2, length=len(fields)) if "parts" in field else ()
    _no_parts(said, 2 * len(widths) + sum(counts))
    tables = tuple(
        [
            (_numbers(said, 2 * k, _WIDTHS["i8"]), _numbers(said, 2 * k + 1, _WIDTHS[width]))
            for k, width in enumerate(widths)
        ]
    )
    place, elements = 2 * len(widths), list[tuple[memoryview, ...]]()
    for count in counts:
        elements.append(tuple(said.parts[place : place + count]))
        place += count
    return FieldRows(field["version"].text(), tables, fields, tuple(elements))


def _read(said: ParsedFrames) -> Answer:
    if len(said.parts) not in {1, 2}:
        said.field.refuse(f"has {len(said.parts)} parts instead of 1, or 2 of strings")
    return Elements(said.field.text(), said.parts)


def _packed(said: ParsedFrames) -> Answer:
    return Packed(_no_parts(said, 1).field.text(), said.parts[0])


def _entries(said: ParsedFrames) -> Answer:
    version = _no_parts(said, 3).field.text()
    i8 = _WIDTHS["i8"]
    return Entries(version, _numbers(said, 0, i8), _numbers(said, 1, i8), said.parts[2])


def _reduced(said: ParsedFrames) -> Answer:
    field = _no_parts(said, 1).field.object({"version", "dtype", "extents"})
    extents = tuple([own.count(_LARGEST) for own in field["extents"].items(most=64)])
    return Reduced(field["version"].text(), field["dtype"].text(most=32), extents, said.parts[0])


def _done(said: ParsedFrames) -> Answer:
    return Written(_no_parts(said).field.text())


def _stats(said: ParsedFrames) -> Answer:
    counts = _no_parts(said).field.entries()
    return Stats(tuple([(name, own.integer()) for name, own in counts]))


def _refused(said: ParsedFrames) -> Answer:
    field = _no_parts(said).field.object({"reason", "text"}, None)
    reason = cast("RefusalReason", field["reason"].one_of(get_args(RefusalReason)))
    text = field["text"].text(most=_TEXT)
    # Untrusted text may contain control sequences of a terminal.
    return Refused(reason, text if text.isprintable() else repr(text)[1:-1])


_Reader: TypeAlias = Callable[[ParsedFrames], Answer]

_READERS: Final[dict[str, _Reader]] = {
    "entries": _entries,
    "facts": _facts,
    "hello": _welcome,
    "names": _names,
    "packed": _packed,
    "pin": _pinned,
    "pong": _pong,
    "read": _read,
    "records": _records,
    "reduce": _reduced,
    "refused": _refused,
    "rows": _rows,
    "shape": _shape,
    "stats": _stats,
    "written": _done,
}
