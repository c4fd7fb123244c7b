"""Strings as users have them, read into string data and a shape."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, cast

import numpy as np

from tensorwrapper._arrays import shown_array, splits_of
from tensorwrapper.buffer import StringData, strings_from_numpy
from tensorwrapper.buffer.lowlevel import check_kind, holds_strings
from tensorwrapper.errors import ConversionError
from tensorwrapper.shape import Shape
from tensorwrapper.tensor._lazy_imports import may_have_nulls, read_foreign
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.protocols._protocols import is_arrow
from tensorwrapper.typing import Array, IntArray, StringKind

_LISTS: tuple[type, ...] = (list, tuple, np.ndarray)


def read_strings(values: object, kind: StringKind | None) -> tuple[StringData, Shape[Any]]:
    """Return the elements, in row-major order, and the shape that they come in.

    Parameters
    ----------
    values
        One str or bytes, or None; a tensor of strings, string data, an array of NumPy or Arrow; or lists,
        nested, of str or bytes and None, which make a box if all lists of a level are of one length.
    kind
        Kind of the elements; it decides where values do not determine it.

    Raises
    ------
    ConversionError
        If there is anything else than strings of this kind.
    """
    if kind is not None:
        check_kind(kind)
    strings, shape = _read(values, kind)
    if kind is not None and strings.kind != kind:
        raise ConversionError(
            f"elements of kind {kind!r} are wanted, not of kind {strings.kind!r}; string data has "
            "as_binary() and as_utf8(), which turn one into the other"
        )
    return strings, shape


def _read(values: object, kind: StringKind | None) -> tuple[StringData, Shape[Any]]:
    if values is None or isinstance(values, str | bytes):
        return StringData.from_list([values], kind=kind), Shape()
    if isinstance(values, TensorBase):
        tensor = cast("TensorBase[Any]", values)
        if not holds_strings(tensor.dtype):
            raise ConversionError(f"a tensor of {tensor.dtype} has no strings")
        return tensor.buffer.strings_of(tensor.layout.implementation), tensor.shape
    if isinstance(values, StringData):
        return values, Shape(len(values))
    if isinstance(values, np.ndarray):
        return _read_array(cast("Array", values), kind)
    if is_arrow(values) and not hasattr(values, "dims"):
        from tensorwrapper.tensor.protocols._arrow_values import read_arrow  # noqa: PLC0415

        found = read_arrow(values)
        if not isinstance(found.elements, StringData):
            what = found.elements.dtype
            raise ConversionError(
                f"a {type(values).__name__} of strings is expected, and this one has elements of type {what}"
            )
        return found.elements, found.shape
    # NumPy drops NULs at the end of text of other libraries, and knows neither their rows nor their nulls.
    if may_have_nulls(values):
        return _read(read_foreign(values, None, "refuse"), kind)
    return (
        _read_array(shown_array(values), kind) if hasattr(values, "__array__") else _read_lists(values, kind)
    )


def _are_rows(kind: type) -> bool:
    """Return True for tensors, views and arrays of other libraries among rows."""
    if issubclass(kind, str | bytes | list | tuple | np.ndarray | np.generic):
        return False
    return hasattr(kind, "__array__") or hasattr(kind, "__arrow_c_array__")


def _listed(row: Any) -> object:  # noqa: ANN401 - an array of any library
    found = read_foreign(row, None, "refuse")
    array = row if found is None else found
    return (array if hasattr(array, "tolist") else shown_array(array)).tolist()


def _read_lists(values: object, kind: StringKind | None) -> tuple[StringData, Shape[Any]]:
    try:
        given = list(cast("Iterable[Any]", values))
    except TypeError as error:
        raise ConversionError(
            f"strings are read from str, bytes, lists or arrays of them, not from {values!r}"
        ) from error
    items, levels = _flatten(given)
    return StringData.from_list(cast("list[Any]", items), kind=kind), _shape_of(levels)


def _read_array(array: Array, kind: StringKind | None) -> tuple[StringData, Shape[Any]]:
    if isinstance(array, np.ma.MaskedArray):
        raise ConversionError(
            "a masked array would lose its mask: array.astype(object).filled(None) has nulls"
        )
    if array.dtype.kind == "O":
        # Here, and not below, so that `kind` determines the kind of an array of nulls.
        items = array.reshape(-1).tolist()
        return StringData.from_list(items, kind=kind), Shape.smooth(array.shape)
    return strings_from_numpy(array), Shape.smooth(array.shape)


def _flatten(items: list[object]) -> tuple[list[object], list[IntArray]]:
    """Return the elements of nested lists, and the lengths of the lists of each level from the outermost.

    One level at a time, so that nothing is done list by list.
    """
    levels = [np.array([len(items)], dtype=np.int64)]
    while True:
        types = set(map(type, items))
        foreign = tuple([kind for kind in types if _are_rows(kind)])
        if foreign:
            items = [_listed(own) if isinstance(own, foreign) else own for own in items]
            types = set(map(type, items))
        lists = [kind for kind in types if issubclass(kind, _LISTS)]
        if not lists:
            return items, levels
        if len(lists) < len(types):
            found = [isinstance(item, _LISTS) for item in items]
            raise ConversionError(
                f"at depth {len(levels)}, item {found.index(True)} is a list and item {found.index(False)} "
                "is not: all elements are in as many lists"
            )
        rows = cast("list[Sequence[object]]", items)
        if any(issubclass(kind, np.ndarray) for kind in lists):
            rows = [_rows_of(row) for row in rows]
        levels.append(np.fromiter(map(len, rows), dtype=np.int64, count=len(rows)))
        items = list(chain.from_iterable(rows))


def _rows_of(row: Sequence[object]) -> Sequence[object]:
    if not isinstance(row, np.ndarray):
        return row
    array = cast("Array", row)
    if not array.ndim or isinstance(array, np.ma.MaskedArray):
        raise ConversionError(f"a row is a list or an array of strings, not {array!r}")
    return cast("list[object]", array.tolist())


def _shape_of(levels: list[IntArray]) -> Shape[Any]:
    if all(len(lengths) and (lengths == lengths[0]).all() for lengths in levels):
        return Shape.smooth([int(lengths[0]) for lengths in levels])
    return Shape.from_offsets(*map(splits_of, levels[1:]), copy=False)
