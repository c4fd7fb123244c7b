"""Convert to and from Arrow arrays: modes are lists, and elements are not copied."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from tensorwrapper._arguments import check_null_rows
from tensorwrapper._arrays import frozen_values
from tensorwrapper._error_text import with_article
from tensorwrapper.buffer.lowlevel import clear_nulls, holds_strings, without_gaps
from tensorwrapper.errors import ConversionError, DTypeError
from tensorwrapper.interop._operand import Marks, TensorLike, dense_of, elements_of, native
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.tensor.lowlevel import tensor_from_arrow
from tensorwrapper.typing import Array, IntArray, NullRows

if TYPE_CHECKING:
    import pyarrow as pa

ArrowForm: TypeAlias = Literal["lists", "list_views", "tensor"]
"""Form of a tensor in Arrow: nested lists, list views, or fixed-shape tensors."""


_UNITS: Final = (("s", 1), ("ms", 1), ("us", 1), ("ns", 1))
_LAST_OF_NUMPY: Final = 23  # type numbers above belong to extension dtypes


def to_arrow(value: TensorLike, form: ArrowForm = "lists") -> "pa.Array":
    """Return the tensor as an Arrow array over its first mode; O(rows), without copying elements.

    Rows are a ``large_list``, a mode of one extent in a box or behind rows is a ``fixed_size_list``; strings
    are ``large_string`` or ``large_binary``. Nulls and NaT become nulls. Truth values, which Arrow packs into
    bits, are copied; so are elements of a foreign byte order, or in another order than the row-major one.
    Values under nulls become zero, in a copy if they were not. ``shape.losses("arrow")`` lists the losses in
    Arrow: origins, names, layers and tiles.

    Parameters
    ----------
    value
        A tensor, or a view, which is computed.
    form
        "lists"; or "list_views", which have the start and the length of each list, so that rows in any order,
        as those of a gather or a slice inside rows, share memory; or "tensor": Arrow's
        ``fixed_shape_tensor``, which keeps the extents of a box and the names of all modes but the first.

    Raises
    ------
    ConversionError
        If the tensor is sparse (``to_dense()`` has all its elements) or of rank 0; if `form` is "tensor"
        and it is not a box of numbers of rank 2 or more.
    DTypeError
        If Arrow does not support the dtype: complex numbers, times of other units than s, ms, us and ns, and
        the types of ml_dtypes.
    ModuleNotFoundError
        If pyarrow is not installed.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> tw.interop.to_arrow(tw.jagged([[1, 2, 3], [], [5, 6]])).to_pylist()
    [[1, 2, 3], [], [5, 6]]
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra, and heavy

    tensor = dense_of(value, "Arrow")
    if not tensor.rank:
        raise ConversionError("an array of Arrow has a mode, and this tensor has none: item() is its element")
    if form == "tensor":
        names = tensor.shape.names[1:] if tensor.shape.is_box else ()
        said = [name or "" for name in names] if any(names) else None
        return _tensors_of(tensor, tensor.shape.extents[1:] if tensor.shape.is_box else None, said, None)
    if form == "list_views":
        return _views_of(tensor, "large_list_view")
    if form != "lists":
        raise ConversionError(
            f"an array of Arrow is made of 'lists' or 'list_views', or is a 'tensor', not {form!r}"
        )
    found = _flat_of(tensor)
    levels = tensor.shape.arrow_lists()
    # The number of lists of a level follows from the levels above, from the outside in.
    lengths = [tensor.shape.extent(0)]
    for level in levels:
        size = level.list_size
        lengths.append(int(level.offsets[-1]) if level.offsets is not None else lengths[-1] * int(size or 0))
    for level, length in zip(reversed(levels), reversed(lengths[:-1]), strict=True):
        if level.offsets is None:
            lists = pa.list_(found.type, level.list_size)
            found = pa.Array.from_buffers(lists, length, [None], 0, children=[found])
        else:
            offsets = pa.py_buffer(level.offsets)
            found = pa.Array.from_buffers(
                pa.large_list(found.type), length, [None, offsets], 0, children=[found]
            )
    return found


