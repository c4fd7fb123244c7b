"""Chunks of a tensor or view: by default those of its source, its tiles, its layers, or its memory."""

from collections.abc import Iterable
from typing import Any, SupportsIndex, TypeAlias

from tensorwrapper.interop._operand import TensorLike
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor import Tensor

ChunksLike: TypeAlias = Tiling | Iterable[SupportsIndex | Iterable[SupportsIndex] | None] | SupportsIndex
"""A tiling, or chunks as Dask writes them: sizes of all, one size, or -1 for one chunk, of each mode."""


def own_tiling(value: TensorLike) -> Tiling | None:
    """Return the tiling of a tiled tensor or view; None for others."""
    held: Any = value.layout if isinstance(value, Tensor) else value.expression.layout
    view = held.implementation.tiled
    return None if view is None else view.tiling


def is_gridded(value: TensorLike) -> bool:
    """Return True if elements are those of a box: strided, tiled or not, or of a grid of tiles.

    One list of rows is a grid, too, but ten million rows should not become as many chunks.
    """
    shape = value.shape
    flat = shape.flatten() if shape.has_layers else shape
    if flat.is_box or own_tiling(value) is not None:
        return True
    return flat.raggedness == "gridded" and flat.outer_rank > 1


def chunks_of(value: TensorLike, chunks: ChunksLike | None, most: int) -> Tiling:
    """Return the tiling of a box, of layers or of tiles into chunks.

    Parameters
    ----------
    value
        The gridded tensor or view.
    chunks
        Chunks of the caller, of the box of all elements; None for those of the shape or its memory.
    most
        Maximum number of elements of a chunk by default.
    """
    shape = value.shape
    flat = shape.flatten() if shape.has_layers else shape
    tiling = own_tiling(value)
    if tiling is None and not flat.is_box:
        tiling = Tiling.from_shape(flat)
    box: Shape[Any] = flat if tiling is None else tiling.elements
    if isinstance(chunks, Tiling):
        return Tiling.from_chunks(-1, extents=box.extents, origin=box.origin).retile(chunks)
    if chunks is not None:
        return Tiling.from_chunks(chunks, extents=box.extents, origin=box.origin)
    if tiling is not None:
        return tiling
    if shape.has_layers:
        # The elements under one index of the outermost layer are one block.
        outermost = shape.layers[0]
        sizes = [1] * outermost + [max(extent, 1) for extent in box.extents[outermost:]]
        return Tiling.make_uniform(box, sizes)
    layout = value.layout if isinstance(value, Tensor) else Layout(box)
    return layout.hints().tiling(most)
