"""Lists with None, as values and truth values."""

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from tensorwrapper.errors import ConversionError, DTypeError


def has_null(value: object) -> bool:
    """Return True if there is a None in lists. O(items)."""
    if value is None:
        return True
    return _is_list(value) and any(map(has_null, value))


def _is_list(value: object) -> "TypeGuard[Sequence[object]]":
    return isinstance(value, list | tuple)


def split_nulls(
    value: "Sequence[object]", dtype: "np.dtype[Any] | None" = None
) -> "tuple[list[Any], list[Any]]":
    """Return lists with each None replaced by a number, and lists of the validity.

    The number is an element of the lists, or a zero of a type.

    Raises
    ------
    ConversionError
        If a list has both nulls and lists.
    DTypeError
        If there is nothing but nulls, which have no type.
    """
    if dtype is None:
        filler = _first(value)
    else:
        zero: Any = np.zeros((), dtype)[()]
        # A number of Python takes on the type of the others.
        filler = zero if dtype.kind in "mMV" else zero.item()
    if _is_null_row(value):
        raise ConversionError(
            "a null row: `tw.as_tensor([[1], None], null_rows='empty')` makes an empty row of it"
        )
    if filler is None:
        raise DTypeError(
            "nulls alone have no type: `tw.nullable(np.zeros(2), [False, False])` makes some of a type"
        )
    return _filled(value, filler), _marked(value)


def _is_null_row(value: "Sequence[object]") -> bool:
    """Return True if a list has both nulls and lists."""
    rows = [own for own in value if _is_list(own)]
    return (len(rows) > 0 and any(own is None for own in value)) or any(map(_is_null_row, rows))


def with_empty_rows(value: "Sequence[object]") -> list[Any]:
    """Return lists with null lists replaced by empty lists."""
    among = any(map(_is_list, value))
    return [with_empty_rows(own) if _is_list(own) else [] if among and own is None else own for own in value]


def _first(value: object) -> object:
    """Return the first valid element, or None."""
    if not _is_list(value):
        return value
    return next((found for item in value if (found := _first(item)) is not None), None)


def _filled(value: "Sequence[object]", filler: object) -> list[Any]:
    return [_filled(own, filler) if _is_list(own) else filler if own is None else own for own in value]


def _marked(value: "Sequence[object]") -> list[Any]:
    return [_marked(own) if _is_list(own) else own is not None for own in value]
