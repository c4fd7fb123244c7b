"""Selection of the implementation for a shape with an order, or with strides, for `Layout`."""

from collections.abc import Iterable
from typing import Any, SupportsIndex, cast

from tensorwrapper._integers import to_ints
from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._orders import fastest_first, is_default
from tensorwrapper.layout.boxes._strided import Strided, packed_strides
from tensorwrapper.layout.cells._padded import contiguous
from tensorwrapper.layout.operations._nested import LayerOrders, jagged_in_order, modes_of_layers
from tensorwrapper.layout.operations._storage import packed_cells
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Index, Order


def of_layers(
    shape: Shape[Any],
    order: Order | Iterable[SupportsIndex],
    orders: LayerOrders | None,
    ascend: Iterable[bool] | None,
    strides: Iterable[SupportsIndex] | None,
    offset: int | None,
) -> LayoutCommon:
    """Return the layout of a nested shape without its layers, each in its order."""
    if orders is not None and not is_default(order):
        raise LayoutError("give either order, which is one for all layers, or orders")
    modes, flat = modes_of_layers(shape.layers, order, orders), shape.flatten()
    if flat.is_box or modes == "C" or ascend is not None or strides is not None:
        return of_flat(flat, modes, ascend, strides, offset)
    return jagged_in_order(flat, modes, offset or 0)


def of_flat(
    shape: Shape[Any],
    order: Order | Iterable[SupportsIndex],
    ascend: Iterable[bool] | None,
    strides: Iterable[SupportsIndex] | None,
    offset: int | None,
) -> LayoutCommon:
    """Return the layout of a shape without layers, by strides or by an order."""
    if strides is not None:
        if not is_default(order) or ascend is not None:
            raise LayoutError("give either strides, or order and ascend")
        return _from_strides(shape, to_ints(strides, "strides"), offset or 0)
    if not shape.is_box:
        if ascend is not None:
            raise LayoutError(f"ascend is for boxes, not for the {shape.kind} shape {shape}: use reverse()")
        return packed_cells(shape, order, 1, offset or 0)
    return _from_order(shape, order, ascend, offset)


def _from_strides(shape: Shape[Any], strides: Index, offset: int) -> Strided:
    if not shape.is_box:
        raise LayoutError(f"strides describe boxes; from_block_offsets is for the jagged shape {shape}")
    if len(strides) != shape.rank:
        raise LayoutError(f"{len(strides)} strides do not fit a shape of rank {shape.rank}")
    return Strided(shape, strides, offset)


def _from_order(
    shape: Shape[Any],
    order: Order | Iterable[SupportsIndex],
    ascend: object,
    offset: int | None,
) -> LayoutCommon:
    rank = shape.rank
    if is_default(order) and ascend is None:
        return contiguous(shape, offset or 0)
    modes = fastest_first(order, rank)
    layout = Strided(shape, packed_strides(shape.extents, modes), 0)
    if ascend is not None:
        try:
            flags = list(cast("Iterable[object]", ascend))
        except TypeError as error:
            raise ConversionError(f"ascend must have one bool per mode of {rank}, not {ascend!r}") from error
        if len(flags) != rank or any(type(flag) is not bool for flag in flags):
            raise LayoutError(f"ascend must have one bool per mode of {rank}, not {flags}")
        layout = layout.reverse([mode for mode, up in enumerate(flags) if not up])
    return layout if offset is None else Strided(shape, layout.strides, offset)
