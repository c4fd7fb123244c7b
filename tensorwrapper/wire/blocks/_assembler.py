"""Tensors that come in blocks: read from messages, and put together."""

import math
import time
from collections.abc import Callable
from itertools import takewhile
from typing import Any, Final, SupportsIndex, cast, final

from tensorwrapper._arguments import check_kind_of
from tensorwrapper._integers import to_count
from tensorwrapper._json_fields import Field
from tensorwrapper._value_class import Shown
from tensorwrapper.errors import ConversionError, TensorWrapperError
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import make_smooth, names_of, wrap
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire._message import Message
from tensorwrapper.wire._protocol_errors import refuse, refuse_field
from tensorwrapper.wire.blocks._blocks import MOST_NAME, Block, is_within
from tensorwrapper.wire.blocks._delivered import Delivered
from tensorwrapper.wire.blocks._pending import ENTRY, Pending
from tensorwrapper.wire.blocks._pieces import is_box_of_numbers
from tensorwrapper.wire.blocks._tensor_header import read_skeleton
from tensorwrapper.wire.codec._plan import read_extents, read_origin
from tensorwrapper.wire.packings._table import check_version

_NOTES: Final = 2**20
"""Bytes for notes on tensors, beside an eighth of the limit on their elements."""


def blocks_of(message: Message) -> tuple[Block, ...]:
    """Return the blocks in a message; tensors that are whole are not among them.

    Raises
    ------
    RemoteProtocolError
        If the key ``block`` of a tensor is wrong, or the block is not within its tensor.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> blocks = tw.wire.split_blocks(np.arange(6).reshape(3, 2), "x", max_bytes=32)
    >>> message = tw.wire.decode(tw.wire.encode([*blocks]))
    >>> [(block.name, block.tensor.tolist()) for block in tw.wire.blocks_of(message)]
    [('x', [[0, 1], [2, 3]]), ('x', [[4, 5]])]
    """
    check_kind_of(message, Message, "blocks are those of a message")
    # Check this first: if it succeeds, the label is valid.
    tensors = message.tensors
    if not tensors:
        return ()
    described = Field(message.label_object["TENS"], "", refuse_field)["tensors"].items()
    return tuple(
        [
            _read_block(item["block"], tensors[k], message)
            for k, item in enumerate(described)
            if item["block"].value is not None
        ]
    )


def _read_block(described: Field, tensor: Tensor[Any], message: Message) -> Block:
    limits = message._limits
    fields = check_version(described)
    name = fields["tensor"].text(most=MOST_NAME)
    if not name:
        fields["tensor"].must_be("the name of a tensor")
    extents = read_extents(fields["shape"], limits)
    origin = read_origin(fields["origin"], len(extents))
    if not is_box_of_numbers(tensor):
        refuse("unsupported", f"{fields} is not a box of numbers, but {tensor.shape} in {tensor.buffer!r}")
    total: Shape = wrap(make_smooth(extents, origin), names_of(tensor.shape))
    if tensor.rank != total.rank or not is_within(tensor.shape, total):
        refuse("layout", f"{fields} has the shape {tensor.shape}, which is not within {total}")
    if fields["whole"].value is None:
        return Block(tensor, name, total)
    whole = read_skeleton(fields["whole"], limits, allow_longdouble=message._allow_longdouble)
    part = fields["part"].count(len(whole.sizes) - 1)
    if (extents, tensor.dtype, any(origin)) != (*whole.part(part), False):
        refuse("layout", f"{fields} has {extents} of {tensor.dtype}, which is not what part {part} has")
    return Block(tensor, name, total, part, whole)


def _to_name(name: str) -> str:
    if not isinstance(cast("object", name), str):
        raise ConversionError(f"the name of a tensor is a text, not {name!r}")
    return name


def _to_seconds(timeout: float) -> float:
    try:
        seconds = math.nan if isinstance(cast("object", timeout), str | bytes) else float(timeout)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not seconds > 0:
        raise ConversionError(f"timeout must be a number of seconds above 0, not {timeout!r}")
    return seconds


