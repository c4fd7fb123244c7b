"""Create tensors from other objects: arrays, nested lists, buffers, rows of any lengths."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, SupportsIndex, cast, overload

import numpy as np
from numpy.typing import DTypeLike

from tensorwrapper._arguments import check_null_rows, to_dtype
from tensorwrapper._arrays import are_integers, unmasked_array
from tensorwrapper._compiled import numbers_of
from tensorwrapper._hints import wrong_call
from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import (
    as_dense,
    check_dtype,
    check_write,
    convert_elements,
    copy_elements,
    holds_strings,
    join_elements,
    packed_layout,
)
from tensorwrapper.errors import (
    ConversionError,
    DataFileError,
    DTypeError,
    RankError,
    TensorWrapperError,
)
from tensorwrapper.layout.lowlevel import Strided, row_major_layout, wrap_layout
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import make_smooth, wrap
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor._lazy_imports import read_foreign, view_of
from tensorwrapper.tensor._tensor import Tensor, make_dense, make_tensor
from tensorwrapper.tensor._tensor_base import guard
from tensorwrapper.tensor.creation._from_buffer import from_buffer, plain_array
from tensorwrapper.tensor.creation._to_nullable import buffer_beside_valid, make_nullable
from tensorwrapper.tensor.protocols._labelled import labelled_shape
from tensorwrapper.tensor.protocols._null_lists import has_null, is_row, split_nulls, with_empty_rows
from tensorwrapper.tensor.protocols._protocols import is_arrow, is_sparse_array
from tensorwrapper.tensor.protocols._row_arrays import join_rows
from tensorwrapper.typing import Array, DType, NullRows, Rank1, Rank2, Rank3, UnknownRank
from tensorwrapper.typing import IndexT_co as J
from tensorwrapper.typing import ScalarT_co as S

if TYPE_CHECKING:
    from tensorwrapper.buffer import ArrowArrayLike, ArrowStreamLike
    from tensorwrapper.selection import View
from tensorwrapper.tensor.operators._promotion import promoted


@overload
def as_tensor(
    value: "View[S, J] | Tensor[S, J] | np.ndarray[J, np.dtype[S]]",
    *,
    copy: bool | None = None,
    null_rows: NullRows = ...,
) -> Tensor[S, J]:
    """Return `value` as a tensor (over a box, unless it is one already), sharing its memory if possible."""


@overload
def as_tensor(
    value: Sequence[complex], *, copy: bool | None = None, null_rows: NullRows = ...
) -> Tensor[Any, Rank1]: ...
@overload
def as_tensor(
    value: Sequence[Sequence[complex]], *, copy: bool | None = None, null_rows: NullRows = ...
) -> Tensor[Any, Rank2]: ...
@overload
def as_tensor(value: object, *, copy: bool | None = None, null_rows: NullRows = ...) -> Tensor[Any]: ...
def as_tensor(
    value: object,
    *odd: object,
    copy: bool | None = None,
    null_rows: NullRows = "refuse",
    **named: object,
) -> Tensor[Any]:
    """Return `value` as a tensor (over a box, unless it is one already), sharing its memory if possible.

    Parameters
    ----------
    value
        A tensor, a view (which is computed, and keeps its kind of shape and its origin), a NumPy array,
        anything with ``__dlpack__`` or ``__array__`` or the buffer protocol, or numbers in nested lists of
        equal lengths (`jagged` takes other ones). Hidden elements of a masked array, missing ones
        of pandas and Awkward Array, and nulls of Arrow become nulls, or NaT among times. A sparse array of
        SciPy or of pydata/sparse gives a sparse tensor, which shares no memory. An Arrow array of numbers or
        strings, or of lists of them, gives a tensor over its memory, jagged if there are lists.
    copy
        True: always copy. False: raise rather than copy. None: copy only where no view is possible.
    null_rows
        Whether a null where a row is expected is refused, or becomes an empty row.

    Raises
    ------
    DTypeError
        If tensors cannot hold such elements: objects, text (which `strings` takes), structures; or if a
        list has dates and durations.
    ConversionError
        If the value has ragged rows, or nulls for rows; or `copy` is False and only a copy can be given.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(6.0).reshape(2, 3)
    >>> t = as_tensor(x)
    >>> t.shape, np.shares_memory(np.asarray(t), x)
    (Shape(2, 3), True)
    >>> as_tensor([3, None, 1]).null_count
    1
    """
    if odd or named:
        raise wrong_call("tensor", "as_tensor", *odd, **named)
    plain = type(value) is np.ndarray
    if plain and not copy and cast("Array", value).flags.c_contiguous:
        return _over_run(cast("Array", value))
    if null_rows != "refuse":
        check_null_rows(null_rows)
    if isinstance(value, Tensor):
        tensor = cast("Tensor[Any]", value)
        return tensor.copy() if copy else tensor
    if copy is not False and isinstance(value, TensorCommon):
        # Handle views first, because an array would lose rows, tiles, origin and strings.
        return cast("Tensor[Any]", value._as_operand())
    if isinstance(value, np.ma.MaskedArray):
        return _of_masked(cast("Any", value), copy=copy)
    if not plain and (found := _by_protocol(value, copy=copy, null_rows=null_rows)) is not None:
        return found
    try:
        array = _as_array(value, copy=copy)
        _check_elements(array)
    except (ConversionError, DTypeError):
        # For lists with None, NumPy creates an object array or raises.
        if not isinstance(value, list | tuple) or not has_null(cast("object", value)):
            raise
        return _with_nulls(cast("Sequence[object]", value), null_rows)
    return _over_array(array, copy=copy)


def _over_array(array: Array, *, copy: bool | None) -> Tensor[Any]:
    """Return a tensor over an array; one that has no strides in elements is copied."""
    if copy:
        array = copy_elements(array)
    try:
        buffer, strides, offset = as_dense(array)
    except ConversionError:
        if copy is False:
            raise
        buffer, strides, offset = as_dense(copy_elements(array))
    shape = wrap(make_smooth(array.shape, (0,) * array.ndim))
    layout = wrap_layout(Strided(shape, strides, offset))
    return make_tensor(layout, guard(layout, buffer))


def _of_masked(value: "np.ma.MaskedArray[Any, Any]", *, copy: bool | None) -> Tensor[Any]:
    """Return the tensor of a masked array: hidden elements become nulls, in a copy."""
    array: Array = np.asarray(value.data)
    if array.dtype.kind in "SUTO" or array.dtype.names:
        value = cast("Any", unmasked_array(value))
    _check_elements(array)
    valid = ~np.ma.getmaskarray(value)
    if valid.all():
        return _over_array(array, copy=copy)
    if copy is False:
        raise ConversionError("which elements a mask hides is copied; copy=False cannot be kept")
    buffer = buffer_beside_valid(copy_elements(array).reshape(-1), valid.reshape(-1))
    return make_tensor(packed_layout(Shape(*array.shape)), buffer)


def _with_nulls(value: "Sequence[object]", null_rows: NullRows) -> Tensor[Any]:
    """Return the tensor of lists that have a None for an element, or for a row."""
    if null_rows == "empty" and any(map(is_row, value)):
        return jagged(with_empty_rows(value))
    values, marks = split_nulls(value)
    return make_nullable(as_tensor(values), as_tensor(marks).elements())


def _by_protocol(value: object, *, copy: bool | None, null_rows: NullRows = "refuse") -> Tensor[Any] | None:
    """Return a tensor of an object whose protocol has more than elements; None for others."""
    foreign: Tensor[Any] | None = read_foreign(value, copy, null_rows)
    if foreign is not None:
        return foreign
    if hasattr(type(value), "__fields__"):
        name = cast("Any", value).names[0]
        raise ConversionError(f"records are one tensor for each field: `r[{name!r}]` is the first")
    if copy is not False and getattr(type(value), "as_source", None) is not None:
        # Rows that lie elsewhere. Those of a collection of Dask may have nulls, which are known then.
        if hasattr(type(value), "__dask_graph__"):
            return cast("Tensor[Any]", cast("Any", value).compute())
        return cast("Tensor[Any]", view_of(value).compute())
    if copy is not False and type(value).__module__.startswith("dask.array"):
        # NumPy would drop a mask, and does not support sparse arrays.
        return as_tensor(cast("Any", value).compute(), copy=copy)
    shape = labelled_shape(value)
    if shape is not None:
        found = as_tensor(_unlabelled(value, copy=copy), copy=copy).translate_to(shape.origin)
        return found.named(*shape.names)
    if is_sparse_array(value):
        from tensorwrapper.tensor.creation._sparse_convert import from_sparse_array  # noqa: PLC0415

        return from_sparse_array(value, copy=copy)
    return tensor_from_arrow(value, copy=copy, null_rows=null_rows) if is_arrow(value) else None


def _unlabelled(value: object, *, copy: bool | None) -> object:
    """Return the data of an array with names and labels, if an array of NumPy would lose something."""
    held: object = getattr(value, "data", None)
    if copy is not False and (type(held).__module__.startswith("dask.array") or is_sparse_array(held)):
        return held
    return _as_array(value, copy=copy)


def _over_run(array: Array) -> Tensor[Any]:
    """Return a tensor over an array without gaps: the fast path for most arrays."""
    _check_elements(array)
    return make_dense(row_major_layout(array.shape), array.reshape(-1))


def _check_elements(array: Array) -> None:
    try:
        check_dtype(array.dtype)
    except DTypeError as error:
        if array.dtype.kind == "O" and array.ndim == 1 and (advice := _why_no_array(array, None)):
            raise DTypeError(f"elements of type object make no array: {advice}") from error
        raise


def tensor_from_arrow(
    value: "ArrowArrayLike | ArrowStreamLike", *, copy: bool | None, null_rows: NullRows = "refuse"
) -> Tensor[Any]:
    """Return a tensor over the memory of Arrow arrays, read-only unless of strings."""
    from tensorwrapper.buffer import StringData, Strings  # noqa: PLC0415 - what few arrays need
    from tensorwrapper.tensor.protocols._arrow_values import read_arrow  # noqa: PLC0415

    # String data speaks Arrow as well, but only with pyarrow at hand.
    if isinstance(value, StringData):
        return make_tensor(packed_layout(Shape(len(value))), Strings(value))
    found = read_arrow(value, null_rows)
    elements = found.elements
    if isinstance(elements, StringData):
        buffer: BufferCommon[Any] = Strings(elements)
    elif copy is False and (found.valid is not None or (elements.size and elements.flags.owndata)):
        raise ConversionError(
            "truth values, nulls and days of Arrow, lists in another order than their elements, and several "
            "arrays in a row are copied; copy=False cannot be kept"
        )
    else:
        buffer = buffer_beside_valid(elements, found.valid)
    tensor: Tensor[Any] = make_tensor(packed_layout(found.shape), buffer)
    tensor = tensor if found.order is None else tensor.permute(found.order)
    return tensor.copy() if copy else tensor


def _as_array(value: object, *, copy: bool | None) -> Array:
    if type(value) is np.ndarray:
        return value
    if isinstance(value, np.ndarray):
        return plain_array(cast("Array", value))
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return np.from_dlpack(cast("Any", value))
    if isinstance(value, bytes | bytearray | memoryview):
        try:
            return np.asarray(memoryview(cast("bytes", value)))
        except ValueError as error:
            name = type(cast("object", value)).__name__
            raise ConversionError(f"a {name} gives no elements: {error}") from error
    return _read_array(value, copy=copy)


def _read_array(value: object, *, copy: bool | None) -> Array:
    """Return the array from an object's protocol."""
    name = type(value).__name__
    try:
        extents: object = getattr(value, "shape", ())
    except RuntimeError as error:
        raise DataFileError(f"a {name} does not say its extents ({error}): its file was closed") from error
    if extents is None:
        raise ConversionError(f"a {name} without extents has no elements: a null dataspace makes no tensor")
    try:
        return unmasked_array(value, copy=False if copy is False else None)
    except DTypeError:
        raise
    except TypeError as error:
        raise ConversionError(f"a {name} does not make an array: {error}") from error
    except ValueError as error:
        if copy is False:
            raise ConversionError(f"a {name} has no memory to share; copy=False cannot be kept") from error
        raise ConversionError(f"a {name} does not make an array: {_why_no_array(value, error)}") from error


