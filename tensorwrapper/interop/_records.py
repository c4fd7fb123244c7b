"""Convert records to and from other libraries: tables, frames, structs in lists, record arrays."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from tensorwrapper._arrays import splits_of
from tensorwrapper._error_text import brief
from tensorwrapper.errors import ConversionError, TensorNameError
from tensorwrapper.fields import Records
from tensorwrapper.interop._arrow import to_arrow
from tensorwrapper.interop._awkward import to_awkward
from tensorwrapper.tensor import Tensor, as_tensor

if TYPE_CHECKING:
    import awkward as ak
    import pandas as pd
    import polars as pl
    import pyarrow as pa

RecordsForm: TypeAlias = Literal["columns", "structs"]
"""Form of records in Arrow: a table with a column for each field, or structs in lists."""

_Theirs: TypeAlias = Any
"""A module or a value of another library; its stubs declare what tensors need."""


def _arrow_library() -> _Theirs:
    import pyarrow as pa  # noqa: PLC0415 - an extra, and heavy

    return pa


def _arrow_compute() -> _Theirs:
    import pyarrow.compute  # noqa: PLC0415 - an extra, and heavy

    return pyarrow.compute


def _awkward_library() -> _Theirs:
    import awkward as ak  # noqa: PLC0415 - heavy, and not needed for the rest

    return ak


def _pandas_library() -> _Theirs:
    import pandas as pd  # noqa: PLC0415 - heavy, and not needed for the rest

    return pd


def columns_of(data: object) -> tuple[dict[str, object], int | None]:
    """Return the columns of a table, a frame or a record array, each of which is one tensor, by name.

    Structs in structs are flattened to dotted names, ``m.pt``. Only chunks that are joined are copied.

    Parameters
    ----------
    data
        An Arrow table, record batch, structs or structs in lists, or an object with Arrow's C interface. A
        frame of pandas or polars. Records of Awkward Array in lists of any depth.

    Returns
    -------
    columns, modes
        Arguments for `as_tensor`, and the number of modes above the structs if these are in lists.

    Raises
    ------
    ConversionError
        If it has no columns; if a frame has an index that does not count from 0.
    TensorNameError
        If a name is there twice.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tensorwrapper import interop
    >>> columns, modes = interop.columns_of(pa.array([[{"x": 1, "m": {"pt": 2}}], []]))
    >>> list(columns), modes
    (['x', 'm.pt'], 2)
    """
    module = type(data).__module__.partition(".")[0]
    if module == "awkward":
        return _of_awkward(data)
    if module == "pandas":
        return _named(_of_pandas(data)), None
    if hasattr(data, "collect"):
        raise ConversionError(f"a {type(data).__name__} of {module} has no columns before collect()")
    if not (hasattr(data, "__arrow_c_array__") or hasattr(data, "__arrow_c_stream__")):
        raise ConversionError(
            f"records are made of a mapping from names to tensors, a structured array, a table, a frame or a "
            f"record array, not of {brief(data)} ({type(data).__name__})"
        )
    return _of_arrow(data)


def _named(columns: Iterator[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, column in columns:
        if name in found:
            raise TensorNameError(f"two columns are named {name!r}, and fields have different names")
        found[name] = column
    return found


def _dotted(*names: str) -> str:
    return ".".join([name for name in names if name])


# Arrow.


def _of_arrow(data: _Theirs) -> tuple[dict[str, object], int | None]:
    arrow = _arrow_library()

    if isinstance(data, arrow.RecordBatch | arrow.Table):
        return _named(_of_table(data)), None
    if hasattr(data, "get_columns"):
        return _named(_of_table(arrow.table(data))), None
    if not isinstance(data, arrow.Array | arrow.ChunkedArray):
        data = arrow.chunked_array(data) if hasattr(data, "__arrow_c_stream__") else arrow.array(data)
    array = data.combine_chunks() if isinstance(data, arrow.ChunkedArray) else data
    found = _named(_leaves(array))
    if "" in found:
        raise ConversionError(f"an array of Arrow of type {array.type} has no fields: as_tensor reads it")
    modes, kind = 1, array.type
    while not arrow.types.is_struct(kind):
        modes, kind = modes + 1, kind.value_type
    return found, modes if modes > 1 else None


def _of_table(table: _Theirs) -> Iterator[tuple[str, object]]:
    for name, column in zip(table.schema.names, table.columns, strict=True):
        yield from _of_column(name, column)


def _of_column(name: str, column: _Theirs) -> Iterator[tuple[str, object]]:
    if not _has_structs(column.type):
        yield name, column
        return
    array = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    for inner, leaf in _leaves(array):
        yield _dotted(name, inner), leaf


def _has_structs(kind: _Theirs) -> bool:
    arrow = _arrow_library()

    while not arrow.types.is_struct(kind):
        if not hasattr(kind, "value_type") or arrow.types.is_dictionary(kind):
            return False
        kind = kind.value_type
    return True


def _leaves(array: _Theirs) -> Iterator[tuple[str, Any]]:
    """Iterate over the innermost fields: dotted name, and array in the same lists."""
    arrow = _arrow_library()

    kind = array.type
    if not _has_structs(kind):
        yield "", array
    elif arrow.types.is_struct(kind):
        # Null structs become null fields.
        for field, child in zip(kind, array.flatten(), strict=True):
            for inner, leaf in _leaves(child):
                yield _dotted(field.name, inner), leaf
    elif arrow.types.is_list(kind) or arrow.types.is_large_list(kind):
        make: Any = arrow.LargeListArray if arrow.types.is_large_list(kind) else arrow.ListArray
        mask = array.is_null() if array.null_count else None
        for inner, leaf in _leaves(array.values):
            yield inner, make.from_arrays(_offsets_of(array), leaf, mask=mask)
    elif arrow.types.is_list_view(kind) or arrow.types.is_large_list_view(kind):
        yield from _leaves_of_views(array)
    elif arrow.types.is_fixed_size_list(kind) and not array.null_count:
        for inner, leaf in _leaves(array.flatten()):
            lists = arrow.list_(leaf.type, kind.list_size)  # from_arrays takes no lists of size 0
            yield inner, arrow.Array.from_buffers(lists, len(array), [None], 0, children=[leaf])
    else:
        yield from _leaves(array.cast(arrow.large_list(kind.value_type)))


def _leaves_of_views(array: _Theirs) -> Iterator[tuple[str, Any]]:
    """Iterate over the fields in views of lists, as lists: a cast loses rows of slices (pyarrow 26)."""
    arrow = _arrow_library()

    mask = array.is_null() if array.null_count else None
    lengths = _arrow_compute().list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False)
    for inner, leaf in _leaves(array.flatten()):
        yield inner, arrow.LargeListArray.from_arrays(splits_of(lengths), leaf, mask=mask)


def _offsets_of(array: _Theirs) -> _Theirs:
    """Return offsets that start at the beginning of their buffer, as required with a mask."""
    arrow = _arrow_library()

    offsets = array.offsets
    return arrow.concat_arrays([offsets]) if array.null_count and offsets.offset else offsets


# Frames.


def _of_pandas(data: _Theirs) -> Iterator[tuple[str, object]]:
    pandas = _pandas_library()

    if not isinstance(data, pandas.DataFrame):
        raise ConversionError(f"a {type(data).__name__} of pandas has no columns: as_tensor reads it")
    index = data.index
    if index.dtype.kind not in "iu" or not index.equals(pandas.RangeIndex(len(index))):
        raise ConversionError(
            "an index that does not count from 0 would be lost: reset_index() makes a column of it, "
            "reset_index(drop=True) drops it"
        )
    frame = data.reset_index(drop=True)
    for place, name in enumerate(frame.columns):
        column = frame.iloc[:, place]
        if isinstance(column.dtype, pandas.ArrowDtype) and _has_structs(column.dtype.pyarrow_dtype):
            yield from _of_column(name, _arrow_of(column))
        else:
            yield name, column


def _arrow_of(column: _Theirs) -> _Theirs:
    arrow = _arrow_library()
    return arrow.array(column, from_pandas=True)


# Awkward Array.


def _of_awkward(data: _Theirs) -> tuple[dict[str, object], int | None]:
    awkward = _awkward_library()

    if isinstance(data, awkward.ArrayBuilder):
        data = data.snapshot()
    if not isinstance(data, awkward.Array) or not data.fields:
        raise ConversionError(
            f"a {type(data).__name__} of Awkward Array has no fields for rows: as_tensor reads arrays"
        )
    modes, layout = 1, data.layout
    while not layout.is_record:
        modes, layout = modes + bool(layout.is_list), layout.content
    return _named(_fields_of(data, "")), modes if modes > 1 else None


def _fields_of(array: _Theirs, name: str) -> Iterator[tuple[str, object]]:
    if not array.fields:
        yield name, array
    for field in array.fields:
        yield from _fields_of(array[field], _dotted(name, field))


# From records to other libraries.


def records_to_arrow(
    records: Records, form: RecordsForm = "columns", *, nest: str | None = None
) -> "pa.Table | pa.Array":
    """Return records as a table of Arrow, or as structs in lists; fields of one shape share their offsets.

    Parameters
    ----------
    records
        Tensors or views, which are computed.
    form
        "columns", a table; or "structs", one struct for each index of the shape, in the lists of the shape.
    nest
        Separator of names: ``"."`` makes structs of ``m.pt`` and ``m.eta`` again.

    Raises
    ------
    ConversionError
        If a field is a single element, as in one row of records. If there are to be structs, and a field has
        fewer modes than the shape. If `nest` is of another kind.
    DTypeError
        If Arrow has no elements of a type.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> hits = tw.records({"t": tw.jagged([[5, 1], []]), "q": tw.jagged([[0.5, 1.5], []])})
    >>> tw.interop.records_to_arrow(hits, "structs").to_pylist()
    [[{'t': 5, 'q': 0.5}, {'t': 1, 'q': 1.5}], []]
    """
    arrow = _arrow_library()

    if form not in ("columns", "structs"):
        raise ConversionError(f"records become 'columns' or 'structs' of Arrow, not {form!r}")
    if nest is not None and not (isinstance(cast("object", nest), str) and nest):
        raise ConversionError(f"what separates names is a text, as in nest='.', not {brief(nest)}")
    columns = _arrow_columns(records)
    if form == "columns":
        return cast("pa.Table", arrow.table(dict(_nested(columns, nest))))
    short = next((name for name, field in records.items() if field.rank < records.rank), None)
    if short is not None:
        raise ConversionError(
            f"structs in lists of {records.shape!r} cannot store the field {short!r}: drop({short!r})"
        )
    lists: list[_Theirs] = []
    cells: dict[str, _Theirs] = columns
    for _ in range(records.rank - 1):
        lists.append(next(iter(cells.values())))
        cells = {name: _within(own) for name, own in cells.items()}
    found: _Theirs = _struct(cells, nest)
    for own in reversed(lists):
        size = getattr(own.type, "list_size", None)
        kind = arrow.large_list(found.type) if size is None else arrow.list_(found.type, size)
        buffers = own.buffers()[: 1 if size is not None else 2]
        found = arrow.Array.from_buffers(kind, len(own), buffers, children=[found])
    return cast("pa.Array", found)


def _within(lists: _Theirs) -> _Theirs:
    """Return the whole content of lists."""
    return lists.values  # noqa: PD011 - of Arrow


def _with_rows(records: Records) -> dict[str, Tensor[Any]]:
    """Return the tensors of all fields, each of which has rows."""
    if not records.rank:
        raise ConversionError("a table has rows, and records of rank 0 are one: to_dict() has its elements")
    single = next((name for name, field in records.items() if not field.rank), None)
    if single is not None:
        raise ConversionError(
            f"a table cannot store the field {single!r}, a single element: drop({single!r}), or take the "
            "row as r[k:k + 1] in place of r[k]"
        )
    return {name: as_tensor(field) for name, field in records.compute().items()}


def _arrow_columns(records: Records) -> dict[str, _Theirs]:
    return {name: _arrow(name, field) for name, field in _with_rows(records).items()}


def _arrow(name: str, field: Tensor[Any]) -> _Theirs:
    try:
        return to_arrow(field)
    except Exception as error:
        error.add_note(f"in the field {name!r}")
        raise


def _struct(columns: Mapping[str, _Theirs], nest: str | None) -> _Theirs:
    arrow = _arrow_library()

    nested = dict(_nested(columns, nest))
    return arrow.StructArray.from_arrays(list(nested.values()), list(nested))


def _nested(columns: Mapping[str, _Theirs], nest: str | None) -> Iterator[tuple[str, _Theirs]]:
    """Return an iterator over columns, with columns of a common name prefix nested in structs."""
    groups: dict[str, dict[str, Any]] = {}
    for name, column in columns.items():
        # A name that begins or ends with the separator, or has two in a row, stays one.
        head, _, rest = name.partition(nest) if nest and all(name.split(nest)) else (name, "", "")
        groups.setdefault(head, {})[rest] = column
    for head, group in groups.items():
        if "" not in group:
            yield head, _struct(group, nest)
        elif len(group) == 1:
            yield head, group[""]
        else:
            raise TensorNameError(f"the field {head!r} is a column, and others are parts of such a struct")


def records_to_structs(records: Records) -> "pa.Array":
    """Return records as one struct for each row, whose parts are the columns; a table of one batch.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> tw.interop.records_to_structs(tw.records({"t": tw.jagged([[5, 1], []]), "run": [1, 2]})).to_pylist()
    [{'t': [5, 1], 'run': 1}, {'t': [], 'run': 2}]
    """
    return cast("pa.Array", _struct(_arrow_columns(records), None))


def records_to_awkward(records: Records) -> "ak.Array":
    """Return records as an array of Awkward Array: records in the lists of the shape, as ``awkward.zip``.

    If a field has fewer modes than the shape: records with a list for each field that has more.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> hits = tw.records({"t": tw.jagged([[5, 1], []]), "q": tw.jagged([[0.5, 1.5], []])})
    >>> tw.interop.records_to_awkward(hits).to_list()
    [[{'t': 5, 'q': 0.5}, {'t': 1, 'q': 1.5}], []]
    """
    awkward = _awkward_library()

    arrays = {name: to_awkward(field) for name, field in _with_rows(records).items()}
    whole = all(field.rank >= records.rank for field in records.values())
    return cast("ak.Array", awkward.zip(arrays, depth_limit=records.rank if whole else 1))


def records_to_pandas(records: Records) -> "pd.DataFrame":
    """Return records as a frame of pandas, whose columns have the types of Arrow.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> frame = tw.interop.records_to_pandas(tw.records({"t": tw.jagged([[5, 1], []]), "run": [1, 2]}))
    >>> frame["t"].list.len().tolist(), frame["run"].sum()
    ([2, 0], 3)
    """
    pandas = _pandas_library()

    table = cast("_Theirs", records_to_arrow(records))
    return cast("pd.DataFrame", table.to_pandas(types_mapper=pandas.ArrowDtype))


def records_to_polars(records: Records) -> "pl.DataFrame":
    """Return records as a frame of polars."""
    import polars as pl  # noqa: PLC0415 - heavy, and not needed for the rest

    return pl.from_arrow(records_to_arrow(records))
