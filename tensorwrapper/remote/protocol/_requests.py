"""Requests as frames: `send_request` writes one, `receive_request` parses an untrusted one."""

import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, TypeAlias, assert_never, cast, final, get_args

from tensorwrapper._json import Json
from tensorwrapper._json_fields import Field
from tensorwrapper.errors import RequestRefusedError
from tensorwrapper.remote.protocol._elements import LINES, NULLABLE, VALID, may_be_null
from tensorwrapper.remote.protocol._events import (
    AskEntries,
    AskFacts,
    AskHealth,
    AskNames,
    AskPin,
    AskRead,
    AskRecords,
    AskReduce,
    AskRows,
    AskShape,
    AskStats,
    AskView,
    AskWrite,
    Cancel,
    Described,
    Hello,
    Ping,
    ReducedOver,
    Reduction,
    Request,
)
from tensorwrapper.remote.protocol._fast_parse import quick_request
from tensorwrapper.remote.protocol._frames import ParsedFrames, label_of, labelled, number_of, read_frames
from tensorwrapper.remote.protocol._limits import ServeLimits
from tensorwrapper.remote.protocol._positions import PositionsReader, PositionsWriter, single_runs
from tensorwrapper.selection import Outer, Runs, Wanted
from tensorwrapper.typing import BufferLike
from tensorwrapper.wire.lowlevel import small_dtype

_CLIENT: Final = re.compile(r"[0-9a-f]{32}")
_KNOWN: Final = 256
_KNOWN_BYTES: Final = 1024
"""Largest label that is cached, in bytes."""
_FEW: Final = 2**14
"""Number of points or rows that are parsed at once, in half a millisecond."""
_SHORT: Final = 1024
"""Largest label that is parsed at once, in at most half a millisecond."""
_SHORT_TABLES: Final = 2**14
"""Largest tables that are cached, in bytes."""
_FRAMES: Final = 64
_TABLES: Final = 64
_TABLES_BYTES: Final = 2**22
"""Size limit of all cached tables and their arrays, in bytes."""
_NAME: Final = 1024
_VERSION: Final = 256
_FACTS: Final = 256
_NAMES: Final = 1000
_SOURCES: Final = 64
_ROWS_BYTES: Final = 2**31
_KEYS: Final = frozenset(("name", "version"))
_NO_MODES: Final = b'{"modes":[]}'
_ONE_RUN: Final = b'{"lengths":1,"starts":[0,1,1]}'
_DTYPE: Final = re.compile(r"[<|][biufcmM][0-9]{1,2}(\[([1-9][0-9]{0,8})?[a-zA-Z]{1,2}\])?")


def send_request(number: int, request: Request) -> list[memoryview]:
    """Return the frames of a request.

    Examples
    --------
    >>> frames = send_request(7, AskNames("", 10))
    >>> bytes(frames[0])
    b'ZIO0JSON{"tw":{"names":{"after":"","count":10}}}'
    >>> receive_request(frames)
    (7, AskNames(after='', count=10, pin=''))
    """
    return labelled(number, *prepare_request(request))


def prepare_request(request: Request) -> tuple[bytes, list[BufferLike]]:
    """Return the first frame of a request, and the frames after its number, to send it many times.

    Examples
    --------
    >>> prepare_request(AskRead("x", "v:1", None, (Outer([range(3, 4), range(128)]),)))[0]
    b'ZIO0JSON{"tw":{"read":{"name":"x","select":[{"modes":[[3,1,1],[0,128,1]]}],"version":"v:1"}}}'
    """
    if type(request) is AskRead and len(request.selections) == 1 and request.packing is None:
        (wanted,) = request.selections
        ranges = [own for own in wanted.modes if isinstance(own, range)] if isinstance(wanted, Outer) else []
        if isinstance(wanted, Outer) and len(ranges) == len(wanted.modes):
            # Fast path: most requests are for a box.
            head, tail = _around(request.name, request.version, request.dtype, request.box)
            modes = ",".join([f"[{own.start},{len(own)},{own.step}]" if own else "[0,0,1]" for own in ranges])
            return b"%b%b%b" % (head, modes.encode(), tail), []
    if type(request) is AskRows:
        single = single_runs(request.rows)
        if single is not None:
            # Lists of rows are short and requested once, so the time to encode the label matters.
            head, tail = _around_rows(request.name, request.version, request.nbytes)
            return b"%b%b%b" % (head, single[0], tail), [single[1]]
    positions = PositionsWriter()
    verb, said = _written(request, positions)
    return label_of(verb, said), [*positions.frames, *_more_frames(request)]


