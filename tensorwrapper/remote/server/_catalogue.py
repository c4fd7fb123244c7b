"""`Catalogue`: served tensors, permissions, and the answer to each request. No sockets."""

import logging
import secrets
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, assert_never, cast, final

import attrs

from tensorwrapper._error_text import brief
from tensorwrapper.errors import (
    ComputationCancelledError,
    ConversionError,
    DTypeError,
    ExtentError,
    JaggedModeError,
    LayerError,
    LayoutError,
    OutOfBoundsError,
    RankError,
    ReadOnlyError,
    RequestRefusedError,
    SelectionError,
    SizeOverflowError,
    StepError,
    TensorNameError,
    VersionChangedError,
)
from tensorwrapper.remote.protocol._elements import pack_bytes
from tensorwrapper.remote.protocol._events import (
    Answer,
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
    Elements,
    Facts,
    FactsOf,
    Hello,
    Names,
    Packed,
    Ping,
    Pong,
    Refused,
    Request,
    Welcome,
    Written,
)
from tensorwrapper.remote.protocol._limits import CAPABILITIES, PROTOCOL, ServeLimits
from tensorwrapper.remote.served._buffer_pool import BufferPool
from tensorwrapper.remote.served._records import rows_of_fields, share_splits
from tensorwrapper.remote.served._served_tensor import ServedTensor
from tensorwrapper.remote.served._snapshots import Snapshots
from tensorwrapper.remote.served._writing import Repeats
from tensorwrapper.remote.server._evaluate import compute_view, reduce_view
from tensorwrapper.wire.lowlevel import is_records

if TYPE_CHECKING:
    from tensorwrapper.fields import Records
    from tensorwrapper.selection import Cancel as Stop
    from tensorwrapper.selection import ViewLike

_NAME: Final = 1024
_VERSION: Final = 64
_PACKED: Final = 1024
"""Minimum size of compressed answers in bytes."""
_FEW_ROWS: Final = 2**12
_FEW_NAMES: Final = 2**12
"""Number of names processed in a millisecond."""
_UNSUPPORTED: Final = (
    ConversionError,
    DTypeError,
    ExtentError,
    JaggedModeError,
    LayerError,
    LayoutError,
    RankError,
    SelectionError,
    SizeOverflowError,
    StepError,
)
"""Errors about tensors, which are sent to clients; others are not."""
_FEW_BYTES: Final = 2**16
_log = logging.getLogger(__name__)


