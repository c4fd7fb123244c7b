"""Tiles of which some are present: which they are, their elements, and tensors of more or fewer of them."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, Literal, SupportsFloat, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import or_absent
from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import (
    PresentTiles,
    check_write,
    copy_elements,
    is_fill,
    make_blocks,
    packed_layout,
)
from tensorwrapper.errors import (
    ConversionError,
    ExtentMismatchError,
    LayoutError,
    OutOfBoundsError,
    PatternError,
)
from tensorwrapper.layout.lowlevel import (
    TileView,
    make_blocked,
    new_strided,
    tile_major,
    tile_table,
    tile_view,
    wrap_layout,
)
from tensorwrapper.shape import BlockPattern, Shape, Tiling
from tensorwrapper.shape.lowlevel import make_block_pattern, names_of, to_threshold
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.rows._tile_blocks import (
    NormOrder,
    TileSource,
    check_block_extents,
    norms_of,
    norms_of_fill,
    read_blocks,
)
from tensorwrapper.tensor.rows._tiles import tile_numbers
from tensorwrapper.typing import Index, IndexT_co, IntArray, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.tensor._tensor import Tensor

__all__ = ["TensorBlocks", "TileChoice"]

TileChoice: TypeAlias = "BlockPattern[Any] | npt.ArrayLike | Callable[..., npt.ArrayLike]"
"""Tiles: a pattern, an (n, rank) array of numbers, a mask over the grid, or a predicate of the numbers."""


class TensorBlocks(TensorBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: what `TensorBase` declares."""

    __slots__ = ()

    def _present(self, what: str) -> PresentTiles[ScalarT_co]:
        """Return the present tiles and where they lie; of a dense tensor all of its tiles."""
        held = self._layout.implementation
        found = self._buffer.tiles_of(held)
        if found is not None:
            return found
        if self._buffer.in_tiles:
            raise LayoutError(
                f"{what}: parts of several tiles are one here, and {self.shape} has no tiling; "
                "`untiled()[2:6]` and `permute` leave one"
            )
        held = held.without_layers().unnamed()
        view = tile_view(held)
        if view is None:
            raise self._no_tiles(what)
        self._buffer.require_numbers(what)
        if self._buffer.fill_value is not None or self._buffer.nullable:
            way = "fill_null(0)" if self._buffer.nullable else "tw.blocks(s, tiling)"
            raise ConversionError(f"{what} takes dense or block-sparse tensors: {way} makes one")
        every = BlockPattern(view.tiling)
        table: tuple[IntArray, IntArray] | None = tile_table(held, every.tiles(), view)
        memory = self._buffer
        if not isinstance(memory, Dense):
            memory, table = Dense(cast("Any", self.elements())), None
        zero: npt.NDArray[ScalarT_co] = np.zeros((), self.dtype)
        return PresentTiles(every, memory, zero, view.grid_origin, table)

    def _over(
        self, tiles: PresentTiles[ScalarT_co], pattern: BlockPattern[Any], values: "npt.NDArray[Any]"
    ) -> "Tensor[Any]":
        """Return the tensor of these elements of the tiles of a pattern, and the fill of others."""
        me: Any = self
        layout = tiles.over(pattern).layout(names_of(self.shape))
        fill = tiles.fill.astype(values.dtype, copy=False)
        made: Tensor[Any] = me._make(layout, make_blocks(pattern, Dense(cast("Any", values)), fill))
        return made

    @property
    @or_absent
    def pattern(self) -> BlockPattern:
        """Which tiles are present: of a dense tiled tensor all. O(tiles) of a view, else O(1).

        A tile without elements is present in no view.

        Raises
        ------
        LayoutError
            If the tensor is not of tiles, or cut so that what is left of them has no tiling.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> t = tw.blocks({(0, 0): [[1.0, 2.0]], (1, 1): np.ones((2, 1))}, tw.Tiling([1, 2], [2, 1]))
        >>> list(t.pattern), list(t.permute(1, 0, 3, 2)[1:].pattern)
        ([(0, 0), (1, 1)], [(0, 1)])
        """
        return self._present("pattern").pattern

    def packed_values(self) -> "npt.NDArray[ScalarT_co]":
        """Return the elements that are stored, as a flat array: those of the present tiles, one by one.

        They are the memory itself of a tensor in blocks: what is written there is seen in the tensor. Of a
        view, or a dense tensor, they are copied unless they lie so.

        Raises
        ------
        LayoutError
            If the tensor has no tiles.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.blocks({(1,): [3.0, 4.0]}, tw.Tiling([3, 2]))
        >>> t.packed_values()
        array([3., 4.])
        """
        return self._present("packed_values").values()

    def present_tiles(self) -> "Iterator[tuple[Index, Tensor[ScalarT_co]]]":
        """Return an iterator over the present tiles: number and view, whose origin says where it lies.

        Raises
        ------
        LayoutError
            If the tensor has no tiles.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.blocks({(1,): [3.0, 4.0]}, tw.Tiling([3, 2]))
        >>> [(number, tile.shape, tile.tolist()) for number, tile in t.present_tiles()]
        [((1,), Shape(2, origin=(3,)), [3.0, 4.0])]
        """
        found = self._present("present_tiles")
        me: Any = self
        starts, strides = found.places()
        first = np.array(found.first or (0,) * found.pattern.rank, dtype=np.int64)
        is_readonly = self._buffer.is_readonly or not self._layout.is_injective
        held = found.held.as_readonly() if is_readonly else found.held
        tables = (found.pattern.tiles() + first, found.pattern.tile_extents(), found.pattern.tile_origins())
        rows = (map(tuple, table.tolist()) for table in (*tables, strides))
        for number, extents, origin, steps, start in zip(*rows, starts.tolist(), strict=True):
            yield number, me._make(wrap_layout(new_strided(extents, origin, steps, start)), held)

    def _to_pattern(self, tiles: PresentTiles[Any], chosen: TileChoice, what: str) -> BlockPattern[Any]:
        """Return a pattern of the tiling of this tensor."""
        tiling = tiles.pattern.tiling
        if not isinstance(chosen, BlockPattern):
            first = tiles.first or (0,) * tiling.rank
            view = TileView(tiling, tile_major(tiling, 0), first)
            numbers = tile_numbers(view, chosen) - np.array(first, dtype=np.int64)
            return BlockPattern(tiling, numbers)
        given = cast("BlockPattern[Any]", chosen)  # type: ignore[redundant-cast]
        if given.rank != tiling.rank or given.tiling.elements.extents != tiling.elements.extents:
            raise ExtentMismatchError(
                f"{what}: a pattern of {given.tiling.elements} is not one of {tiling.elements}"
            )
        for mode, (mine, theirs) in enumerate(zip(tiling.partitions, given.tiling.partitions, strict=True)):
            if not mine.is_congruent(theirs):
                raise ExtentMismatchError(
                    f"{what}: the pattern cuts mode {mode} otherwise: `p.retile(t.tiling)` cuts it as t is"
                )
        return make_block_pattern(tiling, given.ordinals())

    def keep_tiles(self, tiles: TileChoice) -> "Tensor[ScalarT_co]":
        """Return a tensor in which just these tiles are present; a copy of their elements.

        Parameters
        ----------
        tiles
            A pattern, an (n, rank) array of tile numbers, a mask over the grid, or a function of the tile
            numbers of each mode. A tile that was absent is there, of the fill.

        Raises
        ------
        LayoutError
            If the tensor has no tiles.
        ExtentMismatchError
            If the pattern is of another tiling; the text names the mode.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(tw.Tiling([1, 2], [2, 1]))
        >>> t.keep_tiles(lambda row, column: row > column).untiled().to_dense().tolist()
        [[0, 0, 0], [3, 4, 0], [6, 7, 0]]
        """
        found = self._present("keep_tiles")
        pattern = self._to_pattern(found, tiles, "keep_tiles")
        return self._over(found, pattern, _own(found.at(pattern), found))

    def with_tiles(self, tiles: TileChoice) -> "Tensor[ScalarT_co]":
        """Return a copy in which these tiles are present, too: of the fill, and they can be written to.

        Parameters
        ----------
        tiles
            As of `keep_tiles`.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.blocks({(1,): [3.0, 4.0]}, tw.Tiling([3, 2])).with_tiles([(0,)])
        >>> t.untiled()[1] = 7.0
        >>> t.packed_values().tolist()
        [0.0, 7.0, 0.0, 3.0, 4.0]
        """
        found = self._present("with_tiles")
        pattern = found.pattern | self._to_pattern(found, tiles, "with_tiles")
        return self._over(found, pattern, _own(found.at(pattern), found))

    def retiled(self, tiling: Tiling) -> "Tensor[ScalarT_co]":
        """Return a copy cut into other tiles: those are present that share an element with a present one.

        Raises
        ------
        ExtentMismatchError
            If the tiling is of another box.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.blocks({(1,): [3.0, 4.0]}, tw.Tiling([3, 2]))
        >>> t.retiled(tw.Tiling([1, 3, 1])).packed_values().tolist()
        [0.0, 0.0, 3.0, 4.0]
        """
        found = self._present("retiled")
        pattern = found.pattern.retile(tiling)
        me: Any = self
        target = make_blocks(
            pattern, Dense(np.full(pattern.elements, found.fill, found.held.dtype)), found.fill
        )
        source = make_blocks(found.pattern, Dense(cast("Any", found.values())), found.fill)
        boxes = [me._make(wrap_layout(tile_major(own.pattern.tiling, 0)), own) for own in (source, target)]
        boxes[1].assign(boxes[0])
        return self._over(found, pattern, target.values.flat)

    def add_tiles(self, source: TileSource) -> None:
        """Add blocks to present tiles, in the order given; a tile may come any number of times.

        An error changes nothing. Sums follow the rule of `accumulate_into`.

        Parameters
        ----------
        source
            A mapping from tile numbers to blocks, or pairs of both.

        Raises
        ------
        OutOfBoundsError
            If a tile is absent, or not in the grid.
        ExtentMismatchError
            If a block has other extents than its tile.
        ReadOnlyError
            If the memory may not change.
        SizeOverflowError
            If a sum is not in the range of the type.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.blocks({(1,): [3.0, 4.0]}, tw.Tiling([3, 2]))
        >>> t.add_tiles([((1,), [1.0, 1.0]), ((1,), [0.5, 0.0])])
        >>> t.packed_values().tolist()
        [4.5, 5.0]
        """
        found = self._present("add_tiles")
        self._check_writeable()
        numbers, blocks = read_blocks(source, "add_tiles")
        tiling = found.pattern.tiling
        first = np.array(found.first or (0,) * tiling.rank, dtype=np.int64)
        table = np.array(numbers, dtype=np.int64).reshape(-1, tiling.rank) - first
        slots = found.pattern.slots(table)
        if (slots < 0).any():
            number = numbers[int(np.argmin(slots))]
            raise OutOfBoundsError(
                f"add_tiles: the tile {number} is absent: with_tiles() makes a copy that has it"
            )
        check_block_extents(found.pattern.tile_extents()[slots], numbers, blocks, "add_tiles")
        if blocks:
            starts, strides = found.places()
            cells = Shape.from_cells((len(blocks),), found.pattern.tile_extents()[slots])
            places = make_blocked(cells, starts[slots], strides[slots]).to_numpy().reshape(-1)
            values = [check_write(own, self.dtype).reshape(-1) for own in blocks]
            found.held.accumulate(places, np.concatenate(values))

    def tile_norms(self, ord: NormOrder = "fro") -> "Tensor[np.float64]":  # noqa: A002 - as NumPy's norm has it
        """Return the norm of each tile, over the grid: dense, and of absent tiles what the fill gives.

        Parameters
        ----------
        ord
            "fro" for the root of the sum of squared magnitudes, "max" for the greatest magnitude, 1 for the
            sum of magnitudes.

        Returns
        -------
        Tensor
            In float64, whatever the elements are. O(elements of present tiles) and O(tiles).

        Raises
        ------
        LayoutError
            If the tensor has no tiles.
        PatternError
            If there is no such norm.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.blocks({(1,): [3.0, -4.0]}, tw.Tiling([3, 2]))
        >>> t.tile_norms().tolist(), t.tile_norms("max").tolist()
        ([0.0, 5.0], [0.0, 4.0])
        """
        found = self._present("tile_norms")
        tiling, me = found.pattern.tiling, cast("Any", self)
        norms = np.zeros(tiling.grid.extents)
        if found.fill.any():
            volumes = np.ones((), np.int64)
            for partition in tiling.partitions:
                volumes = np.multiply.outer(volumes, partition.sizes)
            norms[...] = norms_of_fill(found.fill, volumes, ord)
        norms.reshape(-1)[found.pattern.ordinals()] = norms_of(found.values(), found.pattern.offsets(), ord)
        outer = self.shape.outer() if found.first is not None else tiling.grid
        made: Tensor[np.float64] = me._make(packed_layout(outer), Dense(norms.reshape(-1)))
        return made

    def screened(
        self,
        threshold: SupportsFloat | None = None,
        *,
        error: SupportsFloat | None = None,
        ord: NormOrder = "fro",  # noqa: A002
        per: Literal["tile", "element"] = "tile",
    ) -> "Tensor[ScalarT_co]":
        """Return a copy without small tiles; without arguments, without tiles that have the fill alone.

        Parameters
        ----------
        threshold
            Tiles whose norm is below it go. NaN is not below anything, and stays. Then
            ``norm(t - s) < threshold * sqrt(dropped)`` of the Frobenius norm.
        error
            The smallest tiles go, as many as leave ``norm(t - s) <= error``: the root of the sum of their
            squared Frobenius norms.
        ord
            The norm that is compared with a threshold.
        per
            Whether norms are compared as they are, or divided by the number of elements of the tile.

        Raises
        ------
        LayoutError
            If the tensor has no tiles.
        PatternError
            If both are given, one is negative or NaN, or the fill is not zero.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.blocks({(0,): [3.0, -4.0], (1,): [0.1], (2,): [0.0]}, tw.Tiling([2, 1, 1]))
        >>> [list(s.pattern) for s in (t.screened(), t.screened(1.0), t.screened(error=5.0))]
        [[(0,), (1,)], [(0,)], [(1,)]]
        """
        found = self._present("screened")
        values, offsets = found.values(), found.pattern.offsets()
        if threshold is None and error is None:
            starts = np.concatenate([[0], np.cumsum(~is_fill(values, found.fill))])
            kept = np.diff(starts[offsets]) > 0
        else:
            if threshold is not None and error is not None:
                raise PatternError("screened takes a threshold or an error, not both")
            if found.fill.any():
                raise PatternError(f"tiles are screened beside a fill of zero, not of {found.fill[()]}")
            if per not in ("tile", "element"):
                raise PatternError(f"norms are per 'tile' or per 'element', not per {per!r}")
            norms = norms_of(values, offsets, ord if error is None else "fro")
            if error is not None:
                kept = _above(norms, to_threshold(error))
            else:
                if per == "element":
                    norms = norms / np.maximum(np.diff(offsets), 1)
                kept = ~(norms < to_threshold(cast("SupportsFloat", threshold)))
        pattern = make_block_pattern(found.pattern.tiling, found.pattern.ordinals()[kept])
        return self._over(found, pattern, _own(found.values_of(kept), found))


def _own(values: "npt.NDArray[ScalarT_co]", tiles: PresentTiles[ScalarT_co]) -> "npt.NDArray[ScalarT_co]":
    """Return elements in an array that nobody else has."""
    return copy_elements(values) if np.may_share_memory(values, tiles.held.flat) else values


def _above(norms: "npt.NDArray[np.float64]", error: float) -> "npt.NDArray[np.bool_]":
    """Return which tiles stay if the smallest go, as many as keep the root of their squares in an error."""
    order = np.argsort(norms, kind="stable")  # NaN comes last
    gone = np.sqrt(np.cumsum(np.square(norms[order]))) <= error
    kept = np.ones(len(norms), np.bool_)
    kept[order[gone]] = False
    return kept
