"""Cells, tiles and rows of a view: what its shape alone says, and parts that nothing is read for."""

from collections.abc import Iterable
from typing import Any, Generic, Self, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer import constant
from tensorwrapper.errors import LayoutError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import TiledStrided
from tensorwrapper.selection.facade._view_base import ViewBase
from tensorwrapper.shape import Tiling
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import ScalarT_co

__all__ = ["ViewCells"]


class ViewCells(ViewBase[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: as `ViewBase`."""

    __slots__ = ()

    @property
    def tiling(self) -> Tiling:
        """How the box underneath a tiled view is cut.

        Raises
        ------
        LayoutError
            If the view is not tiled.
        """
        known = self._expression.layout.implementation
        if not isinstance(known, TiledStrided):
            raise LayoutError(f"tiling needs a tiled view; this is {self.shape}: tiled() makes one")
        return known.tiling

    def tile(self, number: Iterable[SupportsIndex]) -> Self:
        """Return the tile of this number of a tiled view; its origin is where it lies in the box.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> v = sel.as_view([[0, 1, 2], [3, 4, 5]]).tiled(tw.Tiling([1, 1], [2, 1]))
        >>> v.tile((1, 0)).tolist(), v.tile((1, 0)).shape
        ([[3, 4]], Shape(1, 2, origin=(1, 0)))
        """
        region = self.tiling.tile(tuple(number))
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
        return self._by(Layout.element, tuple(index), layer=layer)

    def num(self, mode: SupportsIndex = 1) -> "Tensor[np.int64]":
        """Return the extent of `mode` under every prefix, from the shape alone; nothing is read.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.concat([tw.jagged([[1, 2], []]), tw.jagged([[3]])]).num().tolist()
        [2, 0, 1]
        """
        return self._shaped().num(mode)

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
        layout = Layout(self.shape)
        names = self._expression.layout.implementation.names
        named = layout if names is None else layout.named(*names)
        return make_tensor(named, constant(0, self.shape.size, dtype=np.int64))
