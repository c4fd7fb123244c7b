"""Hierarchical layouts: nested modes as in CuTe, with their own order."""

from collections.abc import Callable, Iterable
from typing import Any, SupportsIndex, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._value_class import frozen, slot_setters
from tensorwrapper.errors import ExtentError, LayoutError
from tensorwrapper.layout.axes._axis import AxisMap
from tensorwrapper.layout.boxes._common import AlgebraParts, LayoutCommon, StridedBox
from tensorwrapper.layout.boxes._hierarchy import (
    IntTree,
    OrdinalOrder,
    is_congruent,
    is_flat,
    layout_text,
    leaf_index,
    leaves,
    modes_of,
    ordinal_offset,
    size_of,
    tree_text,
)
from tensorwrapper.layout.boxes._strided import Strided, new_strided
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Index, IntArray, PositionalKey


@final
@frozen
class Hierarchical(LayoutCommon):
    """Offset plus the sum of position times stride over the leaves of nested extents.

    Its shape is the box of the leaf extents, from left to right. ``origin`` is None if it is zero in all
    modes.
    """

    extents: IntTree
    nested_strides: IntTree
    _offset: int
    order: OrdinalOrder
    origin: Index | None = None
    _flat: Strided | None = attrs.field(default=None, init=False, eq=False, repr=False)

    @property
    def flat(self) -> Strided:
        """The same places without the nesting."""
        flat = self._flat
        if flat is None:
            extents = tuple(leaves(self.extents))
            origin = self.origin or (0,) * len(extents)
            flat = new_strided(extents, origin, tuple(leaves(self.nested_strides)), self._offset)
            object.__setattr__(self, "_flat", flat)
        return flat

    @property
    def shape(self) -> Shape[Any]:
        return self.flat.shape

    @property
    def offset(self) -> int:
        return self._offset

    @property
    def size(self) -> int:
        """The number of ordinals, as a Python integer of any size."""
        return size_of(self.extents)

    def bounds(self) -> tuple[int, int]:
        return self.flat.bounds()

    @property
    def is_contiguous(self) -> bool:
        return self.flat.is_contiguous

    @property
    def is_injective(self) -> bool:
        return self.flat.is_injective

    def moved_to(self, shape: Shape[Any]) -> "Hierarchical":
        return attrs.evolve(self, origin=shape.origin if any(shape.origin) else None)

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        return self.flat.offset_of(index)

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        return self.flat.offsets_of(indices)

    def offset_of_ordinal(self, ordinal: object) -> int:
        """Return the offset at an ordinal, or a tuple with one ordinal per mode of `mode_tree`."""
        if type(ordinal) is int:
            modes = modes_of(self.extents, self.nested_strides, self.order)
            return ordinal_offset(modes, self._offset, ordinal)
        places = leaf_index(self.extents, ordinal, self.order)
        steps = leaves(self.nested_strides)
        return self._offset + sum([place * step for place, step in zip(places, steps, strict=True)])

    def offsets_at(self, ordinals: IntArray) -> IntArray:
        """Return the offsets of many ordinals, which are inside and fit 64 bits, as do the offsets."""
        offsets = np.full(ordinals.shape, self._offset, dtype=np.int64)
        modes = modes_of(self.extents, self.nested_strides, self.order)
        # A mode of one position has a stride that is never taken, and that may be of any size.
        modes = [mode for mode in modes if mode[0] > 1]
        for extent, stride in modes[:-1]:
            ordinals, places = np.divmod(ordinals, extent)
            offsets += places * stride
        if modes:
            offsets += ordinals * modes[-1][1]
        return offsets

    def by_ordinal(self) -> IntArray:
        """Return the offsets of all elements in the layout's own order, in one dimension."""
        if self.order == "lex":
            return self.flat.to_numpy().ravel()
        # Made in this order: to turn a table round would cost many times as much.
        turned = tuple(reversed(self.flat.extents)), tuple(reversed(self.flat.strides))
        return Hierarchical(*turned, self._offset, "lex").flat.to_numpy().ravel()

    # Its rules are those of the strided layout of its leaves.

    has_mode_maps = True

    def mode_maps(self, what: str) -> tuple[int, tuple[AxisMap, ...]]:
        return self.flat.mode_maps(what)

    @property
    def mode_strides(self) -> Index:
        return self.flat.strides

    def strided_box(self) -> StridedBox:
        return self.flat.strided_box()

    def as_strided(self) -> Strided:
        return self.flat

    def repeated_mode(self) -> int | None:
        return self.flat.repeated_mode()

    def permute(self, order: Iterable[SupportsIndex]) -> Strided:
        return self.flat.permute(order)

    def reverse(self, modes: Iterable[int]) -> Strided:
        return self.flat.reverse(modes)

    @property
    def ordinal_order(self) -> OrdinalOrder:
        return self.order

    @property
    def mode_tree(self) -> IntTree:
        return self.extents

    @property
    def stride_tree(self) -> IntTree:
        return self.nested_strides

    @property
    def has_ordinals(self) -> bool:
        return True

    def algebra_parts(self) -> AlgebraParts | None:
        return (
            None
            if self.origin is not None
            else (self.extents, self.nested_strides, self._offset, self.order, ())
        )

    def text(self) -> str | None:
        return (
            None if self.origin is not None else layout_text(self.extents, self.nested_strides, self._offset)
        )

    def expression(self) -> str:
        return ordinal_expression(self)

    def index_of(self, offset: SupportsIndex) -> Index:
        return self.flat.index_of(offset)

    def to_numpy(self) -> IntArray:
        return self.flat.to_numpy()

    def write_offsets(self, out: IntArray) -> None:
        self.flat.write_offsets(out)

    def at(self, key: PositionalKey) -> LayoutCommon:
        return in_order(self.flat.at(key), self.order)

    def window(self, region: Shape[Any]) -> LayoutCommon:
        return in_order(self.flat.window(region), self.order)

    def __reduce__(
        self,
    ) -> tuple[Callable[..., "Hierarchical"], tuple[IntTree, IntTree, int, OrdinalOrder, Index | None]]:
        # The flat form, which is remembered, stays behind.
        return Hierarchical, (self.extents, self.nested_strides, self._offset, self.order, self.origin)


