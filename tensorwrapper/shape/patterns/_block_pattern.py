"""Block patterns: which tiles of a tiling are present."""

import math
from collections.abc import Callable, Iterable
from typing import Any, Generic, SupportsIndex, TypeVar, cast, final, overload

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import check_kind_of
from tensorwrapper._arrays import (
    ArrayState,
    array_of_state,
    array_state,
    digest_of,
    frozen_array,
    has_type,
    same_values,
    shown_array,
)
from tensorwrapper._integers import MAX_INT64, one_sequence
from tensorwrapper._memory import memory_for
from tensorwrapper._value_class import token_of, value_class
from tensorwrapper._wording import brief
from tensorwrapper.errors import ConversionError, RankError, SizeOverflowError
from tensorwrapper.shape.boxes._common import integer_array, to_ordinal_array
from tensorwrapper.shape.boxes._smooth import to_permutation
from tensorwrapper.shape.patterns._ordinals import columns_of, numbers_of, table_of
from tensorwrapper.shape.patterns._queries import check_ordinals, grid_text, ordinals_of_tiles
from tensorwrapper.shape.patterns._sets import PatternSets
from tensorwrapper.shape.tilings._tiling import Tiling
from tensorwrapper.typing import Extents, Index, IndexT_co, IntArray

__all__ = ["BlockPattern", "make_block_pattern"]

_I = TypeVar("_I", bound=Index)

