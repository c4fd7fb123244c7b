"""NumPy's reductions of remote tensors, computed by the server, which sends only the results."""

import inspect
from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np

from tensorwrapper.buffer.lowlevel import buffer_of, packed_layout
from tensorwrapper.errors import RequestRefusedError
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._pushdown import described, reduced
from tensorwrapper.remote.protocol._elements import is_small
from tensorwrapper.selection import View
from tensorwrapper.shape.lowlevel import OperandShapes
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor

_BY: Final[dict[Callable[..., Any], Callable[..., Any]]] = {
    np.sum: np.add,
    np.mean: np.add,
    np.prod: np.multiply,
    np.max: np.maximum,
    np.min: np.minimum,
    np.any: np.logical_or,
    np.all: np.logical_and,
    np.count_nonzero: np.count_nonzero,
}
"""NumPy functions, with the corresponding reductions of servers."""
_UFUNCS: Final = frozenset(own for own in _BY.values() if isinstance(own, np.ufunc))
_LEAST: Final = 2**14
"""Tensors up to this many bytes are read in one answer, which stays in the cache."""


def reduced_there(
    connections: Connections,
    function: Callable[..., Any],
    view: View[Any],
    arguments: "tuple[Any, ...]",
    options: dict[str, Any],
) -> object:
    """Return the reduction of a whole tensor by its server; `NotImplemented` if it should be read instead.

    Small tensors are read. So are tensors that the server cannot reduce: sparse tensors, strings, nullable
    elements, tiles, and some options. The rounding of float sums is that of the server, which adds blocks of
    elements.

    Parameters
    ----------
    function
        A NumPy function, or a ufunc for its `reduce`.
    view
        The whole tensor, the first argument.
    arguments, options
        The other arguments.
    """
    if isinstance(function, np.ufunc):
        by: Callable[..., Any] | None = function if function in _UFUNCS else None
        given = {"axis": 0, **options, **dict(zip(["axis", "dtype", "out"], arguments, strict=False))}
    else:
        by = _BY.get(function)
        if by is None:
            return NotImplemented
        given = dict(inspect.signature(function).bind(view, *arguments, **options).arguments)
        del given["a"]
    axis = given.pop("axis", None)
    view = view.flatten() if view.shape.has_layers else view
    dtype = view.dtype
    unlike = view.is_sparse or view.is_nullable or dtype.kind not in "biufc" or is_small(dtype)
    if by is None or unlike or view.nbytes < _LEAST or any(own is not None for own in given.values()):
        return NotImplemented
    if "reduce" not in connections.here().welcome.capabilities:
        return NotImplemented
    whole = _summed(view) if function is np.mean else view
    found = _numbers(connections, by, whole, axis)
    if found is None:
        return NotImplemented
    # As in memory, ufuncs return tensors, and functions return arrays and numbers where there are no rows.
    is_array = not isinstance(function, np.ufunc) and (axis is None or view.shape.is_box)
    numbers: Any = np.asarray(found)[()] if is_array else found
    return _mean(view, numbers, axis) if function is np.mean else numbers


def _summed(view: View[Any]) -> View[Any]:
    """Return the elements in the dtype in which NumPy sums them for a mean."""
    if view.dtype.kind in "biu":
        return view.astype(np.float64)
    return view.astype(np.float32) if view.dtype == np.float16 else view


def _mean(view: View[Any], sums: Any, axis: object) -> object:  # noqa: ANN401 - a number, an array or rows
    shape = view.shape
    if axis is None:
        count: Any = shape.size
    elif shape.is_box:
        count = shape.extents[cast("int", axis)]
    else:
        lengths = np.diff(OperandShapes.splits_under(shape, shape.rank - 1))
        if not lengths.all():
            return NotImplemented
        count = make_tensor(packed_layout(sums.shape), buffer_of(lengths))
    if isinstance(count, int) and not count:
        return NotImplemented
    mean = sums / count
    dtype = np.dtype(np.float64) if view.dtype.kind in "biu" else view.dtype
    return mean if mean.dtype == dtype else mean.astype(dtype)


def _numbers(
    connections: Connections, by: Callable[..., Any], view: View[Any], axis: object
) -> Tensor[Any] | None:
    """Return the server's reduction of a mode, of rows, or of all elements; None to read it instead."""
    shape = view.shape
    over: int | str
    if axis is None:
        view, over = _in_line(view), 0
    elif isinstance(axis, int) and not isinstance(axis, bool) and -shape.rank <= axis < shape.rank:
        over = axis % shape.rank if shape.is_box else "rows"
        if over == "rows" and axis % shape.rank != shape.rank - 1:
            return None
    else:
        return None
    if view.shape.rank < 1 or (axis is None and not view.shape.is_box):
        return None
    if described(connections, view) is None:
        return None
    try:
        found = reduced(connections, by, view, over)
    except RequestRefusedError as error:
        if error.reason not in ("limit", "unsupported"):
            raise
        return None
    return found


def _in_line(view: View[Any]) -> View[Any]:
    """Return all elements as a view of one mode; views other than rows and boxes are unchanged."""
    if view.shape.is_box:
        return view if view.shape.rank == 1 else view.reshape((view.shape.size,))
    while view.shape.kind == "jagged" and view.shape.rank > 1:
        view = view.flatten()
    return view
