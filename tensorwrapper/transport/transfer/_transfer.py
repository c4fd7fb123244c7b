"""`Transfer`: one large tensor under way, for callers."""

from collections import deque
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import zmq

from tensorwrapper._value_class import Shown
from tensorwrapper.errors import FlowAbortedError, LocalProtocolError, TransportClosedError
from tensorwrapper.selection import Progress
from tensorwrapper.tensor import Tensor
from tensorwrapper.transport.transfer._budget import PROCESS, Reservation
from tensorwrapper.transport.transfer._receiver import TransferReceiver
from tensorwrapper.transport.transfer._sender import TransferSender
from tensorwrapper.transport.transfer._source import Source
from tensorwrapper.transport.transfer._table import TransferRole, TransferState
from tensorwrapper.transport.transfer._target import Target
from tensorwrapper.transport.transfer._window import Window
from tensorwrapper.wire.lowlevel import TensorHeader

if TYPE_CHECKING:
    from tensorwrapper.transport.transfer._scheduler import TransferScheduler

PATIENCE: Final = 1.0
"""Seconds without a message after which an end repeats its last message; doubled each time."""

_Runs: TypeAlias = "tuple[tuple[int, int, int], ...]"


@final
class Transfer(Shown):
    """One tensor sent or received in chunks, created by `Transfers`.

    Waiting for one transfer, or for the `Transfers`, advances all transfers of the socket.
    """

    __slots__ = (
        "__weakref__",
        "_engine",
        "_error",
        "_hold",
        "_last_message",
        "_least",
        "_machine",
        "_patience",
        "_peer",
        "_progress",
        "_source",
        "_target",
        "_tensor",
        "_trackers",
        "_wanted",
        "_window",
    )

    def __init__(
        self,
        engine: "TransferScheduler",
        peer: bytes,
        machine: TransferSender | TransferReceiver,
        source: Source | None,
        now: float,
    ) -> None:
        self._engine, self._peer, self._machine, self._source = engine, peer, machine, source
        self._target: Target | None = None
        self._tensor: Tensor[Any] | None = None
        self._window: Window | None = None
        self._error: Exception | None = None
        self._hold = Reservation(PROCESS)
        # Whether it waits for room in the budget of the process.
        self._wanted = False
        self._trackers: deque[zmq.MessageTracker] = deque()
        # Time of the last message from the peer, and of the last progress.
        self._last_message = self._progress = now
        self._patience, self._least = PATIENCE, -1

    @property
    def role(self) -> TransferRole:
        """Role of this end: ``giver`` has the tensor, ``taker`` receives it."""
        return "taker" if self._source is None else "giver"

    @property
    def peer(self) -> bytes:
        """Identity of the peer on a ROUTER, which changes with a new connection; empty for other sockets."""
        return self._peer

    @property
    def key(self) -> str:
        """Key of the transfer at both ends, valid across connections."""
        return self._machine.key

    @property
    def name(self) -> str:
        """Name of the tensor at the sending end, or empty. An untrusted peer may send any name."""
        return self._machine.name

    @property
    def follow(self) -> int:
        """Number of tensors that follow, as the sending end announces."""
        return self._machine.follow

    @property
    def state(self) -> TransferState:
        """State of this end."""
        return self._machine.state

    @property
    def nbytes(self) -> int:
        """Bytes of the tensor, with the tables of its shape."""
        return sum(self._skeleton.sizes)

    @property
    def missing(self) -> _Runs:
        """Missing runs: part, first element and count of each.

        Another process can continue the transfer with them: pass them to `into`.
        """
        machine = self._machine
        return tuple(machine.missing()) if isinstance(machine, TransferReceiver) else ()

    @property
    def left(self) -> int:
        """Number of bytes not yet received or sent."""
        machine, sizes = self._machine, self._skeleton.item_sizes
        runs = machine.missing() if isinstance(machine, TransferReceiver) else machine.runs
        return sum([count * sizes[part] for part, _, count in runs])

    @property
    def _skeleton(self) -> TensorHeader:
        tensor = self._machine.tensor
        if tensor is None:
            raise TransportClosedError("the peer has not offered the tensor yet")
        return tensor

    def into(self, out: object = None, *, missing: "_Runs | None" = None) -> "Transfer":
        """Start to receive the tensor, into `out` if given; return this transfer.

        Parameters
        ----------
        out
            A tensor or an array of the same extents and dtype, with any strides. Contiguous parts are
            received in place, other memory through one chunk.
        missing
            Missing runs of `out`, from `missing` of an earlier transfer, perhaps in another process.

        Raises
        ------
        ExtentMismatchError, DTypeError, ReadOnlyError, ConversionError
            If the tensor does not fit `out`; the peer is informed.
        RemoteProtocolError
            If it exceeds the limits of the socket; the peer is informed.
        LocalProtocolError
            If the tensor was not offered, or is already being received.
        """
        machine = self._machine
        if (
            not isinstance(machine, TransferReceiver)
            or machine.state != "offered"
            or self._target is not None
        ):
            raise LocalProtocolError(
                "flow", f"a {self.role} in state {self.state} cannot receive into memory"
            )
        try:
            self._target = Target(self._skeleton, out, self._engine.limits)
            if missing is not None:
                machine.forget([*missing])
        except Exception as error:
            self._engine.give_up(self, str(error))
            raise
        self._engine.begin(self)
        return self

    def wait(self, *, timeout: float | None = None, progress: Progress | None = None) -> "Tensor[Any] | None":
        """Wait for completion; return the received tensor, or None at the sending end.

        Parameters
        ----------
        timeout
            Seconds that may pass without progress. A broken connection is restored in that time, and the
            transfer continues.
        progress
            Function called from time to time with the bytes received so far, and the total.

        Raises
        ------
        TransportTimeoutError, PeerUnreachableError
            If there was no progress for `timeout` seconds. The transfer stays open: wait again, or `cancel`.
        FlowAbortedError
            If the peer cancelled.
        RemoteProtocolError
            If the peer violated the protocol, or a checksum does not match.
        """
        self._engine.wait(self, timeout, progress)
        return self._tensor

    def cancel(self, why: str = "") -> None:
        """Cancel the transfer, and notify the peer if it is connected. Cancelling twice is harmless.

        Chunks already written stay in place.
        """
        if self.state not in ("done", "failed"):
            self._engine.give_up(self, why or "cancelled")
            self._error = FlowAbortedError("this transfer was cancelled")

    def __repr__(self) -> str:
        return f"<Transfer {self.key!r}, {self.role} {self.state}>"

    # Methods for `Transfers`.

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _fail(self, error: Exception) -> None:
        self._error = error
        self._machine.fail()
        self._hold.release()
