"""Columns of other libraries with null rows, which become empty rows, optionally marked by a field."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from tensorwrapper.errors import ConversionError, TensorNameError
from tensorwrapper.interop._operand import Marks
from tensorwrapper.tensor import as_tensor, from_buffer

_Theirs: TypeAlias = Any
"""A module or a value of another library."""


def fill_null_rows(columns: Mapping[str, object], null_rows: Literal["empty", "field"]) -> dict[str, object]:
    """Return columns with null rows replaced by empty rows; O(rows).

    Only lists and arrays of Arrow, Awkward Array, pandas and polars are changed.

    Parameters
    ----------
    columns
        Arguments of `as_tensor`, by name.
    null_rows
        With "field", each column of lists is followed by ``name.is_valid``: one bool for each row, False for
        a null. These are the rows of the mode that has nulls, or of mode 0.

    Raises
    ------
    ConversionError
        If there is to be a field, and rows of several modes are nulls.
    TensorNameError
        If there is to be a field whose name a column has.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tensorwrapper import interop
    >>> made = interop.fill_null_rows({"t": pa.array([[1], None, []])}, "field")
    >>> {name: own.tolist() for name, own in made.items()}
    {'t': [[1], [], []], 't.is_valid': [True, False, True]}
    """
    found: dict[str, object] = {}
    for name, column in columns.items():
        marks = list(_marks_of(column))
        if not marks:
            found[name] = column
            continue
        found[name] = tensor = as_tensor(cast("Any", column), null_rows="empty")
        if null_rows == "empty":
            continue
        modes = [mode for mode, valid in enumerate(marks) if not valid.all()] or [0]
        if len(modes) > 1:
            texts = " and ".join(map(str, modes))
            raise ConversionError(
                f"rows of modes {texts} of {name!r} are nulls, and {name}.is_valid tells of one mode: "
                "null_rows='empty' makes empty rows of all"
            )
        if f"{name}.is_valid" in columns:
            raise TensorNameError(
                f"null rows of {name!r} need the name '{name}.is_valid', which a column has"
            )
        found[f"{name}.is_valid"] = from_buffer(marks[modes[0]], tensor.shape.leading(modes[0] + 1))
    return found


def _marks_of(column: _Theirs) -> Iterator[Marks]:
    """Return an iterator over the validity of rows, mode by mode from the outermost."""
    if isinstance(column, list | tuple):
        return _of_lists(cast("Any", column))
    module = type(column).__module__.partition(".")[0]
    if module == "awkward" and hasattr(column, "layout"):
        return _of_awkward(column)
    if module == "pandas":
        kind: _Theirs = column.dtype
        return _of_pandas(column) if kind.kind == "O" else iter(())
    return _of_arrow(column) if module in ("awkward", "polars", "pyarrow") else iter(())


def _of_lists(rows: "list[Any]") -> Iterator[Marks]:
    while any(type(row) in (list, tuple) for row in rows):
        yield np.asarray([row is not None for row in rows], np.bool_)
        rows = list(chain.from_iterable([row for row in rows if type(row) in (list, tuple)]))


def _of_awkward(array: _Theirs) -> Iterator[Marks]:
    import awkward as ak  # noqa: PLC0415 - heavy, and not needed for the rest

    library: _Theirs = ak
    for mode in range(array.ndim - 1):
        yield ~np.asarray(library.flatten(library.is_none(array, axis=mode), axis=None), np.bool_)


def _of_pandas(column: _Theirs) -> Iterator[Marks]:
    arrow = _arrow_library()

    try:
        array = arrow.array(column, from_pandas=True)
    except (ValueError, TypeError):
        return iter(())  # `as_tensor` refuses it
    return _of_arrow(array)


def _arrow_library() -> _Theirs:
    import pyarrow as pa  # noqa: PLC0415 - an extra, and heavy

    return pa


def _of_arrow(column: _Theirs) -> Iterator[Marks]:
    arrow = _arrow_library()
    kinds = arrow.types
    if not isinstance(column, arrow.Array | arrow.ChunkedArray):
        whole = hasattr(column, "__arrow_c_stream__")
        column = arrow.chunked_array(column) if whole else arrow.array(column)
    array = column.combine_chunks() if isinstance(column, arrow.ChunkedArray) else column
    while True:
        array = array.storage if isinstance(array, arrow.ExtensionArray) else array
        lists = (
            kinds.is_list,
            kinds.is_large_list,
            kinds.is_fixed_size_list,
            kinds.is_list_view,
            kinds.is_large_list_view,
        )
        if not any(is_kind(array.type) for is_kind in lists):
            return
        yield array.is_valid().to_numpy(zero_copy_only=False)
        array = array.flatten()
