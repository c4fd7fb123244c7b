"""Named constructors of the facade."""

from abc import ABC
from collections.abc import Iterable
from typing import Generic, Self, SupportsIndex

import numpy.typing as npt

from tensorwrapper._integers import to_int
from tensorwrapper.errors import LayoutError
from tensorwrapper.layout.boxes._named import named_layout
from tensorwrapper.layout.boxes._orders import fastest_first, to_tiling
from tensorwrapper.layout.boxes._strided import Strided
from tensorwrapper.layout.facade._layout_base import LayoutBase
from tensorwrapper.layout.operations._storage import cells_at, packed_cells, padded_box
from tensorwrapper.shape import ShapeLike, Tiling
from tensorwrapper.shape.lowlevel import names_of, unnamed_shape
from tensorwrapper.typing import IndexT_co, Order


class LayoutConstructors(LayoutBase[IndexT_co], ABC, Generic[IndexT_co]):
    """Abstract: as `LayoutBase`."""

    __slots__ = ()

    @classmethod
    def packed(
        cls,
        shape: ShapeLike,
        *,
        order: Order | Iterable[SupportsIndex] = "C",
        alignment: SupportsIndex = 1,
        offset: SupportsIndex = 0,
    ) -> Self:
        """Return the layout of consecutive cells of a jagged shape; a box is one cell.

        O(cells), with 8 bytes for each; without order and alignment no table is stored.

        Parameters
        ----------
        shape
            The shape of the indices.
        order
            The order of the modes of a cell, which are the last ``rank - outer_rank`` modes, counted from 0:
            "C" (the last one fastest), "F", or a permutation whose entry k is the k-th fastest mode.
        alignment
            Every cell starts at a multiple of this many elements, counted from `offset`.
        offset
            The offset of the first cell.

        Raises
        ------
        LayoutError
            If the alignment is not positive, or the shape is nested.
        RankError
            If an order is not a permutation of the modes of a cell.
        SizeOverflowError
            If offsets exceed 64 bits.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout.packed(Shape.jagged([3, 1, 2]), alignment=4).to_numpy().tolist()
        [0, 1, 2, 4, 8, 9]
        """
        start = to_int(offset, "an offset")
        return cls._wrap(
            named_layout(packed_cells(unnamed_shape(shape), order, alignment, start), names_of(shape))
        )

    @classmethod
    def padded(
        cls,
        shape: ShapeLike,
        *,
        order: Order | Iterable[SupportsIndex] = "C",
        offset: SupportsIndex = 0,
    ) -> Self:
        """Return the layout of every element at its place in the bounding box of the shape.

        `padding` counts the places that stay empty. Memory is one stride per mode.

        Parameters
        ----------
        shape
            The shape whose indices get places.
        order
            The order of the modes of the box: "C", "F", or a permutation whose entry k is the k-th fastest
            mode.
        offset
            The place of the first corner of the box, ``shape.as_smooth().origin``.

        Raises
        ------
        LayoutError
            If the shape is nested.
        RankError
            If an order is not a permutation of the modes.
        SizeOverflowError
            If the places of the box of a jagged shape leave 64 bits.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> rows = Layout.padded(Shape.jagged([3, 1, 2]))
        >>> rows.to_numpy().tolist(), rows.padding
        ([0, 1, 2, 3, 6, 7], 2)
        """
        return cls._wrap(
            named_layout(
                padded_box(unnamed_shape(shape), order, to_int(offset, "an offset")), names_of(shape)
            )
        )

    @classmethod
    def from_block_offsets(
        cls,
        shape: ShapeLike,
        offsets: npt.ArrayLike,
        *,
        strides: npt.ArrayLike | None = None,
        order: Order | Iterable[SupportsIndex] = "C",
    ) -> Self:
        """Return the layout of a jagged shape with these offsets of its cells.

        O(cells), 8 bytes for each offset and for each different stride. Packed if the cells are consecutive.

        Parameters
        ----------
        shape
            A jagged shape.
        offsets
            The offset of the first element of each cell, in row-major order of the modes before the cells;
            entries of empty cells are ignored.
        strides
            The step of each mode of a cell, in elements: one row for all cells, or one for each. By default
            every cell is contiguous.
        order
            The order of the modes of contiguous cells, as in `packed`.

        Raises
        ------
        LayoutError
            If the shape is not jagged, or both strides and an order are given.
        RankError
            If the number of offsets differs from that of cells, or that of strides from the modes of a cell.
        SizeOverflowError
            If the offset of an element exceeds 64 bits.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> rows = Layout.from_block_offsets(Shape.jagged([3, 1, 2]), [10, 0, 5], strides=[-1])
        >>> rows.to_numpy().tolist(), rows.index_of(4)
        ([10, 9, 8, 0, 5, 4], (2, 1))
        """
        return cls._wrap(
            named_layout(cells_at(unnamed_shape(shape), offsets, strides, order), names_of(shape))
        )

    @classmethod
    def aligned(
        cls,
        shape: ShapeLike,
        alignment: SupportsIndex,
        *,
        order: Order | Iterable[SupportsIndex] = "C",
        offset: SupportsIndex = 0,
    ) -> Self:
        """Return the layout of a box in which every row starts at a multiple of `alignment` elements.

        A row is along the fastest mode: the others step over its extent rounded up. These are the padded
        layouts of C++26, with the leading dimension of BLAS.

        Parameters
        ----------
        shape
            The box.
        alignment
            The number of elements, counted from `offset`.
        order
            The order of modes, as in `Layout`.
        offset
            The offset of the element at the origin.

        Raises
        ------
        LayoutError
            If the alignment is not positive, or the shape is not a box.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout.aligned(Shape(2, 3, 5), 8).strides, Layout.aligned(Shape(5, 3), 4, order="F").strides
        ((24, 8, 1), (1, 8))
        """
        from tensorwrapper.layout.interchange._mdspan import aligned_strides  # noqa: PLC0415

        space, multiple = unnamed_shape(shape), to_int(alignment, "an alignment")
        if multiple < 1:
            raise LayoutError(f"an alignment is a positive number of elements, not {multiple}")
        if not space.is_box:
            raise LayoutError(f"rows of a box are aligned, not those of the {space.kind} shape {space}")
        modes = fastest_first(order, space.rank)
        strides = aligned_strides(space.extents, modes, multiple)
        return cls._wrap(named_layout(Strided(space, strides, to_int(offset, "an offset")), names_of(shape)))

    @classmethod
    def tiled(
        cls,
        tiling: Tiling,
        *,
        order: Order | Iterable[SupportsIndex] = "C",
        tile_order: Order | Iterable[SupportsIndex] = "C",
        alignment: SupportsIndex = 1,
        offset: SupportsIndex = 0,
    ) -> Self:
        """Return tile-major storage of a box: every tile contiguous, one after the other.

        The shape is that of the elements, ``tiling.elements``. Memory is the sum of the tiles per mode; with
        an alignment also one number per tile.

        Parameters
        ----------
        tiling
            How the box is cut.
        order
            The order of the tiles: "C" (those of the last mode next to one another), "F", or a permutation
            whose entry k is the k-th fastest mode.
        tile_order
            The order of the elements of a tile, given alike.
        alignment
            Every tile starts at a multiple of this many elements, counted from `offset`.
        offset
            The place of the first tile.

        Raises
        ------
        LayoutError
            If the alignment is not positive.
        RankError
            If an order is not a permutation of the modes.

        Examples
        --------
        >>> from tensorwrapper import Layout, Tiling
        >>> blocked = Layout.tiled(Tiling([2, 2], [2, 2]))
        >>> blocked.to_numpy().tolist()
        [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]
        """
        rank, multiple = to_tiling(tiling, "tiled").rank, to_int(alignment, "an alignment")
        if multiple < 1:
            raise LayoutError(f"an alignment is a positive number of elements, not {multiple}")
        orders = fastest_first(order, rank), fastest_first(tile_order, rank)
        from tensorwrapper.layout.tiles._tile_major import TileMajor  # noqa: PLC0415 - few are stored by tiles

        return cls._wrap(TileMajor(tiling, *orders, multiple, to_int(offset, "an offset")))
