"""`to_dask`, a tensor or view as a collection of Dask, and `reshard`, which computes it on the workers."""

from itertools import pairwise
from typing import Any, SupportsIndex, cast

from tensorwrapper._integers import to_int
from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.errors import ConversionError
from tensorwrapper.interop._operand import TensorLike, part_or_view
from tensorwrapper.interop.dask._arrays import array_of, parts_of
from tensorwrapper.interop.dask._blocks import DaskBlocks, blocks_in_parts
from tensorwrapper.interop.dask._chunks import ChunksLike, chunks_of, is_gridded
from tensorwrapper.interop.dask._collection import DaskTensor, rows_of
from tensorwrapper.interop.dask._dask_api import chunk_bytes, persist_as_is
from tensorwrapper.interop.dask._rows import marks_of
from tensorwrapper.interop.dask._shards import Moves, lowered, moves_of
from tensorwrapper.selection import ViewLike, as_view
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import DaskArray


def to_dask(
    value: TensorLike, chunks: ChunksLike | None = None, *, max_elements: SupportsIndex | None = None
) -> "DaskArray | DaskTensor | DaskBlocks":
    """Return a tensor or view as an array of Dask; of jagged ones a `DaskTensor`, in blocks a `DaskBlocks`.

    O(chunks), or O(cells) of jagged ones; nothing is read or copied.

    Parameters
    ----------
    value
        A tensor, whose memory is shared, or a view, of which a chunk is read when it is computed. If a view
        contains arrays of Dask or collections, each chunk gets the pieces that it needs. They are cut on the
        workers of their chunks, and nothing else moves.
    chunks
        For a box, tiles or layers: a tiling, or chunks as in Dask and Zarr: sizes, or one size, or -1 of each
        mode. By default tiles are chunks, and so are the elements under one index of the outermost layer; a
        plain box is cut in its memory order (``layout.hints()``).
    max_elements
        How many elements a chunk, or a run of rows, has at most where nothing else says so; if not given, as
        many as Dask's configuration allows bytes for. A present tile, and a row of the outermost mode, is
        never cut: one that has more is a run by itself. Where rows of rows are that long, ``t.flatten()``
        makes the inner ones rows.

    Raises
    ------
    ConversionError
        If it is sparse and not in blocks, or has strings, or is jagged where there are chunks.
    ExtentError, RankError
        If the chunks do not fit, or are more than 2^20.
    ModuleNotFoundError
        If Dask is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> t = tw.as_tensor(np.arange(12.0).reshape(3, 4))
    >>> t.to_dask(chunks=(2, -1)).chunks, float(t.tiled(tw.Tiling([1, 2], [4])).to_dask().sum().compute())
    (((2, 1), (4,)), 66.0)
    >>> tw.from_buffer(np.arange(6), tw.Shape.nested(tw.Shape(2, 3), layers=(1, 1))).to_dask().chunks
    ((1, 1), (3,))
    >>> tw.jagged([[1, 2], [], [3, 4, 5]]).to_dask(max_elements=2)
    <DaskTensor Shape.jagged([2, 0, 3]) int64 in 2 parts>
    """
    return _made(value, chunks, max_elements, pinned=False)


def reshard(
    value: ViewLike, chunks: ChunksLike | None = None, *, max_elements: SupportsIndex | None = None
) -> "DaskArray | DaskTensor | DaskBlocks":
    """Return the result of `to_dask`, computed and kept on the workers; the fewest bytes move.

    Each chunk is put together on the worker that has most of it (of equal ones, on that with the least to
    do), from pieces that were cut where they were. So an array is retiled, gathered, joined with its halo, or
    rows are redistributed. O(chunks) here; no element comes to this process.

    Parameters
    ----------
    value
        A view, an array of Dask or a `DaskTensor` whose chunks the workers have (``persist``).
    chunks, max_elements
        As of `to_dask`.

    Examples
    --------
    >>> import dask, dask.array as da
    >>> from tensorwrapper import interop
    >>> with dask.config.set(scheduler="sync"):
    ...     interop.reshard(da.ones((4, 6), chunks=(2, -1)), (-1, 3)).chunks
    ((4,), (3, 3))
    """
    made: Any = _made(as_view(value), chunks, max_elements, pinned=True)
    return cast("DaskArray | DaskTensor | DaskBlocks", persist_as_is(made))


def reshard_plan(
    value: ViewLike, chunks: ChunksLike | None = None, *, max_elements: SupportsIndex | None = None
) -> Moves:
    """Return the transfers of `reshard` between workers, and the worker of each chunk; nothing moves.

    Examples
    --------
    >>> import dask.array as da
    >>> from tensorwrapper import interop
    >>> plan = interop.reshard_plan(da.ones((4, 6), chunks=(2, -1)), (-1, 3))
    >>> plan.total, plan.homes
    (192, (None, None))
    """
    lower, held = lowered(as_view(value))
    most = _most(lower, max_elements)
    if chunks is not None or is_gridded(lower):
        return moves_of([part for _, part in parts_of("", lower, chunks_of(lower, chunks, most))], held)
    return moves_of([lower[a:b] for a, b in pairwise(marks_of(lower.shape, most).tolist())], held)


def _most(value: TensorLike, max_elements: SupportsIndex | None) -> int:
    if max_elements is not None:
        return to_int(max_elements, "a number of elements")
    return max(chunk_bytes() // max(value.dtype.itemsize, 1), 1)


def _made(
    value: TensorLike, chunks: ChunksLike | None, max_elements: SupportsIndex | None, *, pinned: bool
) -> "DaskArray | DaskTensor | DaskBlocks":
    value = part_or_view(value)
    most = _most(value, max_elements)
    if isinstance(value, Tensor) and value.buffer.in_tiles and chunks is None and not value.shape.is_box:
        return blocks_in_parts(value, most)
    if chunks is not None or is_gridded(value):
        return array_of(value, chunks, most, pinned=pinned)
    if holds_strings(value.dtype):
        raise ConversionError(
            f"a collection holds rows of numbers, not {value.dtype} of {value.shape!r}: to_arrow() and "
            "to_awkward() have strings"
        )
    if value.is_sparse:
        raise ConversionError(
            f"a collection holds dense rows, and {value.shape!r} is sparse: "
            "`tw.from_buffer(t.elements(), t.shape)` has all elements"
        )
    return rows_of(value, marks_of(value.shape, most))