_SHOWN = 12  # tiles that a `repr` has


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class BlockPattern(PatternSets[IndexT_co], Generic[IndexT_co]):
    """Which tiles of a tiling are present: a frozen set of tile numbers, without elements.

    Python's set operators, ``len``, ``in`` and iteration work, in row-major order of the grid. Both sides of
    an operator need equal tilings. Empty tiles may be present. A pattern is hashable and picklable, and
    stores 8 bytes per present tile, nothing per absent one.

    Parameters
    ----------
    tiling
        How the box is cut; its grid has less than 2^63 tiles.
    tiles
        The numbers of the present tiles in any order, one integer per mode; all tiles if not given.

    Raises
    ------
    ConversionError
        If a number is no integer, or a tile comes twice.
    OutOfBoundsError
        If the grid has no such tile.
    RankError
        If a tile has another number of modes.
    SizeOverflowError
        If the grid has 2^63 tiles or more, or all of them are more than memory holds.

    Examples
    --------
    >>> from tensorwrapper import BlockPattern, Tiling
    >>> pattern = BlockPattern(Tiling([1, 2, 3], [2, 4]), [(2, 0), (0, 0), (1, 1), (2, 1)])
    >>> pattern.count, pattern.elements, (1, 1) in pattern, list(pattern)[:2]
    (4, 28, True, [(0, 0), (1, 1)])
    """

    tiling: Tiling[IndexT_co]
    """How the box is cut."""
    _ordinals: IntArray
    _extents: Extents
    _view: "memoryview[int] | None"
    _splits: IntArray | None
    _hash: int | None

    def __init__(
        self, tiling: Tiling[IndexT_co], tiles: npt.ArrayLike | Iterable[Index] | None = None
    ) -> None:
        extents = _grid_of(tiling)
        if tiles is None:
            size = math.prod(extents)
            with memory_for(size, "tiles"):
                ordinals = np.arange(size, dtype=np.int64)
        else:
            ordinals = _distinct(_read_tiles(tiles, extents), extents)
        _fill(self, tiling, ordinals, extents)

    @classmethod
    def from_mask(cls, tiling: "Tiling[_I]", mask: npt.ArrayLike) -> "BlockPattern[_I]":
        """Return the pattern of the tiles for which a mask over the grid is true; O(grid).

        Parameters
        ----------
        tiling
            How the box is cut.
        mask
            A bool, or 0 or 1, for each tile: one axis per mode.

        Raises
        ------
        ConversionError
            If it has other elements.
        RankError
            If it has other extents than the grid.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> list(BlockPattern.from_mask(Tiling([1, 2, 3], [2, 4]), [[0, 0], [1, 1], [0, 1]]))
        [(1, 0), (1, 1), (2, 1)]
        """
        extents = _grid_of(tiling)
        flags = shown_array(mask)
        truths = flags.dtype.kind == "b" or not flags.size
        if not truths and (flags.dtype.kind not in "iu" or not ((flags == 0) | (flags == 1)).all()):
            raise ConversionError(f"a mask over tiles has bools, or integers 0 and 1, not {brief(mask)}")
        if flags.shape != extents:
            raise RankError(f"a mask over the tiles has extents {extents}, not {flags.shape}")
        return make_block_pattern(tiling, np.flatnonzero(flags))

    @classmethod
    def from_ordinals(cls, tiling: "Tiling[_I]", ordinals: npt.ArrayLike) -> "BlockPattern[_I]":
        """Return the pattern of the tiles with these ordinals in row-major order of the grid, in any order.

        O(n) if they ascend, else O(n log n).

        Raises
        ------
        ConversionError
            If one is no integer, or comes twice.
        OutOfBoundsError
            If the grid has no such tile.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> list(BlockPattern.from_ordinals(Tiling([1, 2, 3], [2, 4]), [5, 0]))
        [(0, 0), (2, 1)]
        """
        extents = _grid_of(tiling)
        numbers = to_ordinal_array(ordinals).reshape(-1)
        check_ordinals(numbers, extents)
        found = _distinct(numbers, extents)
        if isinstance(ordinals, np.ndarray) and np.shares_memory(found, cast("IntArray", ordinals)):
            found = found.copy()
        return make_block_pattern(tiling, found)

    def _with(self, ordinals: IntArray) -> "BlockPattern[IndexT_co]":
        return make_block_pattern(self.tiling, ordinals)

    # The same tiles of a box that lies otherwise.

    @overload
    def permute(self, order: Iterable[SupportsIndex], /) -> "BlockPattern[IndexT_co]": ...
    @overload
    def permute(self, *order: SupportsIndex) -> "BlockPattern[IndexT_co]": ...
    def permute(self, *order: SupportsIndex | Iterable[SupportsIndex]) -> "BlockPattern[IndexT_co]":
        """Return the pattern whose mode ``k`` is mode ``order[k]`` of this one, as `Tiling.permute`.

        O(n log n).

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> BlockPattern(Tiling([1, 2, 3], [2, 4]), [(1, 0), (0, 1)]).permute(1, 0)
        BlockPattern(Tiling([2, 4], [1, 2, 3]), [(0, 1), (1, 0)])
        """
        modes = to_permutation(one_sequence(order), self.rank)
        tiling = self.tiling.permute(modes)
        columns = columns_of(self._ordinals, self._extents)
        extents = tuple([self._extents[mode] for mode in modes])
        numbers = numbers_of([columns[mode] for mode in modes], extents, (self.count,))
        numbers.sort()
        return make_block_pattern(tiling, numbers)

    def translate_to(self, origin: Iterable[SupportsIndex]) -> "BlockPattern[IndexT_co]":
        """Return the pattern of the tiling moved to start at `origin`; tile numbers stay. O(rank).

        Raises
        ------
        SizeOverflowError
            If a boundary would leave 64 bits.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> BlockPattern(Tiling([1, 2]), [(1,)]).translate_to((7,))
        BlockPattern(Tiling([1, 2], origin=(7,)), [(1,)])
        """
        return make_block_pattern(self.tiling.translate_to(origin), self._ordinals)

    def nonempty(self) -> "BlockPattern[IndexT_co]":
        """Return the pattern without tiles that have no elements; O(count).

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> list(BlockPattern(Tiling([1, 0, 3])).nonempty())
        [(0,), (2,)]
        """
        kept = np.ones(self.count, dtype=np.bool_)
        for sizes, column in zip(self.tiling.sizes, columns_of(self._ordinals, self._extents), strict=True):
            kept &= sizes[column] > 0
        return self if kept.all() else self._with(self._ordinals[kept])

    # Python's own.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BlockPattern):
            return NotImplemented
        theirs = cast("BlockPattern[Any]", other)  # type: ignore[redundant-cast]
        return self.tiling == theirs.tiling and same_values(self._ordinals, theirs._ordinals)

    def __hash__(self) -> int:
        number = self._hash
        if number is None:
            number = hash((self.tiling, self._ordinals.tobytes()))
            object.__setattr__(self, "_hash", number)
        return number

    def __dask_tokenize__(self) -> object:
        return token_of("tensorwrapper.BlockPattern", self.tiling, digest_of(self._ordinals))

    def __repr__(self) -> str:
        if self.count == math.prod(self._extents):
            return f"BlockPattern({self.tiling!r})"
        shown = map(str, map(tuple, table_of(self._ordinals[:_SHOWN], self._extents).tolist()))
        more = ", ..." if self.count > _SHOWN else ""
        return f"BlockPattern({self.tiling!r}, [{', '.join(shown)}{more}])"

    def __reduce__(self) -> "tuple[Callable[..., BlockPattern[Any]], tuple[Tiling[Any], ArrayState]]":
        return _restore, (self.tiling, array_state(self._ordinals))