@final
class Catalogue:
    """Tensors by name. Threads may change it while others read: a request sees one state of it."""

    __slots__ = (
        "_allow",
        "_changes",
        "_checks",
        "_holdings",
        "_lock",
        "_pins",
        "_repeats",
        "_writable",
        "_writing",
        "limits",
        "server",
        "staging",
    )

    def __init__(
        self,
        allow: Mapping[str, Iterable[str]] | None,
        limits: ServeLimits,
        writable: bool | Mapping[str, Iterable[str]] = False,  # noqa: FBT001, FBT002
    ) -> None:
        self.server: str = secrets.token_hex(8)
        self.limits: ServeLimits = limits
        self.staging: BufferPool = BufferPool()
        self._allow = None if allow is None else _patterns(allow)
        self._writable = writable if isinstance(writable, bool) else _patterns(writable)
        self._writing = threading.Lock()
        self._repeats = Repeats()
        self._pins = Snapshots(limits)
        self._holdings: dict[str, ServedTensor] = {}
        self._checks: dict[str, Callable[[], str]] = {}
        self._changes = 0
        self._lock = threading.Lock()

    # Contents.

    def put(self, name: str, given: "ViewLike | Records", check: Callable[[], str] | None = None) -> None:
        """Serve a tensor, or all fields of records, under a name, replacing an existing one.

        `check` returns the version of external data, and is called for each request.
        """
        text = cast("object", name)
        if not isinstance(text, str) or not 0 < len(text) <= _NAME or not text.isprintable():
            raise TensorNameError(
                f"the name of a tensor must have 1 to {_NAME} printable characters, not {brief(name)}"
            )
        if is_records(given):
            self._put_records(name, given, check)
        else:
            self._put({name: cast("ViewLike", given)}, check, None, name)

    def _put_records(self, name: str, records: "Records", check: Callable[[], str] | None) -> None:
        """Serve records under a name: each field under a dotted one, all at one version."""
        fields = {f"{name}.{own}": field for own, field in records.items()}
        for own in fields:
            if not 0 < len(own) <= _NAME or not own.isprintable():
                raise TensorNameError(
                    f"the name of a field must have 1 to {_NAME} printable characters, not {brief(own)}"
                )
        self._put(fields, check, records.rank, name)

    def _put(
        self,
        given: "Mapping[str, ViewLike]",
        check: Callable[[], str] | None,
        rank: int | None,
        owner: str,
    ) -> None:
        """Serve the objects of one `owner`: a tensor, or fields with the number of modes that they share."""
        version = self._next() if check is None else check()
        new: dict[str, ServedTensor] = {}
        for number, (name, own) in enumerate(given.items()):
            holding = new[name] = ServedTensor(name, own, version, self.limits, self.staging)
            if rank is not None:
                holding.facts = attrs.evolve(holding.facts, records=(owner, number, rank))
        if rank is not None:
            share_splits([*new.values()])
        with self._lock:
            self._refuse_field(owner)
            left = self._without(owner)
            for name in new:
                if name in left:
                    self._refuse_field(name)
                    raise TensorNameError(
                        f"a tensor {name!r} is already served; use `server.remove({name!r})`"
                    )
            self._holdings = {**left, **new}
            checks = {name: own for name, own in self._checks.items() if name in left}
            self._checks = checks if check is None else {**checks, **dict.fromkeys(new, check)}

    def drop(self, name: str) -> None:
        """Stop serving a tensor, or all fields of records."""
        with self._lock:
            self._refuse_field(name)
            left = self._without(name)
            if len(left) == len(self._holdings):
                raise TensorNameError(f"no tensor {name!r} is served")
            self._holdings = left
            self._checks = {key: own for key, own in self._checks.items() if key in left}

    def _without(self, name: str) -> dict[str, ServedTensor]:
        """Return the served objects without a tensor, or without all fields of records."""
        return {
            key: own for key, own in self._holdings.items() if key != name and not _is_field_of(own, name)
        }

    def _refuse_field(self, name: str) -> None:
        found = self._holdings.get(name)
        if found is not None and found.facts.records is not None:
            owner = found.facts.records[0]
            raise TensorNameError(
                f"{name!r} is a field of the records {owner!r}, which are replaced and "
                f"removed as a whole; use `server.remove({owner!r})`"
            )

    @contextmanager
    def editing(self, name: str) -> Generator[None]:
        """Block reads of a tensor while it is edited in place; afterwards it has a new version."""
        holding = self._holdings.get(name)
        if holding is None:
            raise TensorNameError(f"no tensor {name!r} is served")
        with holding.lock:
            try:
                yield
            finally:
                holding.forget()
                version, group = self._next(), holding.facts.records
                holding.facts = attrs.evolve(holding.facts, version=version)
                # Fields of records have one version.
                for own in self._holdings.values() if group is not None else ():
                    if group is not None and _is_field_of(own, group[0]):
                        own.facts = attrs.evolve(own.facts, version=version)

    def names(self) -> list[str]:
        """Return all names in order."""
        return sorted(self._holdings)

    def __len__(self) -> int:
        return len(self._holdings)

    def tensors(self) -> "dict[str, ViewLike]":
        """Return the served objects, by name in order."""
        return {name: own.given for name, own in sorted(self._holdings.items())}

    def _next(self) -> str:
        with self._lock:
            self._changes += 1
            return f"{self.server}:{self._changes}"

    def _may(self, name: str, key: str) -> bool:
        return self._allow is None or _names(self._allow, name, key)

    def _may_write(self, name: str, key: str, holding: ServedTensor) -> bool:
        patterns = self._writable
        may = patterns if isinstance(patterns, bool) else _names(patterns, name, key)
        is_field = holding.facts.records is not None
        return may and holding.is_writable and name not in self._checks and not is_field

    def _facts(self, name: str, key: str, request: AskFacts) -> Facts:
        pin = request.pin
        holding = self._found(name, key, pin)
        if pin and not self._pins.has(pin, name, holding.facts.version):
            raise RequestRefusedError("changed", f"the tensor {name[:60]!r} was edited since the snapshot")
        # Older clients do not support this key.
        box = holding.facts.box if request.box else None
        records = holding.facts.records if request.records else None
        symmetry = holding.facts.symmetry if request.symmetry else None
        writable = self._may_write(name, key, holding)
        return attrs.evolve(holding.facts, writable=writable, box=box, records=records, symmetry=symmetry)

    def _write(self, request: AskWrite, key: str, number: int) -> Answer:
        holding = self._found(request.name, key)
        if not self._may_write(request.name, key, holding):
            raise RequestRefusedError("readonly", f"this client may not write to the tensor {request.name!r}")
        # Process one write at a time, so that a repeated write waits for the answer to the first.
        with self._writing:
            found = self._repeats.find(key, request.client, number)
            if found is None:
                found = Written(holding.write(request, self._next))
                self._repeats.keep(key, request.client, number, found)
        return found

    def _found(self, name: str, key: str, pin: str = "") -> ServedTensor:
        """Return the tensor of a name; a missing one and one forbidden to the client raise the same error."""
        there = self._all(pin)
        holding = there.get(name)
        if not self._may(name, key) or holding is None:
            text = f"no tensor {name[:60]!r} is served"
            if len(there) <= _FEW_NAMES and any(
                _is_field_of(own, name) and self._may(field, key) for field, own in there.items()
            ):
                text += f", but records are: `remote.records({name!r})`"
            raise RequestRefusedError("missing", text)
        return holding

    def _all(self, pin: str) -> Mapping[str, ServedTensor]:
        if not pin:
            return self._holdings
        found = self._pins.find(pin)
        if found is None:
            raise RequestRefusedError("changed", "the snapshot does not exist or has expired")
        return found

    def _at(self, name: str, version: str, key: str) -> ServedTensor:
        earlier = self._pins.at(name, version) if version else None
        if earlier is not None and self._may(name, key) and name not in self._checks:
            return earlier
        holding = self._found(name, key)
        check = self._checks.get(name)
        now = holding.facts.version if check is None else check()
        if version not in (now, "") or now != holding.facts.version:
            raise RequestRefusedError(
                "changed", f"the tensor {name!r} is at version {now}, not {version[:_VERSION]}"
            )
        return holding

    def _named(self, view: Described, key: str) -> tuple[Described, list[ServedTensor]]:
        """Return a view of present versions, where it names none, and its tensors."""
        held = [self._at(name, version, key) for _, name, version in view.of]
        told = zip(view.of, held, strict=True)
        of = tuple([(source, name, version or own.facts.version) for (source, name, version), own in told])
        return attrs.evolve(view, of=of), held

    def rest(self) -> None:
        """Free unused memory and expired snapshots; called while the server is idle."""
        self.staging.shrink()
        self._pins.expire()

    # Answers.

    def _seen(self, name: str, key: str) -> ServedTensor | None:
        """Return a tensor if the client may see it; forbidden names take the same path as missing ones."""
        return self._holdings.get(name) if self._may(name, key) else None

    def is_quick(self, request: Request, key: str) -> bool:
        """Return True if answering takes less time than passing the request to another thread."""
        if isinstance(request, AskRead):
            holding = self._seen(request.name, key)
            if holding is None:
                return True
            return request.packing is None and holding.is_quick(request.selections, box=request.box)
        if isinstance(request, AskRows | AskRecords):
            return request.rows.size <= _FEW_ROWS and request.nbytes <= _FEW_BYTES
        if isinstance(request, AskNames | AskPin):
            return len(self._holdings) <= _FEW_NAMES
        return isinstance(request, Hello | Ping | AskFacts)

    def at_once(self, request: AskRead | AskRows | AskRecords, key: str) -> Answer | None:
        """Return the answer to a small request that needs no waiting; None for others."""
        if not self.is_quick(request, key) or self.bytes_of(request, key) >= _FEW_BYTES:
            return None
        return self.answer(request, key)

    def bytes_of(self, request: Request, key: str) -> int:
        """Return the approximate maximum size of the answer to a request in bytes."""
        most = self.limits.answer_bytes
        if isinstance(request, AskRead):
            holding = self._seen(request.name, key)
            found = 0 if holding is None else holding.bytes_of(request.selections, request.dtype)
            # A compressed answer is in memory together with its elements.
            if request.packing is not None:
                found *= 2
            return min(found, most if request.packing is None and request.dtype is None else 2 * most)
        if isinstance(request, AskRows):
            return min(16 * request.rows.size + request.nbytes, most)
        if isinstance(request, AskRecords):
            return min(16 * request.rows.size * len(request.fields) + request.nbytes, most)
        return most if isinstance(request, AskView | AskEntries | AskReduce | AskShape) else 0

    def answer(
        self, request: Request, key: str, number: int = 0, stop: "Stop | None" = None, peer: str = ""
    ) -> Answer:
        """Return the answer to a request of the client with a key. Errors are also answers.

        Once `stop` is set the answer is not needed. `peer` distinguishes clients without keys.
        """
        try:
            if isinstance(request, AskPin):
                return self._pin(request, key or peer)
            return self._answer(request, key, number, stop)
        except RequestRefusedError as error:
            return Refused(error.reason, str(error.args[1]))
        except ComputationCancelledError:
            return Refused("internal", "it was cancelled")
        except VersionChangedError as error:
            return Refused("changed", str(error))
        except OutOfBoundsError as error:
            return Refused("bounds", str(error))
        except ReadOnlyError as error:
            return Refused("readonly", str(error))
        except _UNSUPPORTED as error:
            return Refused("unsupported", str(error))
        except Exception as error:  # noqa: BLE001 - a client must not end the server, nor see into it
            ident = secrets.token_hex(4)
            _log.error("the request %s failed: %s", ident, type(request).__name__, exc_info=error)
            return Refused("internal", f"the server failed; its log has it under {ident}")

    def _answer(  # noqa: C901, PLR0912 - a case for each request
        self, request: Request, key: str, number: int, stop: "Stop | None"
    ) -> Answer:
        match request:
            case AskRead():
                holding = self._at(request.name, request.version, key)
                found = holding.read(request.selections, request.dtype, stop, box=request.box)
                return self._unchanged(request, found.version, self._packed(found, request.packing))
            case Hello():
                if not request.least <= PROTOCOL <= request.most:
                    raise RequestRefusedError(
                        "version", f"this server has version {PROTOCOL} of the protocol"
                    )
                limits = self.limits
                return Welcome(self.server, PROTOCOL, CAPABILITIES, limits.answer_bytes, limits.in_flight)
            case Ping():
                return Pong(self.server)
            case AskNames():
                there = sorted(self._all(request.pin))
                names = [name for name in there if name > request.after and self._may(name, key)]
                return Names(tuple(names[: request.count]), len(names) > request.count)
            case AskFacts():
                return FactsOf(tuple([self._facts(name, key, request) for name in request.names]))
            case AskShape():
                return self._at(request.name, request.version, key).text()
            case AskRows():
                rows = self._at(request.name, request.version, key).rows(request.rows, request.nbytes)
                return self._unchanged(request, rows.version, rows)
            case AskRecords():
                names = [f"{request.name}.{own}" for own in request.fields]
                return rows_of_fields(request, [self._at(own, request.version, key) for own in names])
            case AskEntries():
                holding = self._at(request.name, request.version, key)
                entries = holding.entries(request.selections, box=request.box, stop=stop)
                return self._unchanged(request, entries.version, entries)
            case AskView():
                view, held = self._named(request.view, key)
                found = compute_view(attrs.evolve(request, view=view), held, self.limits, stop)
                return self._packed(found, request.packing)
            case AskReduce():
                view, held = self._named(request.view, key)
                return reduce_view(attrs.evolve(request, view=view), held, self.limits, stop)
            case AskWrite():
                return self._write(request, key, number)
            case AskStats() | AskHealth() | Cancel() | AskPin():
                raise RequestRefusedError("unsupported", "a catalogue does not answer this request")
            case _:
                assert_never(request)

    def _pin(self, request: AskPin, owner: str) -> Answer:
        if request.release:
            return self._pins.release(request.release)
        return self._pins.add(self._holdings, owner)

    def _packed(self, found: Elements, packing: str | None) -> Elements | Packed:
        """Return compressed elements, if the client requests it and it helps."""
        if packing is None or len(found.frames) != 1 or found.frames[0].nbytes < _PACKED:
            return found
        data = pack_bytes(found.frames[0])
        if data is None:
            return found
        self.staging.give(found.frames)
        return Packed(found.version, data)

    @staticmethod
    def _unchanged(request: AskRead | AskRows | AskEntries, version: str, answer: Answer) -> Answer:
        """Return an answer; raise if the version is not the requested one."""
        if request.version not in (version, ""):
            raise RequestRefusedError("changed", f"the tensor {request.name!r} is at version {version}")
        return answer


def _is_field_of(holding: ServedTensor, owner: str) -> bool:
    records = holding.facts.records
    return records is not None and records[0] == owner


def _patterns(given: Mapping[str, Iterable[str]]) -> dict[str, frozenset[str]]:
    return {pattern: frozenset(keys) for pattern, keys in given.items()}


def _names(patterns: Mapping[str, frozenset[str]], name: str, key: str) -> bool:
    """Return True if a pattern that matches a name lists a key."""
    return any(key in keys and fnmatchcase(name, pattern) for pattern, keys in patterns.items())
