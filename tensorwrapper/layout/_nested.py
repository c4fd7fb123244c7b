"""Layouts of nested shapes: a layout of the shape without layers, seen through them.

The elements of a layer lie one after the other, each in one piece, exactly if one rule orders all modes:
those of an outer layer are slower than those of an inner one. So layers and an order for each come to one
order of all modes, which the layouts of shapes without layers know how to follow.
"""

from collections.abc import Callable, Iterable
from typing import Any, Literal, SupportsIndex, TypeAlias, cast, final

import attrs
import numpy.typing as npt

from tensorwrapper._integers import to_ints
from tensorwrapper.errors import ConversionError, LayerError, LayoutError, RankError
from tensorwrapper.layout import _cell_modes
from tensorwrapper.layout._blocked import Blocked
from tensorwrapper.layout._common import LayoutCommon, check_region
from tensorwrapper.layout._keys import expand_positional
from tensorwrapper.layout._mosaic import Mosaic
from tensorwrapper.layout._nested_cells import moved_cells
from tensorwrapper.layout._orders import fastest_first
from tensorwrapper.layout._padded import Padded
from tensorwrapper.layout._strided import Strided
from tensorwrapper.layout._tile_major import TileMajor
from tensorwrapper.layout._tiled import TiledStrided
from tensorwrapper.shape import Shape
from tensorwrapper.shape._nested import layers_left
from tensorwrapper.shape._smooth import to_permutation
from tensorwrapper.typing import Index, IntArray, Order, PositionalKey

__all__ = ["LayerOrders", "NestedLayout", "element_of", "flat_held", "modes_of_layers", "over_layers"]

LayerOrders: TypeAlias = Iterable[Order | Iterable[SupportsIndex]]
"""One order of modes per layer, the outermost first."""


@final
@attrs.frozen
class NestedLayout(LayoutCommon):
    """The layout `under`, whose shape has no layers, over the same indices dealt into layers."""

    under: LayoutCommon
    layers: tuple[int, ...]

    @property
    def shape(self) -> Shape[Any]:
        return Shape.nested(self.under.shape, layers=self.layers)

    @property
    def offset(self) -> int:
        return self.under.offset

    @property
    def span(self) -> int:
        return self.under.span

    def bounds(self) -> tuple[int, int]:
        return self.under.bounds()

    @property
    def is_contiguous(self) -> bool:
        return self.under.is_contiguous

    @property
    def is_injective(self) -> bool:
        return self.under.is_injective

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        return self.under.offset_of(index)

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        return self.under.offsets_of(indices)

    def index_of(self, offset: SupportsIndex) -> Index:
        return self.under.index_of(offset)

    def to_numpy(self) -> IntArray:
        return self.under.to_numpy()

    def at(self, key: PositionalKey) -> LayoutCommon:
        items = expand_positional(key, sum(self.layers))
        if any(item is None for item in items):
            raise LayoutError(f"a new mode belongs to no layer of {self.layers}: flatten() the layout first")
        pinned = [not isinstance(item, slice) for item in items]
        part = self.under.at(key)
        if not any(pinned):
            return NestedLayout(part, self.layers)
        left = layers_left(self.layers, pinned)
        return NestedLayout(part, tuple(left)) if len(left) > 1 else part

    def window(self, region: Shape[Any]) -> LayoutCommon:
        shape = self.shape
        check_region(region, shape, "a part of the same rank inside it, with the same layers")
        if region.layers != self.layers:
            raise LayoutError(f"a window of {shape} has its layers {self.layers}, not {region.layers}")
        return NestedLayout(self.under.window(region.flatten()), self.layers)

    def permute(self, order: Iterable[SupportsIndex]) -> "NestedLayout":
        """Return the layout with the modes permuted, each within its layer."""
        modes = to_permutation(order, sum(self.layers))
        # The shape refuses to mix layers, and says which.
        self.shape.permute(modes)
        under = self.under
        return NestedLayout(
            under.permute(modes) if isinstance(under, TiledStrided) else _cell_modes.permute(under, modes),
            self.layers,
        )


def flat_held(held: LayoutCommon) -> LayoutCommon:
    """Return a layout without its layers."""
    return held.under if isinstance(held, NestedLayout) else held


def over_layers(held: LayoutCommon, change: Callable[[LayoutCommon], LayoutCommon]) -> LayoutCommon:
    """Return what `change`, which keeps the number of modes, makes of a layout; it keeps its layers."""
    if isinstance(held, NestedLayout):
        return NestedLayout(change(held.under), held.layers)
    return change(held)


def modes_of_layers(
    layers: tuple[int, ...], order: Order | Iterable[SupportsIndex], orders: LayerOrders | None
) -> Index | Literal["C"]:
    """Return all modes, the fastest first, such that every element of every layer lies in one piece.

    Row-major order throughout is "C".

    Raises
    ------
    LayerError
        If there is not one order per layer, or one of them does not order the modes of its layer.
    """
    if orders is None:
        # An iterator would be empty after the first layer.
        each = order if isinstance(order, str) else to_ints(order, "an order")
        given: list[Order | Iterable[SupportsIndex]] = [each] * len(layers)
    else:
        try:
            given = list(orders)
        except TypeError as error:
            raise ConversionError(f"orders is a sequence of one order per layer, not {orders!r}") from error
    if isinstance(orders, str) or len(given) != len(layers):
        raise LayerError(
            f"orders has one order for each of the {len(layers)} layers {layers}, not {orders!r}; "
            "order is one for all of them"
        )
    modes: Index = ()
    first = 0
    for layer, (count, own) in enumerate(zip(layers, given, strict=True)):
        try:
            fastest = fastest_first(own, count)
        except (ConversionError, RankError) as error:
            raise LayerError(f"layer {layer} of {layers} has {count} modes: {error}") from error
        modes = tuple([first + mode for mode in fastest]) + modes
        first += count
    return "C" if modes == tuple(range(first - 1, -1, -1)) else modes


def element_of(
    held: LayoutCommon, index: Iterable[SupportsIndex], layer: SupportsIndex | None
) -> LayoutCommon:
    """Return the layout of one element of a nested or jagged shape, at the indices of that element."""
    shape, numbers = held.shape, to_ints(index, "the index of an element")
    element = shape.element(numbers, layer=layer)
    places = [i - shape.origin_at(numbers[:mode]) for mode, i in enumerate(numbers)]
    flat = flat_held(held)
    part = _moved(flat.at(tuple(places)) if places else flat, element.flatten())
    return NestedLayout(part, element.layers) if element.kind == "nested" else part


def _moved(layout: LayoutCommon, shape: Shape[Any]) -> LayoutCommon:
    """Return a layout over `shape`, which differs from its own at most in the origin."""
    if layout.shape == shape:
        return layout
    if isinstance(layout, Strided):
        return Strided(shape, layout.strides, layout.offset)
    if isinstance(layout, Blocked):
        return moved_cells(layout, shape)
    if isinstance(layout, TileMajor | Mosaic):
        return attrs.evolve(layout, tiling=layout.tiling.translate_to(shape.origin))
    if isinstance(layout, Padded):
        return Padded(shape, Strided(shape.as_smooth(), layout.under.strides, layout.under.offset))
    return cast("LayoutCommon", attrs.evolve(cast("Any", layout), shape=shape))
