"""Block patterns of other tilings: parts, products, joined ones, and the same elements cut otherwise."""

import math
from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, overload

import numpy as np

from tensorwrapper._arguments import check_kind_of, to_items_of
from tensorwrapper._arrays import concatenated_ranges, different
from tensorwrapper._integers import one_sequence
from tensorwrapper._memory import memory_for
from tensorwrapper.errors import ConversionError, RankError
from tensorwrapper.shape._shape import Shape, as_shape
from tensorwrapper.shape._shape_base import ShapeLike
from tensorwrapper.shape.boxes._keys import mode_of, parse_key
from tensorwrapper.shape.boxes._smooth import to_permutation
from tensorwrapper.shape.patterns._ordinals import columns_of, numbers_of
from tensorwrapper.shape.patterns._queries import check_grid
from tensorwrapper.shape.patterns._sets import PatternSets
from tensorwrapper.shape.rows._partition import Partition
from tensorwrapper.shape.tilings._tiling import Tiling, make_tiling
from tensorwrapper.typing import IndexT, IndexT_co, IntArray, Key, Slices

if TYPE_CHECKING:
    from tensorwrapper.shape.patterns._block_pattern import BlockPattern
    from tensorwrapper.shape.symmetry._symmetry import Symmetry, SymmetryLike


