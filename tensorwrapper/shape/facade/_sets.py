"""Shapes as sets of indices: joined, multiplied, cut, and what boxes have in common or one has more."""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import accumulate
from typing import Any, Generic, Self, SupportsIndex, cast

from tensorwrapper._error_text import brief
from tensorwrapper._integers import to_int, to_ints
from tensorwrapper.errors import ConversionError, ExtentError, LayerError
from tensorwrapper.shape._shape_base import ShapeBase, ShapeLike, implementation_of, names_of
from tensorwrapper.shape.boxes._names import Names, agreed_names, joined_names, mode_of_name, names_tuple
from tensorwrapper.shape.boxes._smooth import Smooth, SmoothCommon, hull_of_boxes, intersect_boxes
from tensorwrapper.shape.kinds._layers import boxes_of
from tensorwrapper.shape.kinds._nested import Implementation, NestedCommon, flat_of, make_nested
from tensorwrapper.typing import Extents, Index, IndexT_co


class ShapeSets(ShapeBase[IndexT_co], Generic[IndexT_co]):
    """Abstract: as `ShapeBase`."""

    __slots__ = ()

    @classmethod
    def from_bounds(cls, first: Iterable[SupportsIndex], last: Iterable[SupportsIndex]) -> Self:
        """Return the box from index `first` up to, not including, `last`.

        Raises
        ------
        OutOfBoundsError
            If a last index is before the first one.
        RankError
            If there are not as many of one as of the other.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.from_bounds((5, 6), (8, 9))
        Shape(3, 3, origin=(5, 6))
        """
        from tensorwrapper.shape.boxes._box_sets import box_between  # noqa: PLC0415

        return cls._wrap(box_between(to_ints(first, "a first index"), to_ints(last, "a last index")))

    @classmethod
    def product(cls, shapes: "Iterable[ShapeLike]") -> Self:
        """Return the Cartesian product of boxes: each index joins one index of each box.

        The modes of the first come first. They keep their names, which must be unique. The product of no
        boxes is the scalar shape. O(rank).

        Raises
        ------
        JaggedModeError
            If one is not a box.
        LayerError
            If one has layers; `Shape.from_layers` makes a layer of each box.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.product([Shape(3, origin=(2,)), Shape(10, 4, origin=(10, 4))])
        Shape(3, 10, 4, origin=(2, 10, 4))
        """
        from tensorwrapper.shape.boxes._box_sets import box_product  # noqa: PLC0415

        given = _shape_list(shapes, "product")
        boxes = [_flat_box(implementation_of(shape)) for shape in given]
        return cls._wrap(box_product(boxes), product_names(given, boxes))

    @classmethod
    def concat(cls, shapes: "Iterable[ShapeLike]", *, mode: SupportsIndex | str = 0) -> "ShapeBase":
        """Return the concatenation of shapes along `mode`.

        The result keeps the origin of the first shape, and along `mode` the others follow it. Boxes must
        agree in all other modes. If a shape is jagged, the result is: every mode before `mode` must then
        agree at every prefix, and later modes belong to their index of `mode`, so any rows join along mode 0.
        Layers, if any, must be equal. O(rows).

        Parameters
        ----------
        shapes
            At least one, all with the same rank.
        mode
            The mode along which extents add up, by name, or counted from the last if negative.

        Raises
        ------
        ExtentMismatchError
            If extents or origins of another mode differ; the text names the mode, the shape and both.
        RankError
            If there is no shape, or no such mode, or ranks differ.
        LayerError
            If only some are nested, or their layers differ.
        SizeOverflowError
            If the extent of a jagged shape would exceed 64 bits.
        ModeNameError
            If a mode has different names.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.concat([Shape(2, 3), Shape(4, 3)]), Shape.concat([Shape(2, 3), Shape(2, 4)], mode=1)
        (Shape(6, 3), Shape(2, 7))
        >>> rows = Shape.jagged([3, 1])
        >>> Shape.concat([rows, Shape(2, 4)]), Shape.concat([rows, rows], mode=1)
        (Shape.jagged([3, 1, 4, 4]), Shape.jagged([6, 2]))
        """
        from tensorwrapper.shape.kinds._combine import concat_shapes  # noqa: PLC0415

        given = _shape_list(shapes, "concat")
        names = [names_of(shape) for shape in given]
        known = next((own for own in names if own is not None), None)
        number = mode_of_name(mode, known) if isinstance(mode, str) else mode
        implementation = concat_shapes(
            [implementation_of(shape) for shape in given], to_int(number, "a mode")
        )
        return cls._wrap(implementation, agreed_names(names, "concat"))

    @classmethod
    def stack(cls, shapes: "Iterable[ShapeLike]", *, mode: SupportsIndex = 0) -> "ShapeBase":
        """Return the shape with a new mode that numbers the given shapes, which must be congruent.

        The new mode starts at 0, and the others keep the origins of the first shape. In nested shapes it
        belongs to the layer of the mode after it, or at the end to the last layer. Use `Shape.jagged` for
        different children. O(1) for boxes, O(rows) for jagged shapes.

        Parameters
        ----------
        shapes
            At least one.
        mode
            Position of the new mode in the result, counted from the last if negative.

        Raises
        ------
        ExtentMismatchError
            If a shape is not congruent to the first; the text says which, and where they differ.
        RankError
            If there is no shape, or no such mode, or ranks differ.
        LayerError
            If they have different layers.
        ModeNameError
            If a mode has different names.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.stack([Shape(2, 3)] * 4), Shape.stack([Shape.jagged([3, 1])] * 2, mode=1)
        (Shape(4, 2, 3), Shape.jagged([Shape(2, 3), Shape(2, 1)]))
        """
        from tensorwrapper.shape.kinds._combine import stack_shapes  # noqa: PLC0415

        given = _shape_list(shapes, "stack")
        number = to_int(mode, "a mode")
        implementation = stack_shapes([implementation_of(shape) for shape in given], number)
        names = agreed_names([names_of(shape) for shape in given], "stack")
        number %= implementation.rank
        return cls._wrap(implementation, None if names is None else (*names[:number], None, *names[number:]))

    def encloses(self, other: "ShapeLike") -> bool:
        """Return True if another shape is within this box, by its bounds; O(rank).

        A shape that is not a box counts as its bounding box. An empty shape has a position, too, and must be
        within the bounds or on them. To test indices, use ``in`` and `contains`.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> box = Shape(2, 3)
        >>> box.encloses(Shape(1, 2, origin=(1, 1))), box.encloses(Shape(1, 2, origin=(1, 2)))
        (True, False)
        >>> box.encloses(Shape(0, 0, origin=(2, 3))), box.encloses(Shape(0, 0, origin=(-1, 0)))
        (True, False)
        """
        from tensorwrapper.shape.boxes._box_sets import encloses  # noqa: PLC0415

        return encloses(boxes_of([flat_of(self.implementation)], "encloses")[0], implementation_of(other))

    def intersect(self, other: "ShapeLike", *others: "ShapeLike") -> Self:
        """Return the box of the indices in all boxes, empty if there are no common ones; O(rank).

        Nested boxes keep their layers, which must be the same in all. Names must agree where both have one.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape(4, 4).intersect(Shape(9, 2, origin=(1, 3))), Shape(3).intersect(Shape(2, origin=(7,)))
        (Shape(3, 1, origin=(1, 3)), Shape(0, origin=(7,)))
        """
        box = self._with_box(other, others, intersect_boxes)
        if box is not None:
            return box
        return self._combine((other, *others), SmoothCommon.intersect, "intersect")

    def hull(self, other: "ShapeLike", *others: "ShapeLike") -> Self:
        """Return the smallest box around all boxes; an empty one adds nothing, jagged shapes raise; O(rank).

        Nested boxes keep their layers, which must be the same in all. Names must agree where both have one.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape(2, 2).hull(Shape(1, 1, origin=(4, -1)), Shape(0, 0, origin=(9, 9)))
        Shape(5, 3, origin=(0, -1))
        """
        box = self._with_box(other, others, hull_of_boxes)
        if box is not None:
            return box
        return self._combine((other, *others), SmoothCommon.hull, "hull")

    def difference(self, other: "ShapeLike", *others: "ShapeLike") -> tuple[Self, ...]:
        """Return disjoint boxes with the indices of this box that are in none of the others.

        They are not empty, and come in the row-major order of their first indices. One box leaves at most two
        parts per mode, first along mode 0, so that the parts are as long as possible. O(rank) for one box;
        each further one cuts all parts so far, in array operations.

        Raises
        ------
        JaggedModeError
            If a shape is not a box.
        LayerError
            If layers differ.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> [str(part) for part in Shape(4, 4).difference(Shape(2, 2, origin=(1, 1)))]
        ['(1, 4)', '(2, 1)@(1, 0)', '(2, 1)@(1, 3)', '(1, 4)@(3, 0)']
        >>> Shape(4).difference(Shape(9)), Shape(4).difference(Shape(1), Shape(1, origin=(2,)))
        ((), (Shape(1, origin=(1,)), Shape(1, origin=(3,))))
        """
        from tensorwrapper.shape.boxes._box_sets import subtract  # noqa: PLC0415

        return self._cut((other, *others), subtract, "difference")

    def partition_by(self, *others: "ShapeLike") -> tuple[Self, ...]:
        """Return disjoint boxes that make up this one, each within or outside of each of the others.

        They are not empty, and come in the row-major order of their first indices. `encloses` and `intersect`
        test which box contains a part: a box that does not enclose it has no index of it.

        Raises
        ------
        JaggedModeError
            If a shape is not a box.
        LayerError
            If layers differ.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> a, b = Shape(3), Shape(2, origin=(2,))
        >>> [(str(part), a.encloses(part), b.encloses(part)) for part in Shape(4).partition_by(a, b)]
        [('(2,)', True, False), ('(1,)@(2,)', True, True), ('(1,)@(3,)', False, True)]
        """
        from tensorwrapper.shape.boxes._box_sets import partition  # noqa: PLC0415

        return self._cut(others, partition, "partition_by")

    def split_by_extents(
        self, extents: SupportsIndex | Iterable[SupportsIndex], mode: SupportsIndex | str = 0
    ) -> tuple[Self, ...]:
        """Return parts of the shape with given extents along one mode; they keep their indices.

        Parameters
        ----------
        extents
            One extent for all parts, except for a shorter last one; or the extents of all parts.
        mode
            The mode to split, by name or number; it must be uniform.

        Raises
        ------
        ExtentError
            If one extent for all is not positive, one of several is negative, or they do not add up.
        JaggedModeError
            If the mode has no single extent or origin.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape(2, 3).split_by_extents(2, mode=1)
        (Shape(2, 2), Shape(2, 1, origin=(0, 2)))
        >>> Shape(2, 3).split_by_extents([1, 1]) == Shape(2, 3).split(2)
        True
        """
        from tensorwrapper.shape.kinds._combine import split_shape, start_of  # noqa: PLC0415

        number = self.mode(mode)
        flat = flat_of(self.implementation)
        sizes = _sizes_of(extents, flat.extent(number), number)
        start = start_of(flat, number)
        marks = list(accumulate(sizes, initial=start))[1:-1]
        if not sizes:
            return ()
        return tuple([self._wrap(p, self._names) for p in split_shape(self.implementation, marks, number)])

    def _with_box(
        self,
        other: "ShapeLike",
        others: "tuple[ShapeLike, ...]",
        how: Callable[[Extents, Index, Extents, Index], Smooth],
    ) -> Self | None:
        """Return what two boxes make: the common case, without questions about abstract classes."""
        mine = self.implementation
        if type(other) is type(self) and not others and type(mine) is Smooth:
            twin: Any = other
            theirs = twin.implementation
            if type(theirs) is Smooth and self._names is twin._names:
                return self._wrap(how(mine.extents, mine.origin, theirs.extents, theirs.origin), self._names)
        return None

    def _combine(
        self,
        others: "tuple[ShapeLike, ...]",
        how: Callable[[SmoothCommon, SmoothCommon], SmoothCommon],
        what: str,
    ) -> Self:
        implementation = self.implementation
        box = reduce(how, boxes_of([implementation, *map(implementation_of, others)], what))
        return self._wrap(
            _in_layers(box, implementation), agreed_names([self._names, *map(names_of, others)], what)
        )

    def _cut(
        self,
        others: "tuple[ShapeLike, ...]",
        how: Callable[[SmoothCommon, list[SmoothCommon]], list[Smooth]],
        what: str,
    ) -> tuple[Self, ...]:
        implementation = self.implementation
        box, *cutters = boxes_of([implementation, *map(implementation_of, others)], what)
        names = agreed_names([self._names, *map(names_of, others)], what)
        return tuple([self._wrap(_in_layers(part, implementation), names) for part in how(box, cutters)])


