"""Tensors that come in blocks: read from messages, and put together."""

import math
import time
from collections.abc import Callable
from itertools import takewhile
from typing import Any, Final, SupportsIndex, final

import numpy as np

from tensorwrapper._integers import to_count
from tensorwrapper._json_fields import Field
from tensorwrapper.errors import ConversionError
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import make_smooth, wrap
from tensorwrapper.tensor import Tensor, from_buffer
from tensorwrapper.typing import Extents, Index, IntArray
from tensorwrapper.wire._assembler_boxes import Missing
from tensorwrapper.wire._blocks import Block, is_box_of_numbers, is_within
from tensorwrapper.wire._limits import Limits
from tensorwrapper.wire._message import Message
from tensorwrapper.wire._packings import check_version
from tensorwrapper.wire._plan import read_extents, read_origin
from tensorwrapper.wire._refusal import refuse, refuse_field

__all__ = ["Assembler", "blocks_of"]

_NAME: Final = 1024
"""Characters that the name of a tensor may have."""

_ENTRY: Final = 2048
"""Bytes for what is known of one tensor, without its elements and the boxes that are missing."""

_NOTES: Final = 2**20
"""Bytes for what is known of tensors, beside an eighth of what their elements may take."""


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
    # Asked first: where it answers, the label is one.
    tensors = message.tensors
    if not tensors:
        return ()
    described = Field(message.label_object["TENS"], "", refuse_field)["tensors"].items()
    return tuple(
        [
            _read_block(item["block"], tensors[k], message._limits)
            for k, item in enumerate(described)
            if item["block"].value is not None
        ]
    )


def _read_block(described: Field, tensor: Tensor[Any], limits: Limits) -> Block:
    fields = check_version(described)
    name = fields["tensor"].text(most=_NAME)
    if not name:
        fields["tensor"].must_be("the name of a tensor")
    extents = read_extents(fields["shape"], limits)
    origin = read_origin(fields["origin"], len(extents))
    if not is_box_of_numbers(tensor):
        refuse("unsupported", f"{fields} is no box of numbers, but {tensor.shape} in {tensor.buffer!r}")
    total: Shape = wrap(make_smooth(extents, origin))
    if tensor.rank != total.rank or not is_within(tensor.shape, total):
        refuse("layout", f"{fields} has the shape {tensor.shape}, which is not within {total}")
    return Block(tensor, name, total)


@final
class _Pending:
    """One tensor of which blocks are missing; its memory is made with the first block."""

    __slots__ = ("dtype", "kept", "missing", "name", "seen", "target", "total")

    def __init__(self, block: Block, now: float) -> None:
        self.name = block.name
        self.total = block.total
        self.dtype = block.tensor.dtype
        self.missing = Missing(block.total.extents)
        self.seen = now
        self.kept = 0
        self.target: Tensor[Any] | None = None

    @property
    def notes(self) -> int:
        """How many bytes are taken beside the elements."""
        return _ENTRY + self.missing.nbytes

    def check(self, block: Block) -> IntArray:
        """Return the missing boxes that a block has places of; raise if it does not fit."""
        what = f"block {block.tensor.shape} of tensor {self.name[:24]!r}"
        if block.total != self.total:
            refuse("layout", f"{what} is of a tensor of shape {block.total}, others are of {self.total}")
        if block.tensor.dtype != self.dtype:
            refuse("layout", f"{what} has elements of {block.tensor.dtype}, others of {self.dtype}")
        if not block.tensor.size:
            return np.empty(0, dtype=np.int64)
        hits = self.missing.find(*self._places(block))
        if hits is None:
            refuse("layout", f"{what} has elements that came before")
        return hits

    def _places(self, block: Block) -> tuple[Index, Index]:
        """Return where a block starts and stops, from the tensor's origin on."""
        shape = block.tensor.shape
        start = tuple([o - first for o, first in zip(shape.origin, self.total.origin, strict=True)])
        return start, tuple([o + n for o, n in zip(start, shape.extents, strict=True)])

    def put(self, block: Block, hits: IntArray) -> None:
        """Write the elements of a block, then count them as there."""
        if self.target is None:
            try:
                elements = np.empty(self.total.size, self.dtype)
            except (MemoryError, ValueError):
                refuse("limit", f"there is no memory for tensor {self.name[:24]!r}, of shape {self.total}")
            self.target = from_buffer(elements, self.total)
        self.target.window(block.tensor.shape).assign(block.tensor)
        self.missing.take(hits, *self._places(block))


def _claim(total: Shape, dtype: "np.dtype[Any]") -> int:
    extents: Extents = total.extents
    return math.prod(extents) * dtype.itemsize


