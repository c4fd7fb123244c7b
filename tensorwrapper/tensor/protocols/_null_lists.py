"""Lists with None, as values and truth values. Arrays and tensors in lists are rows, which may have nulls."""

from collections.abc import Sequence
from typing import Any, TypeGuard, cast

import numpy as np

from tensorwrapper.errors import ConversionError, DTypeError
from tensorwrapper.tensor._lazy_imports import may_have_nulls, read_foreign


def has_null(value: object) -> bool:
    """Return True if there is a None in lists. O(items)."""
    if value is None:
        return True
    return _is_list(value) and any(map(has_null, value))


def _is_list(value: object) -> "TypeGuard[Sequence[object]]":
    return isinstance(value, list | tuple)


def is_row(value: object) -> bool:
    """Return True for lists, and for arrays and tensors with modes."""
    return _is_list(value) or _has_modes(value)


def _has_modes(value: object) -> bool:
    shape: Any = getattr(value, "shape", ())
    rank: int = shape.rank if hasattr(shape, "rank") else len(shape)
    return rank > 0 and hasattr(type(value), "__array__")


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
    value = [_as_row(own) for own in value]
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


def _as_row(value: object) -> object:
    """Return an item of a list; ranges as lists, and arrays of libraries that know nulls as tensors."""
    if isinstance(value, range):
        return list(value)
    if _is_list(value):
        return [_as_row(own) for own in value]
    is_array = may_have_nulls(value) and hasattr(value, "__len__")
    return cast("object", read_foreign(value, None, "refuse")) if is_array else value


def _is_null_row(value: "Sequence[object]") -> bool:
    """Return True if a list has both nulls and lists."""
    among = any(map(is_row, value)) and any(own is None for own in value)
    return among or any(_is_null_row(own) for own in value if _is_list(own))


def with_empty_rows(value: "Sequence[object]") -> list[Any]:
    """Return lists with null lists replaced by empty lists."""
    among = any(map(is_row, value))
    return [with_empty_rows(own) if _is_list(own) else [] if among and own is None else own for own in value]


def _first(value: object) -> object:
    """Return the first valid element, or None."""
    if _has_modes(value):
        array: Any = value
        elements = array.drop_null().elements() if _is_nullable(array) else np.ravel(_elements(array))
        return cast("object", elements[0]) if len(elements) else None
    if not _is_list(value):
        return value
    return next((found for item in value if (found := _first(item)) is not None), None)


def _filled(value: Any, filler: object) -> Any:  # noqa: ANN401 - an item of a list, of any depth
    if _is_nullable(value):
        return value.fill_null(filler)
    return [_filled(own, filler) for own in value] if _is_list(value) else filler if value is None else value


def _marked(value: Any) -> Any:  # noqa: ANN401 - an item of a list, of any depth
    if _has_modes(value):
        return value.is_valid() if hasattr(value, "is_valid") else np.ones(value.shape, np.bool_)
    return [_marked(own) for own in value] if _is_list(value) else value is not None


def _is_nullable(value: object) -> bool:
    return _has_modes(value) and bool(getattr(value, "is_nullable", False))


def _elements(value: Any) -> Any:  # noqa: ANN401 - of an array or a tensor
    return value.elements() if hasattr(value, "elements") else value