def _why_no_array(value: object, error: Exception | None) -> str:
    """Return NumPy's error, with `jagged` as advice if that accepts the value."""
    if isinstance(value, Iterable):
        try:
            jagged(cast("Iterable[object]", value))
        except TensorWrapperError as other:
            return "" if error is None else str(other)
        return "rows of different lengths make a jagged tensor: use jagged()"
    return "" if error is None else str(error)


@overload
def jagged(rows: "Iterable[np.ndarray[UnknownRank, np.dtype[S]] | Tensor[S, UnknownRank]]") -> Tensor[S]:
    """Return a jagged tensor from nested lists, or from arrays of one rank; the elements are copied."""


@overload
def jagged(rows: "Iterable[np.ndarray[Rank1, np.dtype[S]] | Tensor[S, Rank1]]") -> Tensor[S, Rank2]: ...
@overload
def jagged(rows: Iterable[Sequence[complex]], *, dtype: "DType[S]") -> Tensor[S, Rank2]: ...
@overload
def jagged(rows: Iterable[Sequence[complex]], *, dtype: DTypeLike | None = None) -> Tensor[Any, Rank2]: ...
@overload
def jagged(
    rows: Iterable[Sequence[Sequence[complex]]], *, dtype: DTypeLike | None = None
) -> Tensor[Any, Rank3]: ...
@overload
def jagged(rows: Iterable[object], *, dtype: "DType[S]") -> Tensor[S]: ...
@overload
def jagged(rows: Iterable[object], *, dtype: DTypeLike | None = None) -> Tensor[Any]: ...
def jagged(rows: Iterable[object], *, dtype: DTypeLike | None = None) -> Tensor[Any]:
    """Return a jagged tensor from nested lists, or from arrays of one rank; the elements are copied.

    Linear in the elements; rows of plain numbers are converted all at once.

    Parameters
    ----------
    rows
        Numbers in nested lists whose lengths may differ, or arrays or tensors whose extents may differ,
        possibly in nested lists too; or one object of lists: of Awkward Array, Arrow, PyTorch, pandas.
        Tensors that are boxes are cells where they were: windows keep their origins.
    dtype
        The type of the elements; the common one if not given.

    Raises
    ------
    RankError
        If rows have different ranks, or there is no row at all.
    DTypeError
        If tensors cannot hold such elements: objects, text, structures; or if they are of another kind than
        `dtype`: floats for integers. ``astype`` drops fractions.
    SizeOverflowError
        If an element is not in the range of `dtype`.
    ConversionError
        If a row is neither a list nor an array, mixes numbers and lists, or would lose a mask.

    Examples
    --------
    >>> t = jagged([[1, 2, 3], [4], [5, 6]])
    >>> t.shape, t[2].tolist()
    (Shape.jagged([3, 1, 2]), [5, 6])
    """
    rows = rows if isinstance(rows, list | tuple) else _objects_of(rows)
    foreign = None if isinstance(rows, list | tuple) else _by_protocol(rows, copy=True)
    if foreign is not None:
        return _as_rows(foreign, dtype)
    if not isinstance(cast("object", rows), Iterable) or getattr(rows, "ndim", None) == 0:
        raise ConversionError(f"jagged takes a sequence of rows, not {rows!r}")
    given = list(rows)
    if any(kind not in _ROWS for kind in set(map(type, given))):
        given = list(map(_as_row, given))
    if not given:
        raise RankError("jagged needs a row to tell the rank; from_buffer makes a tensor of no rows")
    wanted = None if dtype is None else to_dtype(dtype)
    if wanted is not None:
        check_dtype(wanted)
    return _of_rows(given, wanted)


