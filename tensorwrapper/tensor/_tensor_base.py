"""Base of all parts of the facade: a layout and a buffer, and how a tensor is made of others.

`Tensor` is one class over sibling mixins, each in its own file: queries (``_queries``), copies
(``_copies``), writing (``_writes``), indexing (``_indexing``), protocols (``_exchange``), strings
(``_strings``), sparse elements (``_sparse``) and rows (``_structure``). None builds on another. ``_common``
has the operations of a `View` as well.
"""

from abc import abstractmethod
from collections.abc import Callable
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, Self, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._memory import memory_for
from tensorwrapper.buffer import BufferCommon
from tensorwrapper.errors import ConversionError, JaggedModeError, LayoutError, ReadOnlyError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import TileView, tile_view, wrap_layout
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import agreed_names, names_of, unnamed_shape
from tensorwrapper.tensor._libraries import TensorLibraries
from tensorwrapper.typing import Array, Extents, IndexT_co, IntArray, ScalarT_co, WriteCasting

_P = ParamSpec("_P")
_LOOKED_AT: Final = 2**16  # limit on the indices searched for two that share a position


def guard(layout: Layout[Any], buffer: BufferCommon[ScalarT_co]) -> BufferCommon[ScalarT_co]:
    """Return `buffer`, read-only if indices share a position, which makes every view read-only."""
    return buffer.guarded() if not buffer.is_readonly and not layout.is_injective else buffer


def layout_over(layout: Layout[Any], shape: Shape[Any]) -> Layout[Any]:
    """Return a layout that was given for a shape, with the names of modes that both agree on.

    Raises
    ------
    ConversionError
        If it is over another shape.
    ModeNameError
        If a mode has different names.
    """
    if layout.shape == shape:
        return layout
    implementation = layout.implementation
    if unnamed_shape(layout.shape) != unnamed_shape(shape):
        raise ConversionError(f"the layout is over {layout.shape}, not over {shape}")
    return wrap_layout(
        implementation.unnamed(), agreed_names([names_of(shape), implementation.names], "layout")
    )


def _as_two_do(layout: Layout[Any]) -> str:
    """Return two indices that share a position, if the layout is small enough to search."""
    if layout.shape.size > _LOOKED_AT:
        return ""
    places = layout.offsets_of_ordinals(np.arange(layout.shape.size, dtype=np.int64))
    order = np.argsort(places, kind="stable")
    twice = np.flatnonzero(np.diff(places[order]) == 0)
    if not len(twice):
        return ""
    # The first repeated index, and its next occurrence.
    one, other = order[twice[np.argmin(order[twice])] :][:2].tolist()
    return f", as {layout.shape.index(one)} and {layout.shape.index(other)} do"


