"""Tensors with missing blocks: the received elements, and the missing boxes."""

from collections.abc import Mapping
from copy import copy
from typing import Any, Final, TypeAlias, final

import numpy as np

from tensorwrapper._boxes import BoxTable
from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor, from_buffer
from tensorwrapper.typing import Array, Index, IntArray
from tensorwrapper.wire._protocol_errors import refuse
from tensorwrapper.wire.blocks._blocks import Block

Structure: TypeAlias = "Mapping[int, Tensor[Any]]"
"""The parts of a tensor that say where its elements are, as bytes, by their numbers."""

ENTRY: Final = 2048
"""Bytes for notes on one tensor, or part, without its elements and the missing boxes."""


@final
class _Part:
    """One box of which blocks are missing; its memory is made with the first block."""

    __slots__ = ("_bounds", "_missing", "_target", "_total")

    def __init__(self, total: Shape) -> None:
        self._total = total
        # A box of rank 0 has one place, as one of rank 1 and extent 1 has.
        self._bounds = total.extents or (1,)
        self._missing = BoxTable((0,) * len(self._bounds), self._bounds, max(self._bounds))
        self._target: Tensor[Any] | None = None

    def fork(self) -> "_Part":
        """Return a copy of this part to try a block on; both share the memory of received elements."""
        # Writing elements that are missing here does not change this part.
        twin = copy(self)
        twin._missing = self._missing.copy()
        return twin

    @property
    def is_complete(self) -> bool:
        return len(self._missing) == 0

    @property
    def nbytes(self) -> int:
        """Number of bytes used beside the elements."""
        return self._missing.nbytes

    @property
    def tensor(self) -> Tensor[Any] | None:
        """Elements received so far; None before the first block."""
        return self._target

    def _places(self, shape: Shape) -> tuple[Index, Index]:
        """Return where a block starts and stops, from the part's origin on."""
        start = tuple([o - first for o, first in zip(shape.origin, self._total.origin, strict=True)])
        return start or (0,), tuple([o + n for o, n in zip(start, shape.extents, strict=True)]) or (1,)

    def check(self, block: Block, what: str, *, agreeing: bool) -> IntArray:
        """Return the missing boxes that a block has places of; raise if others came before.

        With `agreeing`, elements may be repeated if they are the same.
        """
        start, stop = self._places(block.tensor.shape)
        hits = self._missing.find(start, stop)
        if self._missing.volume(hits, start, stop) == block.tensor.size:
            return hits
        if not (agreeing and self._agrees(block.tensor, hits, (start, stop))):
            refuse("layout", f"{what} has elements that came before")
        return hits

    def _agrees(self, piece: Tensor[Any], hits: IntArray, ends: tuple[Index, Index]) -> bool:
        """Return True if repeated bytes are the same as before; missing ones are written on the way."""
        if self._target is None:
            return False
        for (start,), (stop,) in self._missing.common(hits, *ends):
            region = Shape(stop - start, origin=(start,))
            self._target.window(region).assign(piece.window(region))
        return self._target.window(piece.shape).array_equal(piece)

    def growth(self, hits: IntArray) -> int:
        """Return how many more bytes the table of missing boxes may use after adding a block."""
        return self._missing.growth(hits)

    def put(self, block: Block, hits: IntArray, what: str) -> None:
        """Write the elements of a block, then count them as there."""
        if self._target is None:
            dtype = block.tensor.dtype
            if block.whole is not None:
                dtype = dtype.newbyteorder("<")
            try:
                elements = np.empty(self._total.size, dtype)
            except (MemoryError, ValueError):
                refuse("limit", f"there is no memory for {what}, of shape {self._total}")
            self._target = from_buffer(elements, self._total)
        self._target.window(block.tensor.shape).assign(block.tensor)
        self._missing.take(hits, *self._places(block.tensor.shape))

    def missing(self) -> tuple[Shape, ...]:
        """Return the boxes that have not come."""
        if not self._total.rank:
            return () if self.is_complete else (self._total,)
        # Added as Python's integers: an origin may be near the end of 64 bits.
        origin = self._total.origin
        return tuple(
            [
                Shape(*extents, origin=[s + o for s, o in zip(start, origin, strict=True)])
                for start, extents in self._missing.boxes()
            ]
        )


