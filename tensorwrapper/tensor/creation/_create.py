"""Tensors in new memory: empty, filled with a number, or filled block by block."""

# pyright: reportInvalidTypeVarUse=false
# Where no dtype is given, the type variable of the elements has its default.

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, TypedDict, Unpack, cast, overload

import numpy as np
import numpy.typing as npt
from numpy.typing import DTypeLike

from tensorwrapper._arguments import to_dtype
from tensorwrapper._arrays import shown_array
from tensorwrapper._hints import answered
from tensorwrapper._integers import MAX_INT64, to_count, to_int
from tensorwrapper._memory import too_large
from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import check_dtype, fit_number, packed_layout
from tensorwrapper.errors import BufferSizeError, ConversionError, ExtentMismatchError, LayoutError
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape, ShapeLike, Tiling, as_shape
from tensorwrapper.shape.lowlevel import unnamed_shape
from tensorwrapper.tensor._tensor import Tensor, make_tensor
from tensorwrapper.tensor._tensor_base import guard, layout_over
from tensorwrapper.tensor.creation._of_pattern import is_pattern, tensor_of_pattern
from tensorwrapper.typing import DType, Index, Integer, Rank2, RankT
from tensorwrapper.typing import Float64T as F
from tensorwrapper.typing import IndexT_co as J
from tensorwrapper.typing import ScalarT_co as S

if TYPE_CHECKING:
    from tensorwrapper.shape import BlockPattern

NumberFill: TypeAlias = "complex | np.generic | Callable[[Shape[Any]], npt.ArrayLike]"
"""A number, or a function that returns the elements of a block."""

Fill: TypeAlias = "NumberFill | str | bytes"
"""A number, a text, or a function that returns the elements of a block."""


class Places(TypedDict, total=False):
    """Layout and blocks of a full tensor."""

    layout: Layout | None
    tiling: Tiling | None


@overload
def empty(shape: "BlockPattern", *, dtype: "DType[F]" = ...) -> Tensor[F]: ...
@overload
def empty(shape: "BlockPattern", *, dtype: DTypeLike) -> Tensor[Any]: ...
@overload
def empty(shape: RankT, *, dtype: "DType[F]" = ..., layout: Layout | None = ...) -> Tensor[F, RankT]:
    """Return a tensor of this shape with uninitialized elements."""


@overload
def empty(shape: "ShapeLike[J]", *, dtype: "DType[F]" = ..., layout: Layout | None = ...) -> Tensor[F, J]: ...
@overload
def empty(shape: RankT, *, dtype: DTypeLike, layout: Layout | None = ...) -> Tensor[Any, RankT]: ...
@overload
def empty(shape: "ShapeLike[J]", *, dtype: DTypeLike, layout: Layout | None = ...) -> Tensor[Any, J]: ...
def empty(
    shape: "ShapeLike | BlockPattern", *, dtype: DTypeLike = np.float64, layout: Layout | None = None
) -> Tensor[Any]:
    """Return a tensor of this shape with uninitialized elements.

    Parameters
    ----------
    shape
        Any shape: a box, jagged, tiled. Only the present tiles of a block pattern have memory.
    dtype
        The type of the elements.
    layout
        Positions of the elements; packed in row-major order by default.

    Raises
    ------
    DTypeError
        If tensors cannot hold such elements.
    ConversionError
        If the layout is over another shape.
    LayoutError
        If the layout has negative offsets.
    BufferSizeError
        If so many elements do not fit into an address space.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> t = empty(tw.Shape.jagged([2, 3]), dtype="i4")
    >>> t.shape, t.dtype
    (Shape.jagged([2, 3]), dtype('int32'))
    """
    return _allocate(_space(shape), dtype, layout, np.empty)


@overload
def zeros(shape: "BlockPattern", *, dtype: "DType[F]" = ...) -> Tensor[F]: ...
@overload
def zeros(shape: "BlockPattern", *, dtype: DTypeLike) -> Tensor[Any]: ...
@overload
def zeros(shape: RankT, *, dtype: "DType[F]" = ..., layout: Layout | None = ...) -> Tensor[F, RankT]:
    """Return a tensor of this shape with all elements 0; parameters and errors as for `empty`."""


@overload
def zeros(shape: "ShapeLike[J]", *, dtype: "DType[F]" = ..., layout: Layout | None = ...) -> Tensor[F, J]: ...
@overload
def zeros(shape: RankT, *, dtype: DTypeLike, layout: Layout | None = ...) -> Tensor[Any, RankT]: ...
@overload
def zeros(shape: "ShapeLike[J]", *, dtype: DTypeLike, layout: Layout | None = ...) -> Tensor[Any, J]: ...
def zeros(
    shape: "ShapeLike | BlockPattern", *, dtype: DTypeLike = np.float64, layout: Layout | None = None
) -> Tensor[Any]:
    """Return a tensor of this shape with all elements 0; parameters and errors as for `empty`.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> zeros(tw.Shape(2, 2, origin=(5, 5)), dtype="i4").tolist()
    [[0, 0], [0, 0]]
    """
    return _allocate(_space(shape), dtype, layout, np.zeros)