def _of_rows(given: list[object], wanted: "np.dtype[Any] | None") -> Tensor[Any]:
    """Return the tensor of rows, which are lists, arrays or tensors."""
    if wanted is None and _has_text(given):
        from tensorwrapper.tensor.creation._string_convert import strings  # noqa: PLC0415 - for text alone

        return strings(given)
    joined = join_rows(given) if wanted is None else None
    if joined is not None:
        return _where_they_were(from_buffer(*joined), given)
    plain = _of_numbers(given, wanted)
    if plain is not None:
        return plain
    if any(map(has_null, given)):
        values, marks = split_nulls(given, wanted)
        return make_nullable(jagged(values, dtype=wanted), jagged(marks, dtype=np.bool_).elements())
    if any(isinstance(row, Tensor) and row.is_nullable for row in given):
        rows_: list[Any] = [as_tensor(row) for row in given]
        valid = [own.is_valid() for own in rows_]
        return make_nullable(
            jagged([own.fill_null(0) for own in rows_], dtype=wanted), jagged(valid).elements()
        )
    return _of_nested(given, wanted)


def _has_text(rows: list[object]) -> bool:
    """Return True if a row is a tensor of strings."""
    # Many rows are of few types, so that most are not visited.
    return Tensor in set(map(type, rows)) and any(
        isinstance(row, Tensor) and holds_strings(row.dtype) for row in rows
    )