@lru_cache(64)
def _around(name: str, version: str, dtype: str | None, box: bool) -> tuple[bytes, bytes]:  # noqa: FBT001
    """Return the label of a read before and after the positions of its one selection."""
    request = AskRead(name, version, dtype, (Outer([]),), None, box)
    label = label_of(*_written(request, PositionsWriter()))
    # A name cannot contain this text: JSON escapes quotation marks within strings.
    head, _, tail = label.partition(_NO_MODES)
    return head + _NO_MODES[:-2], _NO_MODES[-2:] + tail


@lru_cache(64)
def _around_rows(name: str, version: str, nbytes: int) -> tuple[bytes, bytes]:
    """Return the label of a request for rows before and after their first numbers."""
    label = label_of(*_written(AskRows(name, version, Runs(0, 1), nbytes), PositionsWriter()))
    head, _, tail = label.partition(_ONE_RUN)
    return head, tail


def _more_frames(request: Request) -> list[BufferLike]:
    """Return the frames after those of positions."""
    if isinstance(request, AskWrite):
        return [own for own in (request.values, request.texts, request.valid) if own is not None]
    if isinstance(request, AskView | AskReduce):
        return [request.view.text.encode(), *request.view.tables]
    return []


def _written(  # noqa: C901, PLR0912 - a case for each request
    request: Request, positions: PositionsWriter
) -> tuple[str, Json]:
    match request:
        case Hello():
            return "hello", {"client": request.client, "versions": [request.least, request.most]}
        case Ping():
            return "ping", {}
        case AskNames():
            return "names", {"after": request.after, "count": request.count, **_pin(request)}
        case AskFacts():
            more: dict[str, Json] = {"records": True} if request.records else {}
            more |= {"symmetry": True} if request.symmetry else {}
            return "facts", {"names": list(request.names), **_pin(request), **_box(request), **more}
        case AskPin():
            return "pin", {"release": request.release} if request.release else {}
        case AskShape():
            return "shape", {"name": request.name, "version": request.version}
        case AskRows():
            rows = positions.runs(request.rows)
            asked: dict[str, Json] = {"name": request.name, "version": request.version, "rows": rows}
            return "rows", {**asked, "bytes": request.nbytes} if request.nbytes else asked
        case AskRecords():
            rows, fields = positions.runs(request.rows), cast("list[Json]", list(request.fields))
            asked = {"name": request.name, "version": request.version, "fields": fields, "rows": rows}
            return "records", {**asked, "bytes": request.nbytes} if request.nbytes else asked
        case AskRead():
            said = _selected(request.name, request.version, request.selections, positions)
            options = {"dtype": request.dtype, "packing": request.packing}
            options = {key: own for key, own in options.items() if own is not None}
            return "read", {**said, **options, **_box(request)}
        case AskEntries():
            said = _selected(request.name, request.version, request.selections, positions)
            return "entries", {**said, **_box(request)}
        case AskView():
            select = [positions.selection(own) for own in request.selections]
            asked = {"of": _sources(request.view), "select": select}
            return "view", asked if request.packing is None else {**asked, "packing": request.packing}
        case AskReduce():
            asked = {"of": _sources(request.view), "ufunc": request.ufunc, "over": request.over}
            return "reduce", {**asked, **_initial(request)}
        case AskWrite():
            said = _selected(request.name, request.version, request.selections, positions)
            return "write", {**said, "client": request.client, "dtype": request.dtype, **_box(request)}
        case AskStats():
            return "stats", {}
        case AskHealth():
            return "health", {}
        case Cancel():
            return "cancel", request.number
        case _:
            assert_never(request)


def _initial(request: AskReduce) -> dict[str, Json]:
    number = request.initial
    if number is None:
        return {}
    # JSON does not support infinite numbers.
    return {"initial": number if isinstance(number, int) or math.isfinite(number) else str(number)}


def _pin(request: AskNames | AskFacts) -> dict[str, Json]:
    return {"pin": request.pin} if request.pin else {}


def _box(request: AskFacts | AskRead | AskEntries | AskWrite) -> dict[str, Json]:
    return {"box": True} if request.box else {}


def _sources(view: Described) -> Json:
    return {alias: [name, version] for alias, name, version in view.of}


