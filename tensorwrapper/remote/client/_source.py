"""`RemoteSource`: a tensor on a server as a source of views."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, Protocol, final

import numpy as np

from tensorwrapper._arrays import are_truths
from tensorwrapper._value_class import evolve, frozen
from tensorwrapper.buffer.lowlevel import write_elements
from tensorwrapper.errors import (
    ConversionError,
    RemoteProtocolError,
    RequestRefusedError,
    VersionChangedError,
)
from tensorwrapper.layout import Layout
from tensorwrapper.remote.batching._merge_runs import in_bands, may_be_bands
from tensorwrapper.remote.batching._request_sizes import Piece, batches_of, halved
from tensorwrapper.remote.client._connection import Connection, Connections
from tensorwrapper.remote.client._pending_request import Pending, Prepared, raise_refusal
from tensorwrapper.remote.client._shared_connections import Opening, opened, opening_of
from tensorwrapper.remote.protocol._answers import send_answer
from tensorwrapper.remote.protocol._elements import VALID, dtype_text, unpack_bytes, unpack_strings
from tensorwrapper.remote.protocol._events import Answer, AskRead, AskView, Elements, Packed, Refused, Request
from tensorwrapper.remote.protocol._requests import prepare_request, send_request
from tensorwrapper.selection import Ability, ReadHandle, Runs, Wanted
from tensorwrapper.shape import Shape
from tensorwrapper.transport import bytes_on_wire
from tensorwrapper.typing import Array

_ABILITIES: Final[frozenset[Ability]] = frozenset(("runs", "threads"))
_CASTS: Final[frozenset[Ability]] = frozenset(("runs", "threads", "casts"))
_NOWHERE: Final[Array] = np.empty(())
_SMALL: Final = 2**17
"""Selections up to this many bytes are read in one piece; larger ones by several concurrent answers."""
_WINDOW: Final = 4
"""Number of concurrent requests of one read."""
_WAIT: Final = 0.05
_BLOCK: Final = 2**19
"""Bytes to write between two checks for cancellation."""
_HURRY: Final = 0.001
"""Seconds between checks of a waiting read that may be cancelled."""


@final
@frozen(eq=False, repr=False)
class RemoteSource:
    """A tensor on a server, at one version. Reading it requests only the selected elements."""

    connections: Connections
    name: str
    version: str
    shape: Shape[Any]
    dtype: "np.dtype[Any]"
    cast: str | None = None
    """Protocol name of the dtype to which the server should cast the elements; empty for no cast."""
    is_whole: bool = True
    """True if the shape is that of the tensor, False if it is that of its flat elements."""
    layout: "Layout[Any] | None" = None
    """Layout of the box over the tiles of the tensor; None if the shape is that of the tensor."""
    held_itemsize: int = 0
    """Bytes of an element on the server, which count if they exceed those after the cast."""
    nullable: bool = False
    """True if elements may be null; views then read `sides`."""

    @property
    def sides(self) -> "tuple[RemoteSource, RemoteSource] | None":
        """Sources of the values, with zeros for nulls, and of the validity; None if not nullable."""
        if not self.nullable:
            return None
        truth = np.dtype(np.bool_)
        valid = evolve(self, dtype=truth, cast=VALID, held_itemsize=truth.itemsize, nullable=False)
        return evolve(self, nullable=False), valid

    @property
    def narrowing(self) -> int:
        """Factor by which the server overestimates an answer, as it counts elements before the cast."""
        return max(self.held_itemsize // max(self.dtype.itemsize, 1), 1)

    @property
    def abilities(self) -> "frozenset[Ability]":
        """Abilities of the source: runs, reads in any thread, and casts of numbers by the server."""
        return _CASTS if self.dtype.kind in "biuf" and self.cast is None else _ABILITIES

    def cost(self, selection: Wanted) -> int:
        """Return how many bytes a selection moves: its elements, and its description."""
        return selection.size * self.dtype.itemsize + (selection.nbytes if selection.size else 0)

    def read(self, selections: Sequence[Wanted], out: Sequence[Array]) -> ReadHandle:
        """Ask for selections, several requests at a time; answers are written as they come."""
        source = self._cast(out[0].dtype) if out and out[0].dtype != self.dtype else self
        return Reading(source, self.connections.here(), selections, out)

    def stored_as(self) -> tuple[str, str, str] | None:
        """Return the address, name and version for a stored view; None for other sources."""
        as_it_is = self.is_whole and self.cast is None and self.layout is None and not self.nullable
        plain = as_it_is and self.dtype.kind in "biufcmM" and not self.shape.has_layers
        return (self.connections.address, self.name, self.version) if plain else None

    def prepare(self, wanted: Wanted) -> "Callable[[], Array | None] | None":
        """Return a function that reads one small selection as a flat array; None if `read` is as fast.

        The request is encoded once.
        """
        nbytes = wanted.size * self.dtype.itemsize
        if not 0 < nbytes <= _SMALL or self.dtype.kind == "T" or not self.is_whole:
            return None
        pieces: list[Piece] = [(0, wanted, _NOWHERE)]
        if isinstance(wanted, Runs):
            # Shorter boxes have the same elements in the same order.
            nowhere = np.broadcast_to(_NOWHERE, wanted.extents)
            batches = list(self.requests([wanted], [nowhere], lambda: nbytes))
            if len(batches) != 1:
                return None
            (pieces,) = batches
        request = self.request(pieces)
        return partial(_read_at_once, self, request, prepare_request(request), wanted.size)

    def requests(
        self, selections: Sequence[Wanted], out: Sequence[Array], most: Callable[[], int]
    ) -> Iterator[list[Piece]]:
        """Return the pieces that each request asks for."""
        shape = self.shape
        if shape.is_box and any(may_be_bands(own, shape.extents) for own in selections):
            parts = list(in_bands(selections, out, shape.extents))
            owners = [number for number, _, _ in parts]
            boxes, targets = [own for _, own, _ in parts], [own for _, _, own in parts]
            batches = batches_of(boxes, targets, max(self.dtype.itemsize, 1), most)
            return ([(owners[k], own, target) for k, own, target in batch] for batch in batches)
        return batches_of(selections, out, max(self.dtype.itemsize, 1), most)

    def request(self, pieces: Sequence[Piece], packing: str | None = None) -> AskRead:
        """Return the request for some pieces, whose answer may be packed."""
        wanted = tuple([own for _, own, _ in pieces])
        return AskRead(self.name, self.version, self.cast, wanted, packing, self.layout is not None)

    def bytes_on_wire(self, selections: Sequence[Wanted], dtype: "np.dtype[Any] | None" = None) -> int:
        """Return how many bytes go both ways for a read, with labels and framing; as elements of a type.

        Raises
        ------
        ConversionError
            For strings, whose lengths are unknown before they are read.
        """
        if self.dtype.kind == "T":
            raise ConversionError("the size of strings is only known after reading them")
        source = self if dtype is None else self._cast(dtype)
        return bytes_of_requests(source, self.connections.here(), selections)

    def fetches(self, selections: Sequence[Wanted]) -> tuple[int, int]:
        """Return the number of requests of a read, and the bytes of their elements."""
        counts = [
            sum([own.size for _, own, _ in p]) for p in _planned(self, self.connections.here(), selections)
        ]
        return len(counts), sum(counts) * self.dtype.itemsize

    def _cast(self, dtype: "np.dtype[Any]") -> "RemoteSource":
        return evolve(self, dtype=dtype, cast=dtype_text(dtype))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemoteSource) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.name, self.version, self.cast))

    def _key(self) -> tuple[Any, ...]:
        return id(self.connections), self.name, self.version, self.cast, self.layout, self.nullable

    def __repr__(self) -> str:
        return f"remote({self.connections.address!r}, {self.name!r}, {self.dtype})"

    def __reduce__(self) -> "tuple[Callable[..., RemoteSource], tuple[Any, ...]]":
        opening = opening_of(self, self.connections)
        fields = (self.shape, self.dtype, self.cast, self.is_whole, self.layout, self.held_itemsize)
        return _opened, (opening, self.name, self.version, *fields, self.nullable)


def _opened(opening: Opening, *fields: Any) -> RemoteSource:  # noqa: ANN401 - those of the class, in order
    """Return a source from its pickled state."""
    return RemoteSource(opened(opening), *fields)


def _read_at_once(source: RemoteSource, request: AskRead, said: Prepared, count: int) -> Array | None:
    """Return `count` elements from a single answer; None if it needs several, or is compressed."""
    connection = source.connections.here()
    link = connection.link
    nbytes = count * source.dtype.itemsize
    if nbytes > connection.piece_bytes(narrowing=source.narrowing) or connection.packing() is not None:
        return None
    kept = connection.cache.find(request)
    answer: Answer | None = kept
    if answer is None:
        begun = time.monotonic()
        try:
            answer = connection.ask(request, said)
        except RequestRefusedError as error:
            if error.reason != "limit" or source.dtype.kind != "T":
                raise
            return None
        link.note(nbytes, time.monotonic() - begun)
    if not isinstance(answer, Elements):
        raise RemoteProtocolError("schema", "the server sent another answer than elements")
    if answer.version != source.version:
        raise _changed(source, answer)
    found = elements_of(answer.frames, source.dtype, count).astype(source.dtype)
    if kept is None:
        connection.cache.keep(request, answer)
    return found


def _changed(source: "SplitRead", answer: Elements) -> VersionChangedError:
    return VersionChangedError(
        f"{source!r} changed while it was read: from version {source.version!r} to {answer.version!r}"
    )


class SplitRead(Protocol):
    """A source that is read in pieces, with a request each."""

    @property
    def dtype(self) -> "np.dtype[Any]": ...
    @property
    def version(self) -> str: ...
    @property
    def narrowing(self) -> int: ...
    def requests(
        self, selections: Sequence[Wanted], out: Sequence[Array], most: Callable[[], int]
    ) -> Iterator[list[Piece]]: ...
    def request(self, pieces: Sequence[Piece], packing: str | None = None) -> Request: ...


def bytes_of_requests(source: SplitRead, connection: Connection, selections: Sequence[Wanted]) -> int:
    """Return how many bytes go both ways for a read, with labels and framing."""
    total = 0
    for pieces in _planned(source, connection, selections):
        asked = [frame.nbytes for frame in send_request(0, source.request(pieces, connection.packing()))]
        answer = [frame.nbytes for frame in send_answer(0, Elements(source.version, (memoryview(b""),)))]
        answer[-1] = sum([own.size for _, own, _ in pieces]) * source.dtype.itemsize
        # The delimiter before each message is also a frame.
        for length in [0, *asked, 0, *answer]:
            total += bytes_on_wire(length, is_encrypted=connection.is_encrypted)
    return total


def _planned(
    source: SplitRead, connection: Connection, selections: Sequence[Wanted]
) -> Iterator[list[Piece]]:
    """Return the pieces of each request, as a read would send them now."""
    nothing = np.empty((), source.dtype)
    out = [np.broadcast_to(nothing, own.extents) for own in selections]
    return source.requests(selections, out, _pieces_of(source, connection, selections))


def _pieces_of(source: SplitRead, connection: Connection, selections: Sequence[Wanted]) -> Callable[[], int]:
    """Return the function that chooses the size of the next answer of a read."""
    total = sum([own.size for own in selections]) * source.dtype.itemsize
    return partial(connection.piece_bytes, total, narrowing=source.narrowing)


@final
class Reading:
    """A read under way."""

    __slots__ = (
        "_came",
        "_connection",
        "_finished",
        "_left",
        "_sent",
        "_source",
        "_started",
        "_todo",
        "_wait",
    )

    def __init__(
        self, source: SplitRead, connection: Connection, selections: Sequence[Wanted], out: Sequence[Array]
    ) -> None:
        self._source, self._connection = source, connection
        most = _pieces_of(source, connection, selections)
        self._todo: Iterator[list[Piece]] = iter(source.requests(selections, out, most))
        self._left = [own.size for own in selections]
        """Number of missing elements of each selection."""
        self._finished = deque([number for number, left in enumerate(self._left) if not left])
        self._started, self._came = time.monotonic(), 0
        connection.link.forget_ratio()
        self._sent: deque[tuple[Pending, list[Piece]]] = deque()
        self._wait = _WAIT
        self._fill()

    def hurry(self) -> None:
        """Check more often for cancellation."""
        self._wait = _HURRY

    def _fill(self) -> None:
        while len(self._sent) < _WINDOW:
            batch = next(self._todo, None)
            if batch is None:
                return
            request = self._source.request(batch, self._connection.packing())
            kept = self._connection.cache.find(request) if isinstance(request, AskRead) else None
            if kept is None:
                self._sent.append((self._connection.start(request), batch))
            else:
                for _ in self._store(kept, batch):
                    pass

    def completed(self) -> Iterator[int | None]:
        while self._finished or self._sent:
            while self._finished:
                yield self._finished.popleft()
            if self._sent and not any(own.answer for own, _ in self._sent):
                self._connection.pump(self._wait)
            arrived = [own for own in self._sent if own[0].answer is not None]
            if not arrived and self._sent:
                yield None
                continue
            self._sent = deque([own for own in self._sent if own[0].answer is None])
            for pending, _ in arrived:
                if isinstance(pending.answer, Elements | Packed):
                    self._note(pending.answer)
            # Request the next pieces before writing these.
            self._fill()
            for pending, batch in arrived:
                for _ in self._write(pending, batch):
                    yield None

    def _write(self, pending: Pending, batch: list[Piece]) -> Iterator[None]:
        """Write an answer to its targets; yield between parts, to check for cancellation."""
        answer, source = pending.answer, self._source
        if isinstance(answer, Refused):
            # The sizes of strings were unknown, so halve the request.
            halves = halved(batch) if answer.reason == "limit" and source.dtype.kind == "T" else []
            if not halves:
                raise_refusal(answer, pending.request)
            for own in halves:
                self._sent.append((self._connection.start(source.request(own)), own))
            return
        if isinstance(answer, Packed):
            answer = self._unpacked(answer, batch)
        elif isinstance(pending.request, AskRead | AskView) and pending.request.packing is not None:
            # The server found that compression hardly helps.
            self._connection.link.note_ratio(1, 1)
        if not isinstance(answer, Elements):
            raise RemoteProtocolError("schema", "the server sent another answer than elements")
        if answer.version != source.version:
            raise _changed(source, answer)
        yield from self._store(answer, batch)
        if isinstance(pending.request, AskRead):
            self._connection.cache.keep(pending.request, answer)

    def _unpacked(self, answer: Packed, batch: list[Piece]) -> Elements:
        """Return the elements of a compressed answer, decompressing at most the requested number."""
        wanted = sum([own.size for _, own, _ in batch]) * self._source.dtype.itemsize
        self._connection.link.note_ratio(wanted, answer.data.nbytes)
        return Elements(answer.version, (unpack_bytes(answer.data, wanted),))

    def _note(self, answer: Elements | Packed) -> None:
        """Update the measured speed of the link with the bytes received since the read began."""
        frames = answer.frames if isinstance(answer, Elements) else (answer.data,)
        self._came += sum([frame.nbytes for frame in frames])
        self._connection.link.note(self._came, time.monotonic() - self._started)

    def _store(self, answer: Elements, batch: list[Piece]) -> Iterator[None]:
        count = sum([own.size for _, own, _ in batch])
        found = elements_of(answer.frames, self._source.dtype, count)
        done = 0
        for number, own, target in batch:
            part = found[done : done + own.size].reshape(own.extents)
            if self._wait == _HURRY:
                # Writing one answer takes milliseconds.
                for block, values in _blocks_of(target, part):
                    write_elements(block, values)
                    yield None
            else:
                write_elements(target, part)
            done += own.size
            self._left[number] -= own.size
            if not self._left[number]:
                self._finished.append(number)

    def cancel(self) -> None:
        self._todo = iter(())
        while self._sent:
            self._connection.forget(self._sent.popleft()[0])


def _blocks_of(target: Array, values: Array) -> Iterator[tuple[Array, Array]]:
    """Return pairs of parts of two arrays, each of which takes a fraction of a millisecond to write."""
    if values.nbytes <= _BLOCK or values.ndim == 0:
        yield target, values
    elif len(values) == 1:
        yield from _blocks_of(target[0], values[0])
    else:
        step = max(len(values) * _BLOCK // values.nbytes, 1)
        for start in range(0, len(values), step):
            # A row may still be too large.
            yield from _blocks_of(target[start : start + step], values[start : start + step])


def elements_of(frames: tuple[memoryview, ...], dtype: "np.dtype[Any]", count: int) -> Array:
    """Return the elements of an answer; raise unless there are `count`."""
    if dtype.kind == "T":
        if len(frames) != 2:
            raise RemoteProtocolError("size", "strings must have two parts")
        return unpack_strings(frames[0], frames[1], count, dtype)
    if len(frames) != 1 or frames[0].nbytes != count * dtype.itemsize:
        nbytes = [frame.nbytes for frame in frames]
        raise RemoteProtocolError(
            "size", f"expected {count * dtype.itemsize} bytes of elements, but received {nbytes}"
        )
    found: Array = np.frombuffer(frames[0], dtype.newbyteorder("<"))
    if not are_truths(found):
        raise RemoteProtocolError("integrity", "a bool is neither 0 nor 1")
    return found
