"""NumPy's reductions by name, of tensors of which few elements are stored: nothing is filled for them."""

import inspect
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorwrapper.errors import ConversionError
from tensorwrapper.tensor.operators._operand import is_tensor, is_tensor_or_view
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.tensor.operators._row_functions import REDUCTIONS

__all__ = ["call_on_stored", "is_of_stored"]

_STORED_FUNCTIONS: Final = frozenset({*REDUCTIONS, "mean", "count_nonzero"})
"""The names of functions of NumPy that say what elements that are all alike come to."""


def is_of_stored(function: Callable[..., Any], arguments: "tuple[Any, ...]") -> bool:
    """Tell whether `call_on_stored` knows a function, and its first argument stores few elements."""
    if function.__name__ not in _STORED_FUNCTIONS or not arguments or not is_tensor_or_view(arguments[0]):
        return False
    given: Any = arguments[0]
    return bool(given.is_sparse and given.shape.rank)


def call_on_stored(
    function: Callable[..., Any], arguments: "tuple[Any, ...]", options: dict[str, Any]
) -> object:
    """Return what a function of NumPy makes of sparse tensors and those in blocks: dense, or a number.

    Raises
    ------
    ConversionError
        If an option has no meaning here.
    """
    name = f"np.{function.__name__}"
    with refusals(name):
        bound = inspect.signature(function).bind(*arguments, **options)
    given = dict(bound.arguments)
    tensor = given.pop("a")._as_operand()
    unset = inspect.signature(np.max).parameters["keepdims"].default
    named = {key: own for key, own in given.items() if own is not unset}
    named.setdefault("axis", None)
    ufunc = REDUCTIONS.get(function.__name__)
    if ufunc is None:
        for key in set(named) - {"axis", "keepdims"}:
            raise ConversionError(f"{name} of a sparse tensor has no {key}=: `s.to_dense()` has all elements")
        ufunc = np.add
        if function is np.count_nonzero:
            tensor = tensor != 0
        elif tensor.dtype.kind in "biu":
            named["dtype"] = np.float64
        elif tensor.dtype == np.float16:
            named["dtype"] = np.float32
    found: Any = ufunc.reduce(tensor, **named)
    if function is np.mean:
        found = np.true_divide(found, tensor.shape.size // max(found.shape.size, 1))
        found = found.astype(np.float16) if tensor.dtype == np.float16 else found
    # Of all elements NumPy returns a number.
    whole = named["axis"] is None and is_tensor(found) and found.shape.size == 1
    return np.asarray(found)[()] if whole else found
