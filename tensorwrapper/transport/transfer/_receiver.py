"""`TransferReceiver`: state machine of the receiving end of a transfer, without sockets or threads."""

from typing import final

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.transport.transfer._end import TransferEnd
from tensorwrapper.transport.transfer._messages import (
    Frames,
    ParsedLabel,
    message_frames,
    run_table,
)
from tensorwrapper.transport.transfer._missing_runs import MOST_RUNS, Missing
from tensorwrapper.transport.transfer._table import TransferState
from tensorwrapper.wire import DEFAULT_LIMITS, Limits, Message
from tensorwrapper.wire.lowlevel import TensorHeader, read_skeleton, refuse

_NOTHING = ParsedLabel("OFFER")

_MOST_EPOCH = 2**31
"""Limit on the number of a giver's last grant; grant numbers end at 2**32 - 1."""


@final
class TransferReceiver(TransferEnd):
    """Receiving end of a transfer: it knows the missing runs, grants credit, and reports completion.

    Chunks may arrive in any order. The driver checks each with `room`, writes its elements, and then calls
    `came`. After some time without chunks it grants again, and the giver restarts with the missing runs. So a
    broken connection or a killed giver costs only the chunks under way.

    Parameters
    ----------
    limits
        Limits on messages from untrusted peers.
    credit, chunk
        Maximum number of chunks under way, and maximum bytes of each; the giver may lower both.
    """

    __slots__ = (
        "_came",
        "_chunk",
        "_credit",
        "_granted",
        "_highest",
        "_items",
        "_missing",
        "is_heard",
        "tensor",
    )

    _role = "taker"

    def __init__(self, *, credit: int = 8, chunk: int = 2**20, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._credit, self._chunk = credit, chunk
        self._state: TransferState = "idle"
        self._terms = _NOTHING
        self._epoch = self._granted = self._came = 0
        self._highest = -1
        self._missing: list[Missing] = []
        self._items: tuple[int, ...] = ()
        self.tensor: TensorHeader | None = None
        """Description of the tensor; None before the offer arrives."""
        self.request: int = 0
        """Number of the transfer."""
        self.error: str | None = None
        """Why the other end gave up."""
        self.is_heard: bool = False
        """True once the giver has confirmed completion."""

    @property
    def chunk(self) -> int:
        """Maximum size of a chunk in bytes."""
        return min(self._chunk, self._terms.chunk)

    @property
    def credit(self) -> int:
        """Maximum number of chunks under way."""
        return min(self._credit, self._terms.credit)

    @property
    def outstanding(self) -> int:
        """Number of granted chunks that have not arrived."""
        return self._granted - self._came

    @property
    def epoch(self) -> int:
        """Number of the last grant, by this end or by an earlier receiver named in the offer."""
        return self._epoch

    @property
    def left(self) -> int:
        """Number of missing elements; bytes for other parts."""
        return sum([part.count for part in self._missing])

    @property
    def is_complete(self) -> bool:
        """True if the tensor is complete."""
        return self.tensor is not None and not self.left

    @property
    def is_torn(self) -> bool:
        """True if a chunk arrived before chunks that were sent earlier, which may be lost."""
        return self._came <= self._highest

    def missing(self) -> list[tuple[int, int, int]]:
        """Return the missing runs: part, first element and count of each."""
        return [(number, *run) for number, part in enumerate(self._missing) for run in part.runs()]

    def forget(self, runs: "list[tuple[int, int, int]]") -> None:
        """Mark only these runs as missing: another process has received the others.

        Raises
        ------
        RemoteProtocolError
            If a run exceeds the tensor.
        """
        there = [Missing(part.count) for part in self._missing]
        for number, first, count in runs:
            if not (0 <= number < len(there) and there[number].remove(first, count)):
                refuse("layout", f"run {number}, {first}, {count} is not within the tensor")
        found = [Missing(part.count) for part in self._missing]
        for part, other in zip(found, there, strict=True):
            for first, count in other.runs():
                part.remove(first, count)
        self._missing = found

    # Sending.

    def ask(self, request: int, key: str, credit: int, chunk: int) -> Frames:
        """Return the frames that request a tensor before any offer, with credit for its first chunks."""
        self.request, self._terms = request, ParsedLabel("OFFER", self._credit, self._chunk, key=key)
        return self.grant(credit, chunk)

    def grant(self, credit: int, chunk: int) -> Frames:
        """Return the frames with the missing runs and credit for `credit` chunks; earlier credit is void."""
        self._move("send", "GRANT")
        self._epoch += 1
        self._granted, self._came, self._highest = credit, 0, -1
        said = ParsedLabel("GRANT", credit, min(chunk, self.chunk), key=self.key)
        frames = message_frames("GRANT", self.request, self._epoch, said)
        runs = self.missing()
        if self.tensor is not None and [count for _, _, count in runs] != [n for n in self._counts() if n]:
            # The giver sends these runs first. Later runs are granted after these have arrived.
            frames.append(run_table(runs[:MOST_RUNS]))
        return frames

    def pay(self, credit: int, chunk: int) -> Frames:
        """Return the frames that grant `credit` more chunks of `chunk` bytes."""
        self._move("send", "CREDIT")
        self._granted += credit
        said = ParsedLabel("CREDIT", credit, min(chunk, self.chunk))
        return message_frames("CREDIT", self.request, self._epoch, said)

    def done(self) -> Frames:
        """Return the frames that announce completion. They may be sent repeatedly."""
        return self._say("DONE")

    # Receiving.

    def _receive(self, said: ParsedLabel, message: Message) -> None:
        if said.verb == "OFFER":
            self._read_offer(said, message.origin, message.granule)
        self._move("receive", said.verb)
        self.is_heard = self.is_heard or said.verb == "HEARD"

    def _read_offer(self, said: ParsedLabel, request: int, epoch: int) -> None:
        if said.tensor is None:
            refuse("schema", "an offer says nothing of its tensor")
        if epoch > _MOST_EPOCH:
            refuse("flow", f"an offer comes after {epoch} grants; there are {_MOST_EPOCH} at most")
        tensor = read_skeleton(said.tensor, self._limits, allow_longdouble=False)
        if self.tensor is None:
            items = tensor.item_sizes
            if self._state == "asked" and said.key != self.key:
                refuse("flow", "an offer has the key of another transfer")
            self.tensor, self._items, self._terms = tensor, items, said
            self._missing = [Missing(count) for count in self._counts()]
        elif (tensor, said.key, said.check) != (self.tensor, self.key, self.check):
            refuse("flow", "an offer of the same key is of another tensor")
        self.request = request
        # Continue the count, because the giver drops grants older than the last one that it knows.
        self._epoch = max(self._epoch, epoch)

    def room(self, part: int, first: int, seqno: int) -> int:
        """Return how many elements from `first` on are wanted; 0 for a chunk sent before the last grant.

        Raises
        ------
        RemoteProtocolError
            If there was no credit, or the elements have already arrived; the state is then ``failed``.
        """
        epoch, number = seqno >> 32, seqno & 0xFFFF_FFFF
        if self._state in ("done", "failed") or epoch < self._epoch:
            return 0
        try:
            if self._state != "moving" or epoch > self._epoch:
                refuse("flow", f"a chunk of grant {epoch} came to a taker that is {self._state}")
            if number >= self._granted or self._came >= self._granted:
                refuse("flow", f"chunk {number} came beyond the credit of {self._granted}")
            if part >= len(self._missing):
                refuse("layout", f"a chunk is of part {part} of {len(self._missing)}")
            room = self._missing[part].room(first)
            if not room:
                refuse("flow", f"element {first} of part {part} was not requested")
        except RemoteProtocolError:
            self.fail()
            raise
        return min(room, self.chunk // self._items[part])

    def came(self, part: int, first: int, nbytes: int, seqno: int) -> int:
        """Record that `nbytes` bytes of elements were written; return the number of elements.

        Raises
        ------
        RemoteProtocolError
            If they were not wanted, or are not whole elements; the state is then ``failed``.
        """
        try:
            room = self.room(part, first, seqno)
            item = self._items[part]
            if nbytes % item or not 0 < nbytes <= room * item:
                refuse("size", f"a chunk has {nbytes} bytes, where {room} elements of {item} have room")
            self._missing[part].remove(first, nbytes // item)
        except RemoteProtocolError:
            self.fail()
            raise
        self._move("receive", "CHUNK")
        self._came += 1
        self._highest = max(self._highest, seqno & 0xFFFF_FFFF)
        return nbytes // item

    def _counts(self) -> list[int]:
        tensor = self.tensor
        sizes = () if tensor is None else tensor.sizes
        return [size // item for size, item in zip(sizes, self._items, strict=True)]

    def __repr__(self) -> str:
        return f"<TransferReceiver {self._state}, {self.left} elements missing>"
