"""Parse untrusted views and reductions of clients, and compute them under locks."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tensorwrapper.errors import ComputationCancelledError, RefusalReason, RequestRefusedError, SelectionError
from tensorwrapper.remote.protocol._elements import bytes_of, dtype_text, is_small
from tensorwrapper.remote.protocol._events import (
    AskReduce,
    AskView,
    Described,
    Elements,
    Reduced,
)
from tensorwrapper.remote.protocol._limits import ServeLimits
from tensorwrapper.remote.protocol._reductions import (
    extents_of_numbers,
    numbers_over,
    reduced_dtype,
    reduction_of_none,
    summands,
)
from tensorwrapper.remote.served._served_tensor import ServedTensor
from tensorwrapper.selection import SchemaLimits, View, as_view, from_json
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Array

if TYPE_CHECKING:
    from tensorwrapper.selection import Cancel, ViewLike

_TEXT: Final = 2**20
_DEPTH: Final = 64
_NODES: Final = 10_000
_REASONS: Final[dict[str, RefusalReason]] = {"limit": "limit", "bounds": "bounds"}
_BLOCK: Final = 2**22


def _view_of(described: Described, holdings: Sequence[ServedTensor], limits: ServeLimits) -> View[Any]:
    named = {alias: _little(own.given) for (alias, _, _), own in zip(described.of, holdings, strict=True)}
    bounds = SchemaLimits(
        text=_TEXT,
        depth=_DEPTH,
        items=16 * _NODES,
        nodes=_NODES,
        positions=limits.positions,
        work=8 * limits.positions,
        nbytes=limits.work_bytes,
    )
    try:
        tables = [bytes(own) for own in described.tables]
        return from_json(described.text, sources=named, frames=tables, limits=bounds)
    except SelectionError as error:
        raise RequestRefusedError(_REASONS.get(error.reason, "schema"), f"invalid view: {error}") from error


def _little(given: "ViewLike") -> "ViewLike":
    """Return a tensor in little-endian byte order, the only one in the protocol."""
    dtype = as_view(given).dtype
    # Strings have no byte order.
    if dtype.kind not in "iufcmM" or dtype == dtype.newbyteorder("<"):
        return given
    return as_view(given).astype(dtype.newbyteorder("<"))


def _held(stack: ExitStack, described: Described, holdings: Sequence[ServedTensor]) -> None:
    """Lock the tensors against editing; raise if one was already edited."""
    for own in set(holdings):
        stack.enter_context(own.lock.reading)
    for (_, name, version), own in zip(described.of, holdings, strict=True):
        if own.facts.version != version:
            raise RequestRefusedError("changed", f"the tensor {name!r} is at version {own.facts.version}")


def compute_view(
    request: AskView, holdings: Sequence[ServedTensor], limits: ServeLimits, stop: "Cancel | None" = None
) -> Elements:
    """Return selections of a view."""
    view = _view_of(request.view, holdings, limits)
    staging = holdings[0].staging
    result = ServedTensor("of the request", view, request.view.version, limits, staging, kept=False)
    # Suppress warnings of NumPy: the client chose the operands.
    with ExitStack() as stack, np.errstate(all="ignore"):
        _held(stack, request.view, holdings)
        if result.is_nullable:
            raise RequestRefusedError("unsupported", "a server cannot compute nullable views")
        return result.read(request.selections, None, stop)


def reduce_view(
    request: AskReduce, holdings: Sequence[ServedTensor], limits: ServeLimits, stop: "Cancel | None" = None
) -> Reduced:
    """Return the reduction of the rows, the tiles or one mode of a view."""
    view, over, initial = _view_of(request.view, holdings, limits), request.over, request.initial
    if view.dtype.kind not in "biufcmM" or is_small(view.dtype):
        raise RequestRefusedError("unsupported", f"cannot reduce elements of type {view.dtype}")
    view, ufunc = summands(view, request.ufunc, over)
    dtype = reduced_dtype(ufunc, view.dtype)
    if view.nbytes > limits.work_bytes:
        raise RequestRefusedError(
            "limit", f"a reduction of {view.nbytes} bytes exceeds the limit of {limits.work_bytes}"
        )
    if isinstance(over, int) and over >= view.rank:
        raise RequestRefusedError(
            "bounds", f"a {view.shape.kind} view of rank {view.rank} has no mode {over}"
        )
    shape = numbers_over(view, over, ufunc)
    if shape.size * max(dtype.itemsize, 8) > limits.answer_bytes:
        raise RequestRefusedError("limit", f"{shape.size} numbers are too many for one answer")
    with ExitStack() as stack, np.errstate(all="ignore"):
        _held(stack, request.view, holdings)
        if over == "rows":
            found = _reduce_rows(view, ufunc, initial, stop)
        elif over == "tiles":
            found = view.reduce_tiles(ufunc, initial=initial).elements()
        elif not view.shape.is_box:
            # Reduce each row separately along the last mode.
            found = _reduce_rows(view, ufunc, initial, stop)
        else:
            found = _reduce_mode(view, over, ufunc, initial, dtype, stop)
    little = np.array(found, found.dtype.newbyteorder("<"), order="C")
    return Reduced(
        request.view.version,
        dtype_text(little.dtype),
        extents_of_numbers(shape),
        bytes_of(little.reshape(-1)),
    )


def _reduce_rows(view: View[Any], ufunc: np.ufunc, initial: float | None, stop: "Cancel | None") -> Array:
    """Return the reduction of each row, some rows at a time."""
    count = len(view.rows())
    step = max(count * _BLOCK // max(view.nbytes, 1), 1)
    if count <= step or view.rank != 2:
        return view.rows().reduce(ufunc, initial=initial).elements()
    parts: list[Array] = []
    for start in range(0, count, step):
        _check(stop)
        parts.append(view[start : start + step].rows().reduce(ufunc, initial=initial).elements())
    return np.concatenate(parts)


def _check(stop: "Cancel | None") -> None:
    if stop is not None and stop.is_set():
        raise ComputationCancelledError("the client cancelled the request")


def _reduce_mode(
    view: View[Any],
    mode: int,
    ufunc: np.ufunc,
    initial: float | None,
    dtype: "np.dtype[Any]",
    stop: "Cancel | None",
) -> Array:
    """Return the reduction of a mode of a box, a region at a time."""
    extents = list(view.shape.extents)
    # Start with the initial value, as NumPy does; otherwise results may overflow.
    begun = {} if initial is None else {"initial": reduction_of_none(ufunc, view.dtype, initial)}
    if not extents[mode] and ufunc.identity is None and not begun:
        raise RequestRefusedError("unsupported", f"mode {mode} is empty and {ufunc.__name__} has no identity")
    if not extents[mode] or not view.shape.size:
        return cast("Array", ufunc.reduce(np.empty(extents, view.dtype), axis=mode, **begun))
    found: Array = np.empty([own for k, own in enumerate(extents) if k != mode], dtype)
    start = view.shape.origin
    for region, block in view.blocks(_BLOCK):
        _check(stop)
        key = _slices(region, start, mode)
        # Regions are in order, so the first region of a number initializes it.
        if region.origin[mode] == start[mode]:
            found[key] = ufunc.reduce(np.asarray(block), axis=mode, **begun)
        else:
            sums: Array = cast("Any", found)[(..., *key)]  # an array also where one number is left
            ufunc(sums, ufunc.reduce(np.asarray(block), axis=mode), out=sums)
    return found


def _slices(region: Shape[Any], start: Sequence[int], mode: int) -> tuple[slice, ...]:
    places = zip(region.origin, start, region.extents, strict=True)
    return tuple([slice(a - b, a - b + n) for k, (a, b, n) in enumerate(places) if k != mode])
