"""`TransferScheduler`: runs the transfers of one socket: grants, chunks, and repeats of lost messages."""

import time
from collections import OrderedDict, deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, final

import zmq

from tensorwrapper.errors import (
    FlowAbortedError,
    PeerUnreachableError,
    TensorWrapperError,
    TransportClosedError,
    TransportError,
    TransportTimeoutError,
)
from tensorwrapper.selection import Progress
from tensorwrapper.transport._delivery import COPIED, to_milliseconds
from tensorwrapper.transport._endpoint import Endpoint
from tensorwrapper.transport._socket import Socket
from tensorwrapper.transport.connections._addresses import is_local
from tensorwrapper.transport.transfer._budget import ChunkPool
from tensorwrapper.transport.transfer._dispatch import Dispatcher
from tensorwrapper.transport.transfer._messages import ParsedLabel, check_frames, message_frames
from tensorwrapper.transport.transfer._receiver import TransferReceiver
from tensorwrapper.transport.transfer._sender import TransferSender
from tensorwrapper.transport.transfer._transfer import Transfer
from tensorwrapper.transport.transfer._window import Window
from tensorwrapper.wire import Limits

_MOST_PATIENCE: Final = 8.0
"""Longest time without a message, in seconds, before an end repeats its last message."""

_TORN: Final = 0.25
"""The same if a chunk arrived before earlier ones."""

_PAUSE: Final = 0.002
"""Polling interval for room in seconds."""

_REMEMBERED: Final = 256
"""Number of completed transfers that are remembered, because a peer may repeat its question."""

_OFFERED: Final = 2.0
"""Longest interval between repeats of an unanswered offer, in seconds."""

_FAREWELL: Final = 1.0
"""Seconds to wait at close for the givers' confirmations."""

_AGAIN: Final = 0.1
"""Seconds between repeats of the completion message at close."""


