"""NumPy's reductions of sparse and symmetric tensors, without converting them to dense."""

import inspect
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import packed_layout
from tensorwrapper.errors import ConversionError
from tensorwrapper.tensor.operators._operand import is_tensor, is_tensor_or_view
from tensorwrapper.tensor.operators._reductions import reduced_shape
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.tensor.operators._row_functions import REDUCTIONS
from tensorwrapper.tensor.rows._row_facts import row_splits

_STORED_FUNCTIONS: Final = frozenset({*REDUCTIONS, "mean", "count_nonzero", "norm"})
"""The names of functions of NumPy whose result for many equal elements is known."""
_OF_ALL: Final = frozenset(("std", "var", "median"))
"""Functions that are supported only for all elements together."""


def is_of_stored(function: Callable[..., Any], arguments: "tuple[Any, ...]", options: dict[str, Any]) -> bool:
    """Return True if `call_on_stored` knows a function, and its first argument stores few elements."""
    name = function.__name__
    if name not in _STORED_FUNCTIONS | _OF_ALL or not arguments or not is_tensor_or_view(arguments[0]):
        return False
    given: Any = arguments[0]
    if name in _OF_ALL and not given.shape.flatten().is_box and (options or len(arguments) > 1):
        return False  # Along rows each function goes its own way.
    if given.is_sparse and given.shape.rank:
        return True
    # A view of a part of a symmetric tensor is no more symmetric than what it computes.
    return given.buffer.stores_orbits if is_tensor(given) else given.symmetry is not None


def call_on_stored(
    function: Callable[..., Any], arguments: "tuple[Any, ...]", options: dict[str, Any]
) -> object:
    """Return a NumPy function's result for tensors that do not store all elements: dense, or a number.

    Raises
    ------
    ConversionError
        If an option has no meaning here.
    """
    name = f"np.{function.__name__}"
    with refusals(name):
        bound = inspect.signature(function).bind(*arguments, **options)
    given = dict(bound.arguments)
    if function is np.linalg.norm:
        return _norm(given)
    if function.__name__ in _OF_ALL:
        return _spread(function.__name__, given)
    tensor = given.pop("a")._as_operand()
    unset = inspect.signature(np.max).parameters["keepdims"].default
    named = {key: own for key, own in given.items() if own is not unset}
    named.setdefault("axis", None)
    ufunc = REDUCTIONS.get(function.__name__)
    if ufunc is None:
        for key in set(named) - {"axis", "keepdims"}:
            raise ConversionError(
                f"{name} of a sparse or symmetric tensor has no {key}=: `s.to_dense()` has all elements"
            )
        ufunc = np.add
        if function is np.count_nonzero:
            tensor = tensor != 0
        elif tensor.dtype.kind in "biu":
            named["dtype"] = np.float64
        elif tensor.dtype == np.float16:
            named["dtype"] = np.float32
    found: Any = ufunc.reduce(tensor, **named)
    if function is np.mean:
        found = np.true_divide(found, _counts(tensor, found, named))
        found = found.astype(np.float16) if tensor.dtype == np.float16 else found
    # Of all elements NumPy returns a number.
    whole = named["axis"] is None and is_tensor(found) and found.shape.size == 1
    return np.asarray(found)[()] if whole else found


def _counts(tensor: Any, found: Any, named: dict[str, Any]) -> Any:  # noqa: ANN401 - of any rank
    """Return how many elements each sum of a mean has."""
    shape, axis = tensor.shape.flatten(), named["axis"]
    if shape.is_box or axis is None:
        return shape.size // max(found.shape.size, 1)
    layout: Any = packed_layout(shape)
    for mode in range(shape.rank - 1, reduced_shape(shape, axis, "np.mean").rank, -1):
        layout = layout.merge_rows(mode)
    return found._make(packed_layout(found.shape), Dense(np.diff(row_splits(layout.shape))))


def _spread(name: str, given: dict[str, Any]) -> object:
    """Return a standard deviation, a variance or a median of all elements."""
    # Loaded here: few ask for them.
    from tensorwrapper.tensor.operators._spread import median_of, variance_of  # noqa: PLC0415

    tensor = given.pop("a")._as_operand()
    ddof = given.pop("ddof", 0)
    odd = [key for key, own in given.items() if own is not None and key != "overwrite_input"]
    if odd:
        raise ConversionError(
            f"np.{name} of a sparse or symmetric tensor has no {odd[0]}=: it is of all elements, and "
            "`s.to_dense()` has them"
        )
    if name == "median":
        return median_of(tensor)
    found = variance_of(tensor, ddof)
    return np.sqrt(found) if name == "std" else found


def _norm(given: dict[str, Any]) -> object:
    """Return the root of the sum of squared magnitudes."""
    tensor = given.pop("x")._as_operand()
    order, axis = given.pop("ord", None), given.pop("axis", None)
    modes = tensor.shape.rank if axis is None else np.size(axis)
    if order is not None and not (order == "fro" and modes == 2) and not (order == 2 and modes == 1):
        raise ConversionError(
            f"np.linalg.norm of a sparse or symmetric tensor has no ord={order!r}: `s.to_dense()` has all "
            "elements"
        )
    # Integers have no room for their squares.
    values = tensor.astype(np.float64) if tensor.dtype.kind in "biu" else tensor
    squares = np.square(np.absolute(values))
    return np.sqrt(np.sum(squares, axis=axis, **given))