@overload
def full(shape: "BlockPattern", fill_value: NumberFill, *, dtype: "DType[S]") -> Tensor[S]: ...
@overload
def full(shape: "BlockPattern", fill_value: NumberFill, *, dtype: DTypeLike | None = None) -> Tensor[Any]: ...
@overload
def full(shape: RankT, fill_value: Fill, *, dtype: "DType[S]", **places: Unpack[Places]) -> Tensor[S, RankT]:
    """Return a tensor of this shape filled with a number, or by a function, block by block."""


@overload
def full(
    shape: "ShapeLike[J]", fill_value: Fill, *, dtype: "DType[S]", **places: Unpack[Places]
) -> Tensor[S, J]: ...
@overload
def full(
    shape: RankT, fill_value: Fill, *, dtype: DTypeLike | None = None, **places: Unpack[Places]
) -> Tensor[Any, RankT]: ...
@overload
def full(
    shape: "ShapeLike[J]", fill_value: Fill, *, dtype: DTypeLike | None = None, **places: Unpack[Places]
) -> Tensor[Any, J]: ...
def full(
    shape: "ShapeLike | BlockPattern",
    fill_value: Fill,
    *,
    dtype: DTypeLike | None = None,
    layout: Layout | None = None,
    tiling: Tiling | None = None,
) -> Tensor[Any]:
    """Return a tensor of this shape filled with a number, or by a function, block by block.

    Parameters
    ----------
    shape
        Any shape: a box, jagged, tiled. A block pattern fills its present tiles; others are 0.
    fill_value
        A number, a text, bytes, or a function that receives the shape of a block, whose origin is the
        position of the block, and returns its elements (an array of the block's extents, or something that
        broadcasts to them).
    dtype
        The type of the elements: that of the number if not given, float64 with a function.
    layout
        Positions of the elements; packed in row-major order by default.
    tiling
        With a function: the blocks of a box, by default one block. The blocks of a tiled shape are its tiles,
        at their positions in the box; those of any other jagged shape are its cells, in order, with one index
        in each leading mode: for rows, the index of the row, and the start of the row.

    Raises
    ------
    ExtentMismatchError
        If a block of the function does not broadcast to its shape; the text names the block.
    ConversionError
        If the layout or the tiling is of another shape, or a layout is given with a text.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> full(tw.Shape(2), 1.5).tolist(), full((2,), "a").tolist()
    ([1.5, 1.5], ['a', 'a'])
    >>> tiles = tw.Tiling([1, 2], [2, 1])
    >>> full(tiles.elements, lambda block: sum(block.origin), tiling=tiles, dtype="i8").tolist()
    [[0, 0, 2], [1, 1, 3], [1, 1, 3]]
    """
    space = _space(shape)
    if not callable(fill_value):
        if tiling is not None:
            raise ConversionError("a number fills a box as a whole: a tiling is for functions")
        if (
            isinstance(fill_value, str | bytes)
            and isinstance(space, Shape)
            and (dtype is None or to_dtype(dtype).kind == ("T" if isinstance(fill_value, str) else "O"))
        ):
            return _full_of_text(space, fill_value, layout)
        wanted = shown_array(fill_value).dtype if dtype is None else to_dtype(dtype)
        check_dtype(wanted)
        number = fit_number(fill_value, wanted, "fill_value")
        return _allocate(space, wanted, layout, lambda size, kind: np.full(size, number, kind))
    tensor = _allocate(space, np.float64 if dtype is None else dtype, layout, np.empty)
    for block, part in _blocks(tensor, tiling):
        part.assign(np.reshape(_values(fill_value, block), part.shape.extents))
    return tensor


def _full_of_text(space: Shape[Any], value: str | bytes, layout: Layout[Any] | None) -> Tensor[Any]:
    """Return a tensor of one repeated text, whose bytes are stored once."""
    if layout is not None:
        raise ConversionError("strings are in row-major order: full takes no layout with a text")
    from tensorwrapper.buffer import Strings  # noqa: PLC0415 - for strings alone
    from tensorwrapper.tensor.protocols._string_values import read_strings  # noqa: PLC0415

    one, _ = read_strings([value], "utf8" if isinstance(value, str) else "binary")
    try:
        data = one.take(np.zeros(space.size, np.int64))
    except (MemoryError, ValueError) as error:  # NumPy raises either for arrays that are too large.
        raise too_large((space.size,), np.dtype(np.int64)) from error
    return make_tensor(packed_layout(space), Strings(data))


def _space(shape: "ShapeLike | BlockPattern[Any]") -> "Shape[Any] | BlockPattern[Any]":
    return shape if is_pattern(shape) else as_shape(cast("ShapeLike", shape))