def _selected(
    name: str, version: str, selections: Sequence[Wanted], positions: PositionsWriter
) -> dict[str, Json]:
    return {"name": name, "version": version, "select": [positions.selection(own) for own in selections]}


def receive_request(frames: Sequence[BufferLike], limits: ServeLimits | None = None) -> tuple[int, Request]:
    """Parse an untrusted request; return its number and its content.

    Parameters
    ----------
    frames
        The frames of one message.
    limits
        Limits on requests; by default those of a server for untrusted clients.

    Raises
    ------
    RequestRefusedError
        If it is not a request, or exceeds a limit; nothing was allocated.
    """
    bounds = ServeLimits() if limits is None else limits
    said = read_frames(frames, bounds.of_messages())
    read = _READERS.get(said.verb)
    if read is None:
        raise RequestRefusedError("unsupported", f"unknown request {said.verb[:40]!r}")
    positions = PositionsReader(said.parts, bounds.positions)
    request = read(said, positions, bounds)
    positions.end(said.field)
    return said.number, request


@final
class RequestReader:
    """Parser of client requests that caches repeated requests.

    The content of a request depends only on its label and its tables, not on the client or the server.
    """

    __slots__ = ("_known", "_limits", "_tables", "_tables_bytes")

    def __init__(self, limits: ServeLimits) -> None:
        self._limits = limits
        self._known: dict[bytes, AskRead] = {}
        self._tables: dict[bytes, tuple[bytes, AskRead | AskRows]] = {}
        """For each label its last table, and the request of both."""
        self._tables_bytes = 0

    def read(self, frames: list[memoryview]) -> tuple[int, Request] | None:
        """Return the result of `receive_request`, or None for a request that takes too long to parse here.

        The caller then parses it with `receive_request`, in any thread, and adds it here with `keep`.

        Raises
        ------
        RequestRefusedError
            If it is not a request, or exceeds a limit.
        """
        few, number = 1 < len(frames) < 4, number_of(frames)
        label = frames[0].tobytes() if few and frames[0].nbytes <= _KNOWN_BYTES else b""
        if label and number is not None:
            known = self._known.get(label) if len(frames) == 2 else self._of_table(label, frames[2])
            if known is not None:
                return number, known
        request: Request | None = (
            quick_request(frames, self._limits, _FEW) if few and number is not None else None
        )
        if number is None or request is None:
            if number is not None and _is_long(frames):
                return None
            number, request = receive_request(frames, self._limits)
        self.keep(frames, request)
        return number, request

    def keep(self, frames: list[memoryview], request: Request) -> None:
        """Cache a request parsed from these frames, if suitable."""
        label = frames[0].tobytes() if 1 < len(frames) < 4 and frames[0].nbytes <= _KNOWN_BYTES else b""
        if not label:
            return
        if len(frames) == 3:
            if isinstance(request, AskRead | AskRows):
                self._keep_table(label, frames[2], request)
        elif isinstance(request, AskRead) and _is_outer(request):
            # Requests without tables and arrays are limited by the number of labels.
            if len(self._known) >= _KNOWN:
                self._known.clear()
            self._known[label] = request

    def _of_table(self, label: bytes, table: memoryview) -> AskRead | AskRows | None:
        """Return the cached request of a label, if its last table was the same."""
        known = self._tables.get(label)
        # Bytes are compared by memory, views element by element.
        if known is None or len(known[0]) != table.nbytes or known[0] != table.tobytes():
            return None
        return known[1]

    def _keep_table(self, label: bytes, table: memoryview, request: AskRead | AskRows) -> None:
        runs = [request.rows] if isinstance(request, AskRows) else request.selections
        size = _bytes_kept(label, table.nbytes, runs)
        if size is None:
            return
        before = self._tables.pop(label, None)
        if before is not None:
            again = before[1]
            own = [again.rows] if isinstance(again, AskRows) else again.selections
            self._tables_bytes -= _bytes_kept(label, len(before[0]), own) or 0
        if len(self._tables) >= _TABLES or self._tables_bytes + size > _TABLES_BYTES:
            self._tables.clear()
            self._tables_bytes = 0
        self._tables[label] = table.tobytes(), request
        self._tables_bytes += size


def _is_long(frames: list[memoryview]) -> bool:
    """Return True if parsing a request may take over a millisecond."""
    if len(frames) > _FRAMES or frames[0].nbytes > _SHORT:
        return True
    return sum([frame.nbytes for frame in frames[2:]]) > _SHORT_TABLES


