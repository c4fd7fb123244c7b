"""Methods of block-sparse tensors: the pattern, its elements, and changes of the pattern."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, Literal, SupportsFloat, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import or_absent
from tensorwrapper.shape import Tiling
from tensorwrapper.tensor._libraries import AtHand
from tensorwrapper.typing import Index, IndexT_co, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.shape import BlockPattern, SymmetryLike
    from tensorwrapper.tensor._tensor import Tensor
    from tensorwrapper.tensor.rows._tile_blocks import NormOrder

TileChoice: TypeAlias = "BlockPattern[Any] | npt.ArrayLike | Callable[..., npt.ArrayLike]"
"""Tiles: a pattern, an (n, rank) array of numbers, a mask over the grid, or a predicate of the numbers."""


def blocks_work() -> Any:  # noqa: ANN401 - a module
    """Return the module that implements these methods."""
    # Loaded here: most programs have no tensors in blocks.
    from tensorwrapper.tensor.tiles import _operations  # noqa: PLC0415

    return _operations


class TensorBlocks(AtHand[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: `_at_hand`. A view is computed, unless it shows one tensor."""

    __slots__ = ()

    @property
    @or_absent
    def pattern(self) -> "BlockPattern":
        """The present tiles; a dense tiled tensor has all. O(tiles) of a view, else O(1).

        Tiles without elements are absent in views.

        Raises
        ------
        LayoutError
            If the tensor is not of tiles, or cut so that the remaining ones have no tiling.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> t = tw.blocks({(0, 0): [[1.0, 2.0]], (1, 1): np.ones((2, 1))}, tw.Tiling([1, 2], [2, 1]))
        >>> list(t.pattern), list(t.permute(1, 0, 3, 2)[1:].pattern)
        ([(0, 0), (1, 1)], [(0, 1)])
        """
        made: BlockPattern = blocks_work().pattern(self._at_hand())
        return made

    def present_tiles(self) -> "Iterator[tuple[Index, Tensor[ScalarT_co]]]":
        """Return an iterator over the present tiles: number and view, which keeps its origin in the box.

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
        made: Iterator[tuple[Index, Tensor[ScalarT_co]]] = blocks_work().present_tiles(self._at_hand())
        return made

    @property
    @or_absent
    def stored_pattern(self) -> "BlockPattern":
        """The stored tiles: one per orbit of a symmetric tensor, otherwise all present tiles.

        Raises as `pattern` does.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor(np.ones((3, 3))).tiled(tw.Tiling([1, 2], [1, 2]))
        >>> s = t.keep_tiles([(1, 0), (1, 1)], symmetry="s2")
        >>> list(s.pattern), list(s.stored_pattern)
        ([(0, 1), (1, 0), (1, 1)], [(1, 0), (1, 1)])
        """
        made: BlockPattern = blocks_work().stored_pattern(self._at_hand())
        return made

    def keep_tiles(
        self, tiles: "TileChoice", *, symmetry: "SymmetryLike | None" = None, tolerance: float = 0.0
    ) -> "Tensor[ScalarT_co]":
        """Return a tensor with exactly these tiles present; copies their elements.

        Parameters
        ----------
        tiles
            A pattern, an (n, rank) array of tile numbers, a mask over the grid, or a function of the tile
            numbers of each mode. A tile that was absent is there, of the fill.
        symmetry
            A symmetry, or its name or text, of which one tile of each orbit is stored; the others are present
            as well. Elements are compared first, as `to_packed` does.
        tolerance
            The largest difference that is allowed between elements that a symmetry makes equal.

        Raises
        ------
        LayoutError
            If the tensor has no tiles.
        ExtentMismatchError
            If the pattern is of another tiling, or the symmetry exchanges modes that are cut in different
            ways; the text names the mode.
        SymmetryError
            If an element differs by more than the tolerance from the one that it shall share.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor(np.arange(9).reshape(3, 3)).tiled(tw.Tiling([1, 2], [2, 1]))
        >>> t.keep_tiles(lambda row, column: row > column).untiled().to_dense().tolist()
        [[0, 0, 0], [3, 4, 0], [6, 7, 0]]
        """
        made: Tensor[ScalarT_co] = blocks_work().keep_tiles(self._at_hand(), tiles, symmetry, tolerance)
        return made

    def with_tiles(self, tiles: "TileChoice") -> "Tensor[ScalarT_co]":
        """Return a writable copy in which these tiles are also present, filled with the fill value.

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
        made: Tensor[ScalarT_co] = blocks_work().with_tiles(self._at_hand(), tiles)
        return made

    def retiled(self, tiling: Tiling) -> "Tensor[ScalarT_co]":
        """Return a copy with another tiling; tiles that overlap present tiles are present.

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
        made: Tensor[ScalarT_co] = blocks_work().retiled(self._at_hand(), tiling)
        return made

    def tile_norms(self, ord: "NormOrder" = "fro") -> "Tensor[np.float64]":  # noqa: A002 - as NumPy's norm has it
        """Return the norm of each tile, over the grid: dense, for absent tiles from the fill.

        Parameters
        ----------
        ord
            "fro" for the root of the sum of squared magnitudes, "max" for the greatest magnitude, 1 for the
            sum of magnitudes.

        Returns
        -------
        Tensor
            In float64, whatever the type of the elements. O(elements of present tiles) and O(tiles).

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
        made: Tensor[np.float64] = blocks_work().tile_norms(self._at_hand(), ord)
        return made

    def screened(
        self,
        threshold: SupportsFloat | None = None,
        *,
        error: SupportsFloat | None = None,
        ord: "NormOrder" = "fro",  # noqa: A002
        per: Literal["tile", "element"] = "tile",
    ) -> "Tensor[ScalarT_co]":
        """Return a copy without small tiles; without arguments, only tiles equal to the fill are dropped.

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
        [[(0,), (1,)], [(0,)], [(0,)]]
        """
        made: Tensor[ScalarT_co] = blocks_work().screened(
            self._at_hand(), threshold, error=error, ord=ord, per=per
        )
        return made
