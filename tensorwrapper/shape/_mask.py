"""Masks: some indices of a shape, contiguous or not, seen as a contiguous shape of their own.

A shape is contiguous, and so is every slice of it. A mask stands beside it: it is no shape, it has one.
"""

from collections.abc import Callable
from typing import Any, Generic, SupportsIndex, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper.errors import (
    ConversionError,
    ExtentMismatchError,
    JaggedModeError,
    ParseError,
    RankError,
    TensorWrapperError,
)
from tensorwrapper.shape._keys import mode_of
from tensorwrapper.shape._mask_keys import (
    MaskItem,
    picks_of_item,
    picks_of_ordinals,
    picks_of_points,
    spread_items,
)
from tensorwrapper.shape._mask_places import MaskPlaces, MaskWay
from tensorwrapper.shape._mask_text import MaskRead, mask_repr, mask_str, mask_to_json, read_json, read_text
from tensorwrapper.shape._picks import Picks
from tensorwrapper.shape._queries import ShapeLike
from tensorwrapper.shape._shape import Shape, as_shape
from tensorwrapper.typing import IndexT_co

__all__ = ["Mask", "MaskItem", "MaskWay"]


@final
@attrs.frozen(init=False, eq=False, repr=False, getstate_setstate=False)
class Mask(MaskPlaces[IndexT_co], Generic[IndexT_co]):
    """Some indices of a shape, contiguous or not, seen as a contiguous shape that starts at 0.

    ``Mask(shape, ...)`` picks along every mode by itself, as the outer product of what is picked; of a jagged
    shape it picks rows. `of_points` and `of_ordinals` pick single elements of any shape. The picked indices
    are all different, and keep the order in which they are given. Evenly spaced ones are ranges, in O(1)
    memory. A mask never changes; it is hashable and picklable. Layers do not count.

    Parameters
    ----------
    source
        The shape that the indices are of.
    *items
        What is picked of each mode, in absolute and literal indices: an index, which pins the mode and drops
        it from the result; a slice of any step, or a range; indices; or one bool for each index of the mode.
        An ellipsis, or the end of the items, stands for whole modes.

    Raises
    ------
    OutOfBoundsError
        If an index is not in its mode.
    ExtentError
        If an index comes twice, a step is 0, or there are not as many bools as indices.
    RankError
        If there are more items than modes.
    JaggedModeError
        If more is picked of a jagged shape than rows.

    Examples
    --------
    >>> from tensorwrapper import Mask, Shape
    >>> mask = Mask(Shape(4, 6), slice(None, None, 2), [1, 4, 5])
    >>> mask.shape, mask.source_index((1, 1)), mask.result_index((2, 4)), (1, 4) in mask
    (Shape(2, 3), (2, 4), (1, 1), False)
    """

    source: Shape[IndexT_co]
    """The shape that the indices are of."""
    way: MaskWay
    """Whether indices of every mode, rows, or points are picked."""
    picks: tuple[Picks | int, ...]
    """What is picked of each mode, of the rows, or of the ordinals; an integer is pinned."""
    _shape: Shape[Any] | None

    def __init__(self, source: Shape[IndexT_co], *items: MaskItem) -> None:
        box = source.flatten()
        spread = spread_items(items, box.rank)
        if box.kind == "smooth":
            ends = zip(spread, box.origin, box.extents, strict=True)
            picks = [picks_of_item(item, start, n, mode) for mode, (item, start, n) in enumerate(ends)]
            _fill(self, source, "modes", tuple(picks))
        else:
            _fill(self, source, "rows", (_rows_of_items(box, spread),))

    @classmethod
    def of_points(cls, source: Shape[IndexT_co], points: npt.ArrayLike) -> "Mask[IndexT_co]":
        """Return the mask of single elements; the result has one mode, in the order in which they are given.

        Parameters
        ----------
        source
            A shape of any kind.
        points
            An (n, rank) table of absolute indices; or a bool for every element, as an array with the extents
            of the shape or in one row: then the order is row-major.

        Raises
        ------
        OutOfBoundsError
            If an index is not in the shape.
        ExtentError
            If an index comes twice, or the bools do not fit.
        SizeOverflowError
            If the shape has ordinals beyond 64 bits.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> mask = Mask.of_points(Shape.jagged([3, 1, 2]), [(2, 1), (0, 0)])
        >>> mask.shape, mask.source_index((0,)), mask.ordinals().tolist()
        (Shape(2), (2, 1), [5, 0])
        """
        return cls._make(source, "points", (picks_of_points(source, points),))

    @classmethod
    def of_ordinals(cls, source: Shape[IndexT_co], ordinals: "npt.ArrayLike | range") -> "Mask[IndexT_co]":
        """Return the mask of the elements with these ordinals, in their order; one integer drops the mode.

        Raises as `of_points` does.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> mask = Mask.of_ordinals(Shape(1000, 1000), range(0, 10**6, 1001))
        >>> mask.shape, mask.source_index((7,))
        (Shape(1000), (7, 7))
        """
        return cls._make(source, "points", (picks_of_ordinals(source, ordinals),))

    @classmethod
    def parse(cls, text: str) -> "Mask[tuple[int, ...]]":
        """Return the mask that a text writes: the inverse of `str`, unless that is a summary.

        Raises
        ------
        ParseError
            If it is not the text of a mask. It may come from a stranger, and costs memory as it is long.

        Examples
        --------
        >>> from tensorwrapper import Mask
        >>> Mask.parse("(4, 6)[0:3:2, 1|4|5]").shape
        Shape(2, 3)
        """
        return _read(read_text(text))

    @classmethod
    def from_json(cls, text: str | bytes) -> "Mask[tuple[int, ...]]":
        """Return the mask that `to_json` wrote; raises `ParseError` as `parse` does.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> Mask.from_json(Mask(Shape(9), [4, 0, 2]).to_json())
        Mask(Shape(9), [4, 0, 2])
        """
        return _read(read_json(text))

    def to_json(self) -> str:
        """Return the mask as JSON, compact and with sorted keys; O(what is stored).

        Raises
        ------
        SizeOverflowError
            If a number has more than 640 digits.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> Mask(Shape(9), [4, 0, 2]).to_json()
        '{"picks":[[4,0,2]],"shape":{"extents":[9],"kind":"smooth","origin":[0]},"way":"modes"}'
        """
        return mask_to_json(self)

    @classmethod
    def _make(
        cls, source: Shape[IndexT_co], way: MaskWay, picks: tuple[Picks | int, ...]
    ) -> "Mask[IndexT_co]":
        mask: Mask[IndexT_co] = object.__new__(cls)
        _fill(mask, source, way, picks)
        return mask

    # Masks of masks.

    def __getitem__(self, key: MaskItem | tuple[MaskItem, ...]) -> "Mask[IndexT_co]":
        """Return the mask of what a key picks of the result, in its indices, which start at 0.

        O(1) for slices of ranges, else one take per mode.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> Mask(Shape(4, 6), slice(None, None, 2), [1, 4, 5])[1, ::-2]
        Mask(Shape(4, 6), 2, range(5, 0, -4))
        """
        # A tuple stands for modes, as between any brackets; indices of one mode are a list or an array.
        items = key if isinstance(key, tuple) else (key,)
        return self.compose(Mask(self.shape, *items))

    def compose(self, inner: "Mask[Any]") -> "Mask[IndexT_co]":
        """Return the mask of the source that picks what `inner` picks of the result; one take per mode.

        Raises
        ------
        ExtentMismatchError
            If `inner` is not a mask of this one's result.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> evens = Mask(Shape(10), slice(None, None, 2))
        >>> evens.compose(Mask(evens.shape, [4, 1]))
        Mask(Shape(10), range(8, 1, -6))
        """
        if inner.source is not self._shape and inner.source != self.shape:
            raise ExtentMismatchError(f"the inner mask is of {inner.source}, but the result is {self.shape}")
        if inner.way == "points" and not (self.way == "points" and self._free()):
            return self._make(self.source, "points", (self._points_of(inner.picks[0]),))
        left = iter(inner.picks)
        picks = [_compose(p, next(left)) if isinstance(p, Picks) else p for p in self.picks]
        return self._make(self.source, self.way, tuple(picks))

    def _points_of(self, ordinals: Picks | int) -> Picks | int:
        """Return the ordinals in the source of elements of the result."""
        if isinstance(ordinals, int):
            return self.source.ordinal(self.source_index(self.shape.index(ordinals)))
        found = self.source.ordinals(self.source_indices(self.shape.indices_at(ordinals.to_numpy())))
        return Picks.of_distinct(found)

    def as_points(self) -> "Mask[IndexT_co]":
        """Return the mask of the same elements as points, in row-major order of the result; O(size).

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> Mask(Shape(2, 3), 1, [2, 0]).as_points()
        Mask.of_ordinals(Shape(2, 3), range(5, 2, -2))
        """
        if self.way == "points":
            return self
        return self._make(self.source, "points", (Picks.of_distinct(self.ordinals()),))

    def outer(self) -> "Mask[IndexT_co]":
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
                [p if isinstance(p, Picks) else Picks.of_range(range(p, p + 1)) for p in self.picks]
            )
        else:
            columns = box.indices_at(self.ordinals()).T
            picks = tuple([Picks.of_distinct(np.unique(column)) for column in columns])
        return self._make(self.source, "modes", picks)

    # Sets.

    def intersect(self, other: "Mask[Any] | ShapeLike") -> "Mask[IndexT_co]":
        """Return the mask of what both have, in the order of this one; O(1) for ranges.

        Parameters
        ----------
        other
            A mask of the same source; or a shape, of whose indices those remain that it has.

        Raises
        ------
        ExtentMismatchError
            If the masks are of different sources.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> Mask(Shape(30), slice(None, None, 2)).intersect(Mask(Shape(30), slice(None, None, 3)))
        Mask(Shape(30), range(0, 25, 6))
        >>> Mask(Shape(30), slice(None, None, 2)).intersect(Shape(30)[7:11])
        Mask(Shape(30), range(8, 11, 2))
        """
        theirs = other if isinstance(other, Mask) else self._within(as_shape(other))
        self._check_source(theirs)
        pairs = [
            a.intersect(b)
            for a, b in zip(self.picks, theirs.picks, strict=False)
            if isinstance(a, Picks) and isinstance(b, Picks)
        ]
        if self.way == theirs.way and len(pairs) == len(self.picks):
            return self._make(self.source, self.way, tuple(pairs))
        mine, others = self._as_picks(), theirs._as_picks()
        return self._make(self.source, "points", (mine.intersect(others),))

    def _within(self, region: Shape[Any]) -> "Mask[IndexT_co]":
        """Return the mask of the indices of the source that a shape has."""
        if region.rank != self.source.rank:
            raise RankError(
                f"a shape of rank {region.rank} has no index of a mask of rank {self.source.rank}"
            )
        source, box = self.source.flatten(), region.flatten()
        if source.kind == box.kind == "smooth":
            common = source.intersect(box)
            runs = [range(start, start + n) for start, n in zip(common.origin, common.extents, strict=True)]
            return self._make(self.source, "modes", tuple(map(Picks.of_range, runs)))
        ordinals = self._as_picks().to_numpy()
        found = ordinals[region.contains(source.indices_at(ordinals))]
        return self._make(self.source, "points", (Picks.of_distinct(found),))

    def union(self, other: "Mask[Any]") -> "Mask[IndexT_co]":
        """Return the mask of what either has, as points in row-major order of the source; O(n log n).

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> Mask(Shape(3, 3), 1).union(Mask(Shape(3, 3), slice(None), 1)).size
        5
        """
        self._check_source(other)
        ordinals = np.union1d(self._as_picks().to_numpy(), other._as_picks().to_numpy())
        return self._make(self.source, "points", (Picks.of_distinct(ordinals),))

    def complement(self, mode: SupportsIndex | None = None) -> "Mask[IndexT_co]":
        """Return the mask of what this one leaves out, ascending; of the source's size, unless it is a run.

        Without a mode these are all other indices: of a mask of rows the other rows, else points. With one,
        the other indices of this mode are picked, and the other modes stay as they are.

        Raises
        ------
        ConversionError
            If a mode is given to a mask that does not pick by modes, or one that is pinned.

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
        other = self._as_picks().complement(0, self.source.size)
        return self._make(self.source, "points", (other,))

    def _complement_of(self, mode: int) -> "Mask[IndexT_co]":
        picks = self.picks[mode] if self.way == "modes" else 0
        if isinstance(picks, int):
            raise ConversionError(
                f"the mask does not pick indices of mode {mode} that others could be left by"
            )
        source = self.source.flatten()
        other = picks.complement(source.origin[mode], source.extents[mode])
        return self._make(self.source, "modes", (*self.picks[:mode], other, *self.picks[mode + 1 :]))

    def _as_picks(self) -> Picks:
        """Return the ordinals of all picked elements."""
        return (
            Picks.of_distinct(self.ordinals())
            if self.way != "points" or not self._free()
            else self._free()[0]
        )

    def _check_source(self, other: "Mask[Any]") -> None:
        if self.source is not other.source and self.source != other.source:
            raise ExtentMismatchError(f"one mask is of {self.source}, the other of {other.source}")

    # Python's own.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mask):
            return NotImplemented
        theirs = cast("Mask[Any]", other)  # type: ignore[redundant-cast]
        return (self.way, self.picks) == (theirs.way, theirs.picks) and self.source == theirs.source

    def __hash__(self) -> int:
        return hash((self.way, self.picks, self.source))

    def __iter__(self) -> None:
        raise TypeError(
            "a mask is not iterable: source_indices(mask.shape.indices().to_numpy()) has its indices"
        )

    def __repr__(self) -> str:
        return mask_repr(self)

    def __str__(self) -> str:
        return mask_str(self)

    def __format__(self, spec: str) -> str:
        """Return the text of the mask: ``""`` gives its ``str``, ``"full"`` never summarises."""
        if spec not in ("", "full"):
            raise ConversionError(
                f'a mask is formatted as "" (its str) or "full" (never a summary), not {spec!r}'
            )
        return mask_str(self, full=bool(spec))

    def __reduce__(self) -> "tuple[Callable[..., Mask[Any]], tuple[object, ...]]":
        return Mask._make, (self.source, self.way, self.picks)


def _fill(mask: Mask[Any], source: Shape[Any], way: MaskWay, picks: tuple[Picks | int, ...]) -> None:
    for name, value in (("source", source), ("way", way), ("picks", picks), ("_shape", None)):
        object.__setattr__(mask, name, value)


def _rows_of_items(shape: Shape[Any], items: list[MaskItem]) -> Picks:
    rows = picks_of_item(items[0], shape.origin_at(()), shape.extent(0), 0)
    if isinstance(rows, int):
        raise JaggedModeError(
            f"a mask picks rows of a jagged shape, and pins none: chip({rows}) is what is under it"
        )
    if any(not isinstance(item, slice) or item != slice(None) for item in items[1:]):
        raise JaggedModeError(
            "of a jagged shape a mask picks rows, all other modes whole; of_points picks any of its elements"
        )
    return rows


def _compose(outer: Picks, inner: Picks | int) -> Picks | int:
    return outer.at(inner) if isinstance(inner, int) else outer.compose(inner)


def _read(read: MaskRead) -> Mask[tuple[int, ...]]:
    shape, points, items = read
    try:
        if points:
            return Mask.of_ordinals(shape, cast("npt.ArrayLike", items[0]))
        return Mask(shape, *items)
    except TensorWrapperError as error:
        if isinstance(error, ParseError):
            raise
        raise ParseError(f"this is not a mask: {error}") from error
