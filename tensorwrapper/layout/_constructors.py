"""How layouts are made: the named constructors of the facade."""

from abc import ABC
from collections.abc import Iterable
from typing import Generic, Self, SupportsIndex

from tensorwrapper._integers import to_int
from tensorwrapper.errors import LayoutError
from tensorwrapper.layout._orders import fastest_first, to_tiling
from tensorwrapper.layout._ordinals import LayoutOrdinals
from tensorwrapper.layout._tile_major import TileMajor
from tensorwrapper.shape import Tiling
from tensorwrapper.typing import IndexT_co, Order

__all__ = ["LayoutConstructors"]


class LayoutConstructors(LayoutOrdinals[IndexT_co], ABC, Generic[IndexT_co]):
    """Abstract: `_held` and `_wrap`."""

    __slots__ = ()

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
        >>> from tensorwrapper import Layout, Tiling
        >>> blocked.to_numpy().tolist()
        [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]
        """
        rank, multiple = to_tiling(tiling).rank, to_int(alignment, "an alignment")
        if multiple < 1:
            raise LayoutError(f"an alignment is a positive number of elements, not {multiple}")
        orders = fastest_first(order, rank), fastest_first(tile_order, rank)
        return cls._wrap(TileMajor(tiling, *orders, multiple, to_int(offset, "an offset")))
