"""`to_dask`: what Dask makes of a tensor or view."""

from typing import TYPE_CHECKING

from tensorwrapper.interop._operand import TensorLike
from tensorwrapper.interop.dask._arrays import array_of
from tensorwrapper.interop.dask._chunks import ChunksLike

if TYPE_CHECKING:
    import dask.array as da

__all__ = ["to_dask"]


def to_dask(value: TensorLike, chunks: ChunksLike | None = None) -> "da.Array":
    """Return a box, tiles or layers as an array of Dask; O(chunks), and nothing is read or copied.

    Parameters
    ----------
    value
        A tensor, whose memory is shared, or a view, of which a chunk is read when it is computed.
    chunks
        A tiling, or what Dask and Zarr write: sizes, or one size, or -1 of each mode. If not given, tiles
        are chunks, and what lies under one index of the outermost layer; a plain box is cut as it lies in
        memory (``layout.hints()``), into chunks of at most the bytes that Dask's configuration says.

    Raises
    ------
    ConversionError
        If it is no grid of tiles, is sparse, or has strings.
    ExtentError, RankError
        If the chunks do not fit.
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
    """
    return array_of(value, chunks)
