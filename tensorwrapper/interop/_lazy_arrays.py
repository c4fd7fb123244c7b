"""Arrays of h5py, Zarr and TensorStore as `as_tensor` takes them: read as a whole."""

from typing import Any, cast

import numpy as np

from tensorwrapper.buffer.lowlevel import check_dtype
from tensorwrapper.errors import ConversionError
from tensorwrapper.selection import ArraySource, as_view, is_lazy
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor, as_tensor, from_buffer, strings

__all__ = ["from_lazy"]


def from_lazy(given: object, *, copy: bool | None = None) -> Tensor[Any]:
    """Return an array whose elements are not in memory as a tensor; all of it is read.

    Parameters
    ----------
    given
        A dataset of h5py, an array of Zarr, a TensorStore. The origin of a TensorStore's domain and its
        labels are kept, and Zarr's names of dimensions. Text becomes strings, and a dataset of h5py whose
        elements are arrays of any length (``h5py.vlen_dtype``) rows.
    copy
        None or True; elements are always new.

    Raises
    ------
    ConversionError
        If it is a group, which has several arrays, or `copy` is False.
    DTypeError
        If tensors have no such elements: structures, references.
    DataFileError
        If its file was closed.

    Examples
    --------
    >>> import numpy as np
    >>> import zarr
    >>> import tensorwrapper as tw
    >>> tw.as_tensor(zarr.array(np.eye(2), dimension_names=["row", None])).shape
    Shape(2, 2).named('row', None)
    """
    value: Any = given
    kind: type[object] = type(given)
    where = f"a {kind.__name__} of {kind.__module__.partition('.')[0]}"
    if hasattr(value, "keys") and not hasattr(value, "dtype"):
        names = [repr(str(key)) for key, _ in zip(value, range(9), strict=False)]
        inside = ", ".join(names) or "nothing"
        raise ConversionError(
            f"{where} is no array, but may hold some: take one, group['name'] (in it is {inside})"
        )
    if copy is False:
        raise ConversionError(f"{where} is read, which makes new memory; copy=False cannot be kept")
    if not is_lazy(given):
        raise ConversionError(f"{where} without extents has no elements: a null dataspace makes no tensor")
    dtype: Any = value.dtype
    held: Any = getattr(dtype, "metadata", None) or {}
    element: Any = held.get("vlen")
    if isinstance(element, np.dtype):
        return _rows_of(value, cast("np.dtype[Any]", element))  # type: ignore[redundant-cast]
    if "vlen" in held:
        # Text that its file says is text; else bytes.
        return strings(value.asstr()[...] if element is str else value[...])
    if isinstance(dtype, np.dtype) and str(dtype.kind) in "SUT":
        return strings(np.asarray(value))
    return as_view(ArraySource(value)).compute()


def _rows_of(dataset: Any, element: "np.dtype[Any]") -> Tensor[Any]:  # noqa: ANN401 - of h5py
    check_dtype(element)
    if not dataset.shape:
        return as_tensor(np.array(dataset[()], dtype=element))
    rows: list[Any] = np.asarray(dataset[...], dtype=object).reshape(-1).tolist()
    flat = np.concatenate(rows, dtype=element) if rows else np.empty(0, element)
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    return from_buffer(flat, Shape.from_cells(dataset.shape, lengths.reshape(-1, 1)))
