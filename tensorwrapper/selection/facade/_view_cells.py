"""Cells, rows, tiles and blocks of views."""

from collections.abc import Callable, Iterable, Iterator
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Self,
    SupportsIndex,
    TypeVar,
    cast,
    overload,
)

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import or_absent
from tensorwrapper._integers import to_ints
from tensorwrapper.buffer import constant
from tensorwrapper.errors import JaggedModeError, LayoutError, RankError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import tile_view, wrap_layout
from tensorwrapper.selection.execution._write_in_memory import source_tensor
from tensorwrapper.selection.facade._view_base import ViewBase
from tensorwrapper.selection.jagged._rows import put_together_rows
from tensorwrapper.shape import Shape, ShapeLike, Tiling, as_shape
from tensorwrapper.shape.lowlevel import mode_of
from tensorwrapper.tensor import CellGroup, Tensor
from tensorwrapper.tensor.lowlevel import TensorCommon, cut_rows, make_tensor, select_tiles, tile_numbers
from tensorwrapper.typing import AnyRank, Index, IndexT_co, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.selection._view import View
    from tensorwrapper.selection.facade._computed_rows import RowsOfView
    from tensorwrapper.shape import Symmetry


class ViewCells(ViewBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: as `ViewBase`."""

    __slots__ = ()

    @property
    @or_absent
    def tiling(self) -> Tiling:
        """Partition of the box underneath a tiled view.

        Raises
        ------
        LayoutError
            If the view is not tiled.
        """
        seen = tile_view(self._expression.layout.implementation.unnamed())
        if seen is None:
            raise LayoutError(f"tiling needs a tiled view; this is {self.shape}: tiled() makes one")
        return seen.tiling

    def tile(self, number: Iterable[SupportsIndex]) -> Self:
        """Return the tile of this number of a tiled view; its origin is its position in the box.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> v = sel.as_view([[0, 1, 2], [3, 4, 5]]).tiled(tw.Tiling([1, 1], [2, 1]))
        >>> v.tile((1, 0)).tolist(), v.tile((1, 0)).shape
        ([[3, 4]], Shape(1, 2, origin=(1, 0)))
        """
        tiling, numbers = self.tiling, to_ints(number, "the number of a tile")
        # A grid that was moved, or cut with its origin, counts from there.
        first = self.shape.outer().origin if len(numbers) == tiling.rank else (0,) * len(numbers)
        region = tiling.tile([k - start for k, start in zip(numbers, first, strict=True)])
        return cast("Any", self).untiled().window(region)  # type: ignore[no-any-return]

    def element(self, index: Iterable[SupportsIndex], *, layer: SupportsIndex | None = None) -> Self:
        """Return one element of a layer, or one cell of rows, as a view; it keeps its origin.

        Parameters
        ----------
        index
            As of `Tensor.element`.
        layer
            The layer where the index ends, where layers without modes leave a choice.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> sel.as_view(tw.jagged([[1, 2], [3]])).element((0,)).tolist()
        [1, 2]
        """
        return self._by(Layout.element, index, layer=layer)

    def cells(self) -> "Iterator[tuple[Index, Self]]":
        """Return an iterator over the cells: index and view, whose origin is the position of the cell.

        None is read before it is computed, and then by itself; `blocks` reads many at once.

        Raises
        ------
        JaggedModeError
            If the view is a box, which is one cell.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> rows = tw.concat([tw.jagged([[1, 2], []]), tw.jagged([[3]])])
        >>> [(index, cell.tolist()) for index, cell in rows.cells()]
        [((0,), [1, 2]), ((1,), []), ((2,), [3])]
        """
        self._check_cells("cells")
        return ((index, self.element(index)) for index, _ in self.shape.cells())

    def _check_cells(self, what: str) -> None:
        if self.shape.is_box and not self.shape.has_layers:
            raise JaggedModeError(
                f"{what} needs a jagged or tiled view: a box is one cell; tiled(tiling) cuts it into tiles"
            )

    def rows(self) -> "RowsOfView[Self]":
        """Return the rows along the last mode: a sequence of views, with reductions of each.

        Raises
        ------
        RankError
            If the rank is 0.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> rows = tw.concat([tw.jagged([[1, 2, 3], []]), tw.jagged([[4, 5]])]).rows()
        >>> len(rows), rows[-1].tolist(), rows.reduce(np.add).tolist()
        (3, [4, 5], [6, 0, 9])
        """
        if not self.shape.rank:
            raise RankError("a view of rank 0 has no rows")
        from tensorwrapper.selection.facade._computed_rows import RowsOfView  # noqa: PLC0415 - with all that works in rows

        return RowsOfView(self)

    def select_tiles(self, numbers: "npt.ArrayLike | Callable[..., npt.ArrayLike]") -> Self:
        """Return the view of any set of tiles of a tiled view, as rows of tiles; as `Tensor.select_tiles`.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> v = sel.as_view([[0, 1, 2], [3, 4, 5], [6, 7, 8]]).tiled(tw.Tiling([1, 2], [2, 1]))
        >>> tiles = v.select_tiles([(1, 0), (0, 1)])
        >>> tiles.shape, tiles.plan().bytes_read
        (Shape.jagged([Shape(2, 2, origin=(1, 0)), Shape(1, 1, origin=(0, 2))]), 40)
        >>> tiles[0].tolist()
        [[3, 4], [6, 7]]
        """
        tiles = tile_view(self._expression.layout.implementation.unnamed())
        # A mask is recorded as the numbers that it selects.
        return self._by(select_tiles, numbers if tiles is None else tile_numbers(tiles, numbers))

    @property
    def symmetry(self) -> "Symmetry | None":
        """The symmetry that the storage guarantees, as `Tensor.symmetry`; None of several sources."""
        source = self._expression.node.tensor
        return None if source is None else self._at_hand().symmetry

    def scatter(self, over: ShapeLike | Tiling, *, fill_value: object = 0) -> "Tensor[ScalarT_co]":
        """Return a box with each cell of rows at its indices, as `Tensor.scatter`; computed.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> v = sel.as_view([[0, 1, 2], [3, 4, 5]]).tiled(tw.Tiling([1, 1], [2, 1]))
        >>> v.select_tiles([(1, 0)]).scatter((2, 3), fill_value=-1).tolist()
        [[-1, -1, -1], [3, 4, -1]]
        """
        return self._at_hand().scatter(over, fill_value=fill_value)

    def group_by_shape(self) -> "tuple[CellGroup[ScalarT_co], ...]":
        """Return the cells or tiles as one box for each size, as `Tensor.group_by_shape`; computed.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> rows = tw.concat([tw.jagged([[1, 2], [3]]), tw.jagged([[4, 5]])])
        >>> [(g.extents, g.cells.tolist()) for g in rows.group_by_shape()]
        [((1,), [[3]]), ((2,), [[1, 2], [4, 5]])]
        """
        self._check_cells("group_by_shape")
        return self._at_hand().group_by_shape()

    def reduce_tiles(
        self, function: "np.ufunc | Callable[..., npt.ArrayLike]", *, initial: object = None
    ) -> "Tensor[Any]":
        """Return the reduction of each tile or cell by a function, as `Tensor.reduce_tiles`.

        At most 64 MiB of the view are computed at a time, or all cells under one index of the first mode.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> tw.concat([tw.jagged([[1, 2], []]), tw.jagged([[3]])]).reduce_tiles(np.add).tolist()
        [3, 0, 3]
        """
        self._check_cells("reduce_tiles")
        source = source_tensor(self._expression)
        if source is not None or self.shape.has_layers:
            return self._at_hand().reduce_tiles(function, initial=initial)
        from tensorwrapper.selection.facade._computed_rows import in_turns, joined  # noqa: PLC0415 - with all that works in rows

        parts = [part.copy().reduce_tiles(function, initial=initial) for part in in_turns(self)]
        return joined(parts, self.shape.outer())

    def row_lengths(self, mode: SupportsIndex = 1) -> "Tensor[np.int64]":
        """Return the extent of `mode` under every prefix, from the shape alone; nothing is read.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.concat([tw.jagged([[1, 2], []]), tw.jagged([[3]])]).row_lengths().tolist()
        [2, 0, 1]
        """
        return self._shaped().row_lengths(mode)

    def local_index(self, mode: SupportsIndex = -1) -> "Tensor[np.int64]":
        """Return the position of every index along `mode`, counted from 0; nothing is read.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.concat([tw.jagged([[5, 6], []]), tw.jagged([[8]])]).local_index().tolist()
        [[0, 1], [], [0]]
        """
        return self._shaped().local_index(mode)

    def run_lengths(self) -> "Tensor[np.int64]":
        """Return how many equal elements follow one another in each row; the view is computed.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.concat([tw.jagged([[1, 1, 2], []]), tw.jagged([[2, 3, 3]])]).run_lengths().tolist()
        [[2, 1], [], [1, 2]]
        """
        return cast("Tensor[ScalarT_co]", cast("Any", self).compute()).run_lengths()

    def to_padded(self, *, fill_value: object = 0) -> "npt.NDArray[ScalarT_co]":
        """Return an array over the bounding box, with `fill_value` where the shape has no element.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.concat([tw.jagged([[1, 2], []]), tw.jagged([[3]])]).to_padded(fill_value=-1).tolist()
        [[1, 2], [-1, -1], [3, -1]]
        """
        return cast("Tensor[ScalarT_co]", cast("Any", self).compute()).to_padded(fill_value=fill_value)

    def _shaped(self) -> Tensor[Any]:
        """Return a tensor of this shape, whose elements take no memory."""
        return make_tensor(Layout(self.shape), constant(0, self.shape.size, dtype=np.int64))


_J = TypeVar("_J", bound=AnyRank)


class ViewRows(ViewBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: as `ViewBase`."""

    __slots__ = ()

    def flatten(self, mode: SupportsIndex | None = None) -> Self:
        """Return the view without the brackets of `mode`, 1 if it is not given; as `Tensor.flatten`.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.concat([tw.jagged([[1, 2], []]), tw.jagged([[3]])]).flatten().compute().tolist()
        [1, 2, 3]
        """
        if mode is None and self.shape.has_layers:
            return self._by(Layout.flatten)
        rank = self.shape.rank
        number = 1 if mode is None else mode_of(mode, rank)
        if self.shape.is_box and 0 < number < rank:
            merged: Self = cast("Any", self).merge_modes(number - 1, number)  # Which tells positions.
            # All modes start at zero then, as those of rows do.
            start = (0,) * (rank - 1)
            return cast("Any", merged).translate_to(start) if any(merged.shape.origin) else merged
        return self._step("merge_rows", (1 if mode is None else mode,))

    def unflatten(
        self, counts: "SupportsIndex | npt.ArrayLike | TensorCommon[Any]", mode: SupportsIndex = 0
    ) -> Self:
        """Return the view in which `mode` is dealt to rows of these lengths; as `Tensor.unflatten`.

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> sel.concat([[1, 2], [3, 4]]).unflatten([1, 0, 3]).compute().tolist()
        [[1], [], [2, 3, 4]]
        """
        if not isinstance(counts, TensorCommon):
            return self._by(_cut, counts, mode)
        given: Any = counts.copy() if isinstance(counts, ViewBase) else counts
        # The rows of `counts` define which count belongs to which prefix, so it is recorded unchanged.
        return self._taken("_cut", (given, mode), _cut, (given, mode), {})

    @overload
    def broadcast(self, shape: Shape[_J]) -> "View[ScalarT_co, _J]":
        """Return the view that repeats modes of extent 1, adds leading modes, or spreads over rows.

        Parameters
        ----------
        shape
            Of the result; of rows if there is one element for each index of their first modes.
        """

    @overload
    def broadcast(self, shape: ShapeLike) -> "View[ScalarT_co]": ...
    def broadcast(self, shape: ShapeLike) -> Any:
        """Return the view that repeats modes of extent 1, adds leading modes, or spreads over rows.

        Parameters
        ----------
        shape
            Of the result; of rows if there is one element for each index of their first modes.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> sel.as_view([1, 2]).broadcast(tw.Shape.jagged([3, 1])).compute().tolist()
        [[1, 1, 1], [2]]
        """
        wanted = as_shape(shape)
        if wanted.is_box or (self.shape.rank == wanted.rank > 0 and not self._expression.is_box):
            return self._see_by(Layout.broadcast, shape)
        return self._make(put_together_rows("spread", [self._expression], wanted))

    def untiled(self) -> Self:
        """Return the box whose tiles these are.

        Raises
        ------
        LayoutError
            If the view is not tiled.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> sel.as_view([[1, 2, 3]]).tiled(tw.Tiling([1], [1, 2])).untiled().compute().tolist()
        [[1, 2, 3]]
        """
        return self._by(untiled)


def _cut(layout: Layout[Any], counts: Any, mode: SupportsIndex) -> Layout[Any]:  # noqa: ANN401 - as `unflatten`
    return cut_rows(layout, counts, mode)


def untiled(layout: Layout[Any]) -> Layout[Any]:
    seen = tile_view(layout.implementation.unnamed())
    if seen is None:
        raise LayoutError(f"untiled needs a tiled view; this is {layout.shape}: tiled() makes one")
    return wrap_layout(seen.under)
