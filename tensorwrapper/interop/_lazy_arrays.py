"""Read whole arrays of h5py, Zarr and TensorStore for `as_tensor`."""

from typing import Any, cast

import numpy as np

from tensorwrapper._error_text import with_article
from tensorwrapper.buffer import StringData, strings_from_numpy
from tensorwrapper.errors import ConversionError
from tensorwrapper.selection import ArraySource, as_view, is_lazy
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor, as_tensor, strings
from tensorwrapper.tensor.lowlevel import check_sequences, reading_lazily, rows_of_sequences, text_or_bytes


def from_lazy(given: object, *, copy: bool | None = None) -> Tensor[Any]:
    """Read an array that is not in memory, and return it as a tensor.

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
        If its file was closed, or is damaged.

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
    where = f"{with_article(kind.__name__)} of {kind.__module__.partition('.')[0]}"
    if hasattr(value, "keys") and not hasattr(value, "dtype"):
        names = [repr(str(key)) for key, _ in zip(value, range(9), strict=False)]
        inside = ", ".join(names) or "nothing"
        raise ConversionError(
            f"{where} is not an array, but may hold some: take one, group['name'] (in it is {inside})"
        )
    if copy is False:
        raise ConversionError(f"{where} is read, which makes new memory; copy=False cannot be kept")
    if not is_lazy(given):
        raise ConversionError(f"{where} without extents has no elements: a null dataspace makes no tensor")
    with reading_lazily(given):
        return _read(value)


def _read(value: Any) -> Tensor[Any]:  # noqa: ANN401 - of another library
    dtype: Any = value.dtype
    held: Any = getattr(dtype, "metadata", None) or {}
    element: Any = held.get("vlen")
    if isinstance(element, np.dtype):
        # Check the type before reading anything.
        check_sequences(cast("np.dtype[Any]", element))  # type: ignore[redundant-cast]
        found = value[()]
        rows: list[Any] = np.asarray(found, dtype=object).reshape(-1).tolist() if value.shape else [found]
        return rows_of_sequences(rows, value.shape, cast("np.dtype[Any]", element))  # type: ignore[redundant-cast]
    if isinstance(dtype, np.dtype) and dtype.subdtype is not None:
        # Elements that are arrays of one shape: NumPy has their modes as the last.
        return _of_array(np.asarray(value[()]))
    if "vlen" in held:
        own = np.asarray(value[()], dtype=object)
        data = StringData.from_list(own.reshape(-1).tolist(), kind="binary")
        # Return text if the file declares it as text, otherwise bytes.
        return strings(text_or_bytes(data) if element is str else data, shape=Shape(*value.shape))
    if isinstance(dtype, np.dtype) and str(dtype.kind) in "SUT":
        found = np.asarray(value)
        is_of_hdf5 = type(value).__module__.partition(".")[0] == "h5py"
        return _of_array(found) if is_of_hdf5 else strings(found)
    return as_view(ArraySource(value)).compute()


def _of_array(found: Any) -> Tensor[Any]:  # noqa: ANN401 - an array of any elements
    if found.dtype.kind == "O":
        data = StringData.from_list(found.reshape(-1).tolist(), kind="binary")
        return strings(text_or_bytes(data), shape=Shape(*found.shape))
    if found.dtype.kind == "S":
        # As in a file that is opened: HDF5 has text of fixed length, of which NumPy makes bytes.
        return strings(text_or_bytes(strings_from_numpy(found.reshape(-1))), shape=Shape(*found.shape))
    return as_tensor(found)
