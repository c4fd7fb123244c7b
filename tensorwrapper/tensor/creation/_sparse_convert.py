"""Sparse tensors from coordinates, and from the sparse arrays of SciPy and pydata/sparse."""

from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, cast, overload

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import to_dtype
from tensorwrapper._arrays import shown_array, unmasked_array
from tensorwrapper._hints import answered
from tensorwrapper._integers import MAX_INT64
from tensorwrapper.buffer import Sparse
from tensorwrapper.buffer.lowlevel import (
    check_dtype,
    check_write,
    convert_elements,
    copy_elements,
    index_elements,
    packed_layout,
    rises,
)
from tensorwrapper.errors import BufferSizeError, ConversionError, DTypeError, SizeOverflowError
from tensorwrapper.shape import Shape, ShapeLike, as_shape
from tensorwrapper.tensor._tensor import Tensor, make_tensor
from tensorwrapper.typing import Array, IntArray, RankT
from tensorwrapper.typing import IndexT_co as J

_Duplicates = Literal["raise", "sum", "last"]


class Options(TypedDict, total=False):
    """Optional arguments of `sparse`."""

    fill_value: object
    dtype: npt.DTypeLike | None
    duplicates: _Duplicates


@overload
def sparse(
    coords: npt.ArrayLike, values: npt.ArrayLike, shape: RankT, **options: Unpack[Options]
) -> Tensor[Any, RankT]:
    """Return a tensor that stores only the elements that differ from `fill_value`."""


@overload
def sparse(
    coords: npt.ArrayLike, values: npt.ArrayLike, shape: "ShapeLike[J]", **options: Unpack[Options]
) -> Tensor[Any, J]: ...
def sparse(
    coords: npt.ArrayLike,
    values: npt.ArrayLike,
    shape: ShapeLike,
    *,
    fill_value: object = 0,
    dtype: npt.DTypeLike | None = None,
    duplicates: _Duplicates = "raise",
) -> Tensor[Any]:
    """Return a tensor that stores only the elements that differ from `fill_value`.

    Every view of it is one of its layout and costs no time per element; the stored elements of a view are
    found by the inverse of the layout. It can be written to; only `to_dense` makes it dense.

    Parameters
    ----------
    coords
        An (n, rank) array of absolute indices, in any order.
    values
        The element at each of them; those that equal `fill_value` are not stored.
    shape
        Any shape, of up to 2**63 - 1 elements.
    fill_value
        All other elements.
    dtype
        The type of the elements; that of `values` if not given.
    duplicates
        Treatment of an index that comes several times: "raise", take the "sum", or the "last" one given.

    Raises
    ------
    OutOfBoundsError
        If an index is not in the shape.
    BufferSizeError
        If there is not one value per index.
    ConversionError
        If an index comes several times, or `fill_value` is nothing that the elements can be.
    DTypeError
        If values are of another kind than `dtype`: floats for integers. ``astype`` drops fractions.
    SizeOverflowError
        If the shape has more than 2**63 - 1 elements, or a value or sum does not fit the type.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> sp = tw.sparse([(0, 1), (2, 3)], [5.0, 7.0], tw.Shape(3, 4))
    >>> sp.nnz, sp.permute((1, 0))[1:4].to_dense().tolist()
    (2, [[5.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 7.0]])
    """
    if duplicates not in ("raise", "sum", "last"):
        raise ConversionError(f"duplicates are to raise, or their sum or last one counts, not {duplicates!r}")
    space = as_shape(shape)
    given: npt.ArrayLike = coords
    if shown_array(coords).shape == (0,):
        given = np.empty((0, space.rank), dtype=np.int64)
    return _make(space, given, _as_values(values, dtype), fill_value, duplicates)


def _as_values(values: npt.ArrayLike, dtype: npt.DTypeLike | None) -> Array:
    try:
        array = unmasked_array(values)
    except ValueError as error:
        raise ConversionError(f"values are a flat array, one per index: {error}") from error
    check_dtype(array.dtype)
    if dtype is None:
        return array
    wanted = to_dtype(dtype)
    check_dtype(wanted)
    weak = isinstance(values, list | tuple | int | float | complex) and not isinstance(values, np.generic)
    fitted = check_write(array, wanted, weak=weak) if array.size or not weak else array
    return fitted if fitted.dtype == wanted else copy_elements(fitted, wanted)


def _make(
    shape: Shape[Any], coords: npt.ArrayLike, values: Array, fill: object, duplicates: _Duplicates
) -> Tensor[Any]:
    if shape.size > MAX_INT64:
        raise SizeOverflowError(f"{shape} has {shape.size} elements, more than 64 bits can count")
    layout = packed_layout(shape)
    offsets = layout.offsets_of(coords)
    if offsets.ndim != 1 or values.shape != offsets.shape:
        raise BufferSizeError(
            f"there is one value per index, in flat arrays: not values of extents {values.shape} for indices "
            f"of extents {np.shape(coords)}"
        )
    offsets, values = _distinct(shape, offsets, values, duplicates)
    return make_tensor(layout, Sparse(offsets, values, shape.size, fill_value=fill))


def _distinct(
    shape: Shape[Any], offsets: IntArray, values: Array, duplicates: _Duplicates
) -> tuple[IntArray, Array]:
    """Return every offset once, ascending, with its value."""
    if rises(offsets):
        return offsets, values
    order = np.argsort(offsets, kind="stable")
    offsets, values = offsets[order], index_elements(values, (order,))
    changes = np.flatnonzero(offsets[1:] != offsets[:-1])
    if len(changes) == len(offsets) - 1:
        return offsets, values
    if duplicates == "raise":
        twice = offsets[1:][offsets[1:] == offsets[:-1]]
        raise ConversionError(
            f"the index {shape.index(int(twice[0]))} is given more than once; duplicates='sum' or 'last' say "
            "what is meant"
        )
    if duplicates == "last":
        ends = np.append(changes, len(offsets) - 1)
        return offsets[ends], index_elements(values, (ends,))
    starts = np.append(0, changes + 1)
    if values.dtype.kind == "M":
        raise DTypeError(f"elements of type {values.dtype} have no sum; duplicates='last' takes the last")
    sums = np.add.reduceat(cast("npt.NDArray[np.number[Any]]", values), starts)
    return offsets[starts], convert_elements(sums, values.dtype)


def from_sparse_array(value: object, *, copy: bool | None) -> Tensor[Any]:
    """Return a sparse tensor of an array that `is_sparse_array`; repeated entries are added up."""
    if copy is False:
        raise ConversionError(
            f"the elements of a {type(value).__name__} are put in another order; copy=False cannot be kept"
        )
    array = cast("Any", value)
    for name in ("tocoo", "to_coo"):
        if hasattr(array, name):
            array = getattr(array, name)()
            break
    shape = as_shape(tuple(array.shape))
    coords = np.empty((len(array.data), shape.rank), dtype=np.int64)
    for mode, column in enumerate(array.coords):
        coords[:, mode] = column
    return _make(shape, coords, _as_values(array.data, None), getattr(array, "fill_value", 0), "sum")


if not TYPE_CHECKING:
    sparse = answered(sparse)
