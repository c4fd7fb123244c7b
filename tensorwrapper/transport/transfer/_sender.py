"""`TransferSender`: state machine of the sending end of a transfer, without sockets or threads."""

from collections import deque
from collections.abc import Sequence
from typing import final

from tensorwrapper._value_class import evolve, frozen
from tensorwrapper.transport.transfer._end import TransferEnd
from tensorwrapper.transport.transfer._messages import (
    MOST_CREDIT,
    Frames,
    ParsedLabel,
    coordinates,
    message_frames,
    read_runs,
)
from tensorwrapper.transport.transfer._table import TransferState
from tensorwrapper.wire import DEFAULT_LIMITS, Limits, Message
from tensorwrapper.wire.lowlevel import Checksum, TensorHeader, refuse


@final
@frozen
class Run:
    """Consecutive elements of one part of a tensor."""

    part: int
    """Number of the part: part 0 has the elements, others the tables of the shape."""
    first: int
    """Position of the first element in its part."""
    count: int
    """Number of elements."""
    number: int
    """Number of the chunk, counted since the last grant."""


@final
class TransferSender(TransferEnd):
    """State machine of the sending end of a transfer; `TRANSFER_TRANSITIONS` lists its transitions.

    It decides which run to send next, and when. Its driver reads the elements, transports the frames, and
    repeats the offer while there is no answer. A new grant restarts with the runs that the taker is missing.

    Parameters
    ----------
    tensor
        Description of the tensor.
    request
        Number of the transfer, part of each message.
    key
        Key of the transfer at both ends.
    credit, chunk
        Number of chunks that may be under way, and the bytes of each, at most.
    check
        Checksum of each chunk.
    rows
        Number of contiguous elements at the source. Chunks end at multiples of it where possible.
    name, follow
        Name of the tensor, and the number of tensors that follow it, sent to the other end.
    """

    __slots__ = (
        "_chunk",
        "_earned",
        "_items",
        "_runs",
        "_sent",
        "rows",
        "tensor",
    )

    _role = "giver"

    def __init__(
        self,
        tensor: TensorHeader,
        request: int,
        key: str,
        *,
        credit: int = 8,
        chunk: int = 2**20,
        check: Checksum | None = None,
        rows: int = 1,
        name: str = "",
        follow: int = 0,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self.tensor: TensorHeader = tensor
        self.rows: int = rows
        self._limits = limits
        self._items = tensor.item_sizes
        self._state: TransferState = "idle"
        self._terms = ParsedLabel("OFFER", credit, chunk, key=key, check=check, name=name, follow=follow)
        self.request: int = request
        """Number of the transfer."""
        self._runs: deque[tuple[int, int, int]] = deque()
        self._epoch = self._earned = self._sent = 0
        self._chunk = chunk
        self.error: str | None = None
        """Why the other end gave up."""

    @property
    def credit(self) -> int:
        """Number of chunks that may be sent before the taker grants more."""
        return self._earned - self._sent if self._state == "moving" else 0

    @property
    def runs(self) -> tuple[tuple[int, int, int], ...]:
        """Runs yet to send: part, first element and count of each."""
        return tuple(self._runs)

    @property
    def left(self) -> int:
        """Number of elements yet to send; bytes for other parts."""
        return sum([count for _, _, count in self._runs])

    # Sending.

    def offer(self) -> Frames:
        """Return the frames that describe the tensor. They may be sent repeatedly."""
        self._move("send", "OFFER")
        described = evolve(self._terms, tensor=self.tensor.described)
        return message_frames("OFFER", self.request, self._epoch, described)

    def next(self) -> Run | None:
        """Return the next run if one is left and there is credit for it. Call `sent` after sending it."""
        if not self._runs or self.credit < 1:
            return None
        part, first, count = self._runs[0]
        most = max(self._chunk // self._items[part], 1)
        rows = self.rows if part == 0 else 1
        if count > most:
            end = (first + most) // rows * rows
            # Split a row that is longer than a chunk.
            count = end - first if end > first else most
        return Run(part, first, count, self._sent)

    def header(self, run: Run) -> Frames:
        """Return the header frames of a chunk, which precede its checksum and elements."""
        frames = message_frames("CHUNK", self.request, 0, ParsedLabel("CHUNK", part=run.part))
        frames[1] = coordinates(self.request, run.first, self._epoch << 32 | run.number)
        return frames

    def sent(self, run: Run) -> None:
        """Record that a run was sent."""
        self._move("send", "CHUNK")
        self._sent += 1
        part, first, count = self._runs.popleft()
        if count > run.count:
            self._runs.appendleft((part, first + run.count, count - run.count))

    def heard(self) -> Frames:
        """Return the frames that confirm completion to the other end."""
        return self._say("HEARD")

    # Receiving.

    def _receive(self, said: ParsedLabel, message: Message) -> None:
        epoch = message.granule
        if said.verb in ("CREDIT", "GRANT") and self._state == "moving":
            if epoch < self._epoch or (epoch == self._epoch and said.verb == "GRANT"):
                return
            if said.verb == "CREDIT" and epoch != self._epoch:
                refuse("flow", f"credit came for grant {epoch} after grant {self._epoch}")
        if said.verb == "GRANT":
            self._begin(said, epoch, read_runs(message, self._counts()))
        elif said.verb == "CREDIT" and self._state == "moving":
            self._earn(said.credit)
            self._chunk = min(said.chunk, self._terms.chunk)
        self._move("receive", said.verb)

    def _begin(self, said: ParsedLabel, epoch: int, runs: Sequence[tuple[int, int, int]]) -> None:
        if said.key != self.key:
            refuse("flow", "a grant has the key of another transfer")
        if not 0 < epoch < 2**32:
            refuse("flow", f"the number of a grant is 1 to {2**32 - 1}, not {epoch}")
        self._epoch, self._sent, self._earned = epoch, 0, 0
        # Send the tables of the shape before the elements.
        self._runs = deque(sorted(runs, key=lambda run: run[0] == self.tensor.elements))
        self._earn(said.credit)
        self._chunk = min(said.chunk, self._terms.chunk)

    def _earn(self, credit: int) -> None:
        most = self._terms.credit
        if self._earned + credit - self._sent > min(most, MOST_CREDIT):
            unspent = self._earned - self._sent
            refuse("flow", f"{credit} chunks with {unspent} unspent exceed the credit of {most}")
        self._earned += credit

    def _counts(self) -> list[int]:
        return [size // item for size, item in zip(self.tensor.sizes, self._items, strict=True)]

    def __repr__(self) -> str:
        return f"<TransferSender {self._state}, credit {self.credit}>"
