"""Layers at work: the elements that they make of a shape, and shapes made layer by layer."""

from collections.abc import Iterable, Iterator, Sequence
from typing import SupportsIndex, TypeAlias

import numpy as np

from tensorwrapper._error_text import brief, counted
from tensorwrapper._integers import MAX_INT64, to_int, to_ints
from tensorwrapper.errors import JaggedModeError, LayerError, SizeOverflowError
from tensorwrapper.shape.boxes._common import ShapeCommon
from tensorwrapper.shape.boxes._smooth import Smooth, SmoothCommon, different_ranks, make_smooth
from tensorwrapper.shape.kinds._jagged import JaggedCommon
from tensorwrapper.shape.kinds._nested import Flat, Nested, NestedCommon, flat_of, make_nested
from tensorwrapper.shape.rows._cell_table import CellTable
from tensorwrapper.shape.rows._compare import unroll
from tensorwrapper.typing import Extents, Index

_AnyShape: TypeAlias = Flat | NestedCommon
_Celled: TypeAlias = JaggedCommon | NestedCommon


def nested_of_layers(layers: list[_AnyShape]) -> Nested:
    """Return the product of one box per layer, with the modes of each as a layer."""
    extents: Extents = ()
    origin: Index = ()
    for number, layer in enumerate(layers):
        if not isinstance(layer, SmoothCommon):
            raise JaggedModeError(
                f"layer {number} is {layer.kind}, but each is a box that all elements have in common; "
                "Shape.nested deals the modes of a jagged shape"
            )
        extents += layer.extents
        origin += layer.origin
    return Nested(make_smooth(extents, origin), tuple([layer.rank for layer in layers]))


def boxes_of(shapes: Sequence[_AnyShape], what: str) -> list[SmoothCommon]:
    """Return shapes that are boxes, and have one rank and the same layers, without their layers."""
    first = shapes[0]
    boxes: list[SmoothCommon] = []
    for shape in shapes:
        flat = flat_of(shape)
        if not isinstance(flat, SmoothCommon):
            raise JaggedModeError(f"{what} is for boxes; as_smooth() gives the bounding box of any shape")
        boxes.append(flat)
    for shape, box in zip(shapes, boxes, strict=True):
        if box.rank != boxes[0].rank:
            raise different_ranks(boxes[0].rank, box.rank)
        if (first.kind, first.layers) != (shape.kind, shape.layers):
            raise LayerError(
                f"{what} of a {first.kind} shape with the layers {first.layers} and a {shape.kind} one with "
                f"{shape.layers}: flatten() them, and nest the result"
            )
    return boxes


def _layer_number(layer: SupportsIndex, layers: tuple[int, ...]) -> int:
    """Return `layer` as a number from 0; negative layers count from the innermost."""
    number, count = to_int(layer, "a layer"), len(layers)
    if -count <= number < count:
        return number % count
    raise LayerError(f"layer {number} does not exist in a shape with {counted(count, 'layer')} {layers}")


def layer_size(shape: ShapeCommon, layer: SupportsIndex) -> int:
    """Return how many prefixes reach through a layer of a shape of any kind."""
    number = _layer_number(layer, shape.layers)
    return shape.leading(sum(shape.layers[: number + 1])).size


def _ends(shape: _Celled, layer: SupportsIndex | None) -> dict[int, tuple[int, ...]]:
    """Return the lengths of the indices of elements, ascending, and the layers that an element then has."""
    layers = shape.layers
    if not isinstance(shape, NestedCommon):
        if layer is not None:
            raise LayerError("the elements of a jagged shape are its cells: layer is for nested shapes")
        return {shape.outer_rank: ()}
    if layer is None:
        # A single layer, or none, is the element of no index.
        inner = range(1, len(layers)) or range(1)
    else:
        first = _layer_number(layer, layers) + 1
        if first == len(layers):
            raise LayerError(f"layer {first - 1} is the innermost of {layers}: its elements are not shapes")
        inner = range(first, first + 1)
    # Of layers that end at one index, since those between have no modes, the innermost counts.
    return {sum(layers[:k]): layers[k:] for k in inner}


def _under(shape: _Celled, index: Index, layers: tuple[int, ...]) -> _AnyShape:
    rest = flat_of(shape).chip(*index)
    return make_nested(rest, layers) if len(layers) > 1 else rest


def element(shape: _Celled, index: Iterable[SupportsIndex], layer: SupportsIndex | None) -> _AnyShape:
    """Return the element under the index of a cell, or under an index of one or more whole layers."""
    numbers = to_ints(index, "the index of an element")
    ends = _ends(shape, layer)
    if len(numbers) not in ends:
        raise LayerError(
            f"the index {brief(numbers)} has {counted(len(numbers), 'entry')}, but that of an element of "
            f"this shape has {' or '.join(map(str, ends))} (layers: {shape.layers}, outer modes: "
            f"{shape.outer_rank})"
        )
    return _under(shape, numbers, ends[len(numbers)])


def cells(shape: _Celled, layer: SupportsIndex | None) -> Iterator[tuple[Index, _AnyShape]]:
    """Return an iterator over the indices of the elements of a layer, and the elements."""
    *_, (modes, layers) = _ends(shape, layer).items()
    return ((index, _under(shape, index, layers)) for index in shape.leading(modes).walk("C"))


def cell_table(shape: _Celled) -> CellTable:
    """Return the elements of the innermost layer as arrays; they must be boxes."""
    flat, modes = flat_of(shape), shape.outer_rank
    if isinstance(flat, JaggedCommon) and flat.outer_rank == modes:
        return flat.rows.cell_table()
    if isinstance(flat, JaggedCommon) and flat.outer_rank > modes:
        raise JaggedModeError(
            f"the elements of the layers {shape.layers} are jagged, and no row of a table; "
            "cells() yields them, and flatten().cell_table() has their own cells"
        )
    count = flat.leading(modes).size
    flat.indices_at(np.empty(0, dtype=np.int64))  # raises if indices or their number leave 64 bits
    if count > MAX_INT64:
        raise SizeOverflowError(f"no table has {count} rows; cells() yields one cell at a time")
    if isinstance(flat, JaggedCommon) and modes < flat.rank:
        return unroll(flat.rows, modes).cell_table()
    indices = flat.leading(modes).indices_at(np.arange(count, dtype=np.int64))
    # The rest is the same box under every index, or empty.
    extents, origin = (flat.extents, flat.origin) if isinstance(flat, SmoothCommon) else ((), ())
    box = Smooth(extents[modes:], origin[modes:])
    return CellTable(
        indices,
        np.tile(np.array(box.extents, dtype=np.int64), (count, 1)),
        np.tile(np.array(box.origin, dtype=np.int64), (count, 1)),
        np.arange(count + 1, dtype=np.int64) * box.size,
    )
