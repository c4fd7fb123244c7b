"""Queries of views about tiles of which some are present, and about symmetry: those of tensors, computed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, Literal, SupportsFloat

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import or_absent
from tensorwrapper.selection.facade._view_base import ViewBase
from tensorwrapper.shape import Tiling
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Index, IndexT_co, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.shape import BlockPattern, Symmetry, SymmetryLike
    from tensorwrapper.tensor.lowlevel import NormOrder, TileChoice

__all__ = ["ViewBlocks"]


class ViewBlocks(ViewBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: as `ViewBase`."""

    __slots__ = ()

    @property
    @or_absent
    def pattern(self) -> "BlockPattern":
        """The present tiles of a view of tiles, as `Tensor.pattern`; it is computed.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> v = sel.as_view(tw.blocks({(1,): [3.0, 4.0]}, tw.Tiling([3, 2])))
        >>> list(v.pattern), v.tile_norms().tolist(), v.packed_values().tolist()
        ([(1,)], [0.0, 5.0], [3.0, 4.0])
        """
        return self._at_hand().pattern

    def present_tiles(self) -> "Iterator[tuple[Index, Tensor[ScalarT_co]]]":
        """Return an iterator over number and elements of each present tile, as `Tensor.present_tiles`."""
        return self._at_hand().present_tiles()

    @property
    def stored_pattern(self) -> "BlockPattern":
        """The stored tiles, as `Tensor.stored_pattern`."""
        return self._at_hand().stored_pattern

    def keep_tiles(
        self, tiles: "TileChoice", *, symmetry: "SymmetryLike | None" = None, tolerance: float = 0.0
    ) -> Tensor[ScalarT_co]:
        """Return a tensor in which just these tiles are present, as `Tensor.keep_tiles`."""
        return self._at_hand().keep_tiles(tiles, symmetry=symmetry, tolerance=tolerance)

    def with_tiles(self, tiles: "TileChoice") -> Tensor[ScalarT_co]:
        """Return a tensor in which these tiles are present, too, as `Tensor.with_tiles`."""
        return self._at_hand().with_tiles(tiles)

    def retiled(self, tiling: Tiling) -> Tensor[ScalarT_co]:
        """Return a tensor that is cut into other tiles, as `Tensor.retiled`."""
        return self._at_hand().retiled(tiling)

    def tile_norms(self, ord: "NormOrder" = "fro") -> Tensor[np.float64]:  # noqa: A002 - as of tensors
        """Return the norm of each tile, over the grid, as `Tensor.tile_norms`."""
        return self._at_hand().tile_norms(ord)

    def screened(
        self,
        threshold: SupportsFloat | None = None,
        *,
        error: SupportsFloat | None = None,
        ord: "NormOrder" = "fro",  # noqa: A002
        per: Literal["tile", "element"] = "tile",
    ) -> Tensor[ScalarT_co]:
        """Return a tensor from which small tiles are dropped, as `Tensor.screened`.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> v = tw.concat([tw.as_tensor([3.0, 4.0]), tw.as_tensor([0.1, 0.0])]).tiled(tw.Tiling([2, 2]))
        >>> list(v.screened(1.0).pattern)
        [(0,)]
        """
        return self._at_hand().screened(threshold, error=error, ord=ord, per=per)

    @property
    def symmetry(self) -> "Symmetry | None":
        """The symmetry that the storage guarantees, as `Tensor.symmetry`; None of several sources."""
        source = self._expression.node.tensor
        return None if source is None else self._at_hand().symmetry

    def packed_values(self) -> "npt.NDArray[ScalarT_co]":
        """Return the stored elements of a symmetric or tiled view, as `Tensor.packed_values`."""
        return self._at_hand().packed_values()

    def to_packed(self, symmetry: "SymmetryLike", tolerance: float = 0.0) -> Tensor[Any]:
        """Return the elements as a symmetric tensor, as `Tensor.to_packed`."""
        return self._at_hand().to_packed(symmetry, tolerance)
