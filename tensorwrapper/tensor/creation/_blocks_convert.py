"""Create block-sparse tensors from blocks, arrays of other libraries, and patterns."""

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict, Unpack, cast, overload

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import to_dtype
from tensorwrapper._arrays import different
from tensorwrapper._error_text import brief
from tensorwrapper._hints import answered
from tensorwrapper.buffer.lowlevel import check_dtype, check_write
from tensorwrapper.errors import ConversionError, DTypeError, ExtentMismatchError
from tensorwrapper.shape import BlockPattern, Tiling
from tensorwrapper.tensor._tensor import Tensor
from tensorwrapper.tensor.creation._blocks_foreign import given_blocks
from tensorwrapper.tensor.creation._convert import as_tensor
from tensorwrapper.tensor.creation._of_pattern import tensor_of_pattern
from tensorwrapper.tensor.operators._promotion import promoted
from tensorwrapper.tensor.protocols._protocols import is_sparse_array
from tensorwrapper.tensor.rows._tile_blocks import TileSource, check_block_extents, read_blocks
from tensorwrapper.typing import Array, DType
from tensorwrapper.typing import ScalarT_co as S

if TYPE_CHECKING:
    from tensorwrapper.buffer.lowlevel import PresentTiles
    from tensorwrapper.shape import SymmetryLike

    class SparseArray(Protocol):
        """A sparse array of SciPy or of pydata/sparse, or a sparse tensor."""

        @property
        def shape(self) -> Any: ...  # noqa: ANN401 - what each library has
        @property
        def dtype(self) -> "np.dtype[Any]": ...

    class TensorMap(Protocol):
        """A map of metatensor, from keys to blocks."""

        @property
        def keys(self) -> Any: ...  # noqa: ANN401 - what the library has
        def blocks(self) -> Any: ...  # noqa: ANN401


_Duplicates: TypeAlias = Literal["raise", "sum", "last"]


class Options(TypedDict, total=False):
    """Optional arguments of `blocks`."""

    fill_value: object
    duplicates: _Duplicates
    symmetry: "SymmetryLike | None"
    tolerance: float


@overload
def blocks(
    source: "TileSource | SparseArray | TensorMap",
    tiling: Tiling | None = None,
    *,
    dtype: "DType[S]",
    **options: Unpack[Options],
) -> Tensor[S]:
    """Return a tensor over a tiling with some tiles present; all others have one value."""


@overload
def blocks(
    source: "TileSource | SparseArray | TensorMap",
    tiling: Tiling | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    **options: Unpack[Options],
) -> Tensor[Any]: ...
def blocks(
    source: "TileSource | SparseArray | TensorMap",
    tiling: Tiling | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    fill_value: object = 0,
    duplicates: _Duplicates = "raise",
    symmetry: "SymmetryLike | None" = None,
    tolerance: float = 0.0,
) -> Tensor[Any]:
    """Return a tensor over a tiling with some tiles present; all others have one value.

    Its shape is that of the tiling; `untiled` is the box. The memory is that of the present tiles, one after
    the other by number, and 8 bytes for each. Operators, slices by tiles and permutations keep the tiles.

    Parameters
    ----------
    source
        Blocks by tile number: a mapping, or pairs in any order. Each has the extents of its tile. Or a sparse
        array of SciPy or pydata/sparse, or a tensor: the tiles that have another element than the fill. Or a
        TensorMap of metatensor whose keys number tiles, an Array of TeNPy, or a UniTensor of cytnx.
    tiling
        How the box is cut. A BSR array, and those of the other libraries, have their own if not given.
    dtype
        The type of the elements; by default NumPy's promotion of those of the blocks, float64 for no blocks.
    fill_value
        The element of all other tiles; a sparse tensor has one already.
    duplicates
        The treatment of a tile given several times: "raise" refuses it, "sum" adds up, "last" takes the last.
    symmetry
        A symmetry, or its name or text, of which one tile of each orbit is stored. One block of each orbit is
        enough, and any of them; those of one orbit are compared.
    tolerance
        The largest difference that is allowed between elements that the symmetry makes equal.

    Raises
    ------
    OutOfBoundsError
        If the grid has no such tile.
    ExtentMismatchError
        If a block has other extents than its tile; the text names it.
    ConversionError
        If a tile comes several times, or `source` is neither a mapping nor pairs. Or if a TensorMap has
        gradients, or labels that are not the indices of tiles.
    DTypeError
        If blocks are of another kind than `dtype`, or strings.
    SymmetryError
        If an element differs by more than the tolerance from the one that it shall share.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> tiling = tw.Tiling([1, 2, 3], [2, 4])
    >>> t = tw.blocks({(0, 0): [[1.0, 2.0]], (1, 1): np.ones((2, 4))}, tiling)
    >>> t.pattern.tiles().tolist(), t.packed_values().nbytes
    ([[0, 0], [1, 1]], 80)
    >>> t.tile((1, 1)).shape, t.tile((0, 1)).tolist()
    (Shape(2, 4, origin=(1, 2)), [[0.0, 0.0, 0.0, 0.0]])
    """
    if symmetry is not None:
        made = blocks(cast("Any", source), tiling, dtype=dtype, fill_value=fill_value, duplicates=duplicates)
        # Loaded here: few tensors are symmetric.
        from tensorwrapper.tensor.tiles._operations import present  # noqa: PLC0415
        from tensorwrapper.tensor.tiles._symmetric import with_symmetry  # noqa: PLC0415

        tiles: PresentTiles[Any] = present(made, "blocks")
        return with_symmetry(made, tiles, tiles.pattern, symmetry, tolerance)
    if duplicates not in ("raise", "sum", "last"):
        raise ConversionError(f"duplicates are to raise, or their sum or last one counts, not {duplicates!r}")
    given: Any = source
    if getattr(given, "format", None) == "bsr":
        return _of_bsr(given, tiling, dtype)
    foreign = given_blocks(given, tiling)
    if foreign is not None:
        pairs = list(zip(foreign.numbers, foreign.blocks, strict=True))
        wanted = foreign.dtype if dtype is None else dtype
        made = blocks(pairs, foreign.tiling, dtype=wanted, fill_value=fill_value)
        return made if tiling is None or tiling == foreign.tiling else made.retiled(tiling)
    if not isinstance(cast("object", tiling), Tiling):
        raise ConversionError(
            f"blocks of {brief(source)} need a tiling, such as tw.Tiling([2, 2], [3]), not {brief(tiling)}"
        )
    tiling = cast("Tiling[Any]", tiling)
    if is_sparse_array(source) or isinstance(source, Tensor):
        tensor: Tensor[Any] = as_tensor(given)
        if not tensor.is_sparse:
            tensor = tensor.tiled(tiling).screened()
            return tensor if dtype is None else tensor.astype(dtype)
        return _of_sparse(tensor, tiling, dtype)
    numbers, arrays = read_blocks(cast("TileSource", source), "blocks")
    wanted = _dtype_of(arrays, dtype)
    pattern = BlockPattern(tiling, numbers if duplicates == "raise" else list(dict.fromkeys(numbers)))
    owners = pattern.slots(np.array(numbers, dtype=np.int64).reshape(-1, tiling.rank))
    check_block_extents(pattern.tile_extents()[owners], numbers, arrays, "blocks")
    fitted = [check_write(own, wanted).reshape(-1) for own in arrays]
    if duplicates == "last":
        # Each tile has the number of the block that was given last.
        last = np.zeros(pattern.count, dtype=np.int64)
        last[owners] = np.arange(len(owners))
        fitted, owners = [fitted[k] for k in last.tolist()], np.arange(pattern.count)
    if len(fitted) == pattern.count:
        order = np.argsort(owners, kind="stable").tolist()
        parts: list[Array] = [fitted[k] for k in order]
        flat: Array = np.concatenate(parts, dtype=wanted, casting="unsafe") if parts else np.empty(0, wanted)
        return tensor_of_pattern(pattern, flat, fill_value)
    made = tensor_of_pattern(pattern, np.zeros(pattern.elements, wanted), fill_value)
    made.add_tiles(zip(numbers, arrays, strict=True))
    return made