def _bytes_kept(label: bytes, table: int, selections: Sequence[Wanted]) -> int | None:
    """Return the size of a cached request of runs in bytes; None if it is not cached."""
    runs = [own for own in selections if isinstance(own, Runs)]
    # Starts and lengths, and where some touch the numbers of all, which are at most as many as were sent.
    total = len(label) + table + sum([16 * own.count + 16 * min(own.size, 2 * own.count) for own in runs])
    return total if len(runs) == len(selections) > 0 and total <= _TABLES_BYTES else None


def _is_outer(request: AskRead) -> bool:
    return all(isinstance(own, Outer) for own in request.selections)


def _hello(said: ParsedFrames, _positions: PositionsReader, _limits: ServeLimits) -> Request:
    field = said.field.object({"client", "versions"}, None)
    least, most = field["versions"].integers(0, 2**31, length=2)
    return Hello(_client(field["client"]), least, most)


def _client(field: Field) -> str:
    if _CLIENT.fullmatch(field.text(most=32)) is None:
        field.refuse("must be 32 digits from 0 to f")
    return field.text()


def _ping(said: ParsedFrames, _positions: PositionsReader, _limits: ServeLimits) -> Request:
    said.field.object()
    return Ping()


def _stats(said: ParsedFrames, _positions: PositionsReader, _limits: ServeLimits) -> Request:
    said.field.object()
    return AskStats()


def _names(said: ParsedFrames, _positions: PositionsReader, _limits: ServeLimits) -> Request:
    field = said.field.object({"after", "count"}, {"pin"})
    return AskNames(field["after"].text(most=_NAME), field["count"].count(_NAMES, 1), _pin_of(field))


def _pin_of(field: Field, key: str = "pin") -> str:
    return field[key].text(most=64) if key in field else ""


def _facts(said: ParsedFrames, _positions: PositionsReader, _limits: ServeLimits) -> Request:
    field = said.field.object({"names"}, {"pin", "box", "records", "symmetry"})
    names = tuple([name.text(most=_NAME) for name in field["names"].items(most=_FACTS)])
    records = "records" in field and field["records"].boolean()
    symmetry = "symmetry" in field and field["symmetry"].boolean()
    return AskFacts(names, _pin_of(field), _is_of_box(field), records, symmetry)


def _is_of_box(field: Field) -> bool:
    return "box" in field and field["box"].boolean()


def _pinning(said: ParsedFrames, _positions: PositionsReader, _limits: ServeLimits) -> Request:
    return AskPin(_pin_of(said.field.object(frozenset(), {"release"}), "release"))


def _health(said: ParsedFrames, _positions: PositionsReader, _limits: ServeLimits) -> Request:
    said.field.object()
    return AskHealth()


def _tensor(field: Field) -> tuple[str, str]:
    return field["name"].text(most=_NAME), field["version"].text(most=_VERSION)


def _shape(said: ParsedFrames, _positions: PositionsReader, _limits: ServeLimits) -> Request:
    return AskShape(*_tensor(said.field.object(_KEYS)))


def _rows(said: ParsedFrames, positions: PositionsReader, _limits: ServeLimits) -> Request:
    field = said.field.object(_KEYS | {"rows"}, {"bytes"})
    nbytes = field["bytes"].count(_ROWS_BYTES) if "bytes" in field else 0
    return AskRows(*_tensor(field), positions.runs(field["rows"]), nbytes)


def _records(said: ParsedFrames, positions: PositionsReader, _limits: ServeLimits) -> Request:
    field = said.field.object(_KEYS | {"fields", "rows"}, {"bytes"})
    nbytes = field["bytes"].count(_ROWS_BYTES) if "bytes" in field else 0
    fields = tuple([name.text(most=_NAME) for name in field["fields"].items(most=_FACTS)])
    if not fields or len(set(fields)) < len(fields):
        field["fields"].refuse("must be the names of one field or more, each once")
    return AskRecords(*_tensor(field), fields, positions.runs(field["rows"]), nbytes)


def _read(said: ParsedFrames, positions: PositionsReader, limits: ServeLimits) -> Request:
    field = said.field.object(_KEYS | {"select"}, {"dtype", "packing", "box"})
    dtype = _dtype(field["dtype"]) if "dtype" in field else None
    selections = _selections(field, positions, limits)
    return AskRead(*_tensor(field), dtype, selections, _packing_of(field), _is_of_box(field))


