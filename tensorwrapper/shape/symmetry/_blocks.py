"""Closed forms of packed order, for groups that are built of neighbouring modes.

Such a group is a tree. A `Single` is one mode. A `Row` has blocks side by side, with nothing between them. A
`Copies` has equal blocks, of which every two may be exchanged: two modes (s2), or two pairs (s8). The offset
of an index follows from the offsets in its blocks; their order is that of the canonical indices.
"""

import math
from abc import ABC, abstractmethod
from functools import lru_cache, reduce
from itertools import pairwise
from typing import NamedTuple, TypeAlias, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._value_class import frozen
from tensorwrapper.shape.symmetry._operations import encode
from tensorwrapper.typing import IntArray

BoolArray: TypeAlias = npt.NDArray[np.bool_]


class Folded(NamedTuple):
    """Offsets of packed elements, and their signs. None stands for False everywhere."""

    offsets: IntArray
    """The offset of each element; -1 where it is forced to be zero."""

    negative: BoolArray | None = None
    """Where the packed element has the other sign."""

    conjugate: BoolArray | None = None
    """Where the packed element is the conjugate."""

    zero: BoolArray | None = None
    """Where the element is forced to be zero."""


class Block(ABC):
    """Abstract: `width`, `count`, `fold` and `ordinals`. A group that moves some neighbouring modes."""

    __slots__ = ()

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of modes."""

    @abstractmethod
    def count(self, extents: tuple[int, ...]) -> int:
        """Return the number of packed elements of a box."""

    @abstractmethod
    def fold(self, columns: tuple[IntArray, ...], extents: tuple[int, ...]) -> Folded:
        """Return where the elements at indices, given by mode, are packed."""

    @abstractmethod
    def ordinals(self, extents: tuple[int, ...]) -> IntArray:
        """Return the ordinals of the canonical indices, ascending."""


@final
@frozen
class Single(Block):
    """One mode that no operation moves."""

    @property
    def width(self) -> int:
        return 1

    def count(self, extents: tuple[int, ...]) -> int:
        return extents[0]

    def fold(self, columns: tuple[IntArray, ...], extents: tuple[int, ...]) -> Folded:  # noqa: ARG002
        return Folded(columns[0])

    def ordinals(self, extents: tuple[int, ...]) -> IntArray:
        return np.arange(extents[0], dtype=np.int64)


@final
@frozen
class Row(Block):
    """Blocks side by side; each operation is one of each block."""

    blocks: tuple[Block, ...]

    @property
    def width(self) -> int:
        return sum(block.width for block in self.blocks)

    def parts(self, extents: tuple[int, ...]) -> list[tuple[Block, tuple[int, ...]]]:
        """Return each block and its extents."""
        ends = np.cumsum([0, *(block.width for block in self.blocks)]).tolist()
        return [(block, extents[a:b]) for block, (a, b) in zip(self.blocks, pairwise(ends), strict=True)]

    def count(self, extents: tuple[int, ...]) -> int:
        return math.prod([block.count(own) for block, own in self.parts(extents)])

    def fold(self, columns: tuple[IntArray, ...], extents: tuple[int, ...]) -> Folded:
        at = 0
        total: Folded | None = None
        for block, own in self.parts(extents):
            found = block.fold(columns[at : at + block.width], own)
            at += block.width
            total = found if total is None else _side_by_side(total, found, block.count(own))
        return Folded(np.zeros((), np.int64)) if total is None else total

    def ordinals(self, extents: tuple[int, ...]) -> IntArray:
        total = np.zeros(1, np.int64)
        for block, own in self.parts(extents):
            total = np.add.outer(total * math.prod(own), block.ordinals(own)).reshape(-1)
        return total


@final
@frozen
class Copies(Block):
    """Equal blocks, of which every exchange of two changes the sign, conjugates, or changes nothing."""

    block: Block
    copies: int
    sign: int
    conjugate: bool

    @property
    def width(self) -> int:
        return self.copies * self.block.width

    @property
    def strict(self) -> bool:
        """True if two blocks with one offset make a zero."""
        return self.sign < 0 and not self.conjugate

    def count(self, extents: tuple[int, ...]) -> int:
        inner = self.block.count(extents[: self.block.width])
        return math.comb(inner if self.strict else inner + self.copies - 1, self.copies)

    def fold(self, columns: tuple[IntArray, ...], extents: tuple[int, ...]) -> Folded:
        width = self.block.width
        own = extents[:width]
        starts = range(0, len(columns), width)
        found = [self.block.fold(columns[start : start + width], own) for start in starts]
        places = [one.offsets for one in found]
        odd = None if self.sign > 0 and not self.conjugate else _is_odd(places)
        zero = _either([one.zero for one in found])
        down = _descending(places)
        if self.strict:
            zero = _either([zero, *[left == right for left, right in pairwise(down)]])
        offsets = down[-1] + _binomial(down[-2], 2, strict=self.strict)
        for step, place in enumerate(reversed(down[:-2]), 3):
            offsets += _binomial(place, step, strict=self.strict)
        if zero is not None:
            offsets[zero] = -1
        negative = _unlike([one.negative for one in found] + [odd if self.sign < 0 else None])
        conjugate = _unlike([one.conjugate for one in found] + [odd if self.conjugate else None])
        return Folded(offsets, negative, conjugate, zero)

    def ordinals(self, extents: tuple[int, ...]) -> IntArray:
        own = extents[: self.block.width]
        inner, size = self.block.ordinals(own), math.prod(own)
        shift = 0 if self.strict else 1
        last = np.arange(len(inner), dtype=np.int64)
        total = inner.copy()
        for _ in range(self.copies - 1):
            # After the block i come the blocks 0 to i, or to i - 1.
            counts = last + shift
            ends = np.cumsum(counts)
            before = np.repeat(np.arange(len(last)), counts)
            last = np.arange(len(before)) - np.repeat(ends - counts, counts)
            total = total[before] * size + inner[last]
        return total


@lru_cache(maxsize=64)
def block_of(codes: tuple[bytes, ...], rank: int) -> Block | None:
    r"""Return the tree of a group, or None if it is not built of neighbouring modes.

    Examples
    --------
    >>> block_of((b"\0\1\2\3\4\5", b"\1\0\2\3\4\5"), 2)
    Copies(block=Single(), copies=2, sign=1, conjugate=False)
    """
    block = _tree(set(codes), rank, 0, rank)
    # An element that is real by one conjugation and imaginary by another is zero: blocks alone miss it.
    return None if block is None or len(_conjugations(block)) > 1 else block


def _conjugations(block: Block) -> set[int]:
    """Return the signs of the exchanges of a tree that conjugate."""
    if isinstance(block, Row):
        return {sign for own in block.blocks for sign in _conjugations(own)}
    if isinstance(block, Copies):
        return _conjugations(block.block) | ({block.sign} if block.conjugate else set())
    return set()


def _tree(codes: set[bytes], rank: int, start: int, stop: int) -> Block | None:
    """Return the tree of a group that moves the modes from `start` to `stop` alone."""
    cuts = [k for k in range(start, stop + 1) if all(max(code[start:k], default=-1) < k for code in codes)]
    parts = [(a, b, _within(codes, rank, a, b)) for a, b in pairwise(cuts)]
    if math.prod([len(own) for *_, own in parts]) != len(codes):
        return None
    blocks: list[Block] = []
    for a, b, own in parts:
        block = Single() if b == a + 1 and len(own) == 1 else _copies(own, rank, a, b)
        if block is None:
            return None
        blocks.append(block)
    return blocks[0] if len(blocks) == 1 else Row(tuple(blocks))


def _within(codes: set[bytes], rank: int, start: int, stop: int) -> set[bytes]:
    """Return the operations that move the modes from `start` to `stop` alone."""
    same = bytes(range(rank))
    return {code for code in codes if code[:start] == same[:start] and code[stop:rank] == same[stop:]}


def _copies(codes: set[bytes], rank: int, start: int, stop: int) -> Block | None:
    """Return the tree of equal blocks, the narrowest that there may be."""
    for width in range(1, (stop - start) // 2 + 1):
        copies, rest = divmod(stop - start, width)
        inner = _within(codes, rank, start, start + width)
        if rest or len(inner) ** copies * math.factorial(copies) != len(codes):
            continue
        for sign, conjugate in ((1, False), (-1, False), (1, True), (-1, True)):
            starts = range(start, stop - width, width)
            if all(_exchange(rank, at, width, sign, conjugate=conjugate) in codes for at in starts):
                block = _tree(inner, rank, start, start + width)
                return None if block is None else Copies(block, copies, sign, conjugate)
    return None


def _exchange(rank: int, start: int, width: int, sign: int, *, conjugate: bool) -> bytes:
    modes = list(range(rank))
    middle, stop = start + width, start + 2 * width
    modes[start:stop] = [*range(middle, stop), *range(start, middle)]
    return encode(modes, sign, conjugate=conjugate)


def _side_by_side(left: Folded, right: Folded, count: int) -> Folded:
    zero = _either([left.zero, right.zero])
    offsets = left.offsets * count + right.offsets
    if zero is not None:
        offsets[np.broadcast_to(zero, offsets.shape)] = -1
    negative = _unlike([left.negative, right.negative])
    return Folded(offsets, negative, _unlike([left.conjugate, right.conjugate]), zero)


def _either(parts: list[BoolArray | None]) -> BoolArray | None:
    given = [part for part in parts if part is not None]
    return reduce(np.logical_or, given) if given else None


def _unlike(parts: list[BoolArray | None]) -> BoolArray | None:
    given = [part for part in parts if part is not None]
    return reduce(np.logical_xor, given) if given else None


def _is_odd(places: list[IntArray]) -> BoolArray:
    """Return where an odd number of exchanges makes the places descend."""
    odd = places[0] < places[1]
    for k, right in enumerate(places[2:], 2):
        for left in places[:k]:
            odd = odd ^ (left < right)
    return odd


def _descending(places: list[IntArray]) -> list[IntArray]:
    """Return the same numbers with the greatest first, element by element; arrays broadcast."""
    ordered = list(places)
    for last in range(len(ordered) - 1, 0, -1):
        for k in range(last):
            one, two = ordered[k], ordered[k + 1]
            ordered[k], ordered[k + 1] = np.maximum(one, two), np.minimum(one, two)
    return ordered


def _binomial(numbers: IntArray, k: int, *, strict: bool) -> IntArray:
    """Return how many sets of `k` smaller numbers there are, or of numbers that may be equal if not strict.

    That is C(m, k) or C(m + k - 1, k). Exact where the result times k fits into 64 bits.
    """
    total = numbers
    for step in range(1, k):
        total = total * (numbers - step if strict else numbers + step) // (step + 1)
    return total
