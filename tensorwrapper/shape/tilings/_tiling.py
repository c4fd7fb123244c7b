"""Tilings: how a box is cut, per mode, into tiles of any sizes; element to tile and back."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TypeAlias, cast, final, overload

import numpy.typing as npt

from tensorwrapper._arguments import to_items_of
from tensorwrapper._error_text import brief, counted
from tensorwrapper._hints import hint
from tensorwrapper._integers import one_sequence, to_counts, to_ints
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import ConversionError, ExtentError, JaggedModeError, RankError
from tensorwrapper.shape._shape import Shape, as_shape
from tensorwrapper.shape._shape_base import ShapeLike, implementation_of
from tensorwrapper.shape.boxes._common import to_index
from tensorwrapper.shape.boxes._keys import Entry, mode_of, parse_key, slice_entries
from tensorwrapper.shape.boxes._smooth import make_smooth, to_permutation
from tensorwrapper.shape.kinds._classify import partitions_of
from tensorwrapper.shape.kinds._nested import flat_of
from tensorwrapper.shape.rows._partition import Partition, int64_array
from tensorwrapper.shape.rows._partition_operations import (
    Chunk,
    PerMode,
    chunked,
    even,
    joined,
    merged,
    moved,
    part_of,
    per_mode,
    refined,
    tiles_for,
    to_chunks,
)
from tensorwrapper.shape.tilings._exchange import TilingExchange
from tensorwrapper.typing import (
    Index,
    IndexT,
    IndexT_co,
    IntArray,
    Integer,
    Key,
    Origin,
    Rank1,
    Rank2,
    Rank3,
    Slices,
)

_Sizes2: TypeAlias = tuple[Iterable[Integer], Iterable[Integer]]
_Sizes3: TypeAlias = tuple[Iterable[Integer], Iterable[Integer], Iterable[Integer]]


@final
@value_class(repr=False, getstate_setstate=False)
class Tiling(TilingExchange[IndexT_co], Generic[IndexT_co]):
    """A box cut into tiles, one partition per mode. Empty tiles are legal.

    Tiles are numbered from 0; elements are absolute, starting at `origin`. A mode without tiles has a
    position. Two tilings are equal if their boundaries are; `is_congruent` compares sizes alone.

    Parameters
    ----------
    *sizes
        The extents of the tiles along each mode.
    origin
        The first element of every mode; zeros if not given.

    Raises
    ------
    ExtentError
        If a size is negative.
    RankError
        If the origin has another number of modes.

    Examples
    --------
    >>> tiling = Tiling([5, 15, 10], [5, 15, 10])
    >>> tiling.grid, tiling.elements, tiling.tile((1, 2)), tiling.tile_of((7, 29))
    (Shape(3, 3), Shape(30, 30), Shape(15, 10, origin=(5, 20)), (1, 2))
    """

    _partitions: tuple[Partition, ...]

    if TYPE_CHECKING:

        @overload
        def __init__(self: "Tiling[Rank1]", a: Iterable[Integer], /, *, origin: Origin = None) -> None: ...
        @overload
        def __init__(self: "Tiling[Rank2]", *sizes: *_Sizes2, origin: Origin = None) -> None: ...
        @overload
        def __init__(self: "Tiling[Rank3]", *sizes: *_Sizes3, origin: Origin = None) -> None: ...
        @overload
        def __init__(self, *sizes: Iterable[Integer], origin: Origin = None) -> None: ...

    def __init__(
        self,
        *sizes: Iterable[SupportsIndex] | IntArray,
        origin: Iterable[SupportsIndex] | None = None,
    ) -> None:
        start = _to_origin(origin, len(sizes))
        parts = enumerate(zip(sizes, start, strict=True))
        partitions = [Partition.of_sizes(s, o, f"the tile sizes of mode {mode}") for mode, (s, o) in parts]
        object.__setattr__(self, "_partitions", tuple(partitions))

    # Other ways to make one.

    @classmethod
    def from_marks(cls, *marks: npt.ArrayLike) -> "Tiling":
        """Return the tiling with these boundaries per mode: one mark more than tiles, never descending.

        TiledArray calls marks hashmarks.

        Raises
        ------
        ExtentError
            If marks descend, or a mode has no marks.

        Examples
        --------
        >>> Tiling.from_marks([1, 3, 3, 5]).tile_of((3,))
        (2,)
        """
        return make_tiling(
            tuple([Partition.of_marks(m, f"the marks of mode {mode}") for mode, m in enumerate(marks)])
        )

    @classmethod
    def from_shape(cls, shape: ShapeLike) -> "Tiling":
        """Return the tiling of a uniform or gridded shape (see `Shape.raggedness`): the inverse of `shape`.

        The inner modes count the positions in a tile from 0, or have their indices in the box. O(cells).

        Raises
        ------
        JaggedModeError
            If a mode does not belong to a tiling; the text names it.

        Examples
        --------
        >>> Tiling.from_shape(Shape.from_cells((1, 2), [(5, 3), (5, 4)], origins=[(0, 0), (0, 3)]))
        Tiling([5], [3, 4])
        """
        return make_tiling(partitions_of(flat_of(implementation_of(shape))))

    @classmethod
    def from_chunks(
        cls,
        chunks: Iterable[Chunk] | SupportsIndex,
        *,
        extents: Iterable[SupportsIndex] | None = None,
        origin: Iterable[SupportsIndex] | None = None,
    ) -> "Tiling":
        """Return the tiling of a chunk grid, as Dask and Zarr write it.

        Parameters
        ----------
        chunks
            Per mode: the sizes of all chunks (0 is allowed), or one size for all chunks but the last, or -1
            or ``None`` for one chunk. One integer applies to every mode.
        extents
            The extents of the box; optional if all sizes are given.
        origin
            The first element, which chunk grids lack; zeros by default.

        Raises
        ------
        ConversionError
            If a size is not an integer: fractional, unknown (NaN), or text such as ``"auto"``.
        ExtentError
            If a size is negative, a size for all chunks is 0, sizes do not add up to the extent, or
            extents are needed.
        RankError
            If chunks, extents and origin differ in the number of modes: ``(3, 2)`` has two modes, ``((3,
            2),)`` has one.

        Examples
        --------
        >>> Tiling.from_chunks((3, 2), extents=(5, 5)).chunks
        ((3, 2), (2, 2, 1))
        >>> Tiling.from_chunks([[10, 20], -1], extents=(30, 7)).chunks
        ((10, 20), (7,))
        """
        sizes = None if extents is None else to_counts(extents, "extents")
        modes = to_chunks(chunks, sizes)
        rank = len(modes)
        start = _to_origin(origin, rank)
        bounds: Sequence[int | None] = (None,) * rank if sizes is None else sizes
        parts = enumerate(zip(modes, bounds, start, strict=True))
        return make_tiling(tuple([chunked(c, n, o, mode) for mode, (c, n, o) in parts]))

    @classmethod
    def make_uniform(
        cls, elements: ShapeLike, target: PerMode | None = None, *, count: PerMode | None = None
    ) -> "Tiling":
        """Return the tiling of a box into tiles as even as possible, the larger ones first.

        Parameters
        ----------
        elements
            A box, or its extents. A box keeps its origin.
        target
            Maximal number of elements of a tile along each mode, or along all; it determines the number of
            tiles.
        count
            Or the number of tiles along each mode, or along all; more tiles than elements leave empty ones.

        Raises
        ------
        ConversionError
            If neither or both of `target` and `count` are given.
        ExtentError
            If a nonempty mode would get tiles of 0 elements, or 0 tiles.
        JaggedModeError
            If the elements are not a box.

        Examples
        --------
        >>> Tiling.make_uniform((55,), 10).chunks, Tiling.make_uniform((7,), count=3).chunks
        (((10, 9, 9, 9, 9, 9),), ((3, 2, 2),))
        """
        box = _to_box(elements)
        if (target is None) == (count is None):
            raise ConversionError("make_uniform needs the size of the tiles or their count, one of the two")
        parts = list(zip(range(box.rank), box.origin, box.extents, strict=True))
        if target is not None:
            sizes = per_mode(target, box.rank, "tile sizes")
            numbers = [tiles_for(n, sizes[mode], mode) for mode, _, n in parts]
        else:
            numbers = list(per_mode(cast("PerMode", count), box.rank, "numbers of tiles"))
        return make_tiling(tuple([even(o, n, numbers[mode], mode) for mode, o, n in parts]))

    # The same tiles elsewhere, and parts.

    def translate_by(self, offset: Iterable[SupportsIndex]) -> "Tiling[IndexT_co]":
        """Return the tiling moved by `offset`, one integer per mode; tile numbers stay.

        TiledArray calls it a shift.

        Raises
        ------
        SizeOverflowError
            If a boundary would leave 64 bits.

        Examples
        --------
        >>> Tiling.from_marks([1, 3, 7, 9]).translate_by((-1,)).marks[0].tolist()
        [0, 2, 6, 8]
        """
        moves = to_index(offset, self.rank, "an offset")
        return make_tiling(tuple([moved(p, by) for p, by in zip(self._partitions, moves, strict=True)]))

    def translate_to(self, origin: Iterable[SupportsIndex]) -> "Tiling[IndexT_co]":
        """Return the tiling moved to start at `origin`; raises as `translate_by` does.

        Examples
        --------
        >>> Tiling([1, 2], origin=(7,)).translate_to((-1,))
        Tiling([1, 2], origin=(-1,))
        """
        start = to_index(origin, self.rank, "an origin")
        return self.translate_by([a - b for a, b in zip(start, self.origin, strict=True)])

    @overload
    def permute(self, order: Iterable[SupportsIndex], /) -> "Tiling[IndexT_co]": ...
    @overload
    def permute(self, *order: SupportsIndex) -> "Tiling[IndexT_co]": ...
    def permute(self, *order: SupportsIndex | Iterable[SupportsIndex]) -> "Tiling[IndexT_co]":
        """Return the tiling whose mode ``k`` is mode ``order[k]`` of this one, as NumPy's transpose.

        The order is given loose or as one sequence. TiledArray's permutation is the inverse: there mode
        ``k`` becomes mode ``order[k]``.

        Examples
        --------
        >>> Tiling([1], [2], [3]).permute(2, 0, 1)
        Tiling([3], [1], [2])
        """
        return make_tiling(
            tuple([self._partitions[m] for m in to_permutation(one_sequence(order), self.rank)])
        )

    @overload
    def __getitem__(self, key: Slices) -> "Tiling[IndexT_co]": ...
    @overload
    def __getitem__(self, key: Key) -> "Tiling": ...
    def __getitem__(self, key: Key) -> "Tiling":
        """Return the part between literal bounds of elements, as `slice`; an integer drops its mode."""
        return self._part(parse_key(key, self.rank))

    @overload
    def slice(self, first: Shape, /) -> "Tiling[IndexT_co]": ...
    @overload
    def slice(self, first: Iterable[Integer], last: Iterable[Integer], /) -> "Tiling[IndexT_co]": ...
    def slice(
        self, first: Shape | Iterable[SupportsIndex], last: Iterable[SupportsIndex] | None = None, /
    ) -> "Tiling[IndexT_co]":
        """Return the tiling cut to a box, given as a shape or by its bounds; it stays where it lies.

        Tiles that the box cuts keep the part within. An empty tile goes with the elements that follow it,
        at the very end of a mode with those before; a mode without elements has no tiles. Slices that
        meet at a boundary are joined by `concat` to what they were cut from.

        Raises
        ------
        JaggedModeError
            If the elements are no box.
        OutOfBoundsError
            If a bound leaves the elements.

        Examples
        --------
        >>> tiling = Tiling([5, 15, 10])
        >>> tiling.slice((7,), (25,)), tiling.slice(tiling.tile((1,)))
        (Tiling([13, 5], origin=(7,)), Tiling([15], origin=(5,)))
        """
        if last is not None:
            return self._part(slice_entries(cast("Iterable[SupportsIndex]", first), last, self.rank))
        if not isinstance(first, Shape):
            raise RankError(f"a slice needs two bounds or a Shape, not {brief(first)} alone")
        box = _to_box(first)
        ends = [a + n for a, n in zip(box.origin, box.extents, strict=True)]
        return self._part(slice_entries(box.origin, ends, self.rank))

    def _part(self, entries: tuple[Entry, ...]) -> "Tiling[IndexT_co]":
        extents = tuple([p.extent for p in self._partitions])
        box = make_smooth(extents, self.origin).select(entries)
        kept = [p for p, entry in zip(self._partitions, entries, strict=True) if not isinstance(entry, int)]
        runs = zip(kept, box.origin, box.extents, strict=True)
        return make_tiling(tuple([part_of(p, a, a + n) for p, a, n in runs]))

    # Finer, coarser, longer.

    def refine(self, *points: Iterable[SupportsIndex]) -> "Tiling[IndexT_co]":
        """Return the tiling with a boundary at each point in every mode as well.

        A boundary that is there already is not doubled, so a coordinate equal to the origin leaves its
        mode as it is. For many points per mode, `intersect` with ``Tiling.from_marks(...)``.

        Raises
        ------
        OutOfBoundsError
            If a point is beyond the boundaries of the box.
        RankError
            If a point has another number of modes.

        Examples
        --------
        >>> Tiling.from_marks([0, 2, 4], [0, 3, 9]).refine((1, 3), (3, 2))
        Tiling([1, 1, 1, 1], [2, 1, 6])
        """
        rows = [to_index(point, self.rank, "a point") for point in points]
        parts: list[Partition] = []
        for mode, partition in enumerate(self._partitions):
            column = int64_array([row[mode] for row in rows], f"the points of mode {mode}")
            parts.append(refined(partition, column, mode))
        return make_tiling(tuple(parts))

    def coarsen(self, *groups: Iterable[SupportsIndex] | IntArray) -> "Tiling[IndexT_co]":
        """Return the tiling whose tiles join runs of these: per mode, how many tiles go together.

        Raises
        ------
        ExtentError
            If the groups of a mode do not join all of its tiles.
        RankError
            If there are not as many sequences of groups as modes.

        Examples
        --------
        >>> Tiling([1, 1, 3, 1, 1]).coarsen([3, 1, 1])
        Tiling([5, 1, 1])
        """
        if len(groups) != self.rank:
            raise RankError(
                f"a tiling of rank {self.rank} is coarsened per mode, but {len(groups)} were given"
            )
        what = "numbers of tiles to join in mode"
        parts = enumerate(zip(self._partitions, groups, strict=True))
        return make_tiling(tuple([p.coarsen(g, f"{what} {mode}") for mode, (p, g) in parts]))

    def intersect(self, other: "Tiling") -> "Tiling[IndexT_co]":
        """Return the coarsest tiling that refines both, whose tiles are the overlaps of theirs; O(n).

        Empty tiles are kept: where the two have different numbers of them at one boundary, the greater.
        So a tiling intersected with itself is itself.

        Raises
        ------
        ExtentMismatchError
            If the two do not cover the same box.
        RankError
            If they have different numbers of modes.

        Examples
        --------
        >>> Tiling([2, 2, 4]).intersect(Tiling([3, 0, 5]))
        Tiling([2, 1, 0, 1, 4])
        """
        theirs = self._same_box(other, "intersect")
        return make_tiling(tuple([merged(a, b) for a, b in zip(self._partitions, theirs, strict=True)]))

    @classmethod
    def concat(cls, tilings: Iterable["Tiling[IndexT]"], *, mode: SupportsIndex = 0) -> "Tiling[IndexT]":
        """Return the tiling with the tiles of one along `mode`, then those of the next, as `Shape.concat`.

        The result starts where the first starts: where the others lie along `mode` is of no account, and
        none loses an empty tile. That holds for tilings without tiles too. O(tiles).

        Raises
        ------
        ConversionError
            If there are none, or one is no tiling.
        ExtentError
            If two are not cut alike in another mode; the text has their numbers.
        RankError
            If they have different numbers of modes, or there is no such mode.
        SizeOverflowError
            If a boundary would leave 64 bits.

        Examples
        --------
        >>> Tiling.concat([Tiling([2, 4], origin=(1,)), Tiling([3, 1])]).marks[0].tolist()
        [1, 3, 7, 10, 11]
        """
        parts = to_items_of(tilings, "concat takes a sequence of tilings")
        if not parts:
            raise ConversionError("concat needs a tiling at least")
        if not isinstance(cast("object", parts[0]), Tiling):
            raise ConversionError(f"concat needs tilings, such as Tiling(*sizes), not {brief(parts[0])}")
        first = parts[0]._partitions
        at = mode_of(mode, len(first))
        others = [parts[0]._same_rank(part, "concat") for part in parts[1:]]
        for number, theirs in enumerate(others, 1):
            for k, (a, b) in enumerate(zip(first, theirs, strict=True)):
                if k != at and a != b:
                    from tensorwrapper.shape.text._text import list_text  # noqa: PLC0415 - as in __repr__

                    raise ExtentError(
                        f"concat along mode {at} needs mode {k} cut alike, but tiling {number} has the marks "
                        f"{list_text(b.marks)}, and tiling 0 {list_text(a.marks)}"
                    )
        along = joined([first[at], *[theirs[at] for theirs in others]])
        return make_tiling((*first[:at], along, *first[at + 1 :]))

    # Retiling.

    def retile(self, new: "Tiling[IndexT]") -> "Tiling[IndexT]":
        """Return `new`, once it is known to cover the same box; raises as `retile_plan` does."""
        self._same_box(new, "retile")
        return new

    def __repr__(self) -> str:
        from tensorwrapper.shape.text._text import list_text  # noqa: PLC0415 - few tilings are shown

        sizes = ", ".join(list_text(p.sizes) for p in self._partitions)
        if not any(self.origin):
            return f"Tiling({sizes})"
        return f"Tiling({sizes}, origin={self.origin})"

    def __reduce__(self) -> tuple[Callable[[tuple[Partition, ...]], "Tiling"], tuple[tuple[Partition, ...]]]:
        return make_tiling, (self._partitions,)


hint(Tiling, "Tiling")


def make_tiling(partitions: tuple[Partition, ...]) -> Tiling[Any]:
    """Return the tiling with these partitions."""
    tiling = object.__new__(Tiling)
    object.__setattr__(tiling, "_partitions", partitions)
    return tiling


def _to_origin(origin: Iterable[SupportsIndex] | None, rank: int) -> Index:
    start = (0,) * rank if origin is None else to_ints(origin, "an origin")
    if len(start) != rank:
        raise RankError(f"the origin {start} has {counted(len(start), 'entry')} for {counted(rank, 'mode')}")
    return start


def _to_box(elements: ShapeLike) -> Shape:
    box = as_shape(elements)
    if box.kind != "smooth":
        raise JaggedModeError(f"a box is needed, not a {box.kind} shape; as_smooth() gives one")
    return box
