"""Convert to and from pandas: a frame with one dtype is a matrix."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tensorwrapper._arguments import check_null_rows
from tensorwrapper._arrays import numpy_kind
from tensorwrapper._error_text import with_article
from tensorwrapper.buffer.lowlevel import holds_strings
from tensorwrapper.errors import ConversionError, DTypeError
from tensorwrapper.interop._arrow import to_arrow
from tensorwrapper.interop._operand import (
    Marks,
    TensorLike,
    check_unit,
    elements_of,
    native,
    tensor_of,
    times_in_range,
)
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import usable_names
from tensorwrapper.tensor import Tensor, as_tensor, from_buffer
from tensorwrapper.tensor.lowlevel import buffer_beside_valid
from tensorwrapper.typing import Array, NullRows

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def to_pandas(value: TensorLike) -> "pd.Series | pd.DataFrame":
    """Return the tensor as a series, or as a frame if it is a matrix; numbers stay in their memory.

    Rows of any lengths and strings are a series of Arrow's lists and text; a sparse matrix is a frame of
    sparse columns. Where there may be nulls, numbers are of pandas' masked types, as ``Int64``. Origin and
    name of the first mode are those of the index, those of the second of the columns.

    Raises
    ------
    ConversionError
        If the tensor is not a table: a box of another rank than 1 and 2, or sparse and no matrix.
    DTypeError
        If pandas has no such elements.
    SizeOverflowError
        If it has times beyond those that pandas counts in seconds.
    ModuleNotFoundError
        If pandas, or its dependency for lists (pyarrow) or sparse columns (SciPy), is not installed.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> tw.jagged([[1, 2], [3]]).to_pandas().list.len().tolist()
    [2, 1]
    """
    tensor = tensor_of(value)
    check_unit(tensor.dtype, "pandas")
    with times_in_range(tensor.dtype, "pandas"):
        return _made(tensor)


def _made(tensor: Tensor[Any]) -> "pd.Series | pd.DataFrame":
    import pandas as pd  # noqa: PLC0415 - heavy, and not needed for the rest

    shape = tensor.shape
    is_box = shape.is_box
    if (
        not shape.rank
        or (is_box and shape.rank > 2)
        or (tensor.is_sparse and not (is_box and shape.rank == 2))
    ):
        raise ConversionError(
            f"a tensor of shape {shape!r} is not a table: reshape() and merge_modes() make it a matrix, "
            "to_dense() has all elements of a sparse one"
        )
    name = shape.names[0]
    first = shape.origin_at(())
    index = pd.RangeIndex(first, first + shape.extent(0), name=name)
    if not is_box or holds_strings(tensor.dtype):
        found = to_arrow(tensor)
        return pd.Series(pd.arrays.ArrowExtensionArray(found), index=index)
    elements, valid = (None, None) if tensor.buffer.sides is None else elements_of(tensor)
    if shape.rank == 1:
        column = _array_of(tensor) if elements is None else _masked(elements, valid)
        return pd.Series(column, index=index, copy=False)
    first = shape.origin[1]
    columns = pd.RangeIndex(first, first + shape.extents[1], name=shape.names[1])
    if tensor.is_sparse:
        return pd.DataFrame.sparse.from_spmatrix(tensor.to_scipy(), index=index, columns=columns)
    if elements is not None and valid is not None:
        # Build column by column, as pandas stores them.
        table, marks = [own.reshape(shape.extents).T.copy() for own in (elements, valid)]
        made = {first + place: _masked(*own) for place, own in enumerate(zip(table, marks, strict=True))}
        return pd.DataFrame(made, index=index, columns=columns, copy=False)
    return pd.DataFrame(_array_of(tensor), index=index, columns=columns, copy=False)


def _masked(elements: Array, valid: "Marks | None") -> "pd.api.extensions.ExtensionArray | Array":
    """Return a column with missing elements."""
    import pandas as pd  # noqa: PLC0415 - it is loaded, or there would be nothing to read

    kind = elements.dtype
    missing = np.zeros(len(elements), np.bool_) if valid is None else ~valid
    if kind.kind in "mM":
        return np.where(missing, np.array("NaT", kind), elements)
    if kind.kind == "b":
        return pd.arrays.BooleanArray(elements, missing)
    if kind.kind in "iu":
        return pd.arrays.IntegerArray(native(elements), missing)
    if kind.kind == "f" and kind.itemsize in (4, 8):
        return pd.arrays.FloatingArray(native(elements), missing)
    if kind.kind == "f":
        # pandas has no masked 16-bit float dtype, but Arrow has one.
        half = from_buffer(buffer_beside_valid(elements, valid), Shape(len(elements)))
        return pd.arrays.ArrowExtensionArray(to_arrow(half))
    raise DTypeError(f"pandas has no missing elements of type {kind}: fill_null(0) replaces them")


def _array_of(tensor: Tensor[Any]) -> "np.ndarray[Any, np.dtype[Any]]":
    if numpy_kind(tensor.dtype) == "V" or tensor.dtype.itemsize > 16:
        raise DTypeError(f"pandas has no elements of type {tensor.dtype}: astype(np.float32) holds them")
    return np.asarray(tensor)


def from_pandas(
    given: "pd.Series | pd.DataFrame | pd.Index",
    *,
    copy: bool | None = None,
    null_rows: NullRows = "refuse",
) -> Tensor[Any]:
    """Return a series, a frame or an index of pandas as a tensor.

    Numbers and times keep their memory; text, and lists of Arrow, become strings and rows. Missing
    elements of masked types (``Int64``), of Arrow's types and of objects become nulls; NaN stays a float.
    Where the index counts up by one, it begins where the tensor's first mode does; its name, and that of the
    columns, are names of modes.

    Parameters
    ----------
    given
        The object, of one type; convert a frame of several types column by column.
    copy
        Whether elements are copied: where they must be (None), always, or never.
    null_rows
        Whether a missing list is refused, or becomes an empty row.

    Raises
    ------
    ConversionError
        If a list is missing; if elements must be copied and `copy` is False; if an index has several levels.
    DTypeError
        If tensors have no such elements: categories, times of a zone, objects.
    """
    import pandas as pd  # noqa: PLC0415 - it is loaded, or there would be nothing to read

    check_null_rows(null_rows)
    if isinstance(given, pd.DataFrame):
        return _placed(_matrix_of(given, copy), given.index, given.columns)
    if isinstance(given, pd.api.extensions.ExtensionArray):
        return _column_of(pd.Series(given, None, copy=False), copy, null_rows)
    if not isinstance(cast("object", given), pd.Series | pd.Index):
        raise ConversionError(
            f"{with_article(type(given).__name__)} holds no elements of pandas: allowed are series, frames, "
            "indexes and their arrays; to_numpy() of a time is one of NumPy"
        )
    if isinstance(given, pd.MultiIndex):
        raise ConversionError(
            "an index of several levels is one tensor for each: get_level_values(0) is the first"
        )
    found = _column_of(given, copy, null_rows)
    return found if isinstance(given, pd.Index) else _placed(found, given.index)


def _matrix_of(frame: "pd.DataFrame", copy: bool | None) -> Tensor[Any]:  # noqa: FBT001
    if all(hasattr(kind, "subtype") for kind in frame.dtypes) and len(frame.columns):
        try:
            return as_tensor(frame.sparse.to_coo(), copy=copy)
        except ValueError as error:
            raise ConversionError(
                f"sparse columns whose other elements are not all 0: {error}; frame.sparse.to_dense() has "
                "all elements"
            ) from error
    found = [getattr(kind, "numpy_dtype", kind) for kind in frame.dtypes]
    kinds: list[np.dtype[Any]] = [
        kind for kind in found if isinstance(kind, np.dtype) and kind.kind in "biufc"
    ]
    if kinds and len(kinds) == len(found):
        if not all(isinstance(kind, np.dtype) for kind in frame.dtypes):
            return _columns_of(frame, kinds, copy)
        array = frame.to_numpy(np.result_type(*kinds))
        _check_exact([cast("Any", frame).iloc[:, place] for place in range(len(kinds))], kinds, array.dtype)
        return as_tensor(array, copy=copy)
    array = frame.to_numpy()
    if array.dtype.kind == "O":
        names = ", ".join(sorted({str(kind) for kind in frame.dtypes}))
        raise DTypeError(
            f"columns of types {names} are not a matrix of numbers or times; take one, frame['name']"
        )
    return as_tensor(array, copy=copy)


def _columns_of(frame: "pd.DataFrame", kinds: "list[np.dtype[Any]]", copy: bool | None) -> Tensor[Any]:  # noqa: FBT001
    """Return a matrix from columns, some of which may have nulls."""
    if copy is False:
        raise ConversionError("columns that may have nulls are copied; copy=False cannot be kept")
    columns = [
        elements_of(_column_of(cast("Any", frame).iloc[:, place], None, "refuse"))
        for place in range(len(kinds))
    ]
    _check_exact([own for own, _ in columns], kinds, np.result_type(*kinds))
    table = np.column_stack([own for own, _ in columns])
    marks = [np.ones(len(own), np.bool_) if valid is None else valid for own, valid in columns]
    buffer = buffer_beside_valid(table.reshape(-1), np.column_stack(marks).reshape(-1))
    return from_buffer(buffer, table.shape)


def _check_exact(columns: "list[Any]", kinds: "list[np.dtype[Any]]", common: "np.dtype[Any]") -> None:
    """Raise if integers are too large for the floats of other columns."""
    if common.kind not in "fc" or not len(columns[0]):
        return
    floats: Any = common
    most = 2 ** (np.finfo(floats).nmant + 1)
    for place, (kind, column) in enumerate(zip(kinds, columns, strict=True)):
        is_wide = kind.kind in "iu" and np.iinfo(cast("Any", kind)).max > most
        if is_wide and max(int(column.max()), -int(column.min())) > most:
            raise ConversionError(
                f"column {place} has integers of {kind} that {common} does not hold: take one column at a "
                f"time, frame['name'], or round them, frame.astype({str(common)!r})"
            )


def _column_of(
    given: "pd.Series | pd.Index",
    copy: bool | None,  # noqa: FBT001
    null_rows: NullRows,
) -> Tensor[Any]:
    """Return the tensor of one column."""
    import pandas as pd  # noqa: PLC0415 - it is loaded, or there would be nothing to read

    kind = given.dtype
    if isinstance(kind, np.dtype) and kind.kind != "O":
        return as_tensor(given.to_numpy(), copy=copy)
    if isinstance(kind, pd.CategoricalDtype | pd.DatetimeTZDtype | pd.PeriodDtype | pd.IntervalDtype):
        raise DTypeError(
            f"tensors have no elements of type {kind}: cat.codes are the numbers of categories, "
            "dt.tz_localize(None) drops a zone, periods have start_time, intervals left and right"
        )
    if isinstance(kind, pd.SparseDtype):
        return as_tensor(np.asarray(given), copy=copy)
    if not isinstance(kind, np.dtype | pd.ArrowDtype | pd.StringDtype) and hasattr(kind, "numpy_dtype"):
        missing: Marks = np.asarray(given.isna(), np.bool_)
        if not missing.any():
            return as_tensor(given.to_numpy(kind.numpy_dtype), copy=copy)
        if copy is False:
            raise ConversionError("elements with nulls among them are copied; copy=False cannot be kept")
        zero: Any = np.zeros((), kind.numpy_dtype)[()]
        elements = given.to_numpy(kind.numpy_dtype, na_value=zero)
        return from_buffer(buffer_beside_valid(elements, ~missing), Shape(len(elements)))
    import pyarrow as pa  # noqa: PLC0415 - an extra, and heavy

    try:
        found = _objects_of(given) if isinstance(kind, np.dtype) else pa.array(given, from_pandas=True)
    except OverflowError as error:
        raise DTypeError(
            "objects of pandas with integers beyond 64 bits with a sign: series.astype('u8') has those from "
            "0 to 2**64 - 1, series.astype('f8') rounds them"
        ) from error
    except (ValueError, TypeError) as error:
        raise DTypeError(f"objects of pandas that Arrow has no type for: {error}") from error
    return as_tensor(found, copy=copy, null_rows=null_rows)


def _objects_of(given: "pd.Series | pd.Index") -> "pa.Array":
    """Return objects as an Arrow array. NaN is a number unless all other elements are text."""
    import pyarrow as pa  # noqa: PLC0415 - an extra, and heavy

    items: Any = given.to_numpy()
    missing: Marks = np.asarray(given.isna(), np.bool_)
    nulls = missing.copy()
    nulls[missing] = [not isinstance(own, float) for own in items[missing]]
    try:
        return pa.array(items, mask=nulls, from_pandas=False)
    except (ValueError, TypeError):
        found = pa.array(items, mask=missing, from_pandas=False)
        if str(found.type) not in ("string", "binary"):
            raise
        return found


def _placed(tensor: Tensor[Any], *indexes: "pd.Index") -> Tensor[Any]:
    """Return the tensor with names of indexes, and the origin of ranges; labels in memory are dropped."""
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