class PatternMoves(PatternSets[IndexT_co], Generic[IndexT_co]):
    """Abstract: `_make`, `_with`, and the attributes of `PatternQueries`."""

    __slots__ = ()

    @classmethod
    @abstractmethod
    def _make(cls, tiling: "Tiling[IndexT]", ordinals: IntArray) -> "BlockPattern[IndexT]":
        """Return the pattern of tiles whose ordinals ascend; only the size of the grid is checked."""

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
        columns = columns_of(self._ordinals, self._extents)
        extents = tuple([self._extents[mode] for mode in modes])
        numbers = numbers_of([columns[mode] for mode in modes], extents, (self.count,))
        numbers.sort()
        return self._make(self.tiling.permute(modes), numbers)

    def translate_to(self, origin: Iterable[SupportsIndex]) -> "BlockPattern[IndexT_co]":
        """Return the pattern of the tiling moved to start at `origin`; tile numbers stay. O(tiles per mode).

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
        return self._make(self.tiling.translate_to(origin), self._ordinals)

    def nonempty(self) -> "BlockPattern[IndexT_co]":
        """Return the pattern without tiles that have no elements; O(count).

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> list(BlockPattern(Tiling([1, 0, 3])).nonempty())
        [(0,), (2,)]
        """
        kept = np.ones(self.count, dtype=np.bool_)
        columns = columns_of(self._ordinals, self._extents)
        for sizes, column in zip(self.tiling.sizes, columns, strict=True):
            kept &= sizes[column] > 0
        return self._make(self.tiling, self._ordinals[kept])

    # Symmetries.

    def unique(self, symmetry: "SymmetryLike") -> "BlockPattern[IndexT_co]":
        """Return the pattern of the tiles that a symmetric tensor stores of these; O(n log n).

        They are the greatest tiles of the orbits of present ones. Signs and conjugations do not matter.

        Parameters
        ----------
        symmetry
            A `Symmetry`, or its name or text.

        Raises
        ------
        ExtentMismatchError
            If exchanged modes are cut in different ways; the text names both.
        RankError
            If the symmetry has another rank.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> list(BlockPattern(Tiling([1, 2], [1, 2])).unique("s2"))
        [(0, 0), (1, 0), (1, 1)]
        """
        from tensorwrapper.shape.patterns._orbits import canonical_ordinals  # noqa: PLC0415 - few ask

        own = self._symmetry(symmetry)
        return self._make(self.tiling, canonical_ordinals(own, self._ordinals, self._extents))

    def closure(self, symmetry: "SymmetryLike") -> "BlockPattern[IndexT_co]":
        """Return the least pattern with these tiles that a symmetry leaves as it is; raises as `unique`.

        It has all tiles of the orbits of present ones. O(result * generators) for each of few steps.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> list(BlockPattern(Tiling([1, 2], [1, 2]), [(1, 0)]).closure("s2"))
        [(0, 1), (1, 0)]
        """
        from tensorwrapper.shape.patterns._orbits import orbit_ordinals  # noqa: PLC0415 - few ask

        own = self._symmetry(symmetry)
        return self._make(self.tiling, orbit_ordinals(own, self._ordinals, self._extents))

    def _symmetry(self, symmetry: "SymmetryLike") -> "Symmetry":
        from tensorwrapper.shape.patterns._orbits import check_exchanged_tilings  # noqa: PLC0415
        from tensorwrapper.shape.symmetry._symmetry import as_symmetry  # noqa: PLC0415 - as in `unique`

        own = as_symmetry(symmetry)
        check_exchanged_tilings(own, self.tiling)
        return own

    # Parts.

    @overload
    def __getitem__(self, key: Slices) -> "BlockPattern[IndexT_co]": ...
    @overload
    def __getitem__(self, key: Key) -> "BlockPattern": ...
    def __getitem__(self, key: Key) -> "BlockPattern":
        """Return the present tiles between literal bounds of elements, as `Tiling` cuts them; O(count).

        Tiles that the bounds cut keep the part within. Elements keep their indices. An integer drops its
        mode.

        Raises
        ------
        OutOfBoundsError
            If a bound leaves the elements.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> BlockPattern(Tiling([1, 2, 3], [2, 4]), [(0, 0), (1, 1), (2, 0)])[2:6, 1:5]
        BlockPattern(Tiling([1, 3], [1, 3], origin=(2, 1)), [(0, 1), (1, 0)])
        """
        entries = parse_key(key, self.rank)
        tiling = self.tiling[key]
        parts = iter(tiling.partitions)
        runs: list[tuple[int, int]] = []
        for partition, entry in zip(self.tiling.partitions, entries, strict=True):
            if isinstance(entry, int):
                number = partition.tile_of(entry)
                runs.append((number, 1))
            else:
                part = next(parts)
                runs.append((_first_of(partition, part), part.count))
        dropped = [isinstance(entry, int) for entry in entries]
        return self._make(tiling, self._within(runs, dropped))

    def subgrid(self, box: ShapeLike) -> "BlockPattern[IndexT_co]":
        """Return the present tiles of a box of tile numbers, which count from 0 again; O(count).

        Elements keep their indices, and empty tiles are kept.

        Parameters
        ----------
        box
            A box of tile numbers, such as `Tiling.tile_range` returns.

        Raises
        ------
        JaggedModeError
            If it is not a box.
        OutOfBoundsError
            If the box leaves the grid.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Shape, Tiling
        >>> pattern = BlockPattern(Tiling([1, 2, 3], [2, 4]), [(0, 0), (1, 1), (2, 0)])
        >>> pattern.subgrid(Shape(2, 1, origin=(1, 0)))
        BlockPattern(Tiling([2, 3], [2], origin=(1, 0)), [(1, 0)])
        """
        self.tiling.element_range(box)  # raises unless it is a box in the grid
        tiles = as_shape(box)
        runs = list(zip(tiles.origin, tiles.extents, strict=True))
        partitions = self.tiling.partitions
        parts = [p.run(start, start + n) for p, (start, n) in zip(partitions, runs, strict=True)]
        return self._make(make_tiling(tuple(parts)), self._within(runs, [False] * self.rank))

    def _within(self, runs: list[tuple[int, int]], dropped: list[bool]) -> IntArray:
        """Return the ordinals, in a grid of these runs of tiles, of the present tiles in all of them."""
        columns = columns_of(self._ordinals, self._extents)
        kept = np.ones(self.count, dtype=np.bool_)
        for column, (first, n) in zip(columns, runs, strict=True):
            kept &= (column >= first) & (column < first + n)
        modes = [mode for mode, drop in enumerate(dropped) if not drop]
        moved = [columns[mode][kept] - runs[mode][0] for mode in modes]
        return numbers_of(moved, tuple([runs[mode][1] for mode in modes]), (int(kept.sum()),))

    def cells(self) -> Shape:
        """Return the jagged shape of the present tiles, one row each, with their origins; O(count).

        It is the shape of what `Tensor.select_tiles` returns.

        Raises
        ------
        RankError
            If the tiling has rank 0.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> BlockPattern(Tiling([1, 2, 3], [2, 4]), [(0, 0), (2, 1)]).cells().element((1,))
        Shape(3, 4, origin=(3, 2))
        """
        if not self.rank:
            raise RankError("cells need a tiling of rank 1 or more, not of rank 0")
        return Shape.from_cells((self.count,), self.tile_extents(), origins=self.tile_origins())

    # Of several.

    def product(self, other: "PatternMoves[Any]") -> "BlockPattern":
        """Return the pattern of the tiles of both, one after the other: the Cartesian product; O(result).

        The modes of this one come first.

        Raises
        ------
        SizeOverflowError
            If the grid has 2^63 tiles or more, or the result is more than memory holds.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> cut = Tiling([1, 2, 3])
        >>> list(BlockPattern(cut, [(0,), (2,)]).product(BlockPattern(cut, [(1,)])))
        [(0, 1), (2, 1)]
        """
        check_kind_of(other, PatternMoves, "a block pattern is multiplied with block patterns")
        tiling = make_tiling((*self.tiling.partitions, *other.tiling.partitions))
        check_grid(tiling)  # before ordinals leave 64 bits
        with memory_for(self.count * other.count, "tiles"):
            pairs = np.add.outer(self._ordinals * math.prod(other._extents), other._ordinals)
        return self._make(tiling, pairs.reshape(-1))

    @classmethod
    def concat(
        cls, patterns: "Iterable[BlockPattern[IndexT]]", *, mode: SupportsIndex = 0
    ) -> "BlockPattern[IndexT]":
        """Return the pattern with the tiles of one along `mode`, then those of the next, as `Tiling.concat`.

        O(n log n).

        Raises
        ------
        ConversionError
            If there are none, or one is not a block pattern.
        ExtentError
            If two are not cut alike in another mode.
        RankError
            If they have different numbers of modes, or there is no such mode.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> pattern = BlockPattern(Tiling([1, 2], [3]), [(1, 0)])
        >>> BlockPattern.concat([pattern, pattern])
        BlockPattern(Tiling([1, 2, 1, 2], [3]), [(1, 0), (3, 0)])
        """
        parts = to_items_of(patterns, "concat takes a sequence of block patterns")
        if not parts:
            raise ConversionError("concat needs a block pattern at least")
        for part in parts:
            check_kind_of(part, PatternMoves, "concat takes block patterns")
        tiling = Tiling.concat([part.tiling for part in parts], mode=mode)
        at = mode_of(mode, tiling.rank)
        rows: list[list[IntArray]] = []
        before = 0
        for part in parts:
            columns = columns_of(part._ordinals, part._extents)
            columns[at] = columns[at] + before
            before += part._extents[at]
            rows.append(columns)
        joined = [np.concatenate(columns) for columns in zip(*rows, strict=True)]
        numbers = numbers_of(joined, check_grid(tiling), (len(joined[0]),))
        numbers.sort()
        return cls._make(tiling, numbers)

    def retile(self, tiling: "Tiling[IndexT]") -> "BlockPattern[IndexT]":
        """Return the least pattern of another tiling of the same box that has all elements of this one.

        Its tiles are those that share an element with a present one. Tiles may be finer, coarser, or both;
        empty ones are absent. O(pieces log pieces), where a piece is what an old and a new tile share.

        Raises
        ------
        ExtentMismatchError
            If the tilings do not cover the same box.
        RankError
            If they have different numbers of modes.
        SizeOverflowError
            If the pieces are more than memory holds.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> BlockPattern(Tiling([2, 2, 2]), [(1,)]).retile(Tiling([3, 3]))
        BlockPattern(Tiling([3, 3]))
        """
        self.tiling.retile(tiling)  # raises unless it is a tiling of the same box
        old, new = self.tiling.partitions, tiling.partitions
        check_grid(tiling)  # before ordinals leave 64 bits
        numbers, extents = self._ordinals, list(self._extents)
        # Modes with fewer tiles than before come first: no grid in between is larger than both.
        for mode in sorted(range(self.rank), key=lambda m: new[m].count / max(old[m].count, 1)):
            firsts, counts, kept = _overlaps(old[mode], new[mode])
            columns = columns_of(numbers, tuple(extents))
            repeats = counts[columns[mode]]
            with memory_for(int(repeats.sum()), "pieces of tiles"):
                pieces = concatenated_ranges(firsts[columns[mode]], repeats)
                columns = [np.repeat(column, repeats) for column in columns]
            columns[mode] = kept[pieces]
            extents[mode] = new[mode].count
            numbers = different(numbers_of(columns, tuple(extents), (len(pieces),)))
        return self._make(tiling, numbers)


def _first_of(partition: Partition, part: Partition) -> int:
    """Return the tile of a partition that the first tile of a part is cut from."""
    first = int(np.searchsorted(partition.marks, part.origin, side="left"))
    return first - bool(partition.marks[first] != part.origin)


def _overlaps(old: Partition, new: Partition) -> tuple[IntArray, IntArray, IntArray]:
    """Return for each old tile the first new tile that it overlaps and how many, among those not empty.

    And the numbers of these: an empty tile overlaps none.
    """
    kept = np.flatnonzero(new.sizes)
    starts, ends = new.marks[:-1][kept], new.marks[1:][kept]
    firsts = np.searchsorted(ends, old.marks[:-1], side="right")
    counts = np.searchsorted(starts, old.marks[1:], side="left") - firsts
    counts[old.sizes == 0] = 0
    return firsts, counts, kept
