"""Masks: some indices of a shape, contiguous or not, presented as a contiguous shape.

A shape is contiguous, and so is every slice of it. A mask is not a shape, but has one.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast, final

import numpy.typing as npt

from tensorwrapper._arguments import check_kind_of
from tensorwrapper._error_text import brief
from tensorwrapper._hints import hint, hints_of
from tensorwrapper._value_class import token_of, value_class
from tensorwrapper.errors import (
    ConversionError,
    ExtentMismatchError,
    JaggedModeError,
    ParseError,
    TensorWrapperError,
)
from tensorwrapper.shape._shape import Shape
from tensorwrapper.shape.masks._keys import (
    MaskItem,
    positions_of_item,
    positions_of_ordinals,
    positions_of_points,
    spread_items,
)
from tensorwrapper.shape.masks._positions import Positions
from tensorwrapper.shape.masks._sets import MaskSets
from tensorwrapper.shape.masks._source_positions import MaskWay
from tensorwrapper.shape.masks._text import MaskRead, mask_repr, mask_str, mask_to_json, read_json, read_text
from tensorwrapper.typing import Index, IndexT_co

_I = TypeVar("_I", bound=Index)


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Mask(MaskSets[IndexT_co], Generic[IndexT_co]):
    """A set of indices of a shape, contiguous or not, presented as a contiguous shape that starts at 0.

    ``Mask(shape, ...)`` picks along every mode separately, as an outer product; in a jagged shape it picks
    rows. `of_points` and `of_ordinals` pick single elements of any shape. The picked indices are distinct,
    and keep their given order. Evenly spaced ones are ranges, in O(1) memory. A mask is immutable, hashable
    and picklable. Layers do not count.

    Parameters
    ----------
    source
        The shape that contains the indices.
    *items
        One item per mode, in absolute indices. An integer picks one index and drops the mode from the result.
        Other items are a slice with any step, a range, indices, or one bool for each index of the mode. An
        ellipsis, or omitted items at the end, pick whole modes.

    Raises
    ------
    OutOfBoundsError
        If an index is not in its mode.
    ExtentError
        If an index is repeated, a step is 0, or the number of bools differs from that of indices.
    RankError
        If there are more items than modes.
    JaggedModeError
        If other modes than the rows of a jagged shape are picked.

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
    picks: tuple[Positions | int, ...]
    """The picks of each mode, of the rows, or of the ordinals; an integer drops its mode."""
    _shape: Shape | None

    def __init__(self, source: Shape[IndexT_co], *items: MaskItem) -> None:
        box = _checked(source).flatten()
        spread = spread_items(items, box.rank)
        if box.kind == "smooth":
            ends = zip(spread, box.origin, box.extents, strict=True)
            picks = [positions_of_item(item, start, n, mode) for mode, (item, start, n) in enumerate(ends)]
            _fill(self, source, "modes", tuple(picks))
        else:
            _fill(self, source, "rows", (_rows_of_items(box, spread),))

    @classmethod
    def of_points(cls, source: "Shape[_I]", points: npt.ArrayLike) -> "Mask[_I]":
        """Return the mask of single elements; the result has one mode, in the order in which they are given.

        Parameters
        ----------
        source
            A shape of any kind.
        points
            An (n, rank) table of absolute indices, or a bool for every element: an array with the extents of
            the shape, or one row in row-major order.

        Raises
        ------
        OutOfBoundsError
            If an index is not in the shape.
        ExtentError
            If an index is repeated, or the bools do not fit.
        SizeOverflowError
            If the shape has ordinals beyond 64 bits.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> mask = Mask.of_points(Shape.jagged([3, 1, 2]), [(2, 1), (0, 0)])
        >>> mask.shape, mask.source_index((0,)), mask.ordinals().tolist()
        (Shape(2), (2, 1), [5, 0])
        """
        return Mask[_I]._make(source, "points", (positions_of_points(_checked(source), points),))

    @classmethod
    def of_ordinals(cls, source: "Shape[_I]", ordinals: "npt.ArrayLike | range") -> "Mask[_I]":
        """Return the mask of the elements with these ordinals, in their order; one integer drops the mode.

        Raises as `of_points` does.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> mask = Mask.of_ordinals(Shape(1000, 1000), range(0, 10**6, 1001))
        >>> mask.shape, mask.source_index((7,))
        (Shape(1000), (7, 7))
        """
        return Mask[_I]._make(source, "points", (positions_of_ordinals(_checked(source), ordinals),))

    @classmethod
    def parse(cls, text: str) -> "Mask":
        """Return the mask of a text: the inverse of `str`, except for summaries.

        Raises
        ------
        ParseError
            If it is not the text of a mask. It may be untrusted, and needs memory in proportion to its
            length.

        Examples
        --------
        >>> from tensorwrapper import Mask
        >>> Mask.parse("(4, 6)[0:3:2, 1|4|5]").shape
        Shape(2, 3)
        """
        return _read(read_text(text))

    @classmethod
    def from_json(cls, text: str | bytes) -> "Mask":
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
    def _make(cls, source: Shape, way: MaskWay, picks: tuple[Positions | int, ...]) -> Self:
        mask = object.__new__(cls)
        _fill(mask, source, way, picks)
        return mask

    # Masks of masks.

    def __getitem__(self, key: MaskItem | tuple[MaskItem, ...]) -> "Mask[IndexT_co]":
        """Return the mask of a selection of the result by a key in its indices, which start at 0.

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
        check_kind_of(inner, Mask, "masks are composed with masks")
        if inner.source is not self._shape and inner.source != self.shape:
            raise ExtentMismatchError(f"the inner mask is of {inner.source}, but the result is {self.shape}")
        if inner.way == "points" and not (self.way == "points" and self._free()):
            return self._make(self.source, "points", (self._points_of(inner.picks[0]),))
        left = iter(inner.picks)
        picks = [_compose(p, next(left)) if isinstance(p, Positions) else p for p in self.picks]
        return self._make(self.source, self.way, tuple(picks))

    def _points_of(self, ordinals: Positions | int) -> Positions | int:
        """Return the ordinals in the source of elements of the result."""
        if isinstance(ordinals, int):
            return self.source.ordinal(self.source_index(self.shape.index(ordinals)))
        found = self.source.ordinals(self.source_indices(self.shape.indices_at(ordinals.to_numpy())))
        return Positions.of_distinct(found)

    # Python's own.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mask):
            return NotImplemented
        theirs = cast("Mask[Any]", other)  # type: ignore[redundant-cast]
        return (self.way, self.picks) == (theirs.way, theirs.picks) and self.source == theirs.source

    def __hash__(self) -> int:
        return hash((self.way, self.picks, self.source))

    def __dask_tokenize__(self) -> object:
        return token_of("tensorwrapper.Mask", self.way, self.picks, self.source)

    def __iter__(self) -> None:
        # Not NoReturn, with which checkers would take a mask for an iterable.
        raise TypeError(
            "a mask is not iterable: `m.source_indices(m.shape.indices().to_numpy())` has its indices"
        )

    if not TYPE_CHECKING:

        def __array__(self, *_: object, **__: object) -> None:
            # NumPy would make an array of one object.
            raise ConversionError(hints_of("Mask")["*"])

    def to_svg(self) -> str:
        """Return a picture of the source, each part of it as dark as much of it is picked.

        The last two modes are drawn; a picture has at most a few thousand parts, however large the mask is.

        Examples
        --------
        >>> from tensorwrapper import Mask, Shape
        >>> Mask(Shape(4, 6), slice(None, None, 2), [1, 4]).to_svg().startswith("<svg")
        True
        """
        from tensorwrapper.shape.masks._picture import draw_mask  # noqa: PLC0415 - loaded when it is drawn

        return draw_mask(self).to_svg()

    def _repr_html_(self) -> str:
        """Return what notebooks show: the mask, some facts and the picture."""
        from tensorwrapper.shape.masks._picture import mask_html  # noqa: PLC0415 - as in to_svg

        return mask_html(self, mask_str(self))

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


hint(Mask, "Mask")


def _checked(source: Shape[_I]) -> Shape[_I]:
    if isinstance(cast("object", source), Shape):
        return source
    raise ConversionError(
        f"a mask picks indices of a Shape, not of {brief(source)}; as_shape makes one of extents"
    )


def _fill(mask: Mask[Any], source: Shape, way: MaskWay, picks: tuple[Positions | int, ...]) -> None:
    for name, value in (("source", source), ("way", way), ("picks", picks), ("_shape", None)):
        object.__setattr__(mask, name, value)


def _rows_of_items(shape: Shape, items: list[MaskItem]) -> Positions:
    rows = positions_of_item(items[0], shape.origin_at(()), shape.extent(0), 0)
    if isinstance(rows, int):
        raise JaggedModeError(
            f"a mask picks rows of a jagged shape, and pins none: chip({rows}) is what is under it"
        )
    if any(not isinstance(item, slice) or item != slice(None) for item in items[1:]):
        raise JaggedModeError(
            "of a jagged shape a mask picks rows, all other modes whole; of_points picks any of its elements"
        )
    return rows


def _compose(outer: Positions, inner: Positions | int) -> Positions | int:
    return outer.at(inner) if isinstance(inner, int) else outer.compose(inner)


def _read(read: MaskRead) -> Mask:
    shape, points, items = read
    try:
        if points:
            return Mask.of_ordinals(shape, cast("npt.ArrayLike", items[0]))
        return Mask(shape, *items)
    except TensorWrapperError as error:
        if isinstance(error, ParseError):
            raise
        raise ParseError(f"this is not a mask: {error}") from error
