"""Parts of a shape, and the same set elsewhere: the methods of the facade that keep the rank."""

from collections.abc import Iterable, Iterator
from typing import Any, Generic, Self, SupportsIndex, overload

from tensorwrapper._integers import one_sequence, to_int, to_ints
from tensorwrapper.shape._shape_base import ShapeBase
from tensorwrapper.shape.boxes._keys import WHOLE
from tensorwrapper.shape.boxes._names import permutation_of_names, permuted_names, plain_names, to_names
from tensorwrapper.shape.boxes._smooth import SmoothCommon, SmoothView, to_permutation
from tensorwrapper.shape.kinds._encodings import as_jagged
from tensorwrapper.shape.kinds._jagged import JaggedCommon, JaggedView
from tensorwrapper.shape.kinds._nested import NestedCommon, flat_of, make_nested
from tensorwrapper.shape.kinds._tiled import Tiled
from tensorwrapper.typing import IndexT_co, Origin


class ShapeParts(ShapeBase[IndexT_co], Generic[IndexT_co]):
    """Abstract: as `ShapeBase`."""

    __slots__ = ()

    def named(self, *names: str | Iterable[str | None] | None) -> Self:
        """Return the same shape with names for its modes, which replace earlier names.

        A mode can then be given by its name. Parts of the shape keep the names of their modes. Names are
        part of the value: shapes that differ in them are not equal, but are congruent and have the same
        elements.

        Parameters
        ----------
        *names
            One per mode, a unique identifier, or None for an unnamed mode; loose or as one sequence.

        Raises
        ------
        RankError
            If there are not as many as modes.
        ModeNameError
            If a name is a duplicate, or is not an identifier.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> s = Shape.jagged([3, 1, 2]).named("atom", "shell")
        >>> str(s), s.extent("atom"), s[1:].names
        ('(3, 3|1|2) names (atom, shell)', 3, ('atom', 'shell'))
        """
        return self._wrap(self.implementation, to_names(tuple(one_sequence(names)), self.implementation.rank))

    def slice_outer(self, first: SupportsIndex, last: SupportsIndex) -> Self:
        """Return the rows from `first` up to, not including, `last`, all other modes whole.

        O(1), but for a triangle, whose rows are not stored: O(rows) of the whole.
        """
        implementation = self.implementation
        rows = (to_int(first, "a first index"), to_int(last, "a last index"))
        return self._wrap(implementation.select((rows, *[WHOLE] * (implementation.rank - 1))), self._names)

    def split(
        self, sections_or_marks: SupportsIndex | Iterable[SupportsIndex], mode: SupportsIndex | str = 0
    ) -> tuple[Self, ...]:
        """Return parts of the shape along one mode, with their indices. `Shape.concat` is the inverse.

        Along mode 0 of a jagged shape the parts are views, as `slice_outer` makes them. Along another mode,
        each row is split.

        Parameters
        ----------
        sections_or_marks
            The number of nearly equal parts, the longer ones first, or the absolute indices between the
            parts, as in NumPy's ``array_split``.
        mode
            The mode to split, counted from the last if negative.

        Raises
        ------
        OutOfBoundsError
            If a mark leaves the shape, or, on a jagged shape, a row; or if marks descend.
        JaggedModeError
            If a number of parts is given for a mode that is not uniform.
        ExtentError
            If the number of parts is not positive.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape(5).split(2), Shape.jagged([3, 1, 2]).split([1])
        ((Shape(3), Shape(2, origin=(3,))), (Shape.jagged([3]), Shape.jagged([1, 2], origin=(1, 0))))
        """
        from tensorwrapper.shape.kinds._combine import split_shape  # noqa: PLC0415

        parts = split_shape(self.implementation, sections_or_marks, self.mode(mode))
        return tuple([self._wrap(part, self._names) for part in parts])

    def blocks(self) -> Iterator[Self]:
        """Return an iterator over the smooth blocks of the shape: full rank, disjoint, none empty.

        Their indices, one block after another, are those of the shape in row-major order, so iteration takes
        one step per block. A box is one block. A jagged shape has one per cell, but consecutive cells under
        one parent with equal extents and origin are one block. Layers do not count. Blocks are computed
        lazily; `block_table` has all of them as arrays.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> list(Shape.jagged([4, 4, 4, 0, 2]).blocks())
        [Shape(3, 4), Shape(1, 2, origin=(4, 0))]
        """
        from tensorwrapper.shape.kinds._blocks import blocks_of  # noqa: PLC0415 - few ask for them

        return (self._wrap(block, self._names) for block in blocks_of(flat_of(self.implementation)))

    def as_smooth(self) -> Self:
        """Return the bounding box as a view; `padding` tells how much it adds."""
        implementation = self.implementation
        return (
            self
            if isinstance(implementation, SmoothCommon)
            else self._wrap(implementation.as_smooth(), self._names)
        )

    def as_jagged(self) -> Self:
        """Return the same indices as a jagged shape: a box with mode 0 unrolled, in O(rank); no layers.

        Raises
        ------
        RankError
            If the rank is below 2: a jagged shape has a mode to vary and one to vary with.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape(3, 2).as_jagged(), Shape(3, 2).as_jagged() == Shape.jagged([2, 2, 2])
        (Shape.jagged([2, 2, 2]), True)
        """
        implementation = self.implementation
        return (
            self
            if isinstance(implementation, JaggedCommon)
            else self._wrap(as_jagged(flat_of(implementation)), self._names)
        )

    def copy(self) -> Self:
        """Return an equal shape that keeps no other shape alive."""
        implementation = self.implementation
        flat = flat_of(implementation)
        if not isinstance(flat, SmoothView | JaggedView | Tiled):
            return self
        own = flat.copy()
        if own is flat:
            return self
        fresh = make_nested(own, implementation.layers) if isinstance(implementation, NestedCommon) else own
        return self._wrap(fresh, self._names)

    def zero_based(self) -> Self:
        """Return the shape with the same extents and every origin 0, those of single rows included.

        `translate_to` moves a shape as a whole; here each row, or cell, moves to its own zero. O(1).

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.triangular(3, "upper").zero_based() == Shape.jagged([3, 2, 1])
        True
        """
        return self._wrap(self.implementation.zero_based(), self._names)

    @overload
    def permute(self, order: Iterable[SupportsIndex | str], /) -> Self: ...
    @overload
    def permute(self, *order: SupportsIndex | str) -> Self: ...
    def permute(self, *order: SupportsIndex | str | Iterable[SupportsIndex | str]) -> Self:
        """Return the shape whose mode ``k`` is mode ``order[k]`` of this one, as NumPy's transpose.

        Parameters
        ----------
        *order
            Every mode once, by number or by name; loose or as one sequence.

        Raises
        ------
        JaggedModeError
            If a mode would come before one on which it depends; the text names them.
        ModeNameError
            If no mode has a name that is given.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape(2, 3).named("atom", "shell").permute("shell", "atom")
        Shape(3, 2).named('shell', 'atom')
        >>> Shape(2, 3).permute(1, 0) == Shape(2, 3).permute((1, 0))
        True
        """
        names, numbers = self._names, one_sequence(order)
        if names is None:
            # A mode by name is refused there, as any other object.
            return self._wrap(self.implementation.permute(numbers))
        modes = to_permutation(permutation_of_names(numbers, names), self.implementation.rank)
        return self._wrap(self.implementation.permute(modes), permuted_names(names, modes))

    # Parts of another rank, which `Shape` tells checkers.

    def chip(self, *leading: SupportsIndex | Iterable[SupportsIndex]) -> "ShapeBase":
        """Return what is left when the leading modes are pinned to `leading`; they are dropped.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> rows = Shape.jagged([3, 1, 2])
        >>> rows.chip(2), rows.chip((2,))
        (Shape(2), Shape(2))
        """
        pinned: Any = leading
        if len(leading) == 1 and type(leading[0]) is not int:
            pinned = to_ints(one_sequence(leading), "the leading indices")
        names = self._names
        return self._wrap(
            self.implementation.chip(*pinned), None if names is None else plain_names(names[len(pinned) :])
        )

    def reshape(self, *extents: SupportsIndex, origin: Origin = None) -> "ShapeBase":
        """Return the box with other extents and as many elements, which keep their row-major order.

        Parameters
        ----------
        *extents
            The new extents, loose or as one sequence. One may be -1: it is computed from the others.
        origin
            Origin of the new box; zeros by default, whatever the origin of this one.

        Raises
        ------
        ExtentError
            If the new box has another number of elements, or the open extent could be more than one number.
        JaggedModeError
            If the shape is jagged.
        LayerError
            If the shape is nested.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape(4, 6).reshape(2, -1), Shape(6, origin=(5,)).reshape((2, 3), origin=(0, 1))
        (Shape(2, 12), Shape(2, 3, origin=(0, 1)))
        """
        from tensorwrapper.shape.kinds._combine import reshape_box  # noqa: PLC0415

        return self._wrap(reshape_box(self.implementation, one_sequence(extents), origin))