def make_block_pattern(tiling: "Tiling[_I]", ordinals: IntArray) -> "BlockPattern[_I]":
    """Return the pattern of the tiles with these ordinals, which ascend and are kept as they are."""
    pattern: BlockPattern[_I] = object.__new__(BlockPattern)
    _fill(pattern, tiling, ordinals, _grid_of(tiling))
    return pattern


def _fill(pattern: "BlockPattern[Any]", tiling: "Tiling[Any]", ordinals: IntArray, extents: Extents) -> None:
    own = (("tiling", tiling), ("_ordinals", frozen_array(ordinals)), ("_extents", extents))
    for name, value in (*own, ("_view", None), ("_splits", None), ("_hash", None)):
        object.__setattr__(pattern, name, value)


def _restore(tiling: "Tiling[Any]", state: ArrayState) -> "BlockPattern[Any]":
    return make_block_pattern(tiling, array_of_state(state, 0))


def _grid_of(tiling: object) -> Extents:
    """Return how many tiles each mode has, all of which have ordinals of 64 bits."""
    check_kind_of(tiling, Tiling, "a block pattern is of a Tiling, such as Tiling(*sizes)")
    extents = tuple([p.count for p in cast("Tiling[Any]", tiling).partitions])
    size = math.prod(extents)
    if size > MAX_INT64:
        raise SizeOverflowError(
            f"a block pattern has a grid of less than 2^63 tiles, but {grid_text(extents)} has {size}"
        )
    return extents


def _read_tiles(tiles: npt.ArrayLike | Iterable[Index], extents: Extents) -> IntArray:
    given: Any = tiles if isinstance(tiles, list | tuple) or has_type(tiles) else _listed(tiles)
    if getattr(given, "dtype", None) == np.bool_:
        raise ConversionError("tiles are numbers, one per mode; BlockPattern.from_mask takes bools")
    table = integer_array(given, "tiles")
    if not table.size and table.ndim == 1 and not has_type(given):
        # A list of no tiles does not say how many modes they have.
        return np.zeros(0, dtype=np.int64)
    if table.ndim != 2:
        raise RankError(f"tiles are a table of (n, {len(extents)}) integers, not {brief(tiles)}")
    return ordinals_of_tiles(table, extents)


def _listed(tiles: object) -> list[object]:
    if isinstance(tiles, Iterable) and not isinstance(tiles, str | bytes):
        return list(cast("Iterable[object]", tiles))
    raise ConversionError(
        f"tiles are given as a table of integers, or one after the other, not {brief(tiles)}"
    )


def _distinct(ordinals: IntArray, extents: Extents) -> IntArray:
    """Return ordinals in ascending order, none of which may come twice."""
    if (ordinals[1:] > ordinals[:-1]).all():
        return ordinals
    ascending = np.sort(ordinals)
    twice = ascending[1:] == ascending[:-1]
    if twice.any():
        (tile,) = table_of(ascending[1:][twice][:1], extents).tolist()
        raise ConversionError(
            f"the tile {tuple(tile)} comes twice, but a pattern is a set of tiles; "
            "tensors take such tiles with duplicates="
        )
    return ascending
