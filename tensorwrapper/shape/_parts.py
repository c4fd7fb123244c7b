"""Parts of a shape, and the same set elsewhere: the methods of the facade that keep the rank."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Generic, Self, SupportsIndex

from tensorwrapper._integers import to_int
from tensorwrapper.errors import JaggedModeError
from tensorwrapper.shape._common import ShapeCommon
from tensorwrapper.shape._jagged import JaggedView
from tensorwrapper.shape._keys import WHOLE
from tensorwrapper.shape._nested import NestedView
from tensorwrapper.shape._queries import ShapeLike, ShapeQueries, held_of
from tensorwrapper.shape._smooth import SmoothCommon, SmoothView
from tensorwrapper.typing import IndexT_co

__all__ = ["ShapeParts"]


class ShapeParts(ShapeQueries[IndexT_co], Generic[IndexT_co]):
    """Abstract: `_held` and `_wrap`, which puts an implementation behind the facade."""

    __slots__ = ()

    @classmethod
    @abstractmethod
    def _wrap(cls, held: ShapeCommon) -> Self:
        """Return the facade over `held`."""

    def slice(
        self, first: Iterable[SupportsIndex], last: Iterable[SupportsIndex], *, clip: bool = False
    ) -> Self:
        """Return the part from index `first` up to, not including, `last`; it remembers where it lies.

        Parameters
        ----------
        first, last
            Absolute indices with one entry per mode; ``first == last`` makes an empty mode.
        clip
            Cut bounds that leave the shape (or a row of it) short instead of raising.

        Raises
        ------
        OutOfBoundsError
            If a bound leaves the shape, or, on a jagged shape, a selected row; the text names it.
        """
        return self._wrap(self._held.slice(first, last, clip=clip))

    def slice_outer(self, first: SupportsIndex, last: SupportsIndex) -> Self:
        """Return the rows from `first` up to, not including, `last`, all other modes whole; O(1)."""
        held = self._held
        rows = (to_int(first, "a first index"), to_int(last, "a last index"))
        return self._wrap(held.select((rows, *[WHOLE] * (held.rank - 1))))

    def as_smooth(self) -> Self:
        """Return the bounding box as a view; `padding` tells how much it adds."""
        held = self._held
        return self if isinstance(held, SmoothCommon) else self._wrap(held.as_smooth())

    def copy(self) -> Self:
        """Return an equal shape that keeps no other shape alive."""
        held = self._held
        return self._wrap(held.copy()) if isinstance(held, SmoothView | JaggedView | NestedView) else self

    def translate_by(self, offset: Iterable[SupportsIndex]) -> Self:
        """Return the shape moved by `offset`, one integer per mode; another number of them raises."""
        return self._wrap(self._held.translate_by(offset))

    def translate_to(self, origin: Iterable[SupportsIndex]) -> Self:
        """Return the shape moved to start at `origin`; an origin that varies raises `JaggedModeError`."""
        return self._wrap(self._held.translate_to(origin))

    def permute(self, order: Iterable[SupportsIndex]) -> Self:
        """Return the shape whose mode ``k`` is mode ``order[k]`` of this one, as NumPy's transpose.

        Raises
        ------
        JaggedModeError
            If a mode would come before one on which it depends; the text names them.
        """
        return self._wrap(self._held.permute(order))

    def intersect(self, other: "ShapeLike") -> Self:
        """Return the box of the indices in both boxes, empty if they are disjoint; jagged shapes raise."""
        mine, theirs = _box(self._held, "intersect"), _box(held_of(other), "intersect")
        return self._wrap(mine.intersect(theirs))

    def hull(self, other: "ShapeLike") -> Self:
        """Return the smallest box around both boxes; an empty one adds nothing, jagged shapes raise."""
        mine, theirs = _box(self._held, "hull"), _box(held_of(other), "hull")
        return self._wrap(mine.hull(theirs))


def _box(held: ShapeCommon, what: str) -> SmoothCommon:
    if isinstance(held, SmoothCommon):
        return held
    raise JaggedModeError(f"{what} is for smooth shapes; as_smooth() gives the bounding box of any other")