def ordinal_expression(layout: LayoutCommon) -> str:
    """Return an expression that makes a layout with its own order of ordinals."""
    text, order = layout.text(), layout.ordinal_order
    if text is None:
        return f"<{order} layout over {layout.shape!r}: {layout.offset} at its origin>"
    return f"Layout.parse({text!r})" if order == "lex" else f"Layout.parse({text!r}, order={order!r})"


def in_order(strided: Strided, order: OrdinalOrder) -> "Strided | Hierarchical":
    """Return a strided layout whose ordinals count in `order`."""
    if order == "lex":
        return strided
    origin = strided.origin if any(strided.origin) else None
    return Hierarchical(strided.extents, strided.strides, strided.offset, order, origin)


(_set_extents, _set_strides, _set_offset, _set_order, _set_origin, _set_flat) = slot_setters(
    Hierarchical, "extents", "nested_strides", "_offset", "order", "origin", "_flat"
)


def new_hierarchical(extents: IntTree, strides: IntTree, offset: int, order: OrdinalOrder) -> Hierarchical:
    """Return the layout of these modes, unchecked, in less time than its class would take."""
    made: Hierarchical = object.__new__(Hierarchical)
    _set_extents(made, extents)
    _set_strides(made, strides)
    _set_offset(made, offset)
    _set_order(made, order)
    _set_origin(made, None)
    _set_flat(made, None)
    return made


def make_hierarchical(extents: IntTree, strides: IntTree, offset: int, order: OrdinalOrder) -> Hierarchical:
    """Return the layout of these modes, checked.

    Raises
    ------
    LayoutError
        If extents and strides are not nested alike.
    ExtentError
        If an extent is negative.
    """
    if not is_congruent(extents, strides):
        raise LayoutError(f"strides {tree_text(strides)} are not nested like extents {tree_text(extents)}")
    for extent in leaves(extents):
        if extent < 0:
            raise ExtentError(f"extents must not be negative, but {tree_text(extents)} has {extent}")
    return Hierarchical(extents, strides, offset, order)


def make_strided(
    extents: IntTree, strides: IntTree, offset: int, order: OrdinalOrder
) -> "Strided | Hierarchical":
    """Return the layout with these modes, in the one form that it has.

    A plain tuple of modes in row-major order is a `Strided`, so that it equals what ``Layout`` makes.
    """
    if order == "lex" and is_flat(extents):
        box = cast("Index", extents)
        return new_strided(box, (0,) * len(box), cast("Index", strides), offset)
    return new_hierarchical(extents, strides, offset, order)
