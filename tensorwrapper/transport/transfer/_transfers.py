"""`Transfers`: large tensors over one socket, in chunks."""

import secrets
import time
from types import TracebackType
from typing import Any, SupportsIndex, cast, final

from tensorwrapper._integers import to_count
from tensorwrapper._value_class import Shown
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    TransportClosedError,
    TransportError,
    TransportTimeoutError,
)
from tensorwrapper.selection import Progress
from tensorwrapper.tensor import Tensor
from tensorwrapper.transport._delivery import to_milliseconds
from tensorwrapper.transport._socket import Socket
from tensorwrapper.transport.flow._machine import to_credit
from tensorwrapper.transport.transfer._messages import MOST_CHUNK, MOST_FOLLOW, MOST_KEY, MOST_NAME
from tensorwrapper.transport.transfer._scheduler import TransferScheduler
from tensorwrapper.transport.transfer._sender import TransferSender
from tensorwrapper.transport.transfer._source import source_of
from tensorwrapper.transport.transfer._transfer import Transfer
from tensorwrapper.wire.lowlevel import Checksum, checksum_of


@final
class Transfers(Shown):
    """Large tensors in chunks over one socket, any number at a time, to and from any number of peers.

    Memory is bounded: at most `credit` chunks of a transfer are under way, and 64 MiB of all transfers of a
    process. Chunks are received in place where the target is contiguous. Over a network, chunks are small:
    those under way keep the link busy for 10 ms. Only chunks that were lost with a connection or a process
    are sent again.

    Parameters
    ----------
    socket
        A connected or listening DEALER, ROUTER or PAIR, which the caller closes. Transfers must be the only
        user of the socket.
    credit
        Number of chunks of each transfer that may be under way.
    chunk
        Maximum size of a chunk in bytes.
    transfers
        Number of transfers that may run at a time; further offers are refused. Offers that are not accepted
        yet may wait in addition, at most half as many from one peer. Offers of vanished peers are forgotten
        after five seconds. Peers repeat an offer every two seconds, so others get in.
    timeout
        Seconds that may pass without progress, unless a call specifies otherwise.

    Examples
    --------
    >>> import threading
    >>> import numpy as np
    >>> from tensorwrapper.transport import Socket
    >>> def give(address):
    ...     with Socket("DEALER") as socket:
    ...         socket.connect(address)
    ...         with Transfers(socket) as transfers:
    ...             transfers.send(np.arange(3_000_000).reshape(3, -1))
    >>> with Socket("ROUTER") as socket:
    ...     giver = threading.Thread(target=give, args=[socket.bind("tcp://127.0.0.1:*")])
    ...     giver.start()
    ...     with Transfers(socket) as transfers:
    ...         tensor = transfers.receive()
    ...     giver.join()
    >>> tensor.shape, tensor[2, -1].item()
    (Shape(3, 1000000), 2999999)
    """

    __slots__ = ("_engine", "_socket")

    def __init__(
        self,
        socket: Socket,
        *,
        credit: SupportsIndex = 8,
        chunk: SupportsIndex = 2**20,
        transfers: SupportsIndex = 64,
        timeout: float = 10.0,
    ) -> None:
        if socket.kind not in ("DEALER", "ROUTER", "PAIR"):
            raise TransportError(f"transfers need a DEALER, ROUTER or PAIR socket, not {socket.kind}")
        to_milliseconds(timeout, "timeout")
        size = to_count(chunk, "chunk")
        if not 4096 <= size <= MOST_CHUNK:
            raise ExtentError(f"chunk must be from 4096 to {MOST_CHUNK} bytes, not {size}")
        self._socket = socket
        self._engine = TransferScheduler(
            socket, to_credit(credit), size, to_count(transfers, "transfers"), timeout
        )

    @property
    def running(self) -> tuple[Transfer, ...]:
        """The transfers that have not ended."""
        return self._engine.running

    @property
    def strays(self) -> int:
        """Number of dropped messages that belonged to no transfer or arrived too late."""
        return self._engine.strays

    # Methods for the caller.

    def send(
        self,
        tensor: object,
        *,
        peer: bytes = b"",
        key: str | None = None,
        check: Checksum | None = None,
        name: str = "",
        follow: SupportsIndex = 0,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Send a tensor, and return once the peer has all of it. Combines `offer` and `Transfer.wait`.

        Raises
        ------
        TransportTimeoutError, PeerUnreachableError
            If there was no progress for `timeout` seconds; the transfer is cancelled.
        FlowAbortedError
            If the peer cancels the transfer.
        LocalProtocolError
            If it cannot be sent.
        """
        transfer = self.offer(tensor, peer=peer, key=key, check=check, name=name, follow=follow)
        try:
            transfer.wait(timeout=timeout, progress=progress)
        except BaseException as error:
            transfer.cancel(type(error).__name__)
            raise

    def offer(
        self,
        tensor: object,
        *,
        peer: bytes = b"",
        key: str | None = None,
        check: Checksum | None = None,
        name: str = "",
        follow: SupportsIndex = 0,
    ) -> Transfer:
        """Offer a tensor, a view or an array of any kind. Waiting for any transfer sends it.

        A chunk is read when it is sent, so at most one chunk of a view, a memory map or a lazy array of
        another library is in memory. The elements must not change before the transfer has ended.

        Parameters
        ----------
        tensor
            The tensor, view or array.
        peer
            The receiving peer: required by ROUTER, and only there.
        key
            Key of this content at the other end, in 1 to 128 characters. Offering the same content under the
            same key, after the process was killed, continues the transfer. By default it is random.
        check
            The checksum of each chunk: "crc32", or (with the extra ``compress``) "xxh3".
        name
            Name of the tensor, in at most 255 characters: the other end's `Transfer.name`.
        follow
            Number of tensors to offer after this one: the other end's `Transfer.follow`.

        Raises
        ------
        LocalProtocolError
            If it cannot be sent, or the checksum is unknown.
        TransportClosedError
            If a transfer of this key is under way.
        """
        if not isinstance(cast("object", peer), bytes) or bool(peer) != self._engine.endpoint.kind.addressed:
            raise TransportError("a ROUTER needs the peer to send to, and other sockets do not take one")
        own = secrets.token_hex(16) if key is None else key
        if not isinstance(cast("object", own), str) or not 1 <= len(own) <= MOST_KEY:
            raise ConversionError(f"key must be a str of 1 to {MOST_KEY} characters, not {key!r}")
        if not isinstance(cast("object", name), str) or len(name) > MOST_NAME:
            raise ConversionError(f"name must be a str of at most {MOST_NAME} characters, not {name!r}")
        if (more := to_count(follow, "follow")) > MOST_FOLLOW:
            raise ExtentError(f"follow must be at most {MOST_FOLLOW} tensors, not {more}")
        if own in self._engine.by_key:
            raise TransportClosedError(f"a transfer with the key {own!r} is already under way")
        if check is not None:
            checksum_of(check)
        source = source_of(tensor, self._engine.limits)
        machine = TransferSender(
            source.tensor,
            secrets.randbits(64),
            own,
            credit=self._engine.credit,
            chunk=self._engine.chunk,
            check=check,
            rows=source.rows,
            name=name,
            follow=more,
            limits=self._engine.limits,
        )
        transfer = Transfer(self._engine, peer, machine, source, time.monotonic())
        self._engine.by_key[own] = transfer
        self._engine.by_request[peer, machine.request] = transfer
        if not self._engine.post(transfer, machine.offer()):
            # The socket is still connecting.
            transfer._last_message = 0.0
        return transfer

    def accept(self, *, timeout: float | None = None) -> Transfer:
        """Return the next transfer that a peer offers. Call `Transfer.into` to start it.

        Raises
        ------
        TransportTimeoutError
            If no peer offers one in time.
        """
        deadline, seconds = self._engine.deadline(timeout)
        while True:
            while self._engine.asked:
                transfer = self._engine.asked.popleft()
                if transfer.state == "offered":
                    return transfer
            if not self._engine.pump(deadline):
                raise TransportTimeoutError(f"no peer offered a tensor within {seconds} s")

    def receive(
        self, out: object = None, *, timeout: float | None = None, progress: Progress | None = None
    ) -> Tensor[Any]:
        """Return the next tensor that a peer offers, in `out` if given. Combines `accept`, `into` and `wait`.

        Raises
        ------
        TransportTimeoutError
            If there is no offer or no progress for `timeout` seconds; the transfer is cancelled.
        FlowAbortedError
            If the peer cancelled.
        RemoteProtocolError
            If the peer violated the protocol, or a limit is exceeded.
        ExtentMismatchError, DTypeError, ReadOnlyError, ConversionError
            If the tensor does not fit `out`.
        """
        transfer = self.accept(timeout=timeout).into(out)
        try:
            tensor = transfer.wait(timeout=timeout, progress=progress)
        except BaseException as error:
            transfer.cancel(type(error).__name__)
            raise
        if tensor is None:
            raise TransportClosedError("this end sends, and receives no tensor")
        return tensor

    def advance(self, *, timeout: float = 0.0) -> bool:
        """Advance all transfers once, or wait for a message; return False if none arrived in time.

        Use it between other work; calls that wait for a transfer advance all transfers themselves.
        """
        return self._engine.pump(self._engine.deadline(timeout)[0])

    def close(self) -> None:
        """Cancel all running transfers, and notify the peers; the socket stays open.

        Completed transfers are first announced to their senders until these confirm, for at most a second.
        Closing the socket right away might lose this message.
        """
        self._close(stays=True)

    def _close(self, *, stays: bool) -> None:
        for transfer in self.running:
            transfer.cancel("closed")
        if stays:
            self._engine.farewell()
        self._engine.staging.close()

    def __enter__(self) -> "Transfers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After an interruption, do not wait for the peers.
        self._close(stays=kind is None or issubclass(kind, Exception))