def _of_numbers(rows: list[object], wanted: "np.dtype[Any] | None") -> Tensor[Any] | None:
    """Return a tensor of rows given as lists of numbers; None for other rows."""
    found = numbers_of(rows) if wanted is None else None
    if found is not None:
        return from_buffer(found[0], Shape.jagged(found[1]))
    if not {list, tuple}.issuperset(map(type, rows)):
        return None
    lists = cast("list[Sequence[object]]", rows)
    kinds = set(map(type, chain.from_iterable(lists)))
    if not kinds or not all(issubclass(kind, _NUMBERS) for kind in kinds):
        return None
    lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    if kinds == {float} and wanted is None:
        numbers = chain.from_iterable(cast("list[list[float]]", lists))
        return from_buffer(np.fromiter(numbers, np.float64, int(lengths.sum())), Shape.jagged(lengths))
    flat = _as_leaf(list(chain.from_iterable(lists)), wanted)
    return from_buffer(join_elements([flat], wanted or flat.dtype), Shape.jagged(lengths))


def _of_nested(given: list[object], wanted: "np.dtype[Any] | None") -> Tensor[Any]:
    """Return the tensor of rows that are lists of lists, arrays or tensors."""
    leaves: list[Array] = []
    depth = max(map(_depth_of, given))
    sizes = [_shapes_of(row, depth, leaves, wanted) for row in given]
    try:
        shape = Shape.jagged(sizes)
    except ConversionError as error:
        # The only possible error here: lengths mixed with shapes, or with lists of lengths.
        shapes = [_shape_of_row(own, depth) for own in sizes]
        row = next((k for k, own in enumerate(shapes) if own.rank != shapes[0].rank), None)
        if row is not None:
            raise RankError(
                f"rows of different ranks make no jagged tensor: row 0 has rank {shapes[0].rank}, and row "
                f"{row} rank {shapes[row].rank}"
            ) from error
        shape = Shape.jagged(shapes)
    common = _common_dtype(leaves, given) if wanted is None else wanted
    check_dtype(common)
    return _where_they_were(from_buffer(_joined(leaves, common), shape), given)


