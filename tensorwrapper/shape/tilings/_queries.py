"""Properties of a tiling: positions and sizes of its tiles, and the tile of an element.

`Tiling` is one class in two files: properties (here), and constructors and slices (``_tiling.py``).
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import check_kind_of
from tensorwrapper._error_text import brief
from tensorwrapper._hints import Hinted
from tensorwrapper._integers import to_int
from tensorwrapper.errors import (
    ConversionError,
    ExtentMismatchError,
    JaggedModeError,
    OutOfBoundsError,
    RankError,
)
from tensorwrapper.shape._shape import Shape, as_shape, wrap
from tensorwrapper.shape._shape_base import ShapeLike
from tensorwrapper.shape.boxes._common import to_index, to_index_array
from tensorwrapper.shape.boxes._smooth import make_smooth
from tensorwrapper.shape.kinds._tiled import Tiled
from tensorwrapper.shape.rows._partition import Partition, offsets_of_tiles, runs_by_volume, volumes_of_tiles
from tensorwrapper.shape.rows._partition_operations import is_refinement
from tensorwrapper.typing import Extents, IndexT, IndexT_co, IntArray, LooseIndex

if TYPE_CHECKING:
    from tensorwrapper.shape.tilings._retile import RetilePlan


class TilingQueries(Generic[IndexT_co], metaclass=Hinted):
    """Abstract: the attribute `_partitions`, one per mode."""

    __slots__ = ()

    _partitions: tuple[Partition, ...]

    def __len__(self) -> int:
        raise TypeError("a tiling has no len: `g.grid` has extents, rank and size")

    def __iter__(self) -> None:
        raise TypeError(
            "a tiling is not iterable: `g.tiles()` goes over its tiles, `g.grid` has their indices"
        )

    def __bool__(self) -> bool:
        return True

    def __dir__(self) -> list[str]:
        return dir(type(self))

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """The partition of each mode."""
        return self._partitions

    @property
    def rank(self) -> int:
        """The number of modes of the box."""
        return len(self._partitions)

    @property
    def marks(self) -> tuple[IntArray, ...]:
        """The boundaries of the tiles of each mode, as read-only arrays."""
        return tuple([p.marks for p in self._partitions])

    @property
    def sizes(self) -> tuple[IntArray, ...]:
        """The extents of the tiles of each mode, as arrays."""
        return tuple([p.sizes for p in self._partitions])

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:
        """The extents of the tiles of each mode as tuples, as Dask has them; the origin is left out.

        Dask takes no mode that is cut into no tiles at all, as ``losses("dask")`` says.
        """
        return tuple([tuple(p.sizes.tolist()) for p in self._partitions])

    @property
    def origin(self) -> IndexT_co:
        """The first element."""
        origin: Any = tuple([p.origin for p in self._partitions])
        first: IndexT_co = origin
        return first

    @property
    def grid(self) -> Shape[IndexT_co]:
        """The shape of the tile numbers."""
        grid: Shape[Any] = Shape(*[p.count for p in self._partitions])
        return grid

    @property
    def elements(self) -> Shape[IndexT_co]:
        """The shape of the elements."""
        return wrap(make_smooth(tuple([p.extent for p in self._partitions]), self.origin))

    @property
    def shape(self) -> Shape:
        """The tiled shape, of twice the rank: tile numbers first, then places in a tile from 0."""
        if not self._partitions:
            raise RankError("a tiling of rank 0 has no tiled shape")
        return wrap(Tiled(self._partitions, (0,) * self.rank))

    @property
    def smallest_tile(self) -> Extents:
        """The least extent of a tile in each mode, 0 where there is none; O(n)."""
        return tuple([p.bounds()[0] for p in self._partitions])

    @property
    def largest_tile(self) -> Extents:
        """The greatest extent of a tile in each mode, 0 where there is none; O(n)."""
        return tuple([p.bounds()[1] for p in self._partitions])

    # Tile to elements.

    def tile(self: "TilingQueries[IndexT]", number: IndexT | LooseIndex) -> Shape[IndexT]:
        """Return the elements of one tile, with their indices.

        Raises
        ------
        OutOfBoundsError
            If the tile does not exist.
        """
        numbers = to_index(number, self.rank)
        pairs: list[tuple[int, int]] = []
        for mode, (partition, k) in enumerate(zip(self._partitions, numbers, strict=True)):
            if not 0 <= k < partition.count:
                raise OutOfBoundsError(
                    f"tile {k} is outside [0, {partition.count}) of mode {mode}, in the tile {numbers}"
                )
            pairs.append(partition.tile(k))
        return wrap(make_smooth(tuple([n for n, _ in pairs]), tuple([start for _, start in pairs])))

    def tiles(self) -> Iterator[Shape[IndexT_co]]:
        """Return an iterator over all tiles in row-major order, empty ones included."""
        return (self.tile(number) for number in self.grid.indices())

    def element_range(self, tiles: ShapeLike) -> Shape[IndexT_co]:
        """Return the elements of a box of tiles, with their indices.

        Parameters
        ----------
        tiles
            A box of tile numbers, such as `tile_range` returns.

        Raises
        ------
        OutOfBoundsError
            If the box leaves the grid.

        Examples
        --------
        >>> from tensorwrapper import Shape, Tiling
        >>> Tiling([5, 15, 10]).element_range(Shape(2, origin=(1,)))
        Shape(25, origin=(5,))
        """
        bounds = _bounds_in(tiles, self.grid, "tiles")
        ends = [
            (int(p.marks[a]), int(p.marks[b])) for p, (a, b) in zip(self._partitions, bounds, strict=True)
        ]
        return wrap(make_smooth(tuple([b - a for a, b in ends]), tuple([a for a, _ in ends])))

    # Element to tile.

    def tile_of(self: "TilingQueries[IndexT]", index: IndexT | LooseIndex) -> IndexT:
        """Return the number of the tile, never an empty one, that holds the element; O(rank * log n).

        Raises
        ------
        OutOfBoundsError
            If the element is outside; the text names the mode.
        """
        partitions = self._partitions
        # A tuple goes on as it is: more than one call per mode would cost more than the search.
        numbers = index if isinstance(index, tuple) else to_index(index, len(partitions))
        if len(numbers) != len(partitions):
            to_index(numbers, len(partitions))
        try:
            if len(partitions) == 1:
                found: Any = (partitions[0].tile_of(numbers[0]),)
            else:
                found = tuple(map(Partition.tile_of, partitions, numbers))
        except OutOfBoundsError as error:
            element = to_index(numbers, len(partitions))
            inside = [p.origin <= i < p.end for p, i in zip(partitions, element, strict=True)]
            where = f"mode {inside.index(False)}, in the element {element}"
            raise OutOfBoundsError(f"{error} of {where}") from error
        tile: IndexT = found
        return tile

    def tiles_of(self, indices: npt.ArrayLike) -> IntArray:
        """Return the tile numbers of the elements in an ``(..., rank)`` array.

        O(log n) for each element, and less where there are many.

        Raises
        ------
        OutOfBoundsError
            If an element is outside; the text names the first.
        """
        array = to_index_array(indices, self.rank)
        numbers = np.empty(array.shape, dtype=np.int64)
        for mode, partition in enumerate(self._partitions):
            column = array[..., mode]
            if column.size and not (partition.origin <= column.min() and column.max() < partition.end):
                raise self._outside(array)
            numbers[..., mode] = partition.tiles_at(column)
        return numbers

    def _outside(self, array: IntArray) -> OutOfBoundsError:
        inside = self.elements.contains(array)
        place = np.unravel_index(int(np.argmin(inside)), inside.shape)
        return OutOfBoundsError(f"element {tuple(array[place].tolist())} is not in {self.elements}")

    def find(self: "TilingQueries[IndexT]", index: IndexT | LooseIndex) -> Shape[IndexT] | None:
        """Return the tile, never an empty one, that holds the element; ``None`` if it is outside.

        Examples
        --------
        >>> from tensorwrapper import Tiling
        >>> tiling = Tiling.from_marks([1, 3, 3, 5])
        >>> tiling.find((3,)), tiling.find((5,))
        (Shape(2, origin=(3,)), None)
        """
        numbers: Any = to_index(index, self.rank)
        try:
            return self.tile(self.tile_of(numbers))
        except OutOfBoundsError:
            return None

    def tile_range(self, elements: ShapeLike) -> Shape[IndexT_co]:
        """Return the box of the numbers of the tiles that a box of elements touches; O(rank * log n).

        An empty tile is never touched, so it is in the box only between others. A mode without elements has
        no tiles, and its position is the number of the tile that contains it.

        Raises
        ------
        JaggedModeError
            If the elements are not a box.
        OutOfBoundsError
            If the box leaves the elements.

        Examples
        --------
        >>> from tensorwrapper import Shape, Tiling
        >>> Tiling([2, 2], [3, 3]).tile_range(Shape(1, 5))
        Shape(1, 2)
        """
        bounds = _bounds_in(elements, self.elements, "elements")
        runs = [p.tile_run(a, b) for p, (a, b) in zip(self._partitions, bounds, strict=True)]
        return wrap(make_smooth(tuple([b - a for a, b in runs]), tuple([a for a, _ in runs])))

    def is_aligned(self, elements: ShapeLike) -> bool:
        """Tell whether a box of elements starts and stops at boundaries in every mode: cuts no tile.

        Raises as `tile_range` does.

        Examples
        --------
        >>> from tensorwrapper import Shape, Tiling
        >>> Tiling([2, 2]).is_aligned(Shape(2, origin=(2,))), Tiling([2, 2]).is_aligned(Shape(3))
        (True, False)
        """
        bounds = _bounds_in(elements, self.elements, "elements")
        pairs = zip(self._partitions, bounds, strict=True)
        return all(p.has_mark(a) and p.has_mark(b) for p, (a, b) in pairs)

    # Boundaries.

    def is_tile_start(self, index: Iterable[SupportsIndex]) -> bool:
        """Tell whether the element is the first of its tile in every mode; one outside is not.

        Examples
        --------
        >>> from tensorwrapper import Tiling
        >>> [i for i in range(-1, 12) if Tiling([2, 2, 2, 2, 2]).is_tile_start((i,))]
        [0, 2, 4, 6, 8]
        """
        numbers = to_index(index, self.rank)
        pairs = zip(self._partitions, numbers, strict=True)
        return all(i != p.end and p.has_mark(i) for p, i in pairs)

    def is_tile_stop(self, index: Iterable[SupportsIndex]) -> bool:
        """Tell whether the element before, in every mode, is the last of its tile.

        Examples
        --------
        >>> from tensorwrapper import Tiling
        >>> [i for i in range(-1, 12) if Tiling([2, 2, 2, 2, 2]).is_tile_stop((i,))]
        [2, 4, 6, 8, 10]
        """
        numbers = to_index(index, self.rank)
        pairs = zip(self._partitions, numbers, strict=True)
        return all(i != p.origin and p.has_mark(i) for p, i in pairs)

    def are_tile_starts(self, indices: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Tell for each row of an ``(..., rank)`` array what `is_tile_start` tells for one element."""
        return self._are_marks(indices, [p.end for p in self._partitions])

    def are_tile_stops(self, indices: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Tell for each row of an ``(..., rank)`` array what `is_tile_stop` tells for one element."""
        return self._are_marks(indices, [p.origin for p in self._partitions])

    def _are_marks(self, indices: npt.ArrayLike, but: list[int]) -> npt.NDArray[np.bool_]:
        array = to_index_array(indices, self.rank)
        found = np.ones(array.shape[:-1], dtype=np.bool_)
        for mode, (partition, excluded) in enumerate(zip(self._partitions, but, strict=True)):
            column = array[..., mode]
            found &= partition.has_marks(column) & (column != excluded)
        return found

    # Volumes.

    def volumes(self) -> IntArray:
        """Return the number of elements of every tile: an int64 array with one axis per mode; O(tiles).

        Raises
        ------
        SizeOverflowError
            If a tile may have more elements than 64 bits hold.

        Examples
        --------
        >>> from tensorwrapper import Tiling
        >>> Tiling([1, 2], [3, 4]).volumes().tolist()
        [[3, 4], [6, 8]]
        """
        return volumes_of_tiles(self._partitions)

    def offsets(self) -> IntArray:
        """Return the number of elements in the tiles before each one, in row-major order of the tiles.

        This is the start of the tile in tile-major storage: an int64 array with one axis per mode. O(tiles).

        Raises
        ------
        SizeOverflowError
            If there are more elements than 64 bits can count.

        Examples
        --------
        >>> from tensorwrapper import Tiling
        >>> Tiling([1, 2], [3, 4]).offsets().tolist()
        [[0, 3], [7, 13]]
        """
        return offsets_of_tiles(self._partitions)

    def partition_by_volume(self, max_elements: SupportsIndex) -> Partition:
        """Return runs of tiles with at most `max_elements` elements each, as units of work for tasks.

        Tiles are taken in row-major order, and each run is as long as possible. A larger tile is a separate
        run. O(tiles).

        Returns
        -------
        Partition
            Partition of the ordinals of the tiles: run ``r`` has the tiles ``marks[r]`` to ``marks[r + 1]``.

        Raises
        ------
        ExtentError
            If the limit is less than one element.
        SizeOverflowError
            If there are more elements than 64 bits can count.

        Examples
        --------
        >>> from tensorwrapper import Tiling
        >>> tiling = Tiling([5, 15, 10], [5, 15, 10])
        >>> runs = tiling.partition_by_volume(250)
        >>> runs.marks.tolist(), [tiling.grid.index(k) for k in range(*runs.marks[1:3])]
        ([0, 4, 5, 7, 9], [(1, 1)])
        """
        return runs_by_volume(self._partitions, to_int(max_elements, "the most elements of a run"))

    # Comparison; equality is in the final class.

    def is_congruent(self, other: "TilingQueries[Any]") -> bool:
        """Return True if both have tiles of the same sizes in the same order, for any origins.

        Examples
        --------
        >>> from tensorwrapper import Tiling
        >>> a, b = Tiling([1, 2]), Tiling([1, 2], origin=(7,))
        >>> a == b, a.is_congruent(b)
        (False, True)
        """
        check_kind_of(other, TilingQueries, "a tiling is compared with tilings")
        return self.rank == other.rank and all(
            a.is_congruent(b) for a, b in zip(self._partitions, other.partitions, strict=True)
        )

    def is_refinement_of(self, other: "TilingQueries[Any]") -> bool:
        """Tell whether every tile of `other` is a run of these: whether `coarsen` can make it of this.

        That is so if both cover the same box and all boundaries of `other` are boundaries of this; how
        many empty tiles either has at a boundary does not matter. O(n log n).

        Examples
        --------
        >>> from tensorwrapper import Tiling
        >>> shells, atoms = Tiling([1, 1, 3, 1, 1]), Tiling([5, 1, 1])
        >>> shells.is_refinement_of(atoms), atoms.is_refinement_of(shells)
        (True, False)
        """
        check_kind_of(other, TilingQueries, "a tiling is compared with tilings")
        return self.rank == other.rank and all(
            is_refinement(a, b) for a, b in zip(self._partitions, other.partitions, strict=True)
        )

    # Pictures. Their modules are imported on first use, like those of shapes.

    def to_svg(self) -> str:
        """Return a picture of the tiling, tiles to scale, as the text of an SVG document.

        Boundaries that are many are drawn as densities, so the picture stays small. O(tiles per mode).

        Examples
        --------
        >>> from tensorwrapper import Tiling
        >>> Tiling([5, 15, 10], [5, 15]).to_svg().count('class="tile"')
        6
        """
        from tensorwrapper.shape.pictures._draw import draw_tiling_of  # noqa: PLC0415

        return draw_tiling_of(self._partitions).to_svg()

    def _repr_html_(self) -> str:
        """Return what notebooks show: the text of the tiling, a few facts, and its picture."""
        from tensorwrapper.shape.pictures._draw import tiling_html  # noqa: PLC0415

        return tiling_html(self._partitions, repr(self))

    def retile_plan(self, new: "TilingQueries[Any]") -> "RetilePlan":
        """Return how the elements get from these tiles to those of `new`: which part of which tile.

        O(tiles per mode, added up); pieces are made only when asked for.

        Raises
        ------
        ExtentMismatchError
            If the two do not cover the same box.
        RankError
            If they have different numbers of modes.

        Examples
        --------
        >>> from tensorwrapper import Tiling
        >>> Tiling([2, 2, 4]).retile_plan(Tiling([4, 2, 2])).cost(itemsize=8)
        RetileCost(pieces=4, elements=8, nbytes=64, fan_in=2, fan_out=2)
        """
        theirs = self._same_box(new, "retile")
        from tensorwrapper.shape.tilings._retile import Overlaps, RetilePlan  # noqa: PLC0415 - few retile

        return RetilePlan(tuple([Overlaps(a, b) for a, b in zip(self._partitions, theirs, strict=True)]))

    def _same_rank(self, other: object, what: str) -> tuple[Partition, ...]:
        if not isinstance(other, TilingQueries):
            raise ConversionError(f"{what} needs a Tiling, such as Tiling(*sizes), not {brief(other)}")
        if self.rank != other.rank:
            raise RankError(f"{what} needs tilings of one rank, not {self.rank} and {other.rank}")
        return other._partitions

    def _same_box(self, other: object, what: str) -> tuple[Partition, ...]:
        theirs = self._same_rank(other, what)
        for mode, (a, b) in enumerate(zip(self._partitions, theirs, strict=True)):
            if a.origin != b.origin or a.end != b.end:
                raise ExtentMismatchError(
                    f"{what} needs tilings of one box, but mode {mode} reaches over [{a.origin}, {a.end}) "
                    f"and over [{b.origin}, {b.end})"
                )
        return theirs


def _bounds_in(part: ShapeLike, whole: Shape, what: str) -> list[tuple[int, int]]:
    """Return the bounds per mode of a box within another."""
    box = as_shape(part)
    if box.kind != "smooth":
        raise JaggedModeError(f"a box of {what} is needed, not a {box.kind} shape; as_smooth() gives one")
    if box.rank != whole.rank:
        raise RankError(f"a box of rank {box.rank} is not a box of {what} of a tiling of rank {whole.rank}")
    bounds = [(a, a + n) for a, n in zip(box.origin, box.extents, strict=True)]
    for mode, (a, b) in enumerate(bounds):
        low, high = whole.origin[mode], whole.origin[mode] + whole.extents[mode]
        if not low <= a <= b <= high:
            raise OutOfBoundsError(f"the {what} [{a}, {b}) leave [{low}, {high}) of mode {mode}")
    return bounds