class TensorBase(TensorLibraries[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: `_layout`, `_buffer`, `_make`, `copy`, `assign`, `_as_values`, and those of its base."""

    __slots__ = ()

    if not TYPE_CHECKING:
        # Python 3.11 has no defaults of type variables: without this, one argument were too few.
        __class_getitem__ = classmethod(GenericAlias)

    _layout: Layout[Any]
    _buffer: BufferCommon[ScalarT_co]

    @classmethod
    @abstractmethod
    def _make(cls, layout: Layout[Any], buffer: BufferCommon[Any]) -> Self:
        """Return a tensor of parts that fit: the offsets were checked against the buffer."""

    @property
    def shape(self) -> Shape[IndexT_co]:
        """The indices of the elements."""
        return self._layout.shape

    @property
    def layout(self) -> Layout[IndexT_co]:
        """Positions of the elements in the buffer, in elements."""
        return self._layout

    @property
    def buffer(self) -> BufferCommon[ScalarT_co]:
        """Storage of the elements."""
        return self._buffer

    @property
    def dtype(self) -> "np.dtype[ScalarT_co]":
        """The type of the elements."""
        return self._buffer.dtype

    @property
    def is_sparse(self) -> bool:
        """True if only the elements that differ from `fill_value` are stored."""
        return self._buffer.fill_value is not None

    def elements(self) -> "npt.NDArray[ScalarT_co]":
        """Return the elements as a flat array in row-major order; a view if contiguous, else a copy."""
        return self._buffer.elements_of(self._layout.implementation)

    @abstractmethod
    def _held_array(self) -> Array | None:
        """Return the array over the elements, for internal use; None if the buffer may replace its memory."""

    def _see(self, layout: Layout[Any]) -> Self:
        """Return the same elements through a layout that may map several indices to one position."""
        return self._make(layout, guard(layout, self._buffer))

    def _by(
        self,
        operation: Callable[Concatenate[Layout[Any], _P], Layout[Any]],
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> Self:
        return self._make(operation(self._layout, *arguments, **options), self._buffer)

    def _see_by(
        self,
        operation: Callable[Concatenate[Layout[Any], _P], Layout[Any]],
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> Self:
        return self._see(operation(self._layout, *arguments, **options))

    def _relabelled(
        self,
        operation: Callable[Concatenate[Layout[Any], _P], Layout[Any]],
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> Self:
        return self._make(operation(self._layout, *arguments, **options), self._buffer)

    def _flat(self) -> Self:
        """Return the same tensor without layers."""
        if not self._layout.shape.has_layers:
            return self
        return self._make(self._layout.flatten(), self._buffer)

    def __mask_places__(self) -> "tuple[Extents, IntArray] | None":
        buffer, shape = self._buffer, self._layout.shape.flatten()
        sides = buffer.sides
        if sides is not None and buffer.dtype == np.bool_ and shape.is_box:
            # A null marks nothing.
            held = self._layout.flatten().implementation
            marked: npt.NDArray[np.bool_] = cast("Any", sides[0].elements_of(held))
            return shape.extents, np.flatnonzero(marked & sides[1].elements_of(held))
        if buffer.stores_orbits and buffer.dtype == np.bool_:
            return shape.extents, np.flatnonzero(self.elements())
        if buffer.fill_value is None or buffer.dtype != np.bool_ or not shape.is_box:
            return None
        ordinals, values = cast("BufferCommon[Any]", buffer).stored_of(self._layout.implementation)
        if not buffer.fill_value:
            return shape.extents, ordinals[values]
        with memory_for(shape.size, "places of a mask"):
            is_true = np.ones(shape.size, np.bool_)
            is_true[ordinals] = values
            return shape.extents, np.flatnonzero(is_true)

    def _tiled(self, what: str) -> TileView:
        found = tile_view(self._layout.implementation.unnamed())
        if found is None:
            raise self._no_tiles(what)
        return found

    def _no_tiles(self, what: str) -> LayoutError:
        return LayoutError(
            f"{what} needs a tiled tensor, and this is {self.shape}: tiled(tiling) makes one of a box"
        )

    def _check_cells(self, what: str) -> None:
        if self._layout.implementation.as_strided() is not None:
            raise JaggedModeError(
                f"{what} needs a jagged or tiled tensor: a box is one cell; tiled(tiling) cuts it into tiles"
            )

    def _check_writeable(self) -> None:
        # The layout first: the memory under one that repeats is read-only as well, but that is not why.
        if not self._layout.is_injective:
            implementation = self._layout.implementation
            mode = implementation.repeated_mode()
            where = (
                f"modes that overlap{_as_two_do(self._layout)}"
                if mode is None
                else f"mode {mode}, which repeats its elements"
            )
            raise ReadOnlyError(f"indices share a place because of {where}; copy() gives each its own")
        if self._buffer.is_readonly:
            raise ReadOnlyError(self._buffer.why_readonly())

    @abstractmethod
    def copy(self) -> Self:
        """Return the same elements in new memory, packed in row-major order."""

    @abstractmethod
    def assign(self, value: "npt.ArrayLike | TensorBase[Any]") -> None:
        """Write `value` into all elements."""

    @abstractmethod
    def _as_values(
        self,
        value: "npt.ArrayLike | TensorBase[Any]",
        extents: Extents | None = None,
        casting: WriteCasting = "same_kind",
    ) -> Array:
        """Return a value as a new array of this dtype that broadcasts to `extents`."""
