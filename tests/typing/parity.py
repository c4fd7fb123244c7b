"""Values and their views have one interface: the mixin of their kind. Checked, never run."""

from typing import assert_type

from tensorwrapper.layout import Layout, LayoutCommon
from tensorwrapper.layout.boxes._strided import Strided
from tensorwrapper.layout.cells._blocked import Packed
from tensorwrapper.layout.tiles._tiled import TiledStrided
from tensorwrapper.shape import (
    Jagged,
    JaggedCommon,
    JaggedView,
    Nested,
    NestedCommon,
    NestedView,
    Shape,
    ShapeCommon,
    ShapeLike,
    Smooth,
    SmoothCommon,
    SmoothView,
    Tiled,
    Triangular,
    as_shape,
)
from tensorwrapper.shape.kinds._nested import Flat
from tensorwrapper.typing import Extents, Index, IntArray, Kind

# Every representation of a kind is of its mixin, and none of them is abstract.

smooths: list[type[SmoothCommon]] = [Smooth, SmoothView]
jaggeds: list[type[JaggedCommon]] = [Jagged, JaggedView, Tiled, Triangular]
nesteds: list[type[NestedCommon]] = [Nested, NestedView]
kinds: list[type[ShapeCommon]] = [*smooths, *jaggeds, *nesteds]
layouts: list[type[LayoutCommon]] = [Strided, Packed, TiledStrided]

smooths.append(Jagged)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
jaggeds.append(Smooth)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
nesteds.append(Jagged)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
smooths.append(Nested)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
layouts.append(Layout)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# A mixin is not a value.

SmoothCommon()  # type: ignore[abstract]  # pyright: ignore[reportAbstractUsage]
JaggedCommon()  # type: ignore[abstract]  # pyright: ignore[reportAbstractUsage]
NestedCommon()  # type: ignore[abstract]  # pyright: ignore[reportAbstractUsage]
LayoutCommon()  # type: ignore[abstract]  # pyright: ignore[reportAbstractUsage]


# The copy of a view is a value; a value needs none.


def of_smooth(value: Smooth, view: SmoothView) -> None:
    """Ask a value and a view the same questions."""
    assert_type(view.copy(), Smooth)
    value.copy()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    for box in (value, view):
        assert_type(box.extents, Extents)
        assert_type(box.origin, Index)
        assert_type(box.size, int)
        assert_type(box.rank, int)
        assert_type(box.slice((0,), (1,)), Smooth)
        assert_type(box.chip(0), Smooth)
        assert_type(box.translate_by((1,)), Smooth)
        assert_type(box.translate_to((1,)), Smooth)
        assert_type(box.permute((0,)), Smooth)
        assert_type(box.intersect(value), Smooth)
        assert_type(box.hull(view), Smooth)
        assert_type(box == view, bool)


def of_jagged(value: Jagged, view: JaggedView, tiled: Tiled) -> None:
    """Ask every representation of the kind the same questions."""
    assert_type(view.copy(), Jagged)
    value.copy()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    for rows in (value, view, tiled):
        assert_type(rows.size, int)
        assert_type(rows.outer_rank, int)
        assert_type(rows.as_smooth(), SmoothView)
        assert_type(rows.chip(0), SmoothCommon | JaggedCommon)
        assert_type(rows.slice((0, 0), (1, 1)), JaggedCommon)
        assert_type(rows.translate_by((1, 1)), JaggedCommon)


def of_nested(value: Nested, view: NestedView) -> None:
    """Ask a value and a view the same questions; what they nest may be of either kind."""
    assert_type(view.copy(), Nested)
    value.copy()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    for nested in (value, view):
        assert_type(nested.kind, Kind)
        assert_type(nested.layers, tuple[int, ...])
        assert_type(nested.flat, Flat)
        assert_type(nested.outer_rank, int)
        assert_type(nested.size, int)
        assert_type(nested.origin, Index)
        assert_type(nested.extents, Extents)
        assert_type(nested.outer(), Flat)
        assert_type(nested.leading(1), Flat)
        assert_type(nested.as_smooth(), SmoothCommon)
        assert_type(nested.chip(0), Flat | NestedCommon)
        assert_type(nested.slice((0, 0), (1, 1)), NestedCommon)
        assert_type(nested.permute((0, 1)), NestedCommon)
        assert_type(nested.translate_by((1, 1)), NestedCommon)
        assert_type(nested.ordinals([(0, 0)]), IntArray)
        assert_type(nested == view, bool)


box = Smooth((2, 3))
Nested(box, [1, 1])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
NestedView(box, (1, 1))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Nested(Nested(box, (1, 1)), (2,))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


# A third representation inherits all but its primitives; without them it is abstract.


class Square(SmoothCommon):
    """A box whose modes have one extent."""

    @property
    def extents(self) -> Extents:
        return (3, 3)

    @property
    def origin(self) -> Index:
        return (0, 0)


class Unfinished(SmoothCommon):
    """A box without an origin."""

    @property
    def extents(self) -> Extents:
        return (3, 3)


class Pair(NestedCommon):
    """A box of a box."""

    @property
    def flat(self) -> Flat:
        return Smooth((3, 3))

    @property
    def layers(self) -> tuple[int, ...]:
        return (1, 1)


class Layerless(NestedCommon):
    """A nested shape that does not say how its modes are dealt: the one layer of a plain shape will do."""

    @property
    def flat(self) -> Flat:
        return Smooth((3, 3))


smooths.append(Square)
nesteds.append(Pair)
assert_type(Pair().chip(0), Flat | NestedCommon)
assert_type(as_shape(Pair()), Shape)
Layerless()  # type: ignore[abstract]  # pyright: ignore[reportAbstractUsage]
assert_type(Square().slice((0, 0), (1, 1)), Smooth)
assert_type(as_shape(Square()), Shape)
Unfinished()  # type: ignore[abstract]  # pyright: ignore[reportAbstractUsage]

# What `as_shape` accepts.

likes: list[ShapeLike] = [(2, 3), [2, 3], Shape(2, 3), Smooth((2, 3)), Square(), Pair(), range(3)]
likes.append(2)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


# Nobody derives from a value.


class Derived(Smooth):  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]
    """A subclass of a final class."""