def _packing_of(field: Field) -> str | None:
    return field["packing"].one_of(("zlib",)) if "packing" in field else None


def _dtype(field: Field, *, nullable: bool = False) -> str:
    text = field.text(most=32)
    bare = text.removeprefix(NULLABLE) if nullable else text
    if bare not in (VALID, *LINES) and _DTYPE.fullmatch(bare) is None and small_dtype(bare) is None:
        raise RequestRefusedError("unsupported", f"unknown type of elements {text!r}")
    return text


def _write(said: ParsedFrames, positions: PositionsReader, limits: ServeLimits) -> Request:
    field = said.field.object(_KEYS | {"select", "client", "dtype"}, {"box"})
    text = field["dtype"].value
    is_text = text in ("string", "nullable string")
    dtype, client = str(text) if is_text else _dtype(field["dtype"], nullable=True), _client(field["client"])
    selections = _selections(field, positions, limits)
    rest = positions.rest(field)
    is_nullable = may_be_null(dtype)
    count = 1 + (is_text or is_nullable)
    if len(rest) != count:
        field.refuse(f"comes with {len(rest)} frames of elements instead of {count}")
    values, texts, valid = rest[0], rest[1] if is_text else None, rest[1] if is_nullable else None
    return AskWrite(*_tensor(field), client, dtype, selections, values, texts, _is_of_box(field), valid)


def _entries(said: ParsedFrames, positions: PositionsReader, limits: ServeLimits) -> Request:
    field = said.field.object(_KEYS | {"select"}, {"box"})
    return AskEntries(*_tensor(field), _selections(field, positions, limits), _is_of_box(field))


def _selections(field: Field, positions: PositionsReader, limits: ServeLimits) -> tuple[Wanted, ...]:
    items = field["select"].items(most=limits.selections)
    return tuple([positions.selection(item) for item in items])


def _described(said: ParsedFrames, positions: PositionsReader) -> Described:
    text, *tables = positions.rest(said.field)
    of = [(alias, own.items(most=2)) for alias, own in said.field["of"].entries()]
    if not 0 < len(of) <= _SOURCES or any(len(own) != 2 for _, own in of):
        said.field["of"].refuse(f"names 1 to {_SOURCES} tensors, each at its version")
    named = [(alias, a.text(most=_NAME), b.text(most=_VERSION)) for alias, (a, b) in of]
    try:
        return Described(bytes(text).decode(), tuple(tables), tuple(named))
    except UnicodeDecodeError:
        said.field.refuse("comes with a view that is not UTF-8")


def _view(said: ParsedFrames, positions: PositionsReader, limits: ServeLimits) -> Request:
    field = said.field.object({"of", "select"}, {"packing"})
    selections = _selections(field, positions, limits)
    return AskView(_described(said, positions), selections, _packing_of(field))


def _reduce(said: ParsedFrames, positions: PositionsReader, _limits: ServeLimits) -> Request:
    field = said.field.object({"of", "ufunc", "over"}, {"initial"})
    ufunc = cast("Reduction", field["ufunc"].one_of(get_args(Reduction)))
    over: ReducedOver
    if isinstance(field["over"].value, str):
        over = cast("ReducedOver", field["over"].one_of(("rows", "tiles")))
    else:
        over = field["over"].integer(0, 63)
    initial = _number(field["initial"]) if "initial" in field else None
    return AskReduce(_described(said, positions), ufunc, over, initial)


def _number(field: Field) -> int | float:
    value = field.value
    if isinstance(value, str):
        return float(field.one_of(("nan", "inf", "-inf")))
    return value if isinstance(value, float) else field.integer(-(2**63), 2**64 - 1)


def _cancel(said: ParsedFrames, _positions: PositionsReader, _limits: ServeLimits) -> Request:
    return Cancel(said.field.integer(0, 2**64 - 1))


_Reader: TypeAlias = Callable[[ParsedFrames, PositionsReader, ServeLimits], Request]

_READERS: Final[dict[str, _Reader]] = {
    "cancel": _cancel,
    "entries": _entries,
    "facts": _facts,
    "health": _health,
    "hello": _hello,
    "names": _names,
    "pin": _pinning,
    "ping": _ping,
    "read": _read,
    "records": _records,
    "reduce": _reduce,
    "rows": _rows,
    "shape": _shape,
    "stats": _stats,
    "view": _view,
    "write": _write,
}
