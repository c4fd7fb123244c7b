"""NumPy's functions along the rows of a collection, part by part."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tensorwrapper.errors import ConversionError, ExtentError
from tensorwrapper.interop.dask._dask_api import layer_of, name_of
from tensorwrapper.interop.dask._rows import apply_function, reduce_rows, sample_rows
from tensorwrapper.shape.lowlevel import OperandShapes
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import REDUCTIONS

if TYPE_CHECKING:
    from tensorwrapper.interop.dask._collection import DaskTensor

_OF_EMPTY = {"argmax", "argmin", "nanargmax", "nanargmin", "ptp"}
"""Functions that are undefined for an empty row."""


def call_along_rows(
    collection: "DaskTensor",
    function: Callable[..., Any],
    arguments: "tuple[Any, ...]",
    options: Mapping[str, Any],
) -> Any:  # noqa: ANN401 - a collection, or an array of Dask
    """Return the results of a function of each row: rows of the same lengths, or one number per row.

    Raises
    ------
    ConversionError
        If it does not reduce along rows, or the results have other lengths.
    ExtentError
        If a row is empty, and the function is undefined for it.
    """
    name = f"np.{function.__name__}"
    bound = inspect.signature(function).bind(*arguments, **options).arguments
    given = {key: own for key, own in bound.items() if key not in ("a", "x")}
    ufunc = REDUCTIONS.get(function.__name__)
    if ufunc is not None:
        given.setdefault("axis", None)
        return collection.__array_ufunc__(ufunc, "reduce", collection, **given)
    for key in ("out", "where"):
        if given.get(key) is not None:
            raise ConversionError(f"{name} of a collection has no {key}=: compute() has all its rows")
    call = functools.partial(function, **given)
    found = call(sample_rows(collection.shape, collection.dtype))
    if not isinstance(found, Tensor) or not found.shape.rank:
        raise ConversionError(f"{name} of a collection goes along rows, with axis=-1: reduce() takes all")
    made = cast("Tensor[Any]", found)
    modes = made.shape.rank
    label = name_of(name, collection.name, given)
    parts = [(k, (collection.name, k)) for k in range(len(collection.marks) - 1)]
    if modes < collection.shape.rank:
        counts = np.diff(OperandShapes.splits_under(collection.shape, modes))
        if function.__name__ in _OF_EMPTY and not counts.all():
            row = tuple(collection.shape.leading(modes).index(int(np.argmin(counts))))
            text = f"{name}: row {row} is empty; reduce_rows() takes a function that defines its result"
            raise ExtentError(text)
        tasks = {(label, k): (functools.partial(reduce_rows, call), key) for k, key in parts}
        return collection.of_parts(label, tasks, collection.shape.leading(modes), made.dtype)
    if function.__name__ == "diff" or given.get("keepdims", False):
        raise ConversionError(f"{name} of a collection makes rows of other lengths: map_rows(shape=) does")
    again = functools.partial(apply_function, call, [None])
    graph = layer_of(label, {(label, k): (again, key) for k, key in parts}, [collection])
    own = collection
    return type(own)(graph, label, own.shape, made.dtype, own.marks, own.is_nullable)
