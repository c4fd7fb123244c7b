"""Many boxes as two arrays: the compact form of a hundred thousand blocks."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, SupportsIndex, TypeAlias, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array, tuples_of
from tensorwrapper._integers import MAX_INT64, to_count, to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ExtentError, JaggedModeError, OutOfBoundsError, RankError, SizeOverflowError
from tensorwrapper.shape import Shape, ShapeLike
from tensorwrapper.shape.lowlevel import integer_array, to_index_array, unnamed_shape
from tensorwrapper.typing import Index, IntArray

Box: TypeAlias = Shape
"""A smooth shape of any rank."""


def as_box(shape: ShapeLike, what: str) -> Box:
    """Return a smooth shape, without names; ``what`` describes the argument in the error."""
    box: Shape[Any] = unnamed_shape(shape)
    if not box.is_box:
        raise JaggedModeError(f"{what} must be a box, not {box.kind}: as_smooth() gives the bounding box")
    return box


def stop_of(box: Box) -> Index:
    """Return the index after the last of every mode."""
    return tuple([start + extent for start, extent in zip(box.origin, box.extents, strict=True)])


def box_text(box: Box) -> str:
    """Return the bounds of a box as errors write them.

    Examples
    --------
    >>> box_text(Shape(2, 3, origin=(-1, 0))), box_text(Shape())
    ('[-1:1, 0:3]', '[]')
    """
    return f"[{', '.join([f'{a}:{b}' for a, b in zip(box.origin, stop_of(box), strict=True)])}]"


@final
@frozen(eq=False, repr=False, getstate_setstate=False)
class BoxTable:
    """A sequence of boxes of one rank, held as arrays; the boxes may overlap, and may be empty.

    Made by `from_boxes` and `from_arrays`, which check their arguments; the class itself checks nothing.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> from tensorwrapper.sharding import BoxTable
    >>> table = BoxTable.from_boxes([Shape(2, 3), Shape(1, 3, origin=(2, 0))])
    >>> len(table), table[1], table.sizes().tolist(), table.hull()
    (2, Shape(1, 3, origin=(2, 0)), [6, 3], Shape(3, 3))
    """

    origins: IntArray = attrs.field(converter=frozen_array)
    """The (n, rank) first indices; read-only."""
    extents: IntArray = attrs.field(converter=frozen_array)
    """The (n, rank) extents; read-only."""

    @classmethod
    def from_boxes(cls, boxes: Iterable[ShapeLike], *, rank: SupportsIndex | None = None) -> "BoxTable":
        """Return the table of boxes that are given one by one.

        Parameters
        ----------
        boxes
            Smooth shapes of one rank.
        rank
            The rank, needed only where there are no boxes to tell it.

        Raises
        ------
        RankError
            If the ranks differ, or nothing tells the rank.
        SizeOverflowError
            If a corner does not fit into 64 bits.
        """
        given = [as_box(box, f"box {k}") for k, box in enumerate(boxes)]
        if rank is None and not given:
            raise RankError("a table without boxes does not tell its rank: give rank")
        modes = given[0].rank if rank is None else to_count(rank, "a rank")
        for k, box in enumerate(given):
            if box.rank != modes:
                raise RankError(f"box {k} has rank {box.rank}, but the table has rank {modes}")
        shape = (len(given), modes)
        try:
            origins = np.array([box.origin for box in given], dtype=np.int64).reshape(shape)
            extents = np.array([box.extents for box in given], dtype=np.int64).reshape(shape)
        except OverflowError as error:
            raise SizeOverflowError(
                "a table of boxes has corners of 64 bits; one of them is larger"
            ) from error
        return cls.from_arrays(origins, extents)

    @classmethod
    def from_arrays(cls, origins: npt.ArrayLike, extents: npt.ArrayLike) -> "BoxTable":
        """Return the table of the boxes with these ``(n, rank)`` origins and extents, which are copied.

        Raises
        ------
        ConversionError
            If a table is not rectangular, or not of integers.
        RankError
            If the arrays are not tables of one shape.
        ExtentError
            If an extent is negative.
        SizeOverflowError
            If a box ends beyond 64 bits.
        """
        corners, sizes = integer_array(origins, "origins"), integer_array(extents, "extents")
        if sizes.ndim != 2 or corners.shape != sizes.shape:
            raise RankError(
                f"origins {corners.shape} and extents {sizes.shape} must be two tables of one (n, rank)"
            )
        starts, spans = to_index_array(corners, sizes.shape[1]), to_index_array(sizes, sizes.shape[1])
        wrong = spans < 0
        if wrong.any():
            k, mode = np.argwhere(wrong)[0].tolist()
            raise ExtentError(
                f"an extent must not be negative, but is {spans[k, mode]} in mode {mode} of box {k}"
            )
        if (starts > MAX_INT64 - spans).any():
            k, mode = np.argwhere(starts > MAX_INT64 - spans)[0].tolist()
            raise SizeOverflowError(f"box {k} ends beyond 64 bits in mode {mode}")
        return cls(starts.copy(), spans.copy())

    @property
    def rank(self) -> int:
        """The number of modes of every box."""
        return int(self.origins.shape[1])

    @property
    def stops(self) -> IntArray:
        """The (n, rank) indices after the last."""
        return self.origins + self.extents

    def __len__(self) -> int:
        return len(self.origins)

    def __getitem__(self, place: SupportsIndex) -> Box:
        number = to_int(place, "the number of a box")
        if not -len(self) <= number < len(self):
            raise OutOfBoundsError(f"box {number} does not exist: there are {len(self)}")
        return Shape.smooth(self.extents[number].tolist(), origin=self.origins[number].tolist())

    def __iter__(self) -> Iterator[Box]:
        pairs = zip(tuples_of([self.extents]), tuples_of([self.origins]), strict=True)
        return (Shape.smooth(extents, origin=origin) for extents, origin in pairs)

    def sizes(self) -> IntArray:
        """Return how many indices each box has.

        Raises
        ------
        SizeOverflowError
            If that does not fit into 64 bits.
        """
        most = math.prod(self.extents.max(axis=0).tolist()) if len(self) else 0
        if most > MAX_INT64:
            exact = [math.prod(row) for row in tuples_of([self.extents])]
            if max(exact) > MAX_INT64:
                raise SizeOverflowError(
                    f"box {exact.index(max(exact))} has {max(exact)} indices, over 64 bits"
                )
            return np.array(exact, dtype=np.int64)
        sizes: IntArray = np.multiply.reduce(self.extents, axis=1, dtype=np.int64)
        return sizes

    def total_size(self) -> int:
        """Return the sum of the sizes, as a Python integer of any size."""
        return sum(math.prod(row) for row in tuples_of([self.extents]))

    def hull(self) -> Box:
        """Return the smallest box around all that are not empty; raises if there is none to go around."""
        filled = (self.extents > 0).all(axis=1)
        if not filled.any():
            raise ExtentError("boxes without a single index have no hull")
        low, high = self.origins[filled].min(axis=0), self.stops[filled].max(axis=0)
        spans = [b - a for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        return Shape.smooth(spans, origin=low.tolist())

    def merged(self) -> "BoxTable":
        """Return the hull as the only box if it has no more indices than the boxes have together.

        That is when one message with some elements too many is smaller than one per box.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> from tensorwrapper.sharding import BoxTable
        >>> near = BoxTable.from_boxes([Shape(5), Shape(5, origin=(3,))])
        >>> far = BoxTable.from_boxes([Shape(5), Shape(5, origin=(30,))])
        >>> list(near.merged()), len(far.merged())
        ([Shape(8)], 2)
        """
        total = self.total_size()
        if not total:
            return self
        hull = self.hull()
        return BoxTable.from_boxes([hull]) if hull.size <= total else self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoxTable):
            return NotImplemented
        return np.array_equal(self.origins, other.origins) and np.array_equal(self.extents, other.extents)

    def __hash__(self) -> int:
        return hash((self.origins.shape, self.origins.tobytes(), self.extents.tobytes()))

    def __repr__(self) -> str:
        return f"BoxTable(origins={_few(self.origins)}, extents={_few(self.extents)})"

    def __reduce__(self) -> "tuple[Callable[..., BoxTable], tuple[IntArray, IntArray]]":
        return BoxTable, (self.origins, self.extents)


BoxesLike: TypeAlias = BoxTable | Iterable[ShapeLike]
"""Boxes as a table, or one by one."""


def as_box_table(boxes: BoxesLike, rank: int) -> BoxTable:
    """Return boxes of a given rank as a table."""
    table = boxes if isinstance(boxes, BoxTable) else BoxTable.from_boxes(boxes, rank=rank)
    if table.rank != rank:
        raise RankError(f"the boxes have rank {table.rank}, but rank {rank} is needed")
    return table


def _few(table: IntArray) -> str:
    shown = str(table[:4].tolist())
    return shown if len(table) <= 4 else f"{shown[:-1]}, ... {len(table)} in all]"