def _objects_of(value: "Iterable[object]") -> "Iterable[object]":
    """Return the elements of a 1-d xarray or netCDF4 array as rows, and a memoryview as an array of rows."""
    given: Any = value
    if isinstance(given, memoryview):
        return np.asarray(given)  # Python has no rows of several modes.
    dtype: object = getattr(given, "dtype", None)
    extents: object = getattr(given, "shape", None)
    if isinstance(given, np.ndarray) or not isinstance(extents, tuple):
        return value
    if len(cast("tuple[object, ...]", extents)) != 1:
        return value
    is_objects = isinstance(dtype, np.dtype) and dtype.kind == "O" and not dtype.metadata
    if hasattr(given, "iloc") or not (is_objects or getattr(given, "_isvlen", False)):
        # Objects of pandas and h5py are read by other functions.
        return value
    return cast("list[object]", np.asarray(given[...], dtype=object).tolist())


def _joined(leaves: list[Array], dtype: "np.dtype[Any]") -> Array:
    # Finer time units cover fewer years; other common dtypes hold all values.
    fitting = [convert_elements(own, dtype, copy=False) for own in leaves] if dtype.kind in "mM" else leaves
    return join_elements(fitting, dtype)


def _where_they_were(made: Tensor[Any], rows: list[object]) -> Tensor[Any]:
    """Return rows with the origins of the boxes from which they were created."""
    boxes = [row.shape for row in rows if type(row) is Tensor and row.shape.is_box]
    if len(boxes) < len(rows) or not any(any(box.origin) for box in boxes):
        return made
    return from_buffer(made.elements(), Shape.jagged(boxes))


