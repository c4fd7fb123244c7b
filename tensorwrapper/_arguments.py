"""Arguments of another kind than a call takes, refused by what it takes before anything is asked of them."""

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tensorwrapper._wording import brief, shortened
from tensorwrapper.errors import ConversionError, DTypeError

__all__ = ["check_kind_of", "to_dtype", "to_items_of"]

_T = TypeVar("_T")


def check_kind_of(value: object, kind: type[object] | tuple[type[object], ...], what: str) -> None:
    """Raise unless a value is of a kind; `what` says which: "the target must be a tensor or a view".

    Examples
    --------
    >>> check_kind_of(3, str, "a name must be a text")
    Traceback (most recent call last):
    tensorwrapper.errors.ConversionError: a name must be a text, not 3 (int)
    """
    if not isinstance(value, kind):
        raise ConversionError(f"{what}, not {brief(value)} ({type(value).__name__})")


def to_items_of(values: Iterable[_T], what: str) -> list[_T]:
    """Return the items of something that can be gone through.

    Examples
    --------
    >>> to_items_of(3, "tilings must be a sequence")
    Traceback (most recent call last):
    tensorwrapper.errors.ConversionError: tilings must be a sequence, not 3 (int)
    """
    try:
        items = iter(values)
    except TypeError as error:
        raise ConversionError(f"{what}, not {brief(values)} ({type(values).__name__})") from error
    return list(items)


def to_dtype(dtype: npt.DTypeLike) -> "np.dtype[Any]":
    """Return the type of NumPy that is named, whether or not tensors have such elements.

    Examples
    --------
    >>> to_dtype("f4"), to_dtype(bool)
    (dtype('float32'), dtype('bool'))
    >>> to_dtype("real")
    Traceback (most recent call last):
    tensorwrapper.errors.DTypeError: 'real' is no type of elements: data type 'real' not understood
    """
    try:
        return np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError, OverflowError, AttributeError) as error:
        raise DTypeError(f"{brief(dtype)} is no type of elements: {shortened(str(error))}") from error
