"""Masks as sets: intersection, union and complement."""

from abc import abstractmethod
from typing import Any, Generic, Self, SupportsIndex

import numpy as np

from tensorwrapper._arguments import check_kind_of
from tensorwrapper._arrays import different
from tensorwrapper._memory import memory_for
from tensorwrapper.errors import ConversionError, ExtentMismatchError, JaggedModeError, RankError
from tensorwrapper.shape._shape import Shape, as_shape
from tensorwrapper.shape._shape_base import ShapeLike
from tensorwrapper.shape.boxes._keys import mode_of
from tensorwrapper.shape.masks._positions import Positions
from tensorwrapper.shape.masks._source_positions import MaskPlaces, MaskWay
from tensorwrapper.typing import IndexT_co


class MaskSets(MaskPlaces[IndexT_co], Generic[IndexT_co]):
    """Abstract: `_make`, and the attributes of `MaskPlaces`."""

    __slots__ = ()

    @classmethod
    @abstractmethod
    def _make(cls, source: Shape, way: MaskWay, picks: tuple[Positions | int, ...]) -> Self:
        """Return the mask with these parts, which are not checked."""

    def as_points(self) -> Self:
        """Return the mask of the same elements as points, in row-major order of the result; O(size).

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> Mask(Shape(2, 3), 1, [2, 0]).as_points()
        Mask.of_ordinals(Shape(2, 3), range(5, 2, -2))
        """
        if self.way == "points":
            return self
        return self._make(self.source, "points", (Positions.of_distinct(self.ordinals()),))

    def outer(self) -> Self:
        """Return the smallest mask by modes that has all picked indices: those of each mode that occur.

        Its result is the compressed box, and `result_index` the place in it. The indices of points ascend;
        O(n log n) for them.

        Raises
        ------
        JaggedModeError
            If the source is jagged.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> box = Mask.of_points(Shape(5, 5), [(1, 2), (1, 3)]).outer()
        >>> box.extents, box.result_index((1, 3))
        ((1, 2), (0, 1))
        """
        box = self.source.flatten()
        if box.kind != "smooth":
            raise JaggedModeError(
                "a jagged shape has no outer product of indices; of it rows are picked, or points"
            )
        if self.way == "modes" and self.size:
            picks = tuple(
                [p if isinstance(p, Positions) else Positions.of_range(range(p, p + 1)) for p in self.picks]
            )
        else:
            columns = box.indices_at(self.ordinals()).T
            picks = tuple([Positions.of_distinct(different(column)) for column in columns])
        return self._make(self.source, "modes", picks)

    # Sets.

    def intersect(self, other: "MaskSets[Any] | ShapeLike") -> Self:
        """Return the mask of common indices, in the order of this one; O(1) for ranges.

        Parameters
        ----------
        other
            A mask of the same source; or a shape, which keeps the indices that it contains.

        Raises
        ------
        ExtentMismatchError
            If the masks have different sources.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> Mask(Shape(30), slice(None, None, 2)).intersect(Mask(Shape(30), slice(None, None, 3)))
        Mask(Shape(30), range(0, 25, 6))
        >>> Mask(Shape(30), slice(None, None, 2)).intersect(Shape(30)[7:11])
        Mask(Shape(30), range(8, 11, 2))
        """
        if not isinstance(other, MaskSets):
            return self._within(as_shape(other))
        self._check_source(other)
        if self.way == other.way:
            pairs = [(a, b) for a, b in zip(self.picks, other.picks, strict=True) if a != b]
            picked = [(a, b) for a, b in pairs if isinstance(a, Positions) and isinstance(b, Positions)]
            if len(picked) == len(pairs):
                both = [
                    a.intersect(b) if isinstance(a, Positions) and isinstance(b, Positions) else a
                    for a, b in zip(self.picks, other.picks, strict=True)
                ]
                return self._make(self.source, self.way, tuple(both))
        return self._common_points(other)

    def _common_points(self, other: "MaskSets[Any]") -> Self:
        """Return what masks of different ways have in common: O(n log n) in the smaller one."""
        few = self if self.size <= other.size else other
        many = other if few is self else self
        ordinals = few._as_positions().to_numpy()
        indices = self.source.indices_at(ordinals)
        kept = many.contains(indices)
        found = ordinals[kept]
        if few is not self:
            found = found[np.argsort(self.shape.ordinals(self.result_indices(indices[kept])))]
        return self._make(self.source, "points", (Positions.of_distinct(found),))

    def _within(self, region: Shape) -> Self:
        """Return the mask of those of the picked indices that a shape has."""
        if region.rank != self.source.rank:
            raise RankError(
                f"a shape of rank {region.rank} has no index of a mask of rank {self.source.rank}"
            )
        box, free = region.flatten(), self._free()
        if self.way == "modes" and box.kind == "smooth" and len(free) == len(self.picks):
            ends = zip(box.origin, box.extents, strict=True)
            runs = [Positions.of_range(range(start, start + extent)) for start, extent in ends]
            both = [picks.intersect(run) for picks, run in zip(free, runs, strict=True)]
            return self._make(self.source, "modes", tuple(both))
        ordinals = self._as_positions().to_numpy()
        found = ordinals[region.contains(self.source.indices_at(ordinals))]
        return self._make(self.source, "points", (Positions.of_distinct(found),))

    def union(self, other: "MaskSets[Any]") -> Self:
        """Return the mask of the indices of either, as points in row-major order of the source.

        O(n log n); O(1) for two ranges along one mode whose union is a range.

        Raises
        ------
        SizeOverflowError
            If the points do not fit in memory.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> Mask(Shape(3, 3), 1).union(Mask(Shape(3, 3), slice(None), 1)).size
        5
        """
        self._check_source(other)
        points = self._as_positions().union(other._as_positions())
        return self._make(self.source, "points", (points,))

    def complement(self, mode: SupportsIndex | None = None) -> Self:
        """Return the mask of all other indices, ascending; of the size of the source, unless it is a run.

        Without a mode these are other rows for a mask of rows, else points. With a mode, the other indices of
        this mode are picked, and the other modes do not change.

        Raises
        ------
        ConversionError
            If a mode is given to a mask that does not pick by modes, or a dropped mode is given.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> mask = Mask(Shape(4, 6), slice(None, None, 2), [1, 4, 5])
        >>> mask.complement(1), mask.complement().size
        (Mask(Shape(4, 6), range(0, 3, 2), [0, 2, 3]), 18)
        """
        if mode is not None:
            return self._complement_of(mode_of(mode, self.source.rank))
        if self.way == "rows":
            (rows,) = self._free()
            other = rows.complement(self.source.origin_at(()), self.source.extent(0))
            return self._make(self.source, "rows", (other,))
        other = self._as_positions().complement(0, self.source.size)
        return self._make(self.source, "points", (other,))

    def _complement_of(self, mode: int) -> Self:
        picks = self.picks[mode] if self.way == "modes" else 0
        if isinstance(picks, int):
            raise ConversionError(
                f"the mask does not pick indices of mode {mode} that others could be left by"
            )
        source = self.source.flatten()
        other = picks.complement(source.origin[mode], source.extents[mode])
        return self._make(self.source, "modes", (*self.picks[:mode], other, *self.picks[mode + 1 :]))

    def _as_positions(self) -> Positions:
        """Return the ordinals of all picked elements."""
        picks = self.picks[0] if self.way == "points" else 0
        if isinstance(picks, Positions):
            return picks
        along = self._along_one_mode() if self.way == "modes" else None
        if along is not None:
            return Positions.of_range(along)
        with memory_for(self.size):
            return Positions.of_distinct(self.ordinals())

    def _along_one_mode(self) -> range | None:
        """Return the ordinals of all picked elements if they are a range along one mode of a box."""
        box = self.source.flatten()
        first, step, last, stride = 0, 1, 0, 1
        free = 0
        modes = list(zip(self.picks, box.extents, box.origin, strict=True))
        for picks, extent, start in reversed(modes):
            if isinstance(picks, int):
                first += (picks - start) * stride
                last += (picks - start) * stride
            elif not isinstance(picks.places, range) or not picks.places:
                return None
            else:
                free += 1
                step = picks.places.step * stride
                first += (picks.places[0] - start) * stride
                last += (picks.places[-1] - start) * stride
            stride *= extent
        return range(first, last + (1 if step > 0 else -1), step) if free == 1 else None

    def _check_source(self, other: "MaskSets[Any]") -> None:
        check_kind_of(other, MaskSets, "a mask is combined with masks")
        if self.source is not other.source and self.source != other.source:
            raise ExtentMismatchError(f"one mask is of {self.source}, the other of {other.source}")
