"""What a layout can be asked, and the layouts of the same rank over the same memory.

`Layout` is one class; its methods stand in two files: those that keep the rank (here) and those that make
layouts of another rank (``_layout.py``).
"""

from abc import ABC
from collections.abc import Iterable
from typing import Generic, Self, SupportsIndex, cast

import numpy.typing as npt

from tensorwrapper._integers import one_sequence, to_count, to_int, to_ints
from tensorwrapper.errors import LayoutError
from tensorwrapper.layout._facade import LayoutFacade, implementation_of
from tensorwrapper.layout.boxes import _modes
from tensorwrapper.layout.boxes._common import check_out
from tensorwrapper.layout.boxes._modes import Boundary, Widths
from tensorwrapper.layout.operations._indices import indices_at, indices_of
from tensorwrapper.shape import Shape, ShapeLike
from tensorwrapper.shape.lowlevel import mode_of, unnamed_shape
from tensorwrapper.typing import Index, IndexT, IndexT_co, IntArray, LooseIndex

__all__ = ["LayoutQueries"]


class LayoutQueries(LayoutFacade[IndexT_co], ABC, Generic[IndexT_co]):
    """Abstract: as `LayoutFacade`."""

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
        return cast("IndexT_co", self._strided("strides").strides if strides is None else strides)

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
        """How many places lie from the least offset to the greatest, both included."""
        return self.implementation.span

    @property
    def padding(self) -> int:
        """How many places from the least offset to the greatest hold no element.

        Raises
        ------
        LayoutError
            If elements share places.

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
        """Whether every mode has one step."""
        return self.implementation.without_layers().mode_strides is not None

    @property
    def is_tiled(self) -> bool:
        """Whether this is the tiled view of a strided layout."""
        return self.implementation.tiled is not None

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements in row-major order lie at consecutive offsets."""
        return self.implementation.is_contiguous

    @property
    def is_exhaustive(self) -> bool:
        """Whether every place from the least offset to the greatest holds an element."""
        implementation = self.implementation
        return implementation.span == implementation.shape.size and implementation.is_injective

    @property
    def is_injective(self) -> bool:
        """Whether no two elements share a place.

        Decided by rule where no mode steps into another, else by a search of up to 2**20 elements; an
        undecided larger layout counts as not injective.
        """
        return self.implementation.is_injective

    def may_overlap(self, other: LayoutFacade[Index]) -> bool:
        """Tell whether the ranges of places of two layouts over one buffer meet; as quick as `bounds`.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> pairs = Layout(Shape(5, 2))
        >>> pairs[:, 0].may_overlap(pairs[:, 1]), pairs[:2].may_overlap(pairs[2:])
        (True, False)
        """
        from tensorwrapper.layout.operations._overlap import may_overlap  # noqa: PLC0415

        return may_overlap(self.implementation, implementation_of(other, "may_overlap"))

    def overlaps(self, other: LayoutFacade[Index], *, limit: SupportsIndex = 1 << 20) -> bool:
        """Tell whether an element of each of two layouts over one buffer lies at the same place; exact.

        No data is needed, and for a few modes no search: it is a linear equation in bounded integers, which
        the common divisors of the strides decide.

        Parameters
        ----------
        other
            A layout whose places are counted in the same elements of the same buffer.
        limit
            How many steps a search may take, and how many places may be looked at where no rule holds.

        Raises
        ------
        LayoutError
            If the question is not decided within the limit; `may_overlap` always answers.
        SizeOverflowError
            If places that must be looked at leave 64 bits.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> pairs = Layout(Shape(10**9, 2))
        >>> pairs[:, 0].overlaps(pairs[:, 1]), pairs[::3].overlaps(pairs[1::2])
        (False, True)
        """
        from tensorwrapper.layout.operations._overlap import overlaps  # noqa: PLC0415

        return overlaps(self.implementation, implementation_of(other, "overlaps"), to_count(limit, "a limit"))

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

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        """Return the place of each row of an ``(..., rank)`` array of absolute indices.

        Raises
        ------
        OutOfBoundsError
            If an index is not in the shape.
        SizeOverflowError
            If a place does not fit into 64 bits; `offset_of` answers.
        """
        return self.implementation.offsets_of(indices)

    def index_of(self, offset: SupportsIndex) -> IndexT_co:
        """Return the first index, in row-major order, whose element lies at `offset`.

        Raises
        ------
        OutOfBoundsError
            If no element lies there.
        """
        return cast("IndexT_co", self.implementation.index_of(offset))

    def indices_of(self, offset: SupportsIndex) -> list[IndexT_co]:
        """Return all indices whose elements lie at `offset`, in row-major order.

        Raises
        ------
        OutOfBoundsError
            If no element lies there.
        LayoutError
            If the layout is composite, where `index_of` answers.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(2)).repeat([2]).indices_of(1)
        [(1,), (3,)]
        """
        found = indices_of(self.implementation.without_layers(), to_int(offset, "an offset"))
        return cast("list[IndexT_co]", found)

    def indices_at(self, offsets: npt.ArrayLike) -> IntArray:
        """Return the first index whose element lies at each offset: an ``(..., rank)`` array.

        Memory is the sum of the extents at most, never their product.

        Raises
        ------
        OutOfBoundsError
            If no element lies at an offset.
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

    def window(self, region: ShapeLike) -> Self:
        """Return the layout of a part of the shape; the result keeps the origin of `region`.

        Raises
        ------
        LayoutError
            If the region is of another kind or rank, or has other layers.
        OutOfBoundsError
            If it leaves the shape.
        """
        return self._wrap(self.implementation.window(unnamed_shape(region)))

    def permute(self, *order: SupportsIndex | Iterable[SupportsIndex]) -> Self:
        """Return the layout whose mode k is mode ``order[k]`` of this one; no memory moves.

        Parameters
        ----------
        *order
            All modes, loose or as one sequence: ``permute(1, 0)`` is ``permute((1, 0))``.

        Raises
        ------
        JaggedModeError
            If the shape is jagged and a mode would come before one on which it depends.
        LayoutError
            If the shape is jagged and a mode of its cells would come before one that leads to them.
        LayerError
            If a mode would leave its layer.
        RankError
            If `order` is not a permutation of the modes.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(2, 3)).permute(1, 0).strides
        (1, 3)
        """
        return self._wrap(self.implementation.permute(one_sequence(order)))

    def reverse(self, *modes: SupportsIndex | Iterable[SupportsIndex]) -> Self:
        """Return the layout with the order of the given modes reversed; all of them if none is given.

        Parameters
        ----------
        *modes
            Loose or as one sequence: ``reverse(0, 1)`` is ``reverse((0, 1))``.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(2, 3)).reverse(1).to_numpy().tolist()
        [[2, 1, 0], [5, 4, 3]]
        """
        implementation = self.implementation
        return self._wrap(implementation.reverse(_distinct(modes, implementation.rank)))

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
        return self._wrap(self.implementation.change(_modes.rotation(shifts)))

    def repeat(self, times: Iterable[SupportsIndex]) -> Self:
        """Return the layout with every mode repeated whole, `times` of that mode, as NumPy's tile.

        The result is not injective where a mode is repeated; no memory is added.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(2)).repeat([3]).to_numpy().tolist()
        [0, 1, 0, 1, 0, 1]
        """
        return self._wrap(self.implementation.change(_modes.repetition(times)))

    def repeat_each(self, mode: SupportsIndex, times: SupportsIndex) -> Self:
        """Return the layout with every position of `mode` repeated `times` times, as NumPy's repeat.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(2)).repeat_each(0, 3).to_numpy().tolist()
        [0, 0, 0, 1, 1, 1]
        """
        return self._wrap(self.implementation.change(_modes.repetition_of_each(mode, times)))

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
        return self._wrap(self.implementation.change(_modes.gathering(mode, positions)))

    def pad(self, widths: Widths, *, boundary: Boundary) -> Self:
        """Return the layout whose modes go on beyond their ends, in copies of their own elements.

        The elements keep their indices: what comes before the first has lower ones. A pad that wraps is a
        closed form; the others take one number per position of the padded modes.

        Parameters
        ----------
        widths
            One pair (before, after) per mode.
        boundary
            What comes next, as in ``numpy.pad``: "wrap" (from the other end), "edge" (the last one again),
            "reflect" (back again without the last one) or "symmetric" (with it).

        Raises
        ------
        LayoutError
            If a mode without positions is padded.
        RankError
            If there is not one pair per mode.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> ring = Layout(Shape(4)).pad([(1, 2)], boundary="wrap")
        >>> ring.shape, ring.to_numpy().tolist(), ring.offset_of((-1,))
        (Shape(7, origin=(-1,)), [3, 0, 1, 2, 3, 0, 1], 3)
        >>> Layout(Shape(4)).pad([(1, 2)], boundary="reflect").to_numpy().tolist()
        [1, 0, 1, 2, 3, 2, 1]
        """
        return self._wrap(self.implementation.change(_modes.padding(widths, boundary)))


def _distinct(modes: tuple[SupportsIndex | Iterable[SupportsIndex], ...], rank: int) -> Iterable[int]:
    """Return the modes that are meant, each once; all of them if none is given."""
    if not modes:
        return range(rank)
    return {mode_of(mode, rank) for mode in to_ints(one_sequence(modes), "modes")}
