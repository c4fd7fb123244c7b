"""Properties of a layout: offsets of indices, and indices of offsets."""

from abc import ABC
from typing import TYPE_CHECKING, Any, Final, Generic, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import absent, or_absent
from tensorwrapper._integers import to_count, to_int
from tensorwrapper._memory import memory_for
from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout.boxes._common import check_out
from tensorwrapper.layout.facade._layout_base import LayoutBase, implementation_of
from tensorwrapper.layout.operations._indices import indices_at
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Index, IndexT, IndexT_co, IntArray, LooseIndex

if TYPE_CHECKING:
    from tensorwrapper.shape import IndexIterator, Indices

_BATCH: Final = 1 << 16
"""Indices that are made at a time on their way to places: so that they stay in a cache."""


class LayoutQueries(LayoutBase[IndexT_co], ABC, Generic[IndexT_co]):
    """Abstract: as `LayoutBase`."""

    __slots__ = ()

    @property
    def shape(self) -> Shape[IndexT_co]:
        """The shape whose indices have places."""
        return self.implementation.shape

    @property
    def strides(self) -> IndexT_co:
        """The step of each mode, in elements.

        Raises
        ------
        LayoutError
            If the layout is not strided.
        """
        strides = self.implementation.without_layers().mode_strides
        if strides is None:
            try:
                strides = self._strided("strides").strides
            except LayoutError as error:
                raise absent(error) from error.__cause__
        return cast("IndexT_co", strides)

    @property
    def offset(self) -> int:
        """The place of the element at the shape's origin."""
        return self.implementation.offset

    def bounds(self) -> tuple[int, int]:
        """Return the least and the greatest offset; (0, -1) if there is no element.

        O(rank) for boxes; tables of cells and composites go through their cells or offsets, once.
        """
        return self.implementation.bounds()

    @property
    def span(self) -> int:
        """Number of offsets from the least to the greatest, both included."""
        return self.implementation.span

    @property
    @or_absent
    def padding(self) -> int:
        """Number of unused offsets from the least to the greatest.

        Raises
        ------
        LayoutError
            If elements share offsets.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout.padded(Shape.jagged([3, 1, 2])).padding, Layout(Shape(3, 4))[:, :2].padding
        (2, 4)
        """
        implementation = self.implementation
        if not implementation.is_injective:
            raise LayoutError(
                f"elements of {implementation.shape} share places, so that none are left to count"
            )
        return implementation.span - implementation.shape.size

    @property
    def is_strided(self) -> bool:
        """Return True if every mode has one step."""
        return self.implementation.without_layers().mode_strides is not None

    @property
    def is_tiled(self) -> bool:
        """Return True for the tiled view of a strided layout."""
        return self.implementation.tiled is not None

    @property
    def is_contiguous(self) -> bool:
        """Return True if the elements in row-major order have consecutive offsets.

        Decided by rule, else by a search of up to 2**24 elements; an undecided larger layout counts as not
        contiguous.
        """
        return self.implementation.is_contiguous

    @property
    def is_exhaustive(self) -> bool:
        """Return True if every offset from the least to the greatest has an element."""
        implementation = self.implementation
        return implementation.span == implementation.shape.size and implementation.is_injective

    @property
    def is_injective(self) -> bool:
        """Return True if all elements have different offsets.

        Decided by rule if modes do not overlap, else by a search of up to 2**20 elements; an undecided larger
        layout counts as not injective.
        """
        return self.implementation.is_injective

    def may_overlap(self, other: LayoutBase[Index]) -> bool:
        """Tell whether the ranges of places of two layouts over one buffer meet; as quick as `bounds`.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> pairs = Layout(Shape(5, 2))
        >>> pairs[:, 0].may_overlap(pairs[:, 1]), pairs[:2].may_overlap(pairs[2:])
        (True, False)
        """
        from tensorwrapper.layout.operations._overlap import may_overlap  # noqa: PLC0415

        return may_overlap(self.implementation.unnamed(), implementation_of(other, "may_overlap"))

    def overlaps(self, other: LayoutBase[Index], *, limit: SupportsIndex = 1 << 20) -> bool:
        """Return True if two layouts over one buffer share an offset; exact.

        It needs no data, and for a few modes no search: it is a linear equation in bounded integers, which
        the common divisors of the strides decide.

        Parameters
        ----------
        other
            A layout with offsets in the same elements of the same buffer.
        limit
            Maximal number of steps of a search, and of inspected offsets if no rule holds.

        Raises
        ------
        LayoutError
            If the question is not decided within the limit; `may_overlap` always returns.
        SizeOverflowError
            If offsets to inspect exceed 64 bits.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> pairs = Layout(Shape(10**9, 2))
        >>> pairs[:, 0].overlaps(pairs[:, 1]), pairs[::3].overlaps(pairs[1::2])
        (False, True)
        """
        from tensorwrapper.layout.operations._overlap import overlaps  # noqa: PLC0415

        return overlaps(
            self.implementation.unnamed(), implementation_of(other, "overlaps"), to_count(limit, "a limit")
        )

    def offset_of(self: "LayoutQueries[IndexT]", index: IndexT | LooseIndex) -> int:
        """Return the place of the element at an absolute index.

        Raises
        ------
        OutOfBoundsError
            If the index is not in the shape.
        RankError
            If it has another number of entries.
        """
        return self.implementation.offset_of(index)

    def offsets_of(
        self,
        indices: "npt.ArrayLike | Indices[Any] | IndexIterator[Any]",
        *,
        count: SupportsIndex | None = None,
    ) -> IntArray:
        """Return the offsets of many absolute indices, in array operations.

        Parameters
        ----------
        indices
            An ``(..., rank)`` array, or indices of a shape, ``shape.indices()``, or an iterator over them. An
            iterator continues at its position and origin, and advances by the number of indices taken.
        count
            Number of indices to take from an iterator, or fewer if it ends; all by default.

        Raises
        ------
        OutOfBoundsError
            If an index is not in the shape; an iterator does not move.
        SizeOverflowError
            If an offset does not fit into 64 bits (use `offset_of`), or the indices do not fit in memory. An
            iterator does not move.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> it = Shape(2, 2).indices().iterator()
        >>> layout = Layout(Shape(10, 10))
        >>> layout.offsets_of(it, count=3).tolist(), it.position
        ([0, 1, 10], 3)
        >>> it.position, it.origin = 1, (5, 5)
        >>> layout.offsets_of(it).tolist()
        [56, 65, 66]
        """
        from tensorwrapper.shape import IndexIterator, Indices  # noqa: PLC0415 - few ask for many indices

        if isinstance(indices, IndexIterator):
            places = self._places_of(indices.ahead(count))
            indices.position += len(places)
            return places
        if count is not None:
            raise ConversionError(
                "count= is how many indices to take from a running iterator, and from no other"
            )
        if isinstance(indices, Indices):
            return self._places_of(cast("Any", indices))
        return self.implementation.offsets_of(indices)

    def _places_of(self, run: "Indices[Any]") -> IntArray:
        with memory_for(run.size, "places"):
            places = np.empty(len(run), dtype=np.int64)
        done = 0
        for table in run.batches(_BATCH):
            places[done : done + len(table)] = self.implementation.offsets_of(table)
            done += len(table)
        return places

    def index_of(self, offset: SupportsIndex) -> IndexT_co:
        """Return the first index, in row-major order, whose element has this `offset`.

        O(rank) if modes split an offset like digits. Formulas decide up to three interleaved modes in O(log
        extent), and a search decides more.

        Raises
        ------
        OutOfBoundsError
            If no element has this offset.
        LayoutError
            If four or more modes interleave and a search of 2**18 steps is not enough; for a composite, if it
            would have to visit more than 2**20 elements.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(10**9, 10**9), strides=(15, 7)).index_of(10**9)
        (6, 142857130)
        """
        return cast("IndexT_co", self.implementation.index_of(offset))

    def indices_of(self, offset: SupportsIndex, *, limit: SupportsIndex = 1 << 20) -> list[IndexT_co]:
        """Return all indices whose elements have this `offset`, in row-major order.

        Parameters
        ----------
        offset
            The offset.
        limit
            Maximal number of returned indices.

        Raises
        ------
        OutOfBoundsError
            If no element has this offset.
        LayoutError
            If there are more than `limit` indices, before a list of them is made; if modes interleave and a
            search of 2**18 steps is not enough; if the layout is composite (use `index_of`).

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(2)).repeat([2]).indices_of(1)
        [(1,), (3,)]
        """
        implementation, most = self.implementation.without_layers(), to_count(limit, "a limit")
        found = implementation.indices_of(to_int(offset, "an offset"), most)
        return cast("list[IndexT_co]", found)

    def indices_at(self, offsets: npt.ArrayLike) -> IntArray:
        """Return the first index whose element has each offset: an ``(..., rank)`` array.

        Memory is the sum of the extents at most, never their product.

        Raises
        ------
        OutOfBoundsError
            If no element has an offset.
        LayoutError
            If the layout is composite, or modes interleave so that an offset does not split.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(2, 3), order="F").indices_at([0, 1, 5]).tolist()
        [[0, 0], [1, 0], [1, 2]]
        """
        return indices_at(self.implementation.without_layers(), offsets)

    def to_numpy(self, out: IntArray | None = None) -> IntArray:
        """Return the offsets of all elements: an array of the shape's extents, or flat if it is jagged.

        Parameters
        ----------
        out
            Where to write them, and what is returned; a new array if not given. To write over an array that
            is there takes half the time, because no memory must be found for it.

        Raises
        ------
        DTypeError
            If `out` is not of the type int64.
        ExtentMismatchError
            If `out` has another shape.
        ReadOnlyError
            If `out` is read-only.
        SizeOverflowError
            If an offset does not fit into 64 bits.

        Examples
        --------
        >>> import numpy as np
        >>> from tensorwrapper import Layout, Shape
        >>> table = np.empty((2, 3), dtype=np.int64)
        >>> Layout(Shape(2, 3), order="F").to_numpy(out=table) is table
        True
        >>> table.tolist()
        [[0, 2, 4], [1, 3, 5]]
        """
        implementation = self.implementation.without_layers()
        if out is None:
            return implementation.to_numpy()
        check_out(out, implementation.shape)
        implementation.write_offsets(out)
        return out
