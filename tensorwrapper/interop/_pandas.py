"""Series and frames of pandas, both ways: what is a table of one type."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.errors import ConversionError, DTypeError
from tensorwrapper.interop._arrow import to_arrow
from tensorwrapper.interop._operand import TensorLike, tensor_of
from tensorwrapper.shape.lowlevel import usable_names
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.typing import Array

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["from_pandas", "to_pandas"]


def to_pandas(value: TensorLike) -> "pd.Series | pd.DataFrame":
    """Return the tensor as a series, or as a frame if it is a matrix; numbers stay in their memory.

    Rows of any lengths and strings are a series of Arrow's lists and text; a sparse matrix is a frame of
    sparse columns. Origin and name of the first mode are those of the index, those of the second of the
    columns.

    Raises
    ------
    ConversionError
        If the tensor is no table: a box of another rank than 1 and 2, or sparse and no matrix.
    DTypeError
        If pandas has no such elements.
    ModuleNotFoundError
        If pandas, or what it takes for lists (pyarrow) or sparse columns (SciPy), is not installed.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> tw.jagged([[1, 2], [3]]).to_pandas().list.len().tolist()
    [2, 1]
    """
    import pandas as pd  # noqa: PLC0415 - heavy, and not needed for the rest

    tensor = tensor_of(value)
    shape = tensor.shape
    is_box = shape.is_box
    if (
        not shape.rank
        or (is_box and shape.rank > 2)
        or (tensor.is_sparse and not (is_box and shape.rank == 2))
    ):
        raise ConversionError(
            f"a tensor of shape {shape!r} is no table: reshape() and merge_modes() make it a matrix, "
            "to_dense() has all elements of a sparse one"
        )
    name = shape.names[0]
    first = shape.origin_at(())
    index = pd.RangeIndex(first, first + shape.extent(0), name=name)
    if not is_box or holds_strings(tensor.dtype):
        found = to_arrow(tensor)
        return pd.Series(pd.arrays.ArrowExtensionArray(found), index=index)
    if shape.rank == 1:
        return pd.Series(_array_of(tensor), index=index, copy=False)
    first = shape.origin[1]
    columns = pd.RangeIndex(first, first + shape.extents[1], name=shape.names[1])
    if tensor.is_sparse:
        return pd.DataFrame.sparse.from_spmatrix(tensor.to_scipy(), index=index, columns=columns)
    return pd.DataFrame(_array_of(tensor), index=index, columns=columns, copy=False)


def _array_of(tensor: Tensor[Any]) -> "np.ndarray[Any, np.dtype[Any]]":
    if tensor.dtype.kind == "V" or tensor.dtype.itemsize > 16:
        raise DTypeError(f"pandas has no elements of type {tensor.dtype}: astype(np.float32) holds them")
    return np.asarray(tensor)


def from_pandas(given: "pd.Series | pd.DataFrame | pd.Index", *, copy: bool | None = None) -> Tensor[Any]:
    """Return a series, a frame or an index of pandas as a tensor.

    Numbers and times keep their memory; text, and lists of Arrow, become strings and rows. Where the index
    counts up by one, it begins where the tensor's first mode does; its name, and that of the columns, are
    names of modes.

    Parameters
    ----------
    given
        Of one type; each column of a frame of several is a tensor of its own.
    copy
        Whether elements are copied: where they must be (None), always, or never.

    Raises
    ------
    ConversionError
        If there are nulls among numbers (`fillna` or `dropna` takes them away); if elements must be copied
        and `copy` is False; if an index has several levels.
    DTypeError
        If tensors have no such elements: categories, times of a zone, objects.
    """
    import pandas as pd  # noqa: PLC0415 - it is loaded, or there would be nothing to read

    if isinstance(given, pd.DataFrame):
        return _placed(as_tensor(_matrix_of(given), copy=copy), given.index, given.columns)
    if isinstance(given, pd.api.extensions.ExtensionArray):
        return as_tensor(_column_of(pd.Series(given, None, copy=False)), copy=copy)
    if not isinstance(cast("object", given), pd.Series | pd.Index):
        raise ConversionError(
            f"a {type(given).__name__} of pandas holds no elements: allowed are series, frames, indexes and "
            "their arrays; to_numpy() of a time is one of NumPy"
        )
    if isinstance(given, pd.MultiIndex):
        raise ConversionError(
            "an index of several levels is one tensor for each: get_level_values(0) is the first"
        )
    found = as_tensor(_column_of(given), copy=copy)
    return found if isinstance(given, pd.Index) else _placed(found, given.index)


def _matrix_of(frame: "pd.DataFrame") -> object:
    if all(hasattr(kind, "subtype") for kind in frame.dtypes) and len(frame.columns):
        try:
            return frame.sparse.to_coo()
        except ValueError as error:
            raise ConversionError(
                f"sparse columns whose other elements are not all 0: {error}; frame.sparse.to_dense() has "
                "all elements"
            ) from error
    _check_nulls(frame)
    found = [getattr(kind, "numpy_dtype", kind) for kind in frame.dtypes]
    kinds: list[np.dtype[Any]] = [
        kind for kind in found if isinstance(kind, np.dtype) and kind.kind in "biufc"
    ]
    if kinds and len(kinds) == len(found):
        array = frame.to_numpy(np.result_type(*kinds))
        _check_exact(frame, kinds, array)
        return array
    array = frame.to_numpy()
    if array.dtype.kind == "O":
        names = ", ".join(sorted({str(kind) for kind in frame.dtypes}))
        raise DTypeError(
            f"columns of types {names} are no matrix of numbers or times: take one at a time, frame['name']"
        )
    return array


def _check_exact(frame: "pd.DataFrame", kinds: "list[np.dtype[Any]]", array: Array) -> None:
    """Raise if integers are too large for the floats that stand beside them."""
    if array.dtype.kind not in "fc" or not len(array):
        return
    floats: Any = array.dtype
    most = 2 ** (np.finfo(floats).nmant + 1)
    for place, kind in enumerate(kinds):
        if kind.kind in "iu" and np.iinfo(kind).max > most:
            column: Any = cast("Any", frame).iloc[:, place]
            if max(int(column.max()), -int(column.min())) > most:
                raise ConversionError(
                    f"column {place} has integers of {kind} that {array.dtype} does not hold: take one "
                    f"column at a time, frame['name'], or round them, frame.astype({str(array.dtype)!r})"
                )


def _column_of(given: "pd.Series | pd.Index") -> object:
    """Return what `as_tensor` knows: an array, or an array of Arrow."""
    import pandas as pd  # noqa: PLC0415 - it is loaded, or there would be nothing to read

    kind = given.dtype
    if isinstance(kind, np.dtype) and kind.kind != "O":
        return given.to_numpy()
    if isinstance(kind, pd.CategoricalDtype | pd.DatetimeTZDtype | pd.PeriodDtype | pd.IntervalDtype):
        raise DTypeError(
            f"tensors have no elements of type {kind}: cat.codes are the numbers of categories, "
            "dt.tz_localize(None) drops a zone, periods have start_time, intervals left and right"
        )
    if isinstance(kind, pd.SparseDtype):
        return np.asarray(given)
    if not isinstance(kind, np.dtype | pd.ArrowDtype | pd.StringDtype) and hasattr(kind, "numpy_dtype"):
        _check_nulls(given)
        return given.to_numpy(kind.numpy_dtype)
    import pyarrow as pa  # noqa: PLC0415 - an extra, and heavy

    try:
        return pa.array(given, from_pandas=True)
    except (ValueError, TypeError) as error:
        raise DTypeError(f"objects of pandas that Arrow has no type for: {error}") from error


def _check_nulls(given: "pd.Series | pd.DataFrame | pd.Index") -> None:
    """Raise if something is missing that is no number: a NaN of floats is one."""
    import pandas as pd  # noqa: PLC0415 - it is loaded, or there would be nothing to read

    kinds: Iterable[object] = given.dtypes if isinstance(given, pd.DataFrame) else [given.dtype]
    if all(isinstance(kind, np.dtype) for kind in kinds):
        return
    missing = int(np.count_nonzero(np.asarray(given.isna())))
    if missing:
        raise ConversionError(
            f"{missing} of {given.size} elements are missing, which only strings can be: fillna() or "
            "dropna() first"
        )


def _placed(tensor: Tensor[Any], *indexes: "pd.Index") -> Tensor[Any]:
    """Return the tensor where the indexes begin, with their names, if they count up by one."""
    import pandas as pd  # noqa: PLC0415 - it is loaded, or there would be nothing to read

    for index in indexes:
        if isinstance(index, pd.MultiIndex):
            raise ConversionError(
                f"an index of the levels {list(index.names)} would be lost: reset_index(drop=True) drops it, "
                "and unstack() makes a level the columns"
            )
    names = usable_names([index.name for index in indexes])
    found = tensor.named(*names, *[None] * (tensor.rank - len(names))) if any(names) else tensor
    firsts = [index.start if isinstance(index, pd.RangeIndex) and index.step == 1 else 0 for index in indexes]
    return found.translate_to((*firsts, *[0] * (tensor.rank - len(firsts)))) if any(firsts) else found