def _of_bsr(matrix: Any, tiling: Tiling[Any] | None, dtype: npt.DTypeLike | None) -> Tensor[Any]:  # noqa: ANN401 - SciPy has no types
    """Return the tensor of a BSR array, also of its blocks of zeros; no copy if they are sorted."""
    pattern = BlockPattern.from_scipy(matrix)
    tiles = np.asarray(matrix.data)[: int(matrix.indptr[-1])]
    check_dtype(tiles.dtype)
    columns = pattern.grid.extents[1]
    rows = np.repeat(np.arange(len(matrix.indptr) - 1, dtype=np.int64), np.diff(matrix.indptr))
    slots = pattern.slots_of_ordinals(rows * columns + matrix.indices[: len(tiles)].astype(np.int64))
    if len(slots) != pattern.count:
        flat: Array = np.zeros((pattern.count, *tiles.shape[1:]), tiles.dtype)
        np.add.at(flat, slots, cast("Any", tiles))
    else:
        ascending = bool((slots[1:] > slots[:-1]).all())
        flat = tiles if ascending else tiles[np.argsort(slots)]
    made = tensor_of_pattern(pattern, np.ascontiguousarray(flat).reshape(-1))
    if dtype is not None:
        made = made.astype(dtype)
    return made if tiling is None or tiling == pattern.tiling else made.retiled(tiling)


def _of_sparse(tensor: Tensor[Any], tiling: Tiling[Any], dtype: npt.DTypeLike | None) -> Tensor[Any]:
    """Return the tensor of the tiles in which a sparse box stores an element."""
    if tensor.shape.flatten() != tiling.elements:
        raise ExtentMismatchError(f"blocks: a tiling of {tiling.elements} does not cut {tensor.shape}")
    places = tiling.tiles_of(tensor.coords())
    found = different(tiling.grid.ordinals(places)) if len(places) else np.zeros(0, np.int64)
    pattern = BlockPattern.from_ordinals(tiling, found)
    flat = np.full(pattern.elements, tensor.fill_value, tensor.dtype)
    made = tensor_of_pattern(pattern, flat, tensor.fill_value)
    made.untiled().assign(tensor)
    return made if dtype is None else made.astype(dtype)


def _dtype_of(arrays: list[Array], dtype: npt.DTypeLike | None) -> "np.dtype[Any]":
    for array in arrays:
        check_dtype(array.dtype)
        if array.dtype.kind not in "biufcmMV":
            raise DTypeError(f"blocks have numbers, truth values or times, not {array.dtype}")
    if dtype is not None:
        return to_dtype(dtype)
    return promoted([own.dtype for own in arrays], "blocks") if arrays else np.dtype(np.float64)


if not TYPE_CHECKING:
    blocks = answered(blocks)