def product_names(shapes: "Sequence[ShapeLike]", boxes: Sequence[Implementation]) -> Names:
    """Return the names of the modes of several shapes, one after the other, of which these are the boxes."""
    pairs = zip(shapes, boxes, strict=True)
    return joined_names([names_tuple(names_of(shape), box.rank) for shape, box in pairs])


def _shape_list(shapes: object, what: str) -> "list[ShapeLike]":
    try:
        # Asked by trying: a shape, and an array without axes, look iterable and refuse.
        items = None if isinstance(shapes, str | bytes) else list(cast("Iterable[ShapeLike]", shapes))
    except TypeError:
        items = None
    if items is None:
        raise ConversionError(f"{what} takes a sequence of shapes, not {brief(shapes)}")
    return items


def _flat_box(shape: Implementation) -> SmoothCommon:
    if isinstance(shape, NestedCommon):
        raise LayerError(
            f"a product keeps no layers, and a shape has {shape.layers}: flatten() first, nest the result"
        )
    return boxes_of([shape], "product")[0]


def _in_layers(box: SmoothCommon, implementation: Implementation) -> SmoothCommon | NestedCommon:
    return make_nested(box, implementation.layers) if isinstance(implementation, NestedCommon) else box


def _sizes_of(extents: SupportsIndex | Iterable[SupportsIndex], extent: int, mode: int) -> list[int]:
    """Return the extents of the parts of a mode."""
    from tensorwrapper.shape.kinds._combine import is_sequence  # noqa: PLC0415

    if is_sequence(extents):
        sizes = list(to_ints(extents, "extents"))
        if min(sizes, default=0) < 0:
            raise ExtentError(f"a part of mode {mode} must not have a negative extent, as in {sizes}")
        if sum(sizes) != extent:
            raise ExtentError(f"{brief(sizes)} add up to {sum(sizes)}, but mode {mode} has extent {extent}")
        return sizes
    size = to_int(cast("SupportsIndex", extents), "the extent of a part")
    if size < 1:
        raise ExtentError(f"a part of mode {mode} has an extent of 1 at least, not {size}")
    full, rest = divmod(extent, size)
    return [size] * full + [rest] * (rest > 0 or not full)
