"""Convert boxes, tiles and layers to and from Dask arrays; a view is read one chunk at a time."""

import itertools
from typing import Any, Final

from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.errors import ConversionError, ExtentError
from tensorwrapper.interop._operand import TensorLike
from tensorwrapper.interop.dask._chunks import ChunksLike, chunks_of, is_gridded, own_tiling
from tensorwrapper.interop.dask._dask_api import array_over, layer_of, name_of
from tensorwrapper.interop.dask._shards import lowered, tasks_over
from tensorwrapper.selection import View, as_view
from tensorwrapper.shape import Tiling
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, DaskArray

_CHUNKS: Final = 1 << 20  # each takes a tenth of a millisecond, and some kilobytes of a graph


def from_dask(array: "DaskArray") -> View[Any]:
    """Return a Dask array as a view tiled by its chunks, without computing.

    `as_view` makes a view of the plain box, and `as_tensor` computes it.

    Raises
    ------
    ConversionError
        If it is not a Dask array, or its extents are unknown.

    Examples
    --------
    >>> import dask.array as da
    >>> from tensorwrapper import interop
    >>> view = interop.from_dask(da.ones((5, 6), chunks=(3, -1)))
    >>> view.shape, view.tile((1, 0)).compute().shape
    (Shape.tiled([3, 2], [6]), Shape(2, 6, origin=(3, 0)))
    """
    given: Any = array
    if not hasattr(given, "__dask_graph__") or not hasattr(given, "chunks"):
        raise ConversionError(
            f"from_dask takes an array of Dask, not {type(given).__name__}: as_tensor and as_view know others"
        )
    return as_view(given).tiled(Tiling.from_chunks(given.chunks))


def array_of(value: TensorLike, chunks: ChunksLike | None, most: int, *, pinned: bool = False) -> "DaskArray":
    """Return a gridded value as an array of Dask; default chunks have at most `most` elements."""
    if value.is_sparse or holds_strings(value.dtype):
        raise ConversionError(
            f"arrays of Dask hold numbers, all of them, not {value.dtype} of {value.shape!r}: to_dense() has "
            "all elements of a sparse tensor, to_numpy_strings() has strings as NumPy knows them"
        )
    if not is_gridded(value):
        raise ConversionError(
            f"{value.shape!r} is not a grid of chunks: without chunks= to_dask() is a collection of its rows"
        )
    tiling = chunks_of(value, chunks, most)
    if tiling.grid.size > _CHUNKS:
        raise ExtentError(
            f"{value.shape!r} would be {tiling.grid.size} chunks, and a graph has {_CHUNKS} at most: chunks= "
            "or max_elements= makes them larger, and a slice has fewer"
        )
    if not all(tiling.chunks):
        # Dask requires one empty chunk if there is none.
        tiling = Tiling.from_chunks([own or (0,) for own in tiling.chunks], origin=tiling.origin)
    # Dask's scheduler respects the assigned workers of keys with this prefix: see `tasks_over`.
    name = name_of("rechunk-split" if pinned else "tensorwrapper", value, tiling)
    graph = _graph(name, value, tiling, pinned=pinned)
    return array_over(graph, name, tiling.chunks, value.dtype, masked=value.is_nullable)


def _graph(name: str, value: TensorLike, tiling: Tiling, *, pinned: bool) -> Any:  # noqa: ANN401 - a graph
    """Return the graph of the chunks: elements in memory without a copy, or a part to read."""
    if isinstance(value, Tensor):
        return layer_of(name, {key: _held(part) for key, part in parts_of(name, value, tiling)})
    lower, held = lowered(value)
    parts = parts_of(name, lower, tiling)
    if held:
        return tasks_over(name, parts, held, as_array=True, pinned=pinned)
    return layer_of(name, {key: (read_chunk, part) for key, part in parts})


def _held(part: Tensor[Any]) -> object:
    """Return the array over a part. A part without one, as of a gathered mode, is read by its task."""
    if part.is_nullable:
        return part.to_masked()
    try:
        return part.to_numpy()
    except ConversionError:
        return read_chunk, as_view(part)


def parts_of(name: str, value: Any, tiling: Tiling) -> list[tuple[tuple[Any, ...], Any]]:  # noqa: ANN401 - as it is
    """Return the chunks of a tensor or view, and their keys."""
    keys = list(itertools.product([name], *[range(len(sizes)) for sizes in tiling.chunks]))
    flat = value.flatten() if value.shape.has_layers else value
    box = flat if flat.shape.is_box else flat.untiled() if own_tiling(flat) is not None else None
    if box is not None:
        parts = [box[slices] for slices in itertools.product(*[_slices(sizes) for sizes in tiling.chunks])]
        return list(zip(keys, parts, strict=True))
    # For consecutive tiles there is no common box; each tile is a cell.
    whole = Tiling.from_shape(flat.shape)
    if whole != tiling:
        raise ConversionError(
            f"tiles in one sequence have the chunks {whole.chunks}, and no others: scatter() "
            "puts them into a box"
        )
    # Select by number, because cells of a tile with uniform rows are parts of the tile.
    return [(key, flat[key[1:]]) for key in keys]


def _slices(sizes: tuple[int, ...]) -> list[slice]:
    ends = list(itertools.accumulate(sizes))
    return [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]


def read_chunk(view: View[Any]) -> Array:
    """Return the elements of a part of a view. Function of a task."""
    if view.is_nullable:
        return view.to_masked()
    # A tile may consist of rows of the same length.
    return view.to_numpy() if view.shape.is_box else view.to_padded()