@final
class TransferScheduler:
    """The transfers of one socket. Waiting for one of them advances all."""

    __slots__ = (
        "_inbox",
        "_is_blocked",
        "_unreachable",
        "asked",
        "by_key",
        "by_request",
        "chunk",
        "credit",
        "done",
        "endpoint",
        "given",
        "limits",
        "most",
        "staging",
        "timeout",
        "unheard",
    )

    def __init__(self, socket: Socket, credit: int, chunk: int, most: int, timeout: float) -> None:
        self.endpoint: Endpoint = socket._endpoint
        self.limits: Limits = socket._limits
        self.credit: int = credit
        self.chunk: int = chunk
        self.most: int = most
        self.timeout: float = timeout
        self.by_request: dict[tuple[bytes, int], Transfer] = {}
        self.by_key: dict[str, Transfer] = {}
        self.asked: deque[Transfer] = deque()
        self.done: OrderedDict[str, TransferReceiver] = OrderedDict()
        # Sent transfers by number, and completed received transfers, not yet confirmed by the giver, by key.
        self.given: OrderedDict[int, TransferSender] = OrderedDict()
        self.unheard: OrderedDict[str, tuple[bytes, TransferReceiver]] = OrderedDict()
        self.staging: ChunkPool = ChunkPool(chunk)
        self._inbox = Dispatcher(self)
        self._is_blocked = False
        self._unreachable: PeerUnreachableError | None = None

    @property
    def running(self) -> tuple[Transfer, ...]:
        """The transfers that have not ended."""
        return tuple(self.by_key.values())

    @property
    def strays(self) -> int:
        """Number of dropped messages."""
        return self._inbox.strays

    def wait(self, transfer: Transfer, timeout: float | None, progress: Progress | None = None) -> None:
        _, seconds = self.deadline(timeout)
        told = -1
        transfer._progress = max(transfer._progress, time.monotonic())
        while transfer.state not in ("done", "failed") and transfer._error is None:
            if transfer.state == "offered" and transfer.role == "taker":
                raise TransportClosedError("this transfer has no target: call into() first")
            deadline = transfer._progress + to_milliseconds(seconds, "timeout") / 1000
            if not self.pump(deadline) and time.monotonic() >= deadline:
                raise self._stall_error(transfer, seconds)
            if progress is not None and (done := transfer.nbytes - transfer.left) != told:
                told = done
                progress(done, transfer.nbytes)
        transfer._raise()
        if transfer.state == "failed":
            raise FlowAbortedError("this transfer was cancelled")
        deadline = time.monotonic() + to_milliseconds(seconds, "timeout") / 1000
        # ZeroMQ may still read chunks that were sent twice or queued on a broken connection.
        while transfer._trackers:
            if transfer._trackers[0].done:
                transfer._trackers.popleft()
            elif time.monotonic() > deadline:
                raise TransportTimeoutError(
                    "the peer has the whole tensor, but ZeroMQ still reads its memory"
                )
            else:
                self.pump(time.monotonic() + _PAUSE)

    def _stall_error(self, transfer: Transfer, seconds: float) -> TransportError:
        gone: TransportError | None = self._unreachable
        if gone is None:
            # Report connection errors since the last message was sent.
            found = self.endpoint.timed_out("nothing came to", seconds)
            gone = found if type(found) is not TransportTimeoutError else None
        machine = transfer._machine
        if isinstance(machine, TransferSender) and machine.state == "moving" and not machine.left:
            # The peer's last message may have been lost with the connection.
            text = f"all of a tensor went, and the peer did not say within {seconds} s that it has it: it may"
            if gone is None:
                return TransportTimeoutError(f"{text}, at {self.endpoint}")
            error = type(gone)(gone.errno, f"{text}, and {gone.strerror}")
            error.peer = gone.peer
            return error
        return gone or TransportTimeoutError(
            f"no progress with {transfer.left} bytes of a tensor left within {seconds} s at {self.endpoint}"
        )

    def begin(self, transfer: Transfer) -> None:
        """Start to receive a transfer whose memory is allocated; senders wait for grants."""
        machine = transfer._machine
        if isinstance(machine, TransferReceiver):
            near = all(map(is_local, self.endpoint.addresses))
            transfer._window = Window(machine.credit, machine.chunk, is_local=near)
            self.grant(transfer, machine)

    def grant(self, transfer: Transfer, machine: TransferReceiver) -> None:
        if machine.is_complete:
            self.finish(transfer, machine)
            return
        transfer._hold.release()
        credit = machine.credit
        while credit and not transfer._hold.grow(credit * machine.chunk):
            credit //= 2
        transfer._wanted = not credit
        window = transfer._window
        if credit and window is not None:
            now = time.monotonic()
            window.granted(now, 0)
            transfer._last_message = now
            self.post(transfer, machine.grant(credit, window.chunk))

    def give_up(self, transfer: Transfer, why: str) -> None:
        machine = transfer._machine
        if machine.state not in ("idle", "done", "failed"):
            self.post(transfer, machine.cancel(why))
        transfer._hold.release()
        self.forget(transfer)

    def forget(self, transfer: Transfer) -> None:
        if self.by_key.get(transfer.key) is transfer:
            del self.by_key[transfer.key]
        self.by_request.pop((transfer.peer, transfer._machine.request), None)
        if not any(other.role == "giver" for other in self.running):
            self.staging.close()

    def finish(self, transfer: Transfer, machine: TransferReceiver) -> None:
        """Assemble the received tensor, and inform the peer."""
        target = transfer._target
        transfer._hold.release()
        try:
            if target is not None:
                transfer._tensor = target.tensor()
        except TensorWrapperError as error:
            self.give_up(transfer, str(error))
            transfer._fail(error)
            return
        self.post(transfer, machine.done())
        self.unheard[machine.key] = transfer.peer, machine
        self.done[machine.key] = machine
        for remembered in (self.done, self.unheard):
            if len(remembered) > _REMEMBERED:
                remembered.popitem(last=False)
        self.forget(transfer)

    def acknowledge(self, peer: bytes, machine: TransferSender) -> None:
        """Confirm a taker's completion message, also if it is repeated."""
        self.given[machine.request] = machine
        if len(self.given) > _REMEMBERED:
            self.given.popitem(last=False)
        self.send(peer, machine.heard())

    def farewell(self) -> None:
        """Wait until the givers have confirmed completion or disconnected, so that none reports a loss.

        Closing the socket would lose the last message. This takes a round trip, and at most a second.
        """
        deadline, again = time.monotonic() + _FAREWELL, time.monotonic() + _AGAIN
        with suppress(TransportError):
            while self.unheard and (now := time.monotonic()) < deadline:
                if now >= again:
                    again = now + _AGAIN
                    self._announce_again()
                self.pump(min(again, deadline))

    def _announce_again(self) -> None:
        if self.endpoint.kind.addressed:
            for key, (peer, machine) in [*self.unheard.items()]:
                if self.send(peer, machine.done()) is None and self._unreachable is not None:
                    del self.unheard[key]
        elif type(self.endpoint.timed_out("nothing came to", 0)) is not TransportTimeoutError:
            self.unheard.clear()
        else:
            for peer, machine in self.unheard.values():
                self.send(peer, machine.done())

    def lose(self, transfer: Transfer, error: Exception) -> None:
        if not isinstance(error, FlowAbortedError):
            said = ParsedLabel("CANCEL", error=str(error))
            self.send(transfer.peer, message_frames("CANCEL", transfer._machine.request, 0, said))
        self.forget(transfer)
        transfer._fail(error)

    def deadline(self, timeout: float | None) -> tuple[float, float]:
        seconds = self.timeout if timeout is None else timeout
        return time.monotonic() + to_milliseconds(seconds, "timeout") / 1000, seconds

    def post(self, transfer: Transfer, frames: Sequence[bytes | memoryview]) -> bool:
        """Send a message if there is room. A lost message is repeated later."""
        return self.send(transfer.peer, frames) is not None or not self._is_blocked

    def send(self, peer: bytes, frames: Sequence[bytes | memoryview]) -> zmq.MessageTracker | None:
        kind = self.endpoint.kind
        envelope = ([peer] if kind.addressed else []) + ([b""] if kind.delimiter else [])
        try:
            trackers = self.endpoint.send([*envelope, *frames], 0)
        except PeerUnreachableError as error:
            # The peer may reconnect under another identity.
            self._unreachable = error
            return None
        except TransportTimeoutError:
            self._is_blocked = True
            return None
        self._unreachable = None
        return trackers[-1] if trackers else COPIED

    def give(self, transfer: Transfer, machine: TransferSender) -> bool:
        """Send the next chunk of a transfer; return True if one was sent."""
        run = machine.next()
        source = transfer._source
        if run is None or source is None:
            return False
        trackers = transfer._trackers
        while trackers and trackers[0].done:
            trackers.popleft()
        data = source.view(run.part, run.first, run.count)
        memory: memoryview | None = None
        if data is None:
            memory = self.staging.get()
            if memory is None:
                self._is_blocked = True
                return False
            data = memory[: run.count * machine.tensor.item_sizes[run.part]]
            what = (transfer.key, run.first, run.count)
            if self.staging.gathered != what:
                source.gather(run.first, data)
                self.staging.gathered = what
        tracker = self.send(
            transfer.peer, [*machine.header(run), *check_frames(machine.check, run.count, data), data]
        )
        if memory is not None:
            self.staging.used(memory, tracker)
        if tracker is None:
            return False
        machine.sent(run)
        if memory is None:
            trackers.append(tracker)
        return True

    def pump(self, deadline: float) -> bool:
        """Move as much as possible, or wait for a message; return False if none arrived in time."""
        self._is_blocked = False
        moved = self._inbox.take_some()
        for transfer in self.running:
            machine = transfer._machine
            if isinstance(machine, TransferSender):
                moved = self.give(transfer, machine) or moved
            elif transfer._wanted:
                self.grant(transfer, machine)
                moved = moved or not transfer._wanted
        if moved:
            return True
        now = time.monotonic()
        until = min([deadline, *[self.nudge(transfer, now) for transfer in self.running]])
        if self._is_blocked or any(transfer._wanted for transfer in self.running):
            until = min(until, now + _PAUSE)
        self.endpoint.poll(max(until - time.monotonic(), 0.0))
        return time.monotonic() < deadline

    def nudge(self, transfer: Transfer, now: float) -> float:
        """Repeat messages that may have been lost; return the time of the next check."""
        machine = transfer._machine
        if isinstance(machine, TransferReceiver):
            if machine.state != "moving" or transfer._wanted or not machine.outstanding:
                return now + _MOST_PATIENCE
            patience = min(transfer._patience, _TORN) if machine.is_torn else transfer._patience
        else:
            if machine.state == "asked" or (machine.credit and machine.left):
                return now + _MOST_PATIENCE
            patience = transfer._patience
            if machine.state == "offered":
                patience = min(patience, _OFFERED)
        if now >= transfer._last_message + patience:
            transfer._last_message, transfer._patience = now, min(2 * transfer._patience, _MOST_PATIENCE)
            if isinstance(machine, TransferReceiver):
                self.grant(transfer, machine)
            elif not self.post(transfer, machine.offer()):
                # No peer is connected yet, or its queue is full.
                transfer._last_message = 0.0
                return now + _PAUSE
        return transfer._last_message + patience