def _blocks(tensor: Tensor[Any], tiling: Tiling | None) -> Iterator[tuple[Shape[Any], Tensor[Any]]]:
    """Return an iterator over the blocks that a function fills one by one, with their positions."""
    shape = tensor.shape
    if tensor.buffer.in_tiles and tiling is None:
        return ((tile.shape, tile) for _, tile in tensor.present_tiles())
    if tiling is not None:
        if tiling.elements != unnamed_shape(shape):
            raise ConversionError(f"a tiling of {tiling.elements} has no blocks of {shape}")
        return ((tile, tensor.window(tile)) for tile in tiling.tiles())
    if shape.is_box:
        return iter([(shape, tensor)])
    cells = tensor.cells()
    if shape.has_layers:
        return ((cell.shape, cell) for _, cell in cells)
    if shape.rank == 2 * shape.outer_rank > 2 and shape.raggedness != "ragged":
        # Tiles have positions in the box, not in the grid.
        grid = shape.outer().origin
        numbered = shape.translate_by([*[-k for k in grid], *[0] * len(grid)])
        return zip(Tiling.from_shape(numbered).tiles(), (cell for _, cell in cells), strict=True)
    return ((_placed(index, cell.shape), cell) for index, cell in cells)


def _placed(index: Index, cell: Shape[Any]) -> Shape[Any]:
    """Return a cell as a block of the whole shape: one index in each mode that leads to it."""
    return Shape.smooth((1,) * len(index) + cell.extents, origin=index + cell.origin)


def _values(fill: Callable[[Shape[Any]], npt.ArrayLike], block: Shape[Any]) -> npt.ArrayLike:
    values = shown_array(fill(block))
    try:
        return np.broadcast_to(values, block.extents)
    except ValueError as error:
        raise ExtentMismatchError(
            f"the function gave extents {values.shape} for the block {block}, to which they do not broadcast"
        ) from error


@overload
def eye(
    rows: Integer, columns: Integer | None = None, *, diagonal: Integer = 0, dtype: "DType[F]" = ...
) -> Tensor[F, Rank2]:
    """Return the matrix with ones on one diagonal and zeros elsewhere."""


@overload
def eye(
    rows: Integer, columns: Integer | None = None, *, diagonal: Integer = 0, dtype: DTypeLike
) -> Tensor[Any, Rank2]: ...
def eye(
    rows: SupportsIndex,
    columns: SupportsIndex | None = None,
    *,
    diagonal: SupportsIndex = 0,
    dtype: DTypeLike = np.float64,
) -> Tensor[Any, Rank2]:
    """Return the matrix with ones on one diagonal and zeros elsewhere.

    Parameters
    ----------
    rows, columns
        The extents; as many columns as rows if not given.
    diagonal
        Which one: 0 is the main diagonal, positive ones lie above it, negative ones below.
    dtype
        The type of the elements.

    Examples
    --------
    >>> eye(2, 3, diagonal=1, dtype="i4").tolist()
    [[0, 1, 0], [0, 0, 1]]
    """
    n = to_count(rows, "the number of rows")
    m = n if columns is None else to_count(columns, "the number of columns")
    tensor = zeros((n, m), dtype=dtype)
    k = to_int(diagonal, "a diagonal")
    tensor[max(-k, 0) :, max(k, 0) :].diagonal().assign(1)
    return tensor


def _allocate(
    space: "Shape[Any] | BlockPattern[Any]",
    dtype: DTypeLike,
    layout: Layout[Any] | None,
    make: "Callable[[int, np.dtype[Any]], npt.NDArray[Any]]",
) -> Tensor[Any]:
    """Return a tensor over memory from `make`, as large as the layout requires."""
    kind = to_dtype(dtype)
    check_dtype(kind)
    if not isinstance(space, Shape):
        if layout is not None:
            raise ConversionError("the tiles of a pattern are one after the other: they take no layout")
        return tensor_of_pattern(space, _new(make, space.elements, kind))
    layout = packed_layout(space) if layout is None else layout_over(layout, space)
    least, greatest = layout.bounds()
    if least < 0:
        raise LayoutError(f"the layout needs offset {least}, and memory starts at offset 0")
    buffer = Dense(_new(make, greatest + 1, kind))
    return make_tensor(layout, guard(layout, buffer))


def _new(
    make: "Callable[[int, np.dtype[Any]], npt.NDArray[Any]]", size: int, kind: "np.dtype[Any]"
) -> "npt.NDArray[Any]":
    """Return memory from `make`."""
    if size * kind.itemsize > MAX_INT64:
        raise BufferSizeError(f"{size} elements of {kind} do not fit into an address space")
    try:
        return make(size, kind)
    except MemoryError as error:
        raise too_large((size,), kind) from error


if not TYPE_CHECKING:
    empty, zeros, full, eye = map(answered, (empty, zeros, full, eye))
