"""Writes of NumPy's functions into tensors, by the rule of `assign`: NumPy itself casts with losses."""

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, cast

import numpy as np

from tensorwrapper._arguments import surely_fits
from tensorwrapper.buffer.lowlevel import check_write
from tensorwrapper.shape import Shape
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor.operators._elementwise import array_of, over_array
from tensorwrapper.tensor.operators._operand import hidden_operand, is_tensor_or_view
from tensorwrapper.tensor.operators._reductions import finished
from tensorwrapper.tensor.operators._refusals import refusals

WRITERS: Final = {
    "copyto": "src",
    "fill_diagonal": "val",
    "place": "vals",
    "put": "v",
    "put_along_axis": "values",
    "putmask": "values",
}
"""Functions that write into their first argument, and the names of the values that they write."""


def without_out(
    function: Callable[..., Any], arguments: "tuple[Any, ...]", options: dict[str, Any], name: str
) -> "tuple[Any, tuple[Any, ...], dict[str, Any]]":
    """Split a call into ``out=`` and the rest. Calls with several outputs keep them."""
    may_have = "out" in options or any(isinstance(own, np.ndarray | TensorCommon) for own in arguments[1:])
    bound = _bound(function, arguments, options, name, "out") if may_have else None
    given = {} if bound is None else bound.arguments
    out = given.pop("out", None)
    if bound is None or out is None or isinstance(out, tuple):
        return None, arguments, options
    first = next(iter(given.values()))
    is_wide = out.dtype.kind in "fc" and is_tensor_or_view(first) and surely_fits(first.dtype, out.dtype)
    if is_wide and "dtype" in bound.signature.parameters and given.get("dtype") is None:
        # As in NumPy, floats are summed in the dtype of out=.
        given["dtype"] = out.dtype
    return out, bound.args, bound.kwargs


def with_fitting_values(
    function: Callable[..., Any], arguments: "tuple[Any, ...]", options: dict[str, Any], name: str
) -> "tuple[tuple[Any, ...], dict[str, Any]]":
    """Return a call of a function that writes into a tensor, whose values fit the elements of that.

    Raises
    ------
    DTypeError, SizeOverflowError
        As `assign`, if they do not fit.
    """
    written = WRITERS.get(function.__name__)
    bound = None if written is None else _bound(function, arguments, options, name, written)
    if bound is None or written not in bound.arguments or "casting" in bound.arguments:
        return arguments, options
    target: Any = next(iter(bound.arguments.values()))
    if is_tensor_or_view(target):
        given = bound.arguments[written]
        hidden = hidden_operand(given, name)
        values: Any = given if hidden is None else hidden
        array: object = array_of(values._as_operand()) if is_tensor_or_view(values) else values
        bound.arguments[written] = check_write(array, target.dtype).astype(target.dtype)
    return bound.args, bound.kwargs


def finished_array(
    found: object,
    operands: Sequence[object],
    out: Any,  # noqa: ANN401 - as NumPy takes it
    name: str,
    options: dict[str, Any],
) -> object:
    """Write the result of a NumPy function into ``out=`` of the same shape, by its ``casting=``."""
    array = np.asarray(cast("Any", found))
    if options.get("casting") == "unsafe":
        array = array.astype(out.dtype)
    given = [item for own in operands for item in (own if isinstance(own, list | tuple) else [own])]
    tensors = [own._as_operand() for own in given if is_tensor_or_view(own)]
    return finished(over_array(array, Shape(*array.shape), tensors), out, name)


def _bound(
    function: Callable[..., Any],
    arguments: "tuple[Any, ...]",
    options: dict[str, Any],
    name: str,
    wanted: str,
) -> "inspect.BoundArguments | None":
    """Return the arguments of a call by their names; None if the function lacks the name."""
    known = _signature(function)
    if wanted not in known.parameters:
        return None
    with refusals(name):
        return known.bind(*arguments, **options)


_signature = cache(inspect.signature)
