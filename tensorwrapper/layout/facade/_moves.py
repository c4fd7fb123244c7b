"""Layouts of the same rank over the same memory: parts, other orders, repeats and borders.

Methods that change the rank are in ``_layout.py``.
"""

from abc import ABC
from collections.abc import Iterable
from typing import Generic, Self, SupportsIndex

import numpy.typing as npt

from tensorwrapper._integers import one_sequence, to_ints
from tensorwrapper.layout.boxes import _mode_operations, _modes
from tensorwrapper.layout.boxes._modes import Boundary, PadWidths
from tensorwrapper.layout.boxes._named import agreed_layout, named_layout
from tensorwrapper.layout.boxes._strided import Strided
from tensorwrapper.layout.facade._layout_base import LayoutBase
from tensorwrapper.layout.operations._user_layout import rows_of_box
from tensorwrapper.shape import ShapeLike
from tensorwrapper.shape.lowlevel import mode_of, names_of, unnamed_shape
from tensorwrapper.typing import IndexT_co


class LayoutMoves(LayoutBase[IndexT_co], ABC, Generic[IndexT_co]):
    """Abstract: as `LayoutBase`."""

    __slots__ = ()

    def window(self, region: ShapeLike) -> Self:
        """Return the layout of a part of the shape; the result keeps the origin of `region`.

        Parameters
        ----------
        region
            Of the kind of the shape: a box in a box, rows among rows. Of a box also rows, cells or tiles.

        Raises
        ------
        LayoutError
            If the region is of another kind or rank, or has other layers.
        OutOfBoundsError
            If it leaves the shape.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(3, 4)).window(Shape.jagged([2, 0, 3])).to_numpy().tolist()
        [0, 1, 8, 9, 10]
        """
        whole, asked = self.implementation, unnamed_shape(region)
        if asked.is_box or not whole.shape.is_box:
            part = whole.window(asked)
        else:
            part = named_layout(rows_of_box(whole.unnamed(), asked), whole.names)
        return self._wrap(agreed_layout(part, region, "window"))

    def named(self, *names: str | Iterable[str | None] | None) -> Self:
        """Return the same layout with names for its modes, which replace earlier names.

        As `Shape.named`, with the same errors; parts keep the names of their modes.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(2, 3)).named("atom", "shell").permute("shell", "atom").shape
        Shape(3, 2).named('shell', 'atom')
        """
        implementation = self.implementation
        return self._wrap(named_layout(implementation, names_of(implementation.shape.named(*names))))

    def translate_to(self, origin: Iterable[SupportsIndex]) -> Self:
        """Return the same offsets under indices that begin at `origin`; O(rank), O(rows) of a jagged shape.

        As `Shape.translate_to`, with the same errors.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> moved = Layout(Shape(2, 3)).translate_to((10, 0))
        >>> moved.shape, moved.offset_of((10, 1))
        (Shape(2, 3, origin=(10, 0)), 1)
        """
        implementation = self.implementation
        return self._wrap(implementation.moved_to(implementation.shape.translate_to(origin)))

    def permute(self, *order: SupportsIndex | str | Iterable[SupportsIndex | str]) -> Self:
        """Return the layout whose mode k is mode ``order[k]`` of this one; no memory moves.

        Parameters
        ----------
        *order
            All modes, by number or by name, loose or as one sequence: ``permute(1, 0)`` is
            ``permute((1, 0))``.

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
        return self._wrap(self.implementation.change(_mode_operations.rotation(shifts)))

    def repeat(self, times: Iterable[SupportsIndex]) -> Self:
        """Return the layout with every mode repeated whole, `times` of that mode, as NumPy's tile.

        The result is not injective where a mode is repeated; no memory is added.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(2)).repeat([3]).to_numpy().tolist()
        [0, 1, 0, 1, 0, 1]
        """
        return self._wrap(self.implementation.change(_mode_operations.repetition(times)))

    def repeat_each(self, mode: SupportsIndex, times: SupportsIndex) -> Self:
        """Return the layout with every position of `mode` repeated `times` times, as NumPy's repeat.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape(2)).repeat_each(0, 3).to_numpy().tolist()
        [0, 0, 0, 1, 1, 1]
        """
        return self._wrap(self.implementation.change(_mode_operations.repetition_of_each(mode, times)))

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
        known = self.implementation
        made = known.gathered(mode, positions)
        if made is None and type(known) is Strided:
            # As below: the description of an operation takes a third of the time of this one.
            made = _modes.gather(known, mode, positions)
        if made is None:
            made = known.change(_mode_operations.gathering(mode, positions))
        return self._wrap(made)

    def pad(self, widths: PadWidths, *, boundary: Boundary) -> Self:
        """Return the layout with modes extended beyond their ends by copies of their elements.

        The elements keep their indices, so elements before the first have lower ones. A pad that wraps is a
        closed form; the others take one number per position of the padded modes.

        Parameters
        ----------
        widths
            One pair (before, after) per mode.
        boundary
            The kind of extension, as in ``numpy.pad``: "wrap" (from the other end), "edge" (the last one
            repeated), "reflect" (mirrored without the last one) or "symmetric" (mirrored with it).

        Raises
        ------
        LayoutError
            If a mode without positions is padded.
        RankError
            If the number of pairs differs from that of modes.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> ring = Layout(Shape(4)).pad([(1, 2)], boundary="wrap")
        >>> ring.shape, ring.to_numpy().tolist(), ring.offset_of((-1,))
        (Shape(7, origin=(-1,)), [3, 0, 1, 2, 3, 0, 1], 3)
        >>> Layout(Shape(4)).pad([(1, 2)], boundary="reflect").to_numpy().tolist()
        [1, 0, 1, 2, 3, 2, 1]
        """
        return self._wrap(self.implementation.change(_mode_operations.padding(widths, boundary)))


def _distinct(modes: tuple[SupportsIndex | Iterable[SupportsIndex], ...], rank: int) -> Iterable[int]:
    """Return the modes that are meant, each once; all of them if none is given."""
    if not modes:
        return range(rank)
    return {mode_of(mode, rank) for mode in to_ints(one_sequence(modes), "modes")}