@final
class _Turn:
    """Changes of one message to tensors, and their share of the limits, until all of it is checked."""

    __slots__ = ("entries", "heard", "nbytes", "notes")

    def __init__(self) -> None:
        self.entries: dict[str, Pending] = {}
        # Delivered tensors whose structure was repeated.
        self.heard: set[str] = set()
        self.nbytes = 0
        self.notes = 0


@final
class Assembler(Shown):
    """Puts tensors together whose blocks come in any order, from any number of senders, interleaved.

    It does no input and output and waits for nothing: its caller passes messages, one thread at a time.
    The blocks of a tensor are written into one array of its final size. A refused message changes nothing.

    Blocks of structure (positions of elements, or their absence) may be repeated, even after their tensor was
    delivered, and are then ignored. They are remembered for the last 256 tensors for `timeout`, within the
    memory for notes. Any other block then begins a new tensor of that name.

    Parameters
    ----------
    max_bytes
        Limit on the elements of all incomplete tensors together. Announced sizes count: a tensor that
        does not fit is refused with its first block. Notes on tensors may take another eighth of it,
        and a megabyte.
    timeout
        Seconds after its last block at which a tensor counts as abandoned. Such a tensor is forgotten when
        the next block comes, or by `evict`.
    clock
        Returns the time in seconds; it never goes back.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> assembler = tw.wire.Assembler(2**20, timeout=60)
    >>> first, second = tw.wire.split_blocks(np.arange(6).reshape(3, 2), "x", max_bytes=32)
    >>> assembler.add(second), assembler.missing("x")
    ({}, (Shape(2, 2),))
    >>> message = tw.wire.decode(tw.wire.encode([first]))
    >>> assembler.add(message)["x"].tolist()
    [[0, 1], [2, 3], [4, 5]]
    """

    __slots__ = ("_clock", "_delivered", "_max_bytes", "_nbytes", "_notes", "_pending", "_timeout")

    def __init__(
        self, max_bytes: SupportsIndex, timeout: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_bytes = to_count(max_bytes, "max_bytes")
        self._timeout = _to_seconds(timeout)
        if not callable(cast("object", clock)):
            raise ConversionError(f"clock must be a function that returns seconds, not {clock!r}")
        self._clock = clock
        # In the order of their last blocks.
        self._pending: dict[str, Pending] = {}
        self._delivered = Delivered(self._most_notes)
        self._nbytes = 0
        self._notes = 0

    def add(self, given: Message | Block) -> dict[str, Tensor[Any]]:
        """Take one block, or all blocks in a message, and return the tensors that are complete now, by name.

        A message is taken as a whole or not at all. Only a tensor whose parts do not fit together, which
        nothing can mend, is forgotten.

        Raises
        ------
        RemoteProtocolError
            ``layout`` if a block has an element that came before, or has another total shape or element
            type than those before it; ``limit`` if the tensor does not fit. Errors of `blocks_of` and of
            reading compressed elements are raised, too.
        ConversionError
            If it is neither a message nor a block.
        """
        self.evict()
        if isinstance(given, Block):
            blocks: tuple[Block, ...] = (given,)
        elif isinstance(cast("object", given), Message):
            blocks = blocks_of(given)
        else:
            raise ConversionError(f"an assembler takes a Message or a Block, not {given!r}")
        turn = _Turn()
        for block in blocks:
            self._take(block, turn, alone=len(blocks) == 1)
        return self._deliver(turn)

    def _take(self, block: Block, turn: "_Turn", *, alone: bool) -> None:
        """Add a block to the changes of this message."""
        name = block.name
        if not block.tensor.size and block.total.size:
            # It brings nothing, and so changes nothing.
            return
        entry = turn.entries.pop(name, None)
        if entry is None:
            before = self._pending.get(name)
            if before is None and self._delivered.says(block):
                turn.heard.add(name)
                return
            if before is None:
                entry = self._begin(block, turn)
            else:
                # One box of numbers is refused before it changes anything.
                entry = before if alone and before.whole is None else before.fork()
        part, what = entry.part_for(block), f"block {block.tensor.shape} of tensor {name[:24]!r}"
        # Every sender that begins a tensor sends its structure, and all send the same.
        agreeing = entry.whole is not None and block.part != entry.whole.elements
        hits = part.check(block, what, agreeing=agreeing)
        notes = entry.notes
        new = 0 if block.part in entry.parts else part.nbytes + ENTRY
        self._check_room(turn, 0, new + part.growth(hits), name)
        part.put(block, hits, what)
        entry.parts[block.part] = part
        turn.notes += entry.notes - notes
        turn.entries[name] = entry

    def _begin(self, block: Block, turn: "_Turn") -> Pending:
        entry = Pending(block)
        self._check_room(turn, entry.nbytes, entry.notes, block.name)
        entry.begin(self._delivered.structure(block, again=block.name in turn.heard))
        turn.nbytes += entry.nbytes
        turn.notes += entry.notes
        return entry

    def _deliver(self, turn: "_Turn") -> dict[str, Tensor[Any]]:
        """Apply the changes of a message, and return the complete tensors."""
        now = self._clock()
        found: dict[str, Tensor[Any] | None] = {}
        for name, entry in turn.entries.items():
            try:
                found[name] = entry.finished()
            except TensorWrapperError:
                self.discard(name)
                raise
        self._delivered.heard(turn.heard, now)
        for name, entry in turn.entries.items():
            self.discard(name)
            if found[name] is None:
                self._pending[name] = entry
                entry.seen, entry.kept = now, entry.notes
                self._notes += entry.kept
                self._nbytes += entry.nbytes
            else:
                self._delivered.keep(entry, now)
        return {name: tensor for name, tensor in found.items() if tensor is not None}

    @property
    def _most_notes(self) -> int:
        return self._max_bytes // 8 + _NOTES

    def _check_room(self, turn: "_Turn", nbytes: int, notes: int, name: str) -> None:
        used = self._nbytes + turn.nbytes
        if used + nbytes > self._max_bytes:
            refuse(
                "limit",
                f"tensor {name[:24]!r} of {nbytes} bytes is over the {self._max_bytes} allowed, of which "
                f"{used} are in use",
            )
        if self._notes + turn.notes + notes > self._most_notes:
            refuse("limit", f"tensor {name[:24]!r} has too many boxes, or there are too many tensors")

    def missing(self, name: str, *, part: SupportsIndex | None = None) -> tuple[Shape, ...]:
        """Return the boxes of a tensor that have not come, at their places in it; they are disjoint.

        Parameters
        ----------
        part
            Number of a part, for a tensor that is not a box of numbers. By default the part of its elements,
            in elements from 0; other parts count in bytes.

        Raises
        ------
        ConversionError
            If no block of such a tensor has come, it is complete or was forgotten, or its name is not text.
        OutOfBoundsError
            If it has no such part.
        """
        entry = self._pending.get(_to_name(name))
        if entry is None:
            raise ConversionError(f"no blocks of a tensor {name!r} are waited for")
        return entry.missing(None if part is None else to_count(part, "the number of a part"))

    @property
    def pending(self) -> tuple[str, ...]:
        """The names of tensors that are not complete; the one that waits longest for a block is first."""
        return tuple(self._pending)

    @property
    def nbytes(self) -> int:
        """Number of bytes of `max_bytes` in use."""
        return self._nbytes

    def evict(self) -> tuple[str, ...]:
        """Forget the tensors that were abandoned, and return their names."""
        oldest = self._clock() - self._timeout
        names = tuple(takewhile(lambda name: self._pending[name].seen < oldest, self._pending))
        for name in names:
            self.discard(name)
        self._delivered.evict(oldest)
        return names

    def discard(self, name: str) -> None:
        """Forget a tensor that is not complete, if there is one of this name.

        Raises
        ------
        ConversionError
            If the name is not text.
        """
        entry = self._pending.pop(_to_name(name), None)
        if entry is not None:
            self._nbytes -= entry.nbytes
            self._notes -= entry.kept

    def __repr__(self) -> str:
        used = f"{self._nbytes} of {self._max_bytes} bytes"
        return f"<Assembler: {len(self._pending)} tensors not complete, {used}>"
