"""Ranks of the results of `Shape` operations, for type checkers and editors."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, overload

from tensorwrapper.typing import (
    Index,
    IndexT,
    IndexT_co,
    IntArray,
    Integer,
    Integers2,
    Integers3,
    Integers4,
    Modes,
    Origin,
    Rank1,
    Rank2,
    Rank3,
    Rank4,
    Rank6,
    UnknownRank,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tensorwrapper.shape._shape import Shape
    from tensorwrapper.shape._shape_base import ShapeLike

    Sizes: TypeAlias = Iterable[Integer] | IntArray
    Sizes2: TypeAlias = tuple[Sizes, Sizes]
    Sizes3: TypeAlias = tuple[Sizes, Sizes, Sizes]
    Counts: TypeAlias = Sequence[Integer] | npt.NDArray[np.integer[Any]]
    Rows: TypeAlias = Sequence[Integer | ShapeLike | Sequence[object]]


class ShapeRanks(Generic[IndexT_co]):
    """A mixin without primitives. The other mixins implement these methods, but cannot type their ranks."""

    __slots__ = ()

    if TYPE_CHECKING:

        @overload
        @classmethod
        def jagged(cls, rows: "Counts | Rows", *, rank: int, origin: Origin = None) -> "Shape":
            """Return a jagged shape; mode 0 numbers the rows."""
            ...

        @overload
        @classmethod
        def jagged(cls, rows: "Counts", *, rank: None = None, origin: Origin = None) -> "Shape[Rank2]": ...
        @overload
        @classmethod
        def jagged(
            cls, rows: Sequence[Sequence[Integer]], *, rank: None = None, origin: Origin = None
        ) -> "Shape[Rank3]": ...
        @overload
        @classmethod
        def jagged(
            cls, rows: "Sequence[Shape[UnknownRank]]", *, rank: None = None, origin: Origin = None
        ) -> "Shape": ...
        @overload
        @classmethod
        def jagged(
            cls, rows: "Sequence[Shape[tuple[*Modes]]]", *, rank: None = None, origin: Origin = None
        ) -> "Shape[tuple[int, *Modes]]": ...
        @overload
        @classmethod
        def jagged(cls, rows: "Rows", *, rank: int | None = None, origin: Origin = None) -> "Shape": ...
        @classmethod
        def jagged(cls, rows: Any, *, rank: int | None = None, origin: Origin = None) -> "Shape[Any]":
            """Return a jagged shape; mode 0 numbers the rows."""
            ...

        @overload
        @classmethod
        def tiled(cls, sizes: "Sizes", /, *, origin: Origin = None) -> "Shape[Rank2]":
            """Return the shape of a box that is cut into tiles: tile numbers first, then places in a tile."""
            ...

        @overload
        @classmethod
        def tiled(cls, *sizes: *Sizes2, origin: Origin = None) -> "Shape[Rank4]": ...
        @overload
        @classmethod
        def tiled(cls, *sizes: *Sizes3, origin: Origin = None) -> "Shape[Rank6]": ...
        @overload
        @classmethod
        def tiled(cls, *sizes: "Sizes", origin: Origin = None) -> "Shape": ...
        @classmethod
        def tiled(cls, *sizes: "Iterable[Integer] | IntArray", origin: Origin = None) -> "Shape[Any]":
            """Return the shape of a box that is cut into tiles: tile numbers first, then places in a tile."""
            ...

        @overload
        @classmethod
        def concat(cls, shapes: "Iterable[Shape[IndexT]]", *, mode: Integer | str = 0) -> "Shape[IndexT]":
            """Return the shape with the indices of one along `mode`, then those of the next, and so on."""
            ...

        @overload
        @classmethod
        def concat(cls, shapes: "Iterable[ShapeLike]", *, mode: Integer | str = 0) -> "Shape": ...
        @classmethod
        def concat(cls, shapes: "Iterable[ShapeLike]", *, mode: Integer | str = 0) -> "Shape[Any]":
            """Return the shape with the indices of one along `mode`, then those of the next, and so on."""
            ...

        @overload
        @classmethod
        def stack(cls, shapes: "Iterable[Shape[UnknownRank]]", *, mode: Integer = 0) -> "Shape":
            """Return the shape with a new mode that numbers the given shapes, which must be congruent."""
            ...

        @overload
        @classmethod
        def stack(
            cls, shapes: "Iterable[Shape[tuple[*Modes]]]", *, mode: Integer = 0
        ) -> "Shape[tuple[int, *Modes]]": ...
        @overload
        @classmethod
        def stack(cls, shapes: "Iterable[ShapeLike]", *, mode: Integer = 0) -> "Shape": ...
        @classmethod
        def stack(cls, shapes: "Iterable[ShapeLike]", *, mode: Integer = 0) -> "Shape[Any]":
            """Return the shape with a new mode that numbers the given shapes, which must be congruent."""
            ...

        @overload
        def chip(self: "ShapeRanks[UnknownRank]", *leading: Integer | Iterable[Integer]) -> "Shape":
            """Return what is left when the leading modes are pinned to `leading`; they are dropped."""
            ...

        @overload
        def chip(
            self: "ShapeRanks[tuple[int, *Modes]]", leading: Integer | tuple[Integer], /
        ) -> "Shape[tuple[*Modes]]": ...
        @overload
        def chip(
            self: "ShapeRanks[tuple[int, int, *Modes]]", leading: tuple[Integer, Integer], /
        ) -> "Shape[tuple[*Modes]]": ...
        @overload
        def chip(
            self: "ShapeRanks[tuple[int, int, *Modes]]", first: Integer, second: Integer, /
        ) -> "Shape[tuple[*Modes]]": ...
        @overload
        def chip(self, leading: Iterable[Integer], /) -> "Shape": ...
        @overload
        def chip(self, *leading: Integer) -> "Shape": ...
        def chip(self, *leading: Integer | Iterable[Integer]) -> "Shape[Any]":
            """Return what is left when the leading modes are pinned to `leading`; they are dropped."""
            ...

        @overload
        def reshape(self, extents: UnknownRank, /, *, origin: Origin = None) -> "Shape":
            """Return the box with other extents and as many elements, which keep their row-major order."""
            ...

        @overload
        def reshape(
            self, extents: Integer | tuple[Integer], /, *, origin: Origin = None
        ) -> "Shape[Rank1]": ...
        @overload
        def reshape(self, extents: Integers2, /, *, origin: Origin = None) -> "Shape[Rank2]": ...
        @overload
        def reshape(self, *extents: *Integers2, origin: Origin = None) -> "Shape[Rank2]": ...
        @overload
        def reshape(self, extents: Integers3, /, *, origin: Origin = None) -> "Shape[Rank3]": ...
        @overload
        def reshape(self, *extents: *Integers3, origin: Origin = None) -> "Shape[Rank3]": ...
        @overload
        def reshape(self, extents: Integers4, /, *, origin: Origin = None) -> "Shape[Rank4]": ...
        @overload
        def reshape(self, *extents: *Integers4, origin: Origin = None) -> "Shape[Rank4]": ...
        @overload
        def reshape(self, extents: Iterable[Integer], /, *, origin: Origin = None) -> "Shape": ...
        @overload
        def reshape(self, *extents: Integer, origin: Origin = None) -> "Shape": ...
        def reshape(self, *extents: Integer | Iterable[Integer], origin: Origin = None) -> "Shape[Any]":
            """Return the box with other extents and as many elements, which keep their row-major order."""
            ...

        def leading(self, modes: Integer) -> "Shape":
            """Return the shape of the prefixes of `modes` indices: the first modes without the rest; O(1)."""
            ...

        def outer(self) -> "Shape":
            """Return the shape of the first `outer_rank` modes, which number the cells; a box raises."""
            ...

        def element(self, index: Iterable[Integer], *, layer: Integer | None = None) -> "Shape":
            """Return the shape of one element, as a view."""
            ...

        def cells(self, *, layer: Integer | None = None) -> "Iterator[tuple[Index, Shape]]":
            """Return an iterator over outer indices and the cell under each, in row-major order."""
            ...