@final
class Assembler:
    """Puts tensors together whose blocks come in any order, from any number of senders, interleaved.

    It does no input and output and waits for nothing: messages are handed to it, by one thread at a time.
    What came of a tensor is written into one array of its final size. What is refused changes nothing. A
    block that comes again when its tensor was complete and taken begins the tensor anew, until that is
    abandoned.

    Parameters
    ----------
    max_bytes
        How much the elements of all tensors may take together that are not complete, or complete and not
        taken. What their senders claim counts: a tensor that does not fit is refused with its first block.
        What is known of tensors may take an eighth of it, and a megabyte.
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

    __slots__ = ("_clock", "_done", "_max_bytes", "_nbytes", "_notes", "_pending", "_timeout")

    def __init__(
        self, max_bytes: SupportsIndex, timeout: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_bytes = to_count(max_bytes, "max_bytes")
        if not timeout > 0:
            raise ConversionError(f"timeout must be a number of seconds above 0, not {timeout!r}")
        self._timeout = float(timeout)
        self._clock = clock
        # In the order of their last blocks.
        self._pending: dict[str, _Pending] = {}
        self._done: dict[str, Tensor[Any]] = {}
        self._nbytes = 0
        self._notes = 0

    def add(self, given: Message | Block) -> dict[str, Tensor[Any]]:
        """Take one block, or all blocks in a message, and return the tensors that are complete now, by name.

        Each block of a message is taken on its own: those before one that is refused stay, and what they
        complete is returned by the next call, or by `take`.

        Raises
        ------
        RemoteProtocolError
            ``layout`` if a block has an element that came before, or is of another total shape or element
            type than those before it; ``limit`` if the tensor does not fit; what `blocks_of` raises; what
            reading compressed elements raises.
        """
        self.evict()
        for block in (given,) if isinstance(given, Block) else blocks_of(given):
            self._add(block)
        return self.take()

    def _add(self, block: Block) -> None:
        name, now = block.name, self._clock()
        if not block.tensor.size and (block.total.size or name in self._done):
            # It brings nothing, and so changes nothing.
            return
        if name in self._done:
            refuse("layout", f"tensor {name[:24]!r} is complete, and was not taken yet")
        entry = self._pending.get(name)
        if entry is None:
            entry = _Pending(block, now)
            self._check_room(_claim(block.total, entry.dtype), entry.notes, name)
        hits = entry.check(block)
        self._check_room(0, entry.missing.growth(hits), name)
        entry.put(block, hits)
        self.discard(name)
        entry.seen = now
        self._nbytes += _claim(entry.total, entry.dtype)
        if len(entry.missing) == 0 and entry.target is not None:
            self._done[name] = entry.target
        else:
            self._pending[name] = entry
            entry.kept = entry.notes
            self._notes += entry.kept

    def _check_room(self, nbytes: int, notes: int, name: str) -> None:
        if self._nbytes + nbytes > self._max_bytes:
            refuse(
                "limit",
                f"tensor {name[:24]!r} of {nbytes} bytes is over the {self._max_bytes} allowed, of which "
                f"{self._nbytes} are in use",
            )
        if self._notes + notes > self._max_bytes // 8 + _NOTES:
            refuse("limit", f"tensor {name[:24]!r} has too many boxes, or there are too many tensors")

    def take(self) -> dict[str, Tensor[Any]]:
        """Return the complete tensors that no call has returned yet, by name, and forget them."""
        done, self._done = self._done, {}
        self._nbytes -= sum([_claim(tensor.shape, tensor.dtype) for tensor in done.values()])
        return done

    def missing(self, name: str) -> tuple[Shape, ...]:
        """Return the boxes of a tensor that have not come, at their places in it; they are disjoint.

        Raises
        ------
        ConversionError
            If no block of such a tensor has come, or it is complete or was forgotten.
        """
        entry = self._pending.get(name)
        if entry is None:
            raise ConversionError(f"no blocks of a tensor {name!r} are waited for")
        return entry.missing.shapes(entry.total.origin)

    @property
    def pending(self) -> tuple[str, ...]:
        """The names of tensors that are not complete; the one that waits longest for a block is first."""
        return tuple(self._pending)

    @property
    def nbytes(self) -> int:
        """How much of `max_bytes` is in use."""
        return self._nbytes

    def evict(self) -> tuple[str, ...]:
        """Forget the tensors that were abandoned, and return their names."""
        oldest = self._clock() - self._timeout
        names = tuple(takewhile(lambda name: self._pending[name].seen < oldest, self._pending))
        for name in names:
            self.discard(name)
        return names

    def discard(self, name: str) -> None:
        """Forget a tensor that is not complete, if there is one of this name."""
        entry = self._pending.pop(name, None)
        if entry is not None:
            self._nbytes -= _claim(entry.total, entry.dtype)
            self._notes -= entry.kept

    def __repr__(self) -> str:
        used = f"{self._nbytes} of {self._max_bytes} bytes"
        return f"<Assembler: {len(self._pending)} tensors not complete, {used}>"