def _as_rows(tensor: Tensor[Any], dtype: DTypeLike | None) -> Tensor[Any]:
    """Return a new tensor as rows, of this type if one is given."""
    shape = tensor.shape
    if tensor.buffer.sides is not None:
        filled = _as_rows(tensor.fill_null(np.zeros((), tensor.dtype)[()]), dtype)
        return make_nullable(filled, tensor.is_valid().elements())
    elements = tensor.elements()
    if dtype is not None:
        elements = check_write(elements, to_dtype(dtype))
    return from_buffer(elements, shape.as_jagged() if shape.is_box else shape)


_ROWS = frozenset((list, tuple, np.ndarray, Tensor))


_ONE: object = (1,)


def _as_row(row: object) -> object:
    """Return an array of another library, a view, or an array of lists in a form for rows."""
    if isinstance(row, np.ndarray) and cast("Array", row).dtype.kind == "O":
        return cast("Array", row).tolist()
    known = (Sequence, np.ndarray, Tensor, *_NUMBERS, memoryview, bytearray)
    if isinstance(row, known):
        return cast("object", row)
    # A number of an array has extents as well.
    extents: object = getattr(row, "shape", _ONE)
    return _row_of(row) if extents else row


def _row_of(row: object) -> object:
    is_array = hasattr(row, "shape") or hasattr(row, "__array__") or is_arrow(row)
    return as_tensor(row) if is_array else row


_NUMBERS = (int, float, complex, np.number, np.bool_)


def _as_leaf(numbers: object, dtype: "np.dtype[Any] | None") -> Array:
    """Return numbers as a flat array of this dtype; raise if one does not fit."""
    try:
        # Without a dtype: given one, NumPy would parse text as numbers.
        leaf = unmasked_array(numbers)
    except ValueError as error:
        raise ConversionError(f"a row mixes numbers and lists: {numbers!r}") from error
    if leaf.ndim != 1:
        raise ConversionError(f"a row mixes numbers and lists: {numbers!r}")
    _check_leaf(leaf)
    if dtype is None or not leaf.size:
        # An empty list has no dtype.
        return leaf if dtype is None else np.empty(0, dtype)
    return check_write(leaf, dtype, weak=not isinstance(numbers, np.ndarray))


