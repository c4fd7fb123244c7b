"""Layouts of nested shapes: a wrapper of a layout of the shape without layers.

The elements of a layer are contiguous and in sequence exactly if one rule orders all modes, with those of an
outer layer slower than those of an inner one. So layers with an order for each imply one order of all modes,
which the layouts of shapes without layers support.
"""

from collections.abc import Iterable
from typing import Any, Literal, SupportsIndex, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import shared_table
from tensorwrapper._integers import to_ints
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, LayerError, LayoutError, RankError, SizeOverflowError
from tensorwrapper.layout.boxes._common import LayoutCommon, ModeOperation, check_region
from tensorwrapper.layout.boxes._keys import expand_positional
from tensorwrapper.layout.boxes._named import named_layout
from tensorwrapper.layout.boxes._orders import fastest_first
from tensorwrapper.layout.cells._blocked import Blocked, Packed, make_blocked
from tensorwrapper.layout.cells._cells import packed_table
from tensorwrapper.layout.cells._parts import rows_of
from tensorwrapper.shape import Jagged, NestedCommon, Shape
from tensorwrapper.shape.lowlevel import names_of, to_permutation, unnamed_shape, unroll, wrap
from tensorwrapper.typing import Index, IntArray, Order, PositionalKey


def jagged_in_order(shape: Shape[Any], modes: Index, offset: int) -> Packed | Blocked:
    """Return the layout without gaps whose elements are sorted by their indices in an order of modes.

    Row-major order needs no table. Otherwise the table has one offset per cell if the modes of cells are
    faster than those before them, whatever the order among either. If they mix, cells are cut into rows, or
    finally into single elements, until they do not. O(places * log places).

    Parameters
    ----------
    shape
        A jagged shape.
    modes
        The modes, fastest first.
    offset
        Offset of the first element.

    Raises
    ------
    SizeOverflowError
        If offsets exceed 64 bits.
    """
    rows, rank = rows_of(shape), shape.rank
    slowest_first = modes[::-1]
    if slowest_first == tuple(range(rank)):
        return Packed(shape, offset)
    if abs(offset) + shape.size >= 2**62:
        raise SizeOverflowError(f"{shape.size} places from {offset} on leave 64 bits")
    outer = _sorted_modes(slowest_first, rows.outer_rank)
    if outer == rank:
        table = shape.indices_at(np.arange(shape.size, dtype=np.int64))
        starts = _starts(table, slowest_first, np.ones(len(table), dtype=np.int64))
        return make_blocked(shape, starts + offset, shared_table((), len(starts)), offset)
    if outer > rows.outer_rank:
        rows = unroll(rows, outer)
        shape = wrap(Jagged(rows))
    befores = rows.cell_offsets()
    heads = slowest_first[:outer]
    if heads == tuple(range(outer)):
        starts = befores[:-1]
    else:
        starts = _starts(rows.prefixes(outer), heads, np.diff(befores))
    extents = rows.columns.leaf_extents(*rows.leaves)
    strides = packed_table(extents, tuple([mode - outer for mode in modes if mode >= outer]))
    return make_blocked(shape, starts + offset, strides, offset)


def _sorted_modes(slowest_first: Index, outer: int) -> int:
    """Return how many leading modes, `outer` at least, are slower than all the others."""
    return next(n for n in range(outer, len(slowest_first) + 1) if max(slowest_first[:n]) < n)


def _starts(table: IntArray, slowest_first: Index, sizes: IntArray) -> IntArray:
    """Return the number of elements before each cell if the cells are in an order of modes."""
    lying = np.lexsort([table[:, mode] for mode in reversed(slowest_first)])
    ends = np.cumsum(sizes[lying])
    starts = np.empty_like(ends)
    starts[lying] = ends - sizes[lying]
    return starts


LayerOrders: TypeAlias = Iterable[Order | Iterable[SupportsIndex]]
"""One order of modes per layer, the outermost first."""


@final
@frozen
class NestedLayout(LayoutCommon):
    """The layout `under`, whose shape has no layers, over the same indices dealt into layers."""

    under: LayoutCommon
    _layers: tuple[int, ...]

    @property
    def shape(self) -> Shape[Any]:
        return Shape.nested(self.under.shape, layers=self._layers)

    @property
    def layers(self) -> tuple[int, ...]:
        return self._layers

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

    def moved_to(self, shape: Shape[Any]) -> "NestedLayout":
        return NestedLayout(self.under.moved_to(shape.flatten()), self._layers)

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
        left = cast("NestedCommon", self.shape.implementation).layers_left(pinned)
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
        return NestedLayout(self.under.permute(modes), self.layers)

    def reverse(self, modes: Iterable[int]) -> "NestedLayout":
        return NestedLayout(self.under.reverse(modes), self.layers)

    def change(self, operation: ModeOperation) -> LayoutCommon:
        if operation.modes is not None:
            raise self.refusal(operation.name)
        return NestedLayout(self.under.change(operation), self.layers)

    def without_layers(self) -> LayoutCommon:
        return self.under

    def offset_of_ordinal(self, ordinal: object) -> int:
        if isinstance(ordinal, tuple | list):
            return super().offset_of_ordinal(cast("object", ordinal))
        return self.under.offset_of(self.under.shape.index(cast("SupportsIndex", ordinal)))

    def expression(self) -> str:
        under = self.under.expression()
        # Text in angle brackets is not an expression.
        if under.startswith("<"):
            return f"{under[:-1]}; layers {self.layers}>"
        return f"Layout.nested({under}, layers={self.layers})"


def modes_of_layers(
    layers: tuple[int, ...], order: Order | Iterable[SupportsIndex], orders: LayerOrders | None
) -> Index | Literal["C"]:
    """Return all modes, the fastest first, such that every element of every layer is contiguous.

    Row-major order throughout is "C".

    Raises
    ------
    LayerError
        If the number of orders differs from that of layers, or an order is not one of the modes of its layer.
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
    layout: LayoutCommon, index: Iterable[SupportsIndex], layer: SupportsIndex | None
) -> LayoutCommon:
    """Return the layout of one element of a nested or jagged shape, at the indices of that element."""
    shape, numbers = layout.shape, to_ints(index, "the index of an element")
    element = shape.element(numbers, layer=layer)
    places = [i - shape.origin_at(numbers[:mode]) for mode, i in enumerate(numbers)]
    flat = layout.without_layers()
    part = _moved(flat.at(tuple(places)) if places else flat, unnamed_shape(element.flatten()))
    made = NestedLayout(part, element.layers) if element.has_layers else part
    return named_layout(made, names_of(element))


def _moved(layout: LayoutCommon, shape: Shape[Any]) -> LayoutCommon:
    """Return a layout over `shape`, which differs from its own at most in the origin."""
    if layout.shape == shape:
        return layout
    return layout.moved_to(shape)
