"""NumPy's elementwise functions, for rows and nullable elements."""

import inspect
from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np

from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import packed_layout
from tensorwrapper.shape import Shape
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor._lazy_imports import may_have_nulls
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._operand import read_operand
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.tensor.rows._nulls import over_valid, sides_of

OF_ONE_ELEMENT: Final = frozenset(
    (
        *("angle", "around", "digitize", "fix", "imag", "isin", "isneginf", "isposinf"),
        *("nan_to_num", "real", "round", "sinc"),
    )
)
"""Names of elementwise functions."""


def call_for_each(
    function: Callable[..., Any], name: str, tensor: TensorBase[Any], rest: "list[Any]", named: dict[str, Any]
) -> object:
    """Return a tensor of the results of a function at each element; a null stays null, O(elements).

    `rest` and `named` are the function's other arguments, with arrays instead of boxes.
    """
    plain, valid = sides_of(tensor)
    flat, whole = plain.elements(), not tensor.buffer.nullable
    with refusals(name):
        # Of complex numbers, the real parts have gaps.
        found = np.asarray(function(flat if whole else flat[valid], *rest, **named), order="C")
    if whole:
        return tensor._make(packed_layout(tensor.shape), Dense(found))
    made = tensor._make(packed_layout(Shape(found.size)), Dense(found))
    return over_valid([made], valid, tensor.shape, tensor)[0]


def writes(function: Callable[..., Any], arguments: "tuple[Any, ...]", options: dict[str, Any]) -> bool:
    """Return True if a call is to write its result into an array it is given."""
    given = inspect.signature(function).bind(*arguments, **options).arguments
    return given.get("out") is not None or not given.get("copy", True)


_UNSET: Final = object()
_BOUNDS: Final = frozenset(("a_min", "a_max", "min", "max"))


def has_odd_bounds(arguments: "tuple[Any, ...]", options: dict[str, Any]) -> bool:
    """Return True if `np.clip` of an array would not follow the rule of operands.

    That is so for rows, and for text, which it compares up to the first NUL. It is also for bounds that are
    text, objects or times of another unit, or may be nulls.
    """
    first = arguments[0] if arguments else options.get("a")
    bounds = [*arguments[1:3], *[own for key, own in options.items() if key in _BOUNDS]]
    if not isinstance(first, TensorCommon):
        return any(isinstance(own, TensorCommon) for own in bounds)
    if cast("Any", first).is_sparse:
        return False
    if first.dtype.kind == "T" or first.is_nullable or not first.shape.flatten().is_box:
        return True
    return any(_is_odd(own, first.dtype) for own in bounds)


def _is_odd(bound: object, dtype: "np.dtype[Any]") -> bool:
    if bound is None or isinstance(bound, int | float | complex):
        return False
    given = getattr(bound, "dtype", dtype)
    if isinstance(given, np.dtype) and given.kind in "mM" and given != dtype:
        return True  # NumPy wraps where units meet.
    if isinstance(bound, TensorCommon):
        return bound.is_nullable
    if isinstance(bound, np.ma.MaskedArray) or may_have_nulls(bound):
        return True
    if dtype.kind == "O" and isinstance(bound, bytes):
        return False
    try:
        return np.asarray(bound).dtype.kind in "OSUT"
    except ValueError:
        return True  # The rule of operands says what is wrong with lists of several lengths.


def clip(
    a: Any,  # noqa: ANN401 - a tensor, a view or an array
    a_min: object = _UNSET,
    a_max: object = _UNSET,
    out: Any = None,  # noqa: ANN401 - as above
    *,
    min: object = _UNSET,  # noqa: A002 - NumPy's name
    max: object = _UNSET,  # noqa: A002 - NumPy's name
    **options: Any,  # noqa: ANN401 - options of NumPy's ufuncs
) -> object:
    """Return elements within bounds, which fit by the rule of operands."""
    lower, upper = (b if a is _UNSET else a for a, b in ((a_min, min), (a_max, max)))
    found: Any = read_operand(a, "clip")
    dtype: np.dtype[Any] = found.dtype if hasattr(found, "dtype") else np.asarray(found).dtype
    calls = [
        (ufunc, bound)
        for ufunc, bound in ((np.maximum, lower), (np.minimum, upper))
        if bound is not _UNSET and bound is not None and not _is_beyond(bound, dtype, ufunc)
    ]
    for number, (ufunc, bound) in enumerate(calls):
        last = {"out": out} if out is not None and number == len(calls) - 1 else {}
        found = _extreme(ufunc, found, bound, {**last, **options})
    if not calls:
        found = np.positive(found, out=out) if out is not None else found.copy()
    return found


def _extreme(ufunc: np.ufunc, found: Any, bound: Any, options: dict[str, Any]) -> Any:  # noqa: ANN401 - operands
    """Return the greater, or the lesser, of two operands; ufuncs know no extremes of bytes."""
    if getattr(found, "dtype", np.dtype(bool)).kind not in "OS" or options:
        return ufunc(found, bound, **options)
    is_worse = (np.less if ufunc is np.maximum else np.greater)(found, bound)
    return np.where(is_worse, bound, found)


def _is_beyond(bound: object, dtype: "np.dtype[Any]", ufunc: np.ufunc) -> bool:
    """Return True for a Python integer outside the range of a type: `np.clip` ignores such a bound."""
    if type(bound) is not int or dtype.kind not in "iu":
        return False
    limits = np.iinfo(dtype)
    return bound < limits.min if ufunc is np.maximum else bound > limits.max
