"""Tilings: how a box is cut, per mode, into tiles of any sizes; element to tile and back."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, SupportsIndex, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import to_ints
from tensorwrapper.errors import OutOfBoundsError, RankError
from tensorwrapper.shape._columns import run_of
from tensorwrapper.shape._common import to_index, to_index_array
from tensorwrapper.shape._partition import Partition
from tensorwrapper.shape._shape import Shape, wrap
from tensorwrapper.shape._smooth import make_smooth
from tensorwrapper.shape._text import list_text
from tensorwrapper.shape._tiled import Tiled
from tensorwrapper.typing import Index, IntArray

__all__ = ["Tiling"]


@final
@attrs.frozen(init=False, repr=False, getstate_setstate=False)
class Tiling:
    """A box cut into tiles, one partition per mode. Empty tiles are legal.

    Tiles are numbered from 0; elements are absolute, starting at `origin`.

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

    def __init__(
        self,
        *sizes: Iterable[SupportsIndex] | IntArray,
        origin: Iterable[SupportsIndex] | None = None,
    ) -> None:
        start = (0,) * len(sizes) if origin is None else to_ints(origin, "an origin")
        if len(start) != len(sizes):
            raise RankError(f"the origin {start} has {len(start)} entries for {len(sizes)} modes")
        partitions = tuple([Partition.of_sizes(s, o) for s, o in zip(sizes, start, strict=True)])
        object.__setattr__(self, "_partitions", partitions)

    @classmethod
    def from_marks(cls, *marks: npt.ArrayLike) -> "Tiling":
        """Return the tiling with these boundaries per mode: one mark more than tiles, never descending.

        Raises
        ------
        ExtentError
            If marks descend, or a mode has none.

        Examples
        --------
        >>> Tiling.from_marks([1, 3, 3, 5]).tile_of((3,))
        (2,)
        """
        return make_tiling(tuple([Partition.of_marks(m) for m in marks]))

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """How each mode is cut."""
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
    def origin(self) -> Index:
        """The first element."""
        return tuple([p.origin for p in self._partitions])

    @property
    def grid(self) -> Shape[Any]:
        """The shape of the tile numbers."""
        return Shape(*[p.count for p in self._partitions])

    @property
    def elements(self) -> Shape[Any]:
        """The shape of the elements."""
        return wrap(make_smooth(tuple([p.extent for p in self._partitions]), self.origin))

    @property
    def shape(self) -> Shape[Any]:
        """The tiled shape, of twice the rank: tile numbers first, then places in a tile from 0."""
        if not self._partitions:
            raise RankError("a tiling of rank 0 has no tiled shape")
        return wrap(Tiled(self._partitions, (0,) * self.rank))

    def tile(self, number: Iterable[SupportsIndex]) -> Shape[Any]:
        """Return the elements of one tile, where they lie.

        Raises
        ------
        OutOfBoundsError
            If there is no such tile.
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

    def tiles(self) -> Iterator[Shape[Any]]:
        """Return an iterator over all tiles in row-major order, empty ones included."""
        return (self.tile(number) for number in self.grid.indices())

    def tile_of(self, index: Iterable[SupportsIndex]) -> Index:
        """Return the number of the tile, never an empty one, that holds the element; O(rank * log n).

        Raises
        ------
        OutOfBoundsError
            If the element is outside; the text names the mode.
        """
        numbers = to_index(index, self.rank)
        found: list[int] = []
        for mode, (partition, i) in enumerate(zip(self._partitions, numbers, strict=True)):
            try:
                found.append(partition.tile_of(i))
            except OutOfBoundsError as error:
                raise OutOfBoundsError(f"{error} of mode {mode}, in the element {numbers}") from error
        return tuple(found)

    def tiles_of(self, indices: npt.ArrayLike) -> IntArray:
        """Return the tile numbers of the elements in an ``(..., rank)`` array."""
        array = to_index_array(indices, self.rank)
        inside = self.elements.contains(array)
        if not inside.all():
            place = np.unravel_index(int(np.argmin(inside)), inside.shape)
            raise OutOfBoundsError(f"element {tuple(array[place].tolist())} is not in {self.elements}")
        columns = [run_of(p.marks, array[..., mode]) for mode, p in enumerate(self._partitions)]
        return np.stack(columns, axis=-1) if columns else array

    def coarsen(self, *groups: Iterable[SupportsIndex]) -> "Tiling":
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
        return make_tiling(tuple([p.coarsen(g) for p, g in zip(self._partitions, groups, strict=True)]))

    def __repr__(self) -> str:
        sizes = ", ".join(list_text(p.sizes) for p in self._partitions)
        if not any(self.origin):
            return f"Tiling({sizes})"
        return f"Tiling({sizes}, origin={self.origin})"

    def __reduce__(self) -> tuple[Callable[[tuple[Partition, ...]], "Tiling"], tuple[tuple[Partition, ...]]]:
        return make_tiling, (self._partitions,)


def make_tiling(partitions: tuple[Partition, ...]) -> Tiling:
    """Return the tiling with these partitions."""
    tiling = object.__new__(Tiling)
    object.__setattr__(tiling, "_partitions", partitions)
    return tiling
