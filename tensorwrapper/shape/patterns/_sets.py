"""Block patterns as sets: union, intersection, differences, complement, comparison."""

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Generic, Self, cast

import numpy as np

from tensorwrapper._arguments import check_kind_of
from tensorwrapper.errors import ExtentMismatchError, RankError
from tensorwrapper.shape.patterns._ordinals import (
    common,
    complement,
    difference,
    intersection,
    symmetric_difference,
    union,
)
from tensorwrapper.shape.patterns._queries import PatternQueries
from tensorwrapper.typing import IndexT_co, IntArray

if TYPE_CHECKING:
    from tensorwrapper.shape.tilings._tiling import Tiling


class PatternSets(PatternQueries[IndexT_co], Generic[IndexT_co]):
    """Abstract: `_with`, and the attributes of `PatternQueries`."""

    __slots__ = ()

    @abstractmethod
    def _with(self, ordinals: IntArray) -> Self:
        """Return the pattern of these tiles of the same tiling, which are not checked."""

    def union(self, other: "PatternSets[Any]") -> Self:
        """Return the pattern of the tiles that either has: ``p | q``; O(n).

        Raises
        ------
        ExtentMismatchError
            If the patterns are of difference tilings; the text names the mode and the boundary.
        RankError
            If they have difference numbers of modes.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> cut = Tiling([1, 2, 3])
        >>> BlockPattern(cut, [(0,)]) | BlockPattern(cut, [(2,), (0,)])
        BlockPattern(Tiling([1, 2, 3]), [(0,), (2,)])
        """
        return self._with(union(self._ordinals, self._other(other, "|")))

    def intersect(self, other: "PatternSets[Any]") -> Self:
        """Return the pattern of the tiles that both have: ``p & q``; O(n). Raises as `union` does.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> cut = Tiling([1, 2, 3])
        >>> BlockPattern(cut, [(0,)]) & BlockPattern(cut, [(2,), (0,)])
        BlockPattern(Tiling([1, 2, 3]), [(0,)])
        """
        return self._with(intersection(self._ordinals, self._other(other, "&"), self._size))

    def difference(self, other: "PatternSets[Any]") -> Self:
        """Return the pattern of the tiles that the other does not have: ``p - q``; O(n).

        Raises as `union` does.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> cut = Tiling([1, 2, 3])
        >>> BlockPattern(cut, [(2,), (0,)]) - BlockPattern(cut, [(0,)])
        BlockPattern(Tiling([1, 2, 3]), [(2,)])
        """
        return self._with(difference(self._ordinals, self._other(other, "-"), self._size))

    def symmetric_difference(self, other: "PatternSets[Any]") -> Self:
        """Return the pattern of the tiles that one of the two has: ``p ^ q``; O(n). Raises as `union` does.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> cut = Tiling([1, 2, 3])
        >>> BlockPattern(cut, [(2,), (0,)]) ^ BlockPattern(cut, [(0,), (1,)])
        BlockPattern(Tiling([1, 2, 3]), [(1,), (2,)])
        """
        return self._with(symmetric_difference(self._ordinals, self._other(other, "^")))

    def complement(self) -> Self:
        """Return the pattern of the tiles that this one does not have: ``~p``; O(grid).

        Raises
        ------
        SizeOverflowError
            If the grid has more tiles than memory holds.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> ~BlockPattern(Tiling([1, 2, 3]), [(0,)])
        BlockPattern(Tiling([1, 2, 3]), [(1,), (2,)])
        """
        return self._with(complement(self._ordinals, self._size))

    @property
    def _size(self) -> int:
        return math.prod(self._extents)

    def _other(self, other: object, what: str) -> IntArray:
        check_kind_of(other, PatternSets, f"`{what}` of a block pattern takes a block pattern")
        theirs = cast("PatternSets[Any]", other)
        check_same_tiling(self.tiling, theirs.tiling, f"`{what}` of block patterns")
        return theirs._ordinals

    # Python's operators leave other operands to the other side.

    def __or__(self, other: "PatternSets[Any]") -> Self:
        if not _is_pattern(other):
            return NotImplemented
        return self.union(other)

    def __and__(self, other: "PatternSets[Any]") -> Self:
        if not _is_pattern(other):
            return NotImplemented
        return self.intersect(other)

    def __sub__(self, other: "PatternSets[Any]") -> Self:
        if not _is_pattern(other):
            return NotImplemented
        return self.difference(other)

    def __xor__(self, other: "PatternSets[Any]") -> Self:
        if not _is_pattern(other):
            return NotImplemented
        return self.symmetric_difference(other)

    def __invert__(self) -> Self:
        return self.complement()

    def __le__(self, other: "PatternSets[Any]") -> bool:
        """Return True if the other has all tiles of this one."""
        if not _is_pattern(other):
            return NotImplemented
        theirs = self._other(other, "<=")
        return len(self._ordinals) <= len(theirs) and bool(common(self._ordinals, theirs, self._size).all())

    def __lt__(self, other: "PatternSets[Any]") -> bool:
        """Return True if the other has all tiles of this one, and more."""
        if not _is_pattern(other):
            return NotImplemented
        return self <= other and self.count < other.count

    def __ge__(self, other: "PatternSets[Any]") -> bool:
        """Return True if this one has all tiles of the other."""
        if not _is_pattern(other):
            return NotImplemented
        return other <= self

    def __gt__(self, other: "PatternSets[Any]") -> bool:
        """Return True if this one has all tiles of the other, and more."""
        if not _is_pattern(other):
            return NotImplemented
        return other < self


def _is_pattern(other: object) -> bool:
    return isinstance(other, PatternSets)


def check_same_tiling(first: "Tiling[Any]", second: "Tiling[Any]", what: str) -> None:
    """Raise unless two tilings are equal; `what` names the call.

    Raises
    ------
    RankError
        If they have difference numbers of modes.
    ExtentMismatchError
        If boundaries differ; the text names the mode and the first of them.
    """
    if first == second:
        return
    if first.rank != second.rank:
        raise RankError(f"{what} needs one tiling, not tilings of rank {first.rank} and {second.rank}")
    for mode, (ours, theirs) in enumerate(zip(first.marks, second.marks, strict=True)):
        if np.array_equal(ours, theirs):
            continue
        shorter = min(len(ours), len(theirs))
        differs = ours[:shorter] != theirs[:shorter]
        place = int(differs.argmax()) if differs.any() else shorter
        one, other = (int(marks[place]) if place < len(marks) else "none" for marks in (ours, theirs))
        advice = "; p.retile(q.tiling) cuts p as q" if first.elements == second.elements else ""
        raise ExtentMismatchError(
            f"{what} needs one tiling, but boundary {place} of mode {mode} is {one} here and {other} "
            f"there{advice}"
        )
