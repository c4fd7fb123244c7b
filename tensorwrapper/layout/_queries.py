"""What a layout can be asked, and the layouts of the same rank over the same memory.

`Layout` is one class; its methods stand in two files: those that keep the rank (here) and those that make
layouts of another rank (``_layout.py``).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Generic, Self, SupportsIndex, cast

import numpy.typing as npt

from tensorwrapper._integers import to_int
from tensorwrapper.errors import LayoutError
from tensorwrapper.layout import _modes
from tensorwrapper.layout._common import LayoutCommon
from tensorwrapper.layout._hierarchical import Hierarchical
from tensorwrapper.layout._separable import Separable, axes_of, indices_at
from tensorwrapper.layout._strided import Strided
from tensorwrapper.layout._tiled import TiledStrided
from tensorwrapper.shape import Shape, ShapeLike, as_shape
from tensorwrapper.shape._keys import mode_of
from tensorwrapper.typing import Index, IndexT_co, IntArray

__all__ = ["LayoutQueries"]


class LayoutQueries(ABC, Generic[IndexT_co]):
    """Abstract: the attribute `_held` and `_wrap`, which puts an implementation behind the facade."""

    __slots__ = ()

    _held: LayoutCommon

    @classmethod
    @abstractmethod
    def _wrap(cls, held: LayoutCommon) -> Self:
        """Return the facade over `held`."""

    @property
    def shape(self) -> Shape[IndexT_co]:
        """The shape whose indices have places."""
        return self._held.shape

    @property
    def strides(self) -> Index:
        """The step of each mode, in elements.

        Raises
        ------
        LayoutError
            If the layout is not strided.
        """
        return self._strided("strides").strides

    @property
    def offset(self) -> int:
        """The place of the element at the shape's origin."""
        return self._held.offset

    def bounds(self) -> tuple[int, int]:
        """Return the least and the greatest offset; (0, -1) if there is no element. O(rank)."""
        return self._held.bounds()

    @property
    def span(self) -> int:
        """How many places lie from the least offset to the greatest, both included."""
        return self._held.span

    @property
    def is_strided(self) -> bool:
        """Whether every mode has one step."""
        return isinstance(self._held, Strided | Hierarchical)

    @property
    def is_tiled(self) -> bool:
        """Whether this is the tiled view of a strided layout."""
        return isinstance(self._held, TiledStrided)

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements in row-major order lie at consecutive offsets."""
        return self._held.is_contiguous

    @property
    def is_exhaustive(self) -> bool:
        """Whether every place from the least offset to the greatest holds an element."""
        held = self._held
        return held.span == held.shape.size and held.is_injective

    @property
    def is_injective(self) -> bool:
        """Whether no two elements share a place.

        Decided by rule where no mode steps into another, else by a search of up to 2**20 elements; an
        undecided larger layout counts as not injective.
        """
        return self._held.is_injective

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        """Return the place of the element at an absolute index.

        Raises
        ------
        OutOfBoundsError
            If the index is not in the shape.
        RankError
            If it has another number of entries.
        """
        return self._held.offset_of(index)

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        """Return the place of each row of an ``(..., rank)`` array of absolute indices.

        Raises
        ------
        OutOfBoundsError
            If an index is not in the shape.
        SizeOverflowError
            If a place does not fit into 64 bits; `offset_of` answers.
        """
        return self._held.offsets_of(indices)

    def index_of(self, offset: SupportsIndex) -> IndexT_co:
        """Return the first index, in row-major order, whose element lies at `offset`.

        Raises
        ------
        OutOfBoundsError
            If no element lies there.
        """
        return cast("IndexT_co", self._held.index_of(offset))

    def indices_of(self, offset: SupportsIndex) -> list[IndexT_co]:
        """Return all indices whose elements lie at `offset`, in row-major order.

        Raises
        ------
        OutOfBoundsError
            If no element lies there.
        LayoutError
            If the layout is over a jagged shape, where `index_of` answers.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(2)).repeat([2]).indices_of(1)
        [(1,), (3,)]
        """
        base, axes = axes_of(self._held, "indices_of")
        found = Separable(self._held.shape, base, axes).indices_of(to_int(offset, "an offset"))
        return cast("list[IndexT_co]", found)

    def indices_at(self, offsets: npt.ArrayLike) -> IntArray:
        """Return the first index whose element lies at each offset: an ``(..., rank)`` array.

        Memory is the sum of the extents at most, never their product.

        Raises
        ------
        OutOfBoundsError
            If no element lies at an offset.
        LayoutError
            If the layout is over a jagged shape, or modes interleave so that an offset does not split.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(2, 3), order="F").indices_at([0, 1, 5]).tolist()
        [[0, 0], [1, 0], [1, 2]]
        """
        return indices_at(self._held, offsets)

    def to_numpy(self) -> IntArray:
        """Return the offsets of all elements: an array of the shape's extents, or flat if it is jagged."""
        return self._held.to_numpy()

    def window(self, region: ShapeLike) -> Self:
        """Return the layout of a part of the shape; the result keeps the origin of `region`.

        Raises
        ------
        LayoutError
            If the region is of another kind or rank, or does not consist of whole rows or tiles.
        OutOfBoundsError
            If it leaves the shape.
        """
        return self._wrap(self._held.window(as_shape(region)))

    def permute(self, order: Iterable[SupportsIndex]) -> Self:
        """Return the layout whose mode k is mode ``order[k]`` of this one; no memory moves.

        Raises
        ------
        LayoutError
            If the layout is packed, or tile modes and inner modes would not move alike.
        RankError
            If `order` is not a permutation of the modes.
        """
        held = self._held
        if isinstance(held, TiledStrided):
            return self._wrap(held.permute(order))
        return self._wrap(_modes.permute(held, order))

    def reverse(self, *modes: SupportsIndex) -> Self:
        """Return the layout with the order of the given modes reversed; all of them if none is given."""
        rank = self.shape.rank
        chosen = {mode_of(mode, rank) for mode in modes} if modes else set(range(rank))
        return self._wrap(_modes.reverse(self._held, sorted(chosen)))

    def rotate(self, shifts: Iterable[SupportsIndex]) -> Self:
        """Return the layout with every mode turned round: position j is position ``(j - shift) mod extent``.

        Parameters
        ----------
        shifts
            One integer per mode; a positive one moves elements towards higher indices, as NumPy's roll.

        Raises
        ------
        RankError
            If there is not one shift per mode.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(4)).rotate([1]).to_numpy().tolist()
        [3, 0, 1, 2]
        """
        return self._wrap(_modes.rotate(self._held, shifts))

    def repeat(self, times: Iterable[SupportsIndex]) -> Self:
        """Return the layout with every mode repeated whole, `times` of that mode, as NumPy's tile.

        The result is not injective where a mode is repeated; no memory is added.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(2)).repeat([3]).to_numpy().tolist()
        [0, 1, 0, 1, 0, 1]
        """
        return self._wrap(_modes.repeat(self._held, times))

    def repeat_each(self, mode: SupportsIndex, times: SupportsIndex) -> Self:
        """Return the layout with every position of `mode` repeated `times` times, as NumPy's repeat.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(2)).repeat_each(0, 3).to_numpy().tolist()
        [0, 0, 0, 1, 1, 1]
        """
        return self._wrap(_modes.repeat_each(self._held, mode, times))

    def gather(self, mode: SupportsIndex, positions: npt.ArrayLike) -> Self:
        """Return the layout of the given positions of `mode`, in their order; the mode then starts at 0.

        Parameters
        ----------
        mode
            Where to choose.
        positions
            A one-dimensional array of positions, negative ones from the end; repeats are allowed.

        Raises
        ------
        OutOfBoundsError
            If a position does not exist.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(2, 3)).gather(1, [2, 0, 2]).to_numpy().tolist()
        [[2, 0, 2], [5, 3, 5]]
        """
        return self._wrap(_modes.gather(self._held, mode, positions))

    def _strided(self, what: str) -> Strided:
        if isinstance(self._held, Hierarchical):
            return self._held.flat
        if isinstance(self._held, Strided):
            return self._held
        raise LayoutError(f"{what} needs a strided layout; this one is over {self._held.shape}")
