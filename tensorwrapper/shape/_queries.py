"""What a shape can be asked: the half of the facade that makes no new shape.

`Shape` is one class with many methods; they stand in three files that build on one another: questions
(here), parts of the same rank (``_parts.py``), and what makes shapes of another rank (``_shape.py``).
"""

from abc import ABC
from collections.abc import Iterable
from typing import Any, Generic, SupportsIndex, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.errors import ConversionError, ExtentError
from tensorwrapper.shape._common import ShapeCommon
from tensorwrapper.shape._indices import Indices
from tensorwrapper.shape._jagged import JaggedCommon, same_elements
from tensorwrapper.shape._nested import NestedCommon, flat_of, layer_size
from tensorwrapper.shape._smooth import Smooth, SmoothCommon
from tensorwrapper.typing import Extents, Index, IndexT_co, IntArray, Kind, Order

__all__ = ["Held", "ShapeLike", "ShapeQueries", "held_of"]

Held: TypeAlias = SmoothCommon | JaggedCommon | NestedCommon
"""The kinds of shape, all of them: a new kind is a change here."""


class ShapeQueries(ABC, Generic[IndexT_co]):
    """Abstract: the attribute `_held`, the implementation that answers."""

    __slots__ = ()

    _held: Held

    # What the shape is.

    @property
    def kind(self) -> Kind:
        """``"smooth"`` for a box, ``"jagged"`` where extents may depend on earlier indices, ``"nested"``."""
        return self._held.kind

    @property
    def rank(self) -> int:
        """The number of modes."""
        return self._held.rank

    @property
    def size(self) -> int:
        """The number of elements, as a Python integer of any size."""
        return self._held.size

    @property
    def extents(self) -> Extents:
        """The extent of every mode; a mode that is not uniform raises `JaggedModeError`."""
        return self._held.extents

    @property
    def origin(self) -> Index:
        """The first index of every mode; a mode whose origin varies raises `JaggedModeError`."""
        return self._held.origin

    @property
    def padding(self) -> int:
        """How many more elements the bounding box has than the shape."""
        return self._held.padding

    @property
    def layers(self) -> tuple[int, ...]:
        """How many modes each layer has, from the outermost: one layer unless the shape is nested."""
        return self._held.layers

    @property
    def outer_rank(self) -> int:
        """How many leading modes number the cells; the modes after them form the cells. 0 for a box.

        Of a jagged shape these are the modes that are stored unrolled, of a nested one all layers but the
        last.
        """
        held = self._held
        return 0 if isinstance(held, SmoothCommon) else held.outer_rank

    def layer_size(self, layer: SupportsIndex) -> int:
        """Return how many prefixes reach through `layer` (from the outermost): all elements for the last.

        Raises
        ------
        LayerError
            If there is no such layer; negative layers count from the innermost.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> n = Shape.nested(Shape(10, 20, 30), layers=(1, 2))
        >>> n.layer_size(0), n.layer_size(1)
        (10, 6000)
        """
        return layer_size(self._held, layer)

    def extent(self, mode: SupportsIndex) -> int:
        """Return the extent of `mode`, counted from the last if negative.

        Raises
        ------
        JaggedModeError
            If the mode is not uniform; the text names the least and the greatest extent.
        RankError
            If there is no such mode.
        """
        return self._held.extent(mode)

    def extent_at(self, prefix: Iterable[SupportsIndex]) -> int:
        """Return the extent of mode ``len(prefix)`` under `prefix`; raises where that leads nowhere."""
        return self._held.extent_at(prefix)

    def origin_at(self, prefix: Iterable[SupportsIndex]) -> int:
        """Return the first index of mode ``len(prefix)`` under `prefix`; raises as `extent_at` does."""
        return self._held.origin_at(prefix)

    def extent_bounds(self, mode: SupportsIndex) -> tuple[int, int]:
        """Return the least and the greatest extent of `mode`; (0, 0) if no prefix leads to it."""
        return self._held.extent_bounds(mode)

    def is_uniform(self, mode: SupportsIndex) -> bool:
        """Tell whether `mode` has one extent whatever came before."""
        return self._held.is_uniform(mode)

    def dependencies(self, mode: SupportsIndex) -> tuple[int, ...]:
        """Return the earlier modes on which the extent or the origin of `mode` depends."""
        return self._held.dependencies(mode)

    # Which indices it has.

    def __contains__(self, index: object) -> bool:
        return index in self._held

    def contains(self, indices: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Tell for each row of an ``(..., rank)`` array of indices whether it lies in the shape."""
        return self._held.contains(indices)

    def ordinal(self, index: Iterable[SupportsIndex]) -> int:
        """Return how many indices come before `index` in row-major order.

        O(rank) for boxes and tilings, O(unrolled modes) for jagged shapes; a Python integer of any size.
        """
        return self._held.ordinal(index)

    def index(self, ordinal: SupportsIndex) -> IndexT_co:
        """Return the index with `ordinal` indices before it in row-major order; O(log n) if jagged."""
        return cast("IndexT_co", self._held.index(ordinal))

    def ordinals(self, indices: npt.ArrayLike) -> IntArray:
        """Return the ordinal of each row of an ``(..., rank)`` array; an index outside raises."""
        return self._held.ordinals(indices)

    def indices_at(self, ordinals: npt.ArrayLike) -> IntArray:
        """Return the ``(..., rank)`` array of the indices with these ordinals; one outside raises."""
        return self._held.indices_at(ordinals)

    def indices(self, *, order: Order = "C") -> Indices[IndexT_co]:
        """Return the absolute indices as a sequence, last mode fastest ("C") or first ("F")."""
        if order not in ("C", "F"):
            raise ConversionError(f'order must be "C" or "F", not {order!r}')
        return Indices(self._held, order)

    def offsets(self, *, order: Order = "C") -> Indices[IndexT_co]:
        """Return the indices relative to the origin, which must not vary, as a sequence."""
        return self.indices(order=order).translate_to((0,) * self.rank)

    # Comparison.

    def is_congruent(self, other: "ShapeLike") -> bool:
        """Tell whether kind and extents agree at every prefix, wherever the two shapes lie."""
        return self._held.is_congruent(held_of(other))

    def same_elements(self, other: "ShapeLike") -> bool:
        """Tell whether both hold the same set of indices, whatever their kinds."""
        return same_elements(flat_of(self._held), flat_of(held_of(other)))


ShapeLike: TypeAlias = ShapeQueries[Any] | ShapeCommon | Iterable[SupportsIndex]
"""What `as_shape` accepts: a shape, an implementation of one, or extents."""


def held_of(shape: ShapeLike) -> Held:
    """Return the implementation of what a shape is given by; extents make a box at the origin."""
    if isinstance(shape, ShapeQueries):
        return shape._held
    if isinstance(shape, ShapeCommon):
        if isinstance(shape, SmoothCommon | JaggedCommon | NestedCommon):
            return shape
        raise ConversionError(f"{type(shape).__name__} is no smooth, jagged or nested shape")
    if isinstance(shape, int):
        raise ExtentError(f"a shape is given by a sequence of extents, not by the integer {shape}")
    return Smooth(shape)
