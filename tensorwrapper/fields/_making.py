"""Construction of records from mappings and from tables of other libraries."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Literal, cast

import numpy as np

from tensorwrapper._error_text import brief
from tensorwrapper.buffer.lowlevel import copy_elements
from tensorwrapper.errors import ConversionError, TensorNameError
from tensorwrapper.fields._field import as_fields
from tensorwrapper.fields._records import Records, as_records
from tensorwrapper.fields._shared_shape import common_shape, leading, with_rows
from tensorwrapper.shape import ShapeLike, as_shape
from tensorwrapper.tensor import strings
from tensorwrapper.tensor.lowlevel import hand_over
from tensorwrapper.typing import Array


def records(
    data: object, *, shape: ShapeLike | None = None, null_rows: Literal["refuse", "empty", "field"] = "refuse"
) -> Records:
    """Return named tensors, or views, that share their leading modes, as one value; nothing is copied.

    Parameters
    ----------
    data
        A mapping from names to tensors, views, or other arguments of `as_view`. A structured array of NumPy,
        a table or structs of Arrow, and a frame of pandas or polars. Records of Awkward Array in lists of any
        depth. Records at a server, as views. Structs in structs are flattened to dotted names, ``m.pt``.
    shape
        The shape that all fields start with, or have leading modes of. If not given: the longest leading
        shape of all jagged fields, if that is jagged and every box has leading modes of it; else the longest
        that all fields share.
    null_rows
        Whether a null in place of a list is refused, or becomes an empty row. With "field", each column of
        lists has a field ``name.is_valid`` behind it: one bool for each row, False for a null. These are the
        rows of the mode that has nulls, or of mode 0.

    Raises
    ------
    ConversionError
        If there is no field; if a row is a null, and refused.
    TensorNameError
        If a name cannot be one of a tensor in a file.
    RankError
        If a field is a single element.
    ExtentMismatchError
        If fields differ in the first mode, or in a mode of the shape; the text names the field.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> tw.records({"t": tw.jagged([[5, 1, 7], [], [2, 9]]), "run": [10, 20, 30]}).shape
    Shape.jagged([3, 0, 2])
    >>> tw.records({"energy": [1.0, 2.0], "xyz": np.zeros((2, 3))}).shape
    Shape(2)
    >>> tw.records({"t": [[5], None], "run": [10, 20]}, null_rows="field").to_dict()
    {'t': [[5], []], 't.is_valid': [True, False], 'run': [10, 20]}
    """
    data = as_records(data)
    if null_rows not in ("refuse", "empty", "field"):
        raise ConversionError(f"null_rows is 'refuse', 'empty' or 'field', not {brief(null_rows)}")
    if isinstance(data, Records):
        return data if shape is None else Records(dict(data.items()), as_shape(shape))
    columns, modes = _columns_of(data)
    if null_rows != "refuse":
        columns = hand_over("fill_null_rows", columns, null_rows)
    fields = as_fields(columns)
    if not fields:
        raise ConversionError("records have at least one field")
    if shape is not None:
        found = as_shape(shape)
    elif modes is not None:
        shapes = [leading(field.shape, modes) for field in fields.values() if field.rank >= modes]
        # Lists of one size are a box, but for fields that have rows below.
        found = next((own for own in shapes if not own.is_box), shapes[0])
        fields = with_rows(fields, found)
    else:
        found = common_shape(fields)
    return Records(fields, found)


def _columns_of(data: object) -> tuple[Mapping[str, object], int | None]:
    """Return what fields are made of, and how many modes they share, if that is known."""
    if isinstance(data, Mapping):
        return cast("Mapping[str, object]", data), None
    if isinstance(data, np.ndarray) and cast("Array", data).dtype.names is not None:
        columns = list(_structured("", cast("Array", data)))
        for name, count in Counter([name for name, _ in columns]).items():
            if count > 1:
                raise TensorNameError(f"{count} fields are named {name!r}, and fields have different names")
        return dict(columns), cast("Array", data).ndim
    found: tuple[dict[str, object], int | None] = hand_over("columns_of", data)
    return found


def _structured(name: str, array: "np.ndarray[Any, Any]") -> Iterator[tuple[str, object]]:
    """Return an iterator over the fields of structures, without gaps; inner ones have dotted names."""
    if array.dtype.names is None:
        # A masked array has more to say than its elements.
        plain = type(array) is np.ndarray and not array.flags.c_contiguous
        column = copy_elements(array) if plain else array
        yield name, strings(column) if array.dtype.kind in "SUO" else column
        return
    for inner in array.dtype.names:
        yield from _structured(f"{name}.{inner}" if name else inner, array[inner])