def _check_leaf(leaf: Array) -> None:
    """Raise if elements of a row are not supported; NaT without a unit takes on that of other rows."""
    if leaf.dtype != np.dtype("M8"):
        check_dtype(leaf.dtype)


def _common_dtype(leaves: list[Array], given: list[object]) -> "np.dtype[Any]":
    # An empty list has no dtype: it must not turn integers into floats.
    full = [leaf for leaf in leaves if leaf.size]
    dtypes = {leaf.dtype for leaf in full or leaves}
    if dtypes == {np.dtype(np.int64), np.dtype(np.uint64)} and are_integers(given):
        return unmasked_array([bound for leaf in full for bound in (int(leaf.min()), int(leaf.max()))]).dtype
    return promoted(dtypes, "jagged") if dtypes else np.dtype(np.float64)


def _depth_of(row: object) -> int:
    """Return the number of modes of a row, as far as its lists and arrays determine it."""
    row = _as_row(row)
    if isinstance(row, Tensor):
        return cast("Tensor[Any]", row).rank
    if isinstance(row, np.ndarray):
        return cast("Array", row).ndim
    if not isinstance(row, Sequence) or isinstance(row, str | bytes):
        return 0
    return 1 + max(map(_depth_of, cast("Sequence[object]", row)), default=0)


def _shapes_of(
    row: object, depth: int, leaves: list[Array], dtype: "np.dtype[Any] | None"
) -> "Shape[Any] | SupportsIndex | list[Any]":
    """Return the description of a row for `Shape.jagged`, and append its elements to `leaves`."""
    row = _as_row(row)
    if isinstance(row, Tensor):
        tensor = cast("Tensor[Any]", row)
        if not tensor.shape.is_box and not tensor.is_sparse and tensor.dtype.kind not in "TO":
            # Rows of rows.
            leaf = tensor.elements()
            leaves.append(leaf if dtype is None else check_write(leaf, dtype))
            return tensor.shape.translate_to((0,) * tensor.rank)
        row = tensor.to_numpy()
    if isinstance(row, np.ndarray):
        leaf = plain_array(cast("Array", row))
        _check_leaf(leaf)
        leaves.append(leaf if dtype is None else check_write(leaf, dtype))
        return Shape.smooth(leaf.shape) if leaf.ndim > 1 else _length(leaf)
    if not isinstance(row, Sequence) or isinstance(row, str | bytes):
        raise ConversionError(f"a row of a jagged tensor is a list or an array, not {row!r}")
    items = cast("Sequence[object]", row)
    # An empty list has no depth; its siblings determine it.
    items = list(map(_as_row, items)) if depth > 1 else items
    if depth > 1 and all(isinstance(item, Sequence | np.ndarray | Tensor) for item in items):
        return [_shapes_of(item, depth - 1, leaves, dtype) for item in items]
    leaves.append(_as_leaf(items, dtype))
    return len(items)


def _shape_of_row(told: "Shape[Any] | SupportsIndex | list[Any]", depth: int) -> Shape[Any]:
    """Return the shape of a row from the facts of `_shapes_of`; one without rows may have any depth."""
    if isinstance(told, Shape):
        return told
    if not isinstance(told, list):
        return Shape(told)
    if not told:
        return Shape.from_offsets(*[[0]] * (depth - 1))
    rows = cast("list[Shape[Any] | SupportsIndex | list[Any]]", told)
    plain = all(not isinstance(own, Shape | list) for own in rows)
    return Shape.jagged(cast("list[int]", rows) if plain else [_shape_of_row(own, depth - 1) for own in rows])


def _length(leaf: Array) -> SupportsIndex:
    if not leaf.ndim:
        raise ConversionError("a row of a jagged tensor has at least one mode, not a single number")
    return len(leaf)