@final
class Pending:
    """One tensor of which blocks are missing."""

    __slots__ = ("dtype", "kept", "name", "parts", "seen", "total", "whole")

    def __init__(self, block: Block) -> None:
        self.name, self.whole = block.name, block.whole
        # Parts of a tensor that is not a box of numbers have their own shapes and types.
        self.total, self.dtype = block.total, block.tensor.dtype
        self.parts: dict[int, _Part] = {}
        self.seen = 0.0
        self.kept = 0

    def fork(self) -> "Pending":
        """Return a copy to add blocks to, so that this one is unchanged if one is refused."""
        twin = self.without_parts()
        twin.parts = {number: part.fork() for number, part in self.parts.items()}
        return twin

    def without_parts(self) -> "Pending":
        """Return the description of the tensor without any received parts."""
        twin = copy(self)
        twin.parts = {}
        return twin

    def structure(self) -> Structure:
        """Return the parts that say where elements are, as far as they are there: the memory itself."""
        whole = self.whole
        if whole is None:
            return {}
        there = {number: part.tensor for number, part in self.parts.items() if number != whole.elements}
        return {number: tensor for number, tensor in there.items() if tensor is not None}

    def begin(self, structure: Structure) -> None:
        """Take over the known structure of the tensor."""
        for number, data in structure.items():
            part = self.parts[number] = _Part(data.shape)
            block = Block(data, self.name, data.shape, number, self.whole)
            part.put(block, part.check(block, "what is known", agreeing=True), "what is known")

    @property
    def notes(self) -> int:
        """Number of bytes used beside the elements."""
        whole = self.whole
        said = 0 if whole is None else 4 * len(whole.label) + 64 * len(whole.sizes)
        return ENTRY + said + sum([part.nbytes + ENTRY for part in self.parts.values()])

    @property
    def nbytes(self) -> int:
        """Number of bytes of all elements, received or not."""
        if self.whole is None:
            size: int = self.total.size
            return size * self.dtype.itemsize
        return sum(self.whole.sizes)

    def part_for(self, block: Block) -> _Part:
        """Return the part that a block is of, which is new if none of it came; raise if the two disagree."""
        what = f"block {block.tensor.shape} of tensor {self.name[:24]!r}"
        if block.whole != self.whole:
            refuse("layout", f"{what} does not say the same of its tensor as others")
        if self.whole is None:
            if block.total != self.total:
                refuse("layout", f"{what} is of a tensor of shape {block.total}, others are of {self.total}")
            if block.tensor.dtype != self.dtype:
                refuse("layout", f"{what} has elements of {block.tensor.dtype}, others of {self.dtype}")
        return self.parts.get(block.part) or _Part(block.total)

    def missing(self, number: int | None) -> tuple[Shape, ...]:
        """Return the boxes of a part that have not come."""
        whole = self.whole
        if number is None:
            number = 0 if whole is None else whole.elements
        known = 1 if whole is None else len(whole.sizes)
        if number >= known:
            raise OutOfBoundsError(f"tensor {self.name!r} has {known} parts, and no part {number}")
        part = self.parts.get(number)
        if part is not None:
            return part.missing()
        total = self.total if whole is None else Shape(*whole.part(number)[0])
        return (total,) if total.size else ()

    def finished(self) -> Tensor[Any] | None:
        """Return the tensor if it is complete."""
        if self.whole is None:
            part = self.parts.get(0)
            return None if part is None or not part.is_complete else part.tensor
        found: list[Array | None] = []
        for number, size in enumerate(self.whole.sizes):
            part = self.parts.get(number)
            if size and (part is None or not part.is_complete):
                return None
            tensor = None if part is None else part.tensor
            found.append(None if tensor is None else tensor.elements())
        return self.whole.assemble(found)
