"""`Dispatcher`: receives the messages of a socket for its transfers, and writes elements in place."""

import logging
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, final

import zmq

from tensorwrapper.errors import FlowAbortedError, RemoteProtocolError, TransportTimeoutError
from tensorwrapper.transport.transfer._messages import (
    COORDINATES,
    ParsedLabel,
    compare,
    is_end,
    message_frames,
    read_label,
    unpack_coordinates,
)
from tensorwrapper.transport.transfer._receive_into import take_message
from tensorwrapper.transport.transfer._receiver import TransferReceiver
from tensorwrapper.transport.transfer._transfer import PATIENCE, Transfer
from tensorwrapper.wire import Message, decode
from tensorwrapper.wire.lowlevel import refuse

if TYPE_CHECKING:
    from tensorwrapper.transport.transfer._scheduler import TransferScheduler

_log = logging.getLogger(__name__)

_SILENT: Final = 5.0
"""Seconds after which an offer that was neither accepted nor repeated is dropped to make room."""

_DEAD: Final = 60.0
"""Seconds after which a silent transfer is dropped to make room. Its caller timed out long before."""

_AT_ONCE: Final = 32
"""Number of messages read before a chunk is sent."""


@final
class Dispatcher:
    """Reader of the messages at a scheduler's socket."""

    __slots__ = ("_engine", "_incoming", "strays")

    def __init__(self, engine: "TransferScheduler") -> None:
        self._engine = engine
        self._incoming: tuple[Transfer, ParsedLabel, int, int, bool] | None = None
        self.strays = 0
        """Number of dropped messages that belonged to no transfer or arrived too late."""

    def take_some(self) -> bool:
        for count in range(_AT_ONCE):
            self._incoming = None
            try:
                taken = take_message(self._engine.endpoint, self._place)
                if taken is None:
                    return count > 0
                if self._incoming is not None:
                    self._chunk_came(*taken)
                else:
                    self._message_came(taken[0])
            except RemoteProtocolError as error:
                self._fail_sender(error)
        return True

    def _place(self, frames: list[zmq.Frame]) -> memoryview | None:
        """Return the target memory of a chunk's elements, once its header frames have arrived."""
        kind = self._engine.endpoint.kind
        at = kind.addressed + kind.delimiter
        if len(frames) < at + 2 or not frames[-1].more:
            return None
        if self._incoming is None:
            if len(frames) > at + 2:
                return None
            try:
                said = read_label(_label(frames[at]), self._engine.limits)
            except RemoteProtocolError as error:
                self._report_error(frames[0].bytes if kind.addressed else b"", frames[at : at + 2], error)
                raise
            if said is None or said.verb != "CHUNK":
                return None
            request, first, seqno = unpack_coordinates(frames[at + 1].buffer)
            transfer = self._engine.by_request.get((frames[0].bytes if kind.addressed else b"", request))
            if transfer is None or not isinstance(transfer._machine, TransferReceiver):
                return None
            machine = transfer._machine
            self._incoming = (transfer, said, first, seqno, False)
            if machine.check is not None:
                return None
        transfer, said, first, seqno, _ = self._incoming
        return self._memory_for(transfer, said, first, seqno)

    def _memory_for(self, transfer: Transfer, said: ParsedLabel, first: int, seqno: int) -> memoryview | None:
        machine, target = transfer._machine, transfer._target
        if not isinstance(machine, TransferReceiver) or target is None:
            return None
        room = machine.room(said.part, first, seqno)
        if not room:
            self._incoming = None
            return None
        memory = target.memory(said.part, first, room)
        # Copy non-contiguous elements from the frame. Receiving them into other memory would add a copy.
        self._incoming = (transfer, said, first, seqno, memory is None)
        return memory

    def _chunk_came(self, frames: list[zmq.Frame], written: int | None) -> None:
        # Keep the chunk recorded until it succeeds, because errors are attributed to its transfer.
        incoming = self._incoming
        if incoming is None:
            return
        transfer, said, first, seqno, is_apart = incoming
        machine, target, window = transfer._machine, transfer._target, transfer._window
        if not isinstance(machine, TransferReceiver) or target is None or window is None:
            return
        data = self._pop_elements(machine, frames) if is_apart else None
        written = written if data is None else data.nbytes
        if written is None:
            refuse("frame", "a chunk has no frame of elements")
        item = machine.tensor.item_sizes[said.part] if machine.tensor is not None else 1
        room = machine.room(said.part, first, seqno)
        if written % item or not 0 < written <= room * item:
            machine.came(said.part, first, written, seqno)
        place = target.memory(said.part, first, written // item) if data is None else data
        if place is not None and machine.check is not None:
            compare(machine.check, frames[-1].buffer, written // item, place)
        if data is not None:
            target.put(first, data)
        machine.came(said.part, first, written, seqno)
        now = time.monotonic()
        transfer._last_message = transfer._progress = now
        transfer._patience = PATIENCE
        window.arrived(now, written)
        if machine.is_complete:
            self._engine.finish(transfer, machine)
            return
        total = transfer._hold.nbytes // max(machine.chunk, 1)
        free = total - machine.outstanding
        if free >= max(total // 2, 1):
            window.granted(now, machine.outstanding)
            self._engine.post(transfer, machine.pay(free, window.chunk))

    def _pop_elements(self, machine: TransferReceiver, frames: list[zmq.Frame]) -> memoryview | None:
        """Remove and return the elements frame of a chunk that was not written yet."""
        kind = self._engine.endpoint.kind
        wanted = kind.addressed + kind.delimiter + 3 + (machine.check is not None)
        return frames.pop().buffer if len(frames) == wanted else None

    def _message_came(self, frames: list[zmq.Frame]) -> None:
        kind = self._engine.endpoint.kind
        peer = frames[0].bytes if kind.addressed else b""
        rest = frames[kind.addressed :]
        if kind.delimiter:
            if not rest or len(rest[0]):
                self._drop(peer, "the empty frame before a message is missing")
                return
            rest = rest[1:]
        try:
            said = read_label(_label(rest[0]) if rest else "", self._engine.limits)
            if said is None or said.verb == "CHUNK":
                self._drop(peer, "no transfer of this number runs")
                return
            message = decode([frame.buffer for frame in rest], limits=self._engine.limits)
        except RemoteProtocolError as error:
            self._drop(peer, str(error))
            self._report_error(peer, rest[:2], error)
            return
        known = self._engine.by_key.get(said.key) if said.key else None
        transfer = known or self._engine.by_request.get((peer, message.origin))
        if transfer is not None:
            self._handle(transfer, peer, said, message)
        elif said.verb == "OFFER":
            self._offered(peer, said, message)
        elif said.verb == "DONE" and (given := self._engine.given.get(message.origin)) is not None:
            self._engine.acknowledge(peer, given)
        elif said.verb == "HEARD" and (key := self._key_of(message.origin)) is not None:
            self._engine.unheard.pop(key)[1].receive(message)
        else:
            self._drop(peer, f"{said.verb} is of no transfer")

    def _report_error(self, peer: bytes, heads: Sequence[zmq.Frame], error: RemoteProtocolError) -> None:
        """Report a message's error to its peer, if the message has a number, and end the transfer."""
        if len(heads) < 2 or len(heads[1]) != COORDINATES or not _label(heads[0]):
            return
        request = unpack_coordinates(heads[1].buffer)[0]
        transfer = self._engine.by_request.get((peer, request))
        if transfer is not None:
            error.peer = peer
            self._engine.lose(transfer, error)
            return
        if not is_end(_label(heads[0]), self._engine.limits):
            self._engine.send(
                peer, message_frames("CANCEL", request, 0, ParsedLabel("CANCEL", error=str(error)))
            )

    def _key_of(self, request: int) -> str | None:
        """Return the key of a completed transfer that the giver has not confirmed yet."""
        for key, (_, machine) in self._engine.unheard.items():
            if machine.request == request:
                return key
        return None

    def _offered(self, peer: bytes, said: ParsedLabel, message: Message) -> None:
        done = self._engine.done.get(said.key)
        if done is not None:
            done.request = message.origin
            self._engine.unheard[said.key] = peer, done
            self._engine.send(peer, done.done())
            return
        if not self._has_room(peer):
            return
        if len(self._engine.by_key) >= self._engine.most:
            why = f"there are {self._engine.most} transfers already"
            self._drop(peer, why)
            self._engine.send(
                peer, message_frames("CANCEL", message.origin, 0, ParsedLabel("CANCEL", error=why))
            )
            return
        machine = TransferReceiver(
            credit=self._engine.credit, chunk=self._engine.chunk, limits=self._engine.limits
        )
        transfer = Transfer(self._engine, peer, machine, None, time.monotonic())
        try:
            machine.receive(message)
        except RemoteProtocolError as error:
            self._drop(peer, str(error))
            self._engine.send(
                peer, message_frames("CANCEL", message.origin, 0, ParsedLabel("CANCEL", error=str(error)))
            )
            return
        self._engine.by_key[machine.key] = transfer
        self._engine.by_request[peer, message.origin] = transfer
        self._engine.asked.append(transfer)

    def _has_room(self, peer: bytes) -> bool:
        """Forget silent peers if there is no room; return False if there is still none.

        Peers repeat an unanswered offer at least every two seconds. So a live peer is admitted within a few
        seconds, even if other peers made offers and vanished.
        """
        engine, now = self._engine, time.monotonic()
        if len(engine.by_key) >= engine.most:
            waiting = {id(transfer) for transfer in engine.asked}
            for transfer in engine.running:
                silent = now - max(transfer._last_message, transfer._progress)
                if transfer.role == "taker" and silent > (_SILENT if id(transfer) in waiting else _DEAD):
                    engine.forget(transfer)
                    transfer._fail(TransportTimeoutError(f"no message from the peer for {silent:.0f} s"))
            while engine.asked and engine.asked[0].state == "failed":
                engine.asked.popleft()
        offered = [transfer for transfer in engine.asked if transfer.state == "offered"]
        if len(engine.by_key) >= engine.most and offered:
            self._drop(peer, "other offers wait to be answered")
            return False
        if peer and sum([transfer.peer == peer for transfer in offered]) >= max(engine.most // 2, 1):
            self._drop(peer, "as many of its offers wait as may")
            return False
        return True

    def _handle(self, transfer: Transfer, peer: bytes, said: ParsedLabel, message: Message) -> None:
        """Handle a message of a running transfer."""
        machine, before = transfer._machine, (transfer.peer, transfer._machine.request)
        # A giver that restarted, or that had grants of an earlier taker, has no chunks under way.
        epoch_lost = isinstance(machine, TransferReceiver) and (
            message.origin != machine.request or (said.verb == "OFFER" and message.granule > machine.epoch)
        )
        try:
            machine.receive(message)
        except RemoteProtocolError as error:
            error.peer = peer
            self._engine.lose(transfer, error)
            return
        now = time.monotonic()
        transfer._last_message = now
        # Any peer that knows the key is the peer of the transfer, even on a new connection.
        transfer._peer = peer
        self._engine.by_request.pop(before, None)
        self._engine.by_request[peer, machine.request] = transfer
        if machine.error is not None:
            why = machine.error
            text = "the peer gave the transfer up"
            self._engine.lose(transfer, FlowAbortedError(f"{text}: {why}" if why else text))
        elif isinstance(machine, TransferReceiver):
            if machine.state == "moving" and (epoch_lost or before[0] != peer):
                self._engine.grant(transfer, machine)
        else:
            transfer._patience = PATIENCE
            left = machine.left
            if said.verb != "GRANT" or transfer._least < 0 or left < transfer._least:
                transfer._least, transfer._progress = left, now
            if machine.state == "done":
                self._engine.forget(transfer)
                self._engine.acknowledge(peer, machine)

    def _fail_sender(self, error: RemoteProtocolError) -> None:
        """End the transfer of an invalid chunk."""
        incoming, self._incoming = self._incoming, None
        failed = [t for t in self._engine.running if t.state == "failed"]
        transfer = incoming[0] if incoming is not None else (failed[0] if failed else None)
        if transfer is None:
            self._drop(error.peer, str(error))
            return
        error.peer = transfer.peer
        self._engine.lose(transfer, error)

    def _drop(self, peer: bytes, why: str) -> None:
        self.strays += 1
        _log.info("a message of %r belongs to no transfer: %s", peer, why)


def _label(frame: zmq.Frame) -> str:
    """Return the label in the first frame of a message, or an empty text for other messages."""
    data = frame.bytes
    if not data.startswith(b"ZIO") or data[4:8] != b"FLOW":
        return ""
    return data[8:].decode("utf-8", "replace")