def to_arrow_capsules(value: TensorLike, requested: object) -> tuple[object, object]:
    """Return schema and array for Arrow's C interface, of the requested type if given.

    The same elements in other lists, views of lists, offsets or tensors are made, and numbers of another type
    if it can represent each of them. Floats are rounded to other floats.

    Raises
    ------
    ConversionError
        If the tensor cannot have the requested type. The interface also allows another type, but pyarrow 26
        raises ``AttributeError`` for one.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra, and heavy

    if requested is None:
        return to_arrow(value).__arrow_c_array__()
    wanted = pa.DataType._import_from_c_capsule(requested)
    if isinstance(wanted, pa.FixedShapeTensorType):
        order = list(wanted.permutation or range(len(wanted.shape)))
        # Mode n of the tensor is mode order[n] of the storage.
        stored = [order.index(mode) + 1 for mode in range(len(order))]
        tensor = dense_of(value, "Arrow")
        extents = [wanted.shape[mode] for mode in order]
        if not tensor.shape.is_box or list(tensor.shape.extents[1:]) != extents:
            raise ConversionError(
                f"a tensor of shape {tensor.shape!r} is not an array of tensors of {extents}"
            )
        turned = tensor.permute((0, *stored))
        return _tensors_of(turned, wanted.shape, wanted.dim_names, wanted).__arrow_c_array__()
    found = to_arrow(value)
    if "list_view" in str(wanted):
        views = _requested_views(value, wanted)
        if views is None:
            raise ConversionError(
                f"{found.type} is not handed over as {wanted}: views hold numbers, or views alike; "
                "`t.to_arrow()` has the lists"
            )
        return views.__arrow_c_array__()
    if found.type == wanted:
        return found.__arrow_c_array__()
    return without_gaps(_cast(found, wanted)).__arrow_c_array__()


def _requested_views(value: TensorLike, wanted: "pa.DataType") -> "pa.Array | None":
    """Return list views of the requested type; None if it is another type."""
    tensor = dense_of(value, "Arrow")
    inner: Any = wanted
    while getattr(inner, "value_type", None) is not None:
        inner = inner.value_type
    if not tensor.rank or holds_strings(tensor.dtype):
        return None
    kind: Literal["list_view", "large_list_view"] = (
        "large_list_view" if str(wanted).startswith("large") else "list_view"
    )
    found = _views_of(tensor, kind, inner)
    return found if found.type == wanted else None


def _views_of(
    tensor: Tensor[Any], kind: Literal["list_view", "large_list_view"], inner: "pa.DataType | None" = None
) -> "pa.Array":
    """Return list views, with elements of type `inner` if given."""
    import pyarrow as pa  # noqa: PLC0415 - an extra, and heavy

    found, levels = _viewed(tensor)
    found = found if inner is None or found.type == inner else _cast(found, inner)
    number = np.dtype(np.int64 if kind == "large_list_view" else np.int32)
    make = pa.large_list_view if kind == "large_list_view" else pa.list_view
    lengths = [tensor.shape.extent(0)]
    for level in levels[:-1]:
        lengths.append(lengths[-1] * level if isinstance(level, int) else int(level[1].sum()))
    for level, length in zip(reversed(levels), reversed(lengths[: len(levels)]), strict=True):
        if isinstance(level, int):
            lists = pa.list_(found.type, level)
            found = pa.Array.from_buffers(lists, length, [None], 0, children=[found])
            continue
        if kind == "list_view" and max([int(own.max(initial=0)) for own in level]) >= 2**31:
            raise ConversionError("offsets of 32 bits do not reach these rows: large_list_view has 64")
        places = [pa.py_buffer(own.astype(number, copy=False)) for own in level]
        found = pa.Array.from_buffers(make(found.type), length, [None, *places], 0, children=[found])
    return found


def _viewed(tensor: Tensor[Any]) -> "tuple[pa.Array, list[tuple[IntArray, IntArray] | int]]":
    """Return the elements, and for each level the starts and lengths of lists, or their common length."""
    sides = tensor.buffer.sides
    values, validity = (tensor.buffer, None) if sides is None else sides
    memory = values.memory
    table = tensor.layout.implementation.list_table() if tensor.rank == 2 and memory is not None else None
    if table is not None and memory is not None and table[2] == 1 and not holds_strings(tensor.dtype):
        befores, begins, _ = table
        counts = np.diff(befores)
        valid = None if validity is None else validity.read_run(0, validity.size)
        shared = _array_of(memory if valid is None else clear_nulls(memory, valid), valid)
        # The start of a row without elements does not matter.
        return shared, [(begins * (counts > 0), counts)]
    found = _flat_of(tensor)
    levels: list[tuple[IntArray, IntArray] | int] = []
    for level in tensor.shape.arrow_lists():
        if level.offsets is None:
            levels.append(int(level.list_size or 0))
        else:
            splits = level.offsets.astype(np.int64, copy=False)
            levels.append((splits[:-1], np.diff(splits)))
    return found, levels


def _cast(found: "pa.Array", wanted: "pa.DataType") -> "pa.Array":
    """Return elements of another type, or raise if it does not hold each of them.

    Arrow drops times, NaN and numbers beyond a type where it makes dates, bools, decimals and smaller floats.
    """
    try:
        made: Any = found.cast(wanted)
        made.validate(full=True)
        mine, back = _leaf_of(found), _leaf_of(made.cast(found.type, safe=False))
        is_rounded = _is_float(mine) and _is_float(_leaf_of(made))
    except (ValueError, TypeError, RuntimeError) as error:
        raise ConversionError(f"{found.type} cannot be handed over as {wanted}: {error}") from error
    if not _are_alike(mine, back, is_rounded=is_rounded):
        text = f"{found.type} cannot be handed over as {wanted}"
        raise ConversionError(f"{text}: it does not hold each element")
    kept: pa.Array = made
    return kept


def _leaf_of(array: Any) -> Any:  # noqa: ANN401 - an array of Arrow, which has no types
    """Return the elements of lists."""
    while hasattr(array.type, "value_type") and hasattr(array, "flatten"):
        array = array.flatten()
    return array


def _is_float(array: Any) -> bool:  # noqa: ANN401 - as above
    return str(array.type) in ("halffloat", "float", "double")


def _are_alike(one: Any, other: Any, *, is_rounded: bool) -> bool:  # noqa: ANN401 - as above
    """Return True if elements of one type are the same; if they were rounded, if as many are finite."""
    import pyarrow.compute  # noqa: PLC0415 - an extra, and heavy

    pc: Any = pyarrow.compute
    if not _is_float(one):
        return bool(one.equals(other))
    if str(one.type) == "halffloat":
        one, other = one.cast("float"), other.cast("float")  # Arrow compares none of 16 bits.
    if one.null_count or other.null_count:
        one, other = one.fill_null(0.0), other.fill_null(0.0)
    same = pc.equal(pc.is_finite(one), pc.is_finite(other)) if is_rounded else pc.equal(one, other)
    both = pc.and_(pc.is_nan(one), pc.is_nan(other))
    return bool(pc.all(pc.or_(same, both), min_count=0).as_py())


def _tensors_of(
    tensor: Tensor[Any],
    extents: Sequence[int] | None,
    names: Sequence[str] | None,
    wanted: "pa.FixedShapeTensorType | None",
) -> "pa.Array":
    """Return an array of boxes in row-major order along the first mode."""
    import pyarrow as pa  # noqa: PLC0415 - an extra, and heavy

    if not extents or holds_strings(tensor.dtype):
        raise ConversionError(
            f"a tensor of Arrow is a box of numbers of rank 2 or more, unlike {tensor.shape!r} of "
            f"{tensor.dtype}: to_arrow('lists') takes it"
        )
    found = _flat_of(tensor)
    lists = pa.list_(found.type, math.prod(extents))
    storage = pa.Array.from_buffers(lists, tensor.shape.extents[0], [None], 0, children=[found])
    form = wanted or pa.fixed_shape_tensor(found.type, extents, dim_names=names)
    return pa.ExtensionArray.from_storage(form, storage.cast(form.storage_type) if wanted else storage)


def from_arrow(given: object, *, copy: bool | None = None, null_rows: NullRows = "refuse") -> Tensor[Any]:
    """Return an Arrow array of lists, tensors, text or numbers as a read-only tensor over the same memory.

    O(lists). Arrays of Polars, DuckDB, nanoarrow and all others with Arrow's C interface need no pyarrow.

    Parameters
    ----------
    given
        An array of Arrow, a column of a table (several arrays in a row are joined), a tensor, a scalar that
        is a list; a series of Polars. Arrow's tensors keep their names and the order of their modes: each
        ``variable_shape_tensor`` is a cell.
    copy
        Whether elements are copied: where they must be (None), always (the tensor can be written to then),
        or never. Validity is always copied.
    null_rows
        Whether null lists raise or become empty rows.

    Raises
    ------
    ConversionError
        If a list is null, if it is a table, each column of which is a tensor, or if elements must be copied
        and `copy` is False.
    DTypeError
        If tensors have no such elements: decimals, dictionaries, structs, times of day or of a zone.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tensorwrapper import interop
    >>> interop.from_arrow(pa.table({"hits": [[1, 2], []]})["hits"]).shape
    Shape.jagged([2, 0])
    >>> interop.from_arrow(pa.array([[1, None], []])).tolist()
    [[1, None], []]
    """
    check_null_rows(null_rows)
    value: Any = given
    name = type(value).__name__
    if hasattr(value, "get_columns") or name in ("LazyFrame", "Expr"):
        raise ConversionError(
            f"a {name} of Polars is one tensor for each of its columns: take one, frame['name'], or "
            "frame.to_numpy() if all are of one type; collect() comes before that"
        )
    if name.endswith("Scalar"):
        inner = value.to_numpy() if hasattr(value, "to_tensor") else getattr(value, "values", None)
        if inner is None or isinstance(inner, dict) or callable(inner):
            raise ConversionError(f"a scalar of Arrow is not a tensor: as_py() is its value ({value!r})")
        return as_tensor(inner, copy=copy, null_rows=null_rows)
    if hasattr(value, "to_tensor") and name.startswith("Sparse"):
        raise ConversionError(f"a {name} is read by other calls: to_scipy() or to_tensor() of it first")
    if name == "Tensor":
        found = as_tensor(value.to_numpy(), copy=copy)
        return found.named(*value.dim_names) if value.dim_names else found
    if hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__"):
        return tensor_from_arrow(value, copy=copy, null_rows=null_rows)
    try:
        return as_tensor(memoryview(value), copy=copy)
    except TypeError as error:
        raise ConversionError(
            f"{with_article(name)} holds no elements: allowed are arrays, columns, tensors, and "
            "scalars that are lists"
        ) from error


def _flat_of(tensor: Tensor[Any]) -> "pa.Array":
    """Return all elements in row-major order, without a copy if possible."""
    import pyarrow as pa  # noqa: PLC0415 - an extra, and heavy

    if holds_strings(tensor.dtype):
        return pa.array(tensor.to_string_data())
    return _array_of(*elements_of(tensor))


def _array_of(elements: Array, there: Marks | None = None) -> "pa.Array":
    """Return a flat Arrow array over the same memory."""
    import pyarrow as pa  # noqa: PLC0415 - an extra, and heavy

    dtype: np.dtype[Any] = elements.dtype
    missing = None if there is None else ~there
    if dtype.kind == "b":
        bits = np.packbits(elements.astype(np.bool_, copy=False), bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), len(elements), [_bitmap(missing), pa.py_buffer(bits)], -1)
    if dtype.kind in "mM" and np.datetime_data(dtype) in _UNITS:
        found, none = native(elements), np.isnat(elements)
        # NaT is null, as in pyarrow.
        missing = none if missing is None else none | missing
    elif dtype.kind in "iuf" and dtype.num <= _LAST_OF_NUMPY and dtype.itemsize <= 8:
        found = native(elements)
    else:
        raise DTypeError(
            f"Arrow has no elements of type {dtype}: allowed are bool, integers, floats of up to 64 bits, "
            f"times in s, ms, us or ns, and strings{_advice(dtype)}"
        )
    buffer = pa.py_buffer(frozen_values(found).view(np.uint8))
    kind = pa.from_numpy_dtype(found.dtype)
    return pa.Array.from_buffers(kind, len(found), [_bitmap(missing), buffer], -1)


def _bitmap(missing: Marks | None) -> "pa.Buffer | None":
    """Return Arrow's validity bitmap; None if all elements are valid."""
    import pyarrow as pa  # noqa: PLC0415 - an extra, and heavy

    if missing is None or not missing.any():
        return None
    return pa.py_buffer(np.packbits(~missing, bitorder="little"))


def _advice(dtype: "np.dtype[Any]") -> str:
    """Return advice on a dtype that Arrow supports."""
    if dtype.kind in "mM":
        return f"; astype('{dtype.kind}8[s]') counts seconds"
    if dtype.kind == "c":
        return "; np.real(t) and np.imag(t) are two tensors" + "; astype(np.float64) rounds them" * (
            dtype.itemsize > 16
        )
    if dtype.kind == "f":
        return "; astype(np.float64) rounds them"
    return "; astype(np.float32) holds those of ml_dtypes" if dtype.kind == "V" else ""
