"""`InTiles`: methods of a tiled tensor on a server, and the layout of its box."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import or_absent
from tensorwrapper.errors import RemoteProtocolError, SizeOverflowError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import Strided, TiledStrided, wrap_layout
from tensorwrapper.selection import View
from tensorwrapper.shape import Shape, Tiled, Tiling
from tensorwrapper.shape.lowlevel import names_of, unnamed_shape
from tensorwrapper.tensor import Tensor


class InTiles:
    """Abstract: `view`, which is tiled. No method reads elements, except `reduce_tiles`."""

    __slots__ = ()

    if TYPE_CHECKING:

        def view(self) -> View[Any]:
            """Return a view of the whole tensor."""
            ...

    @property
    @or_absent
    def tiling(self) -> Tiling:
        """Partition of the box underneath.

        Raises
        ------
        LayoutError
            If it is not tiled.
        """
        return self.view().tiling

    def tile(self, number: Iterable[SupportsIndex]) -> View[Any]:
        """Return a tile by number, with its origin in the box. See `View.tile`."""
        return self.view().tile(number)

    def select_tiles(self, numbers: "npt.ArrayLike | Callable[..., npt.ArrayLike]") -> View[Any]:
        """Return the view of any set of tiles, as rows of tiles; see `View.select_tiles`."""
        return self.view().select_tiles(numbers)

    def untiled(self) -> View[Any]:
        """Return the box without its tiling."""
        return self.view().untiled()

    def reduce_tiles(
        self, function: "np.ufunc | Callable[..., npt.ArrayLike]", *, initial: object = None
    ) -> Tensor[Any]:
        """Return the reduction of each tile, after reading all tiles; `Remote.reduce` uses the server."""
        return self.view().reduce_tiles(function, initial=initial)


def layout_of_tiles(shape: Shape[Any], origin: tuple[int, ...]) -> tuple[Shape[Any], Layout[Any]]:
    """Return the box with a given origin, and its layout over the tiles or layers of tiles.

    Raises
    ------
    RemoteProtocolError
        If the shape is not tiled, or the box has another rank.
    """
    flat = shape.flatten() if shape.has_layers else shape
    tiled = unnamed_shape(flat)
    # For any other shape the check would take time proportional to the number of cells.
    if not isinstance(tiled.implementation, Tiled) or 2 * len(origin) != flat.rank:
        raise RemoteProtocolError("size", f"{shape} is not a box of {len(origin)} modes in tiles")
    try:
        tiling = Tiling.from_shape(tiled.translate_to((0,) * flat.rank)).translate_to(origin)
    except SizeOverflowError as error:
        raise RemoteProtocolError("size", f"a box with origin {origin} exceeds 64 bits: {error}") from error
    under = cast("Strided", Layout(tiling.elements).implementation)
    grid_origin = cast("tuple[int, ...]", tiled.outer().origin)
    found = wrap_layout(TiledStrided(tiling, under, grid_origin), names_of(flat))
    return tiling.elements, Layout.nested(found, layers=shape.layers) if shape.has_layers else found
