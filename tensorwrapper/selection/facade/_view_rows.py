"""Rows of a view: remove and insert levels of nesting, and queries of rows."""

from typing import TYPE_CHECKING, Any, Generic, Self, SupportsIndex, TypeVar, cast, overload

import numpy.typing as npt

from tensorwrapper.errors import LayoutError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import tile_view, wrap_layout
from tensorwrapper.selection.facade._view_base import ViewBase
from tensorwrapper.selection.jagged._rows import put_together_rows
from tensorwrapper.shape import Shape, ShapeLike, as_shape
from tensorwrapper.shape.lowlevel import mode_of
from tensorwrapper.tensor.lowlevel import TensorCommon, cut_rows
from tensorwrapper.typing import AnyRank, IndexT_co, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.selection._view import View

__all__ = ["ViewRows"]

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
