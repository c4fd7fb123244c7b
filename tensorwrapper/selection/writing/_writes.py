"""Writing through views: assignment that is whole or not at all, and accumulation."""

from collections.abc import Iterable
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer.lowlevel import copy_elements, fit_extents
from tensorwrapper.errors import ConversionError, ReadOnlyError
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.selection.writing._remote_targets import RemoteTarget, write_away
from tensorwrapper.selection.writing._targets import (
    WriteTarget,
    WriteTargets,
    check_distinct,
    stored_in,
    write_parts,
    write_targets_of,
)
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import add_all, fit_values, make_tensor
from tensorwrapper.typing import Array, Extents, WriteCasting

__all__ = ["Value", "accumulate", "assign", "writable_targets"]

Value: TypeAlias = "npt.ArrayLike | Tensor[Any]"
"""A value to write: a tensor, an array, a number, or lists of them."""


def writable_targets(written: Expression, normal: Expression, rows: Shape | None = None) -> WriteTargets:
    """Return where the elements of a view are stored, if each can be written to and none comes twice.

    Errors tell indices of the rows whose elements the normal form is, if there are any.
    """
    found = write_targets_of(normal, rows)
    parts = list(stored_in(found))
    _check_writable(written, parts)
    check_distinct(parts)
    return found


def _check_writable(written: Expression, parts: Iterable[WriteTarget]) -> None:
    """Raise if a part is in read-only memory, even if only one of several tensors is read-only."""
    fixed = {source for source in _sources(written) if source.tensor.buffer.is_readonly}
    for part in parts:
        if TensorSource(part.tensor) in fixed or part.tensor.buffer.is_readonly:
            raise ReadOnlyError(
                f"{part.where}: from a read-only tensor, whose memory may not change, or which repeats "
                "elements; copy() gives one that can be written to"
            )


def _sources(written: Expression) -> Iterable[TensorSource]:
    """Return an iterator over the tensors that a view reads, as it was written."""
    for view in operands_first([written], everything=True):
        if view.node.tensor is not None:
            yield cast("TensorSource", view.node.source)


def assign(
    written: Expression,
    normal: Expression,
    value: Value,
    casting: WriteCasting,
    rows: Shape | None = None,
    valid: Any = None,  # noqa: ANN401 - one truth value, or one for each of the elements
) -> None:
    """Write a value, broadcast and cast, into all elements of a view; a null where it is not valid."""
    tensor = normal.node.tensor
    if tensor is not None and rows is None:
        target = make_tensor(normal.layout, tensor.buffer)
        _check_writable(
            written, [WriteTarget((), target, _all_elements)] if target.layout.is_injective else []
        )
        # A target that refuses nulls must do so before anything is written.
        has_nulls = valid is not None and not np.all(valid.elements() if isinstance(valid, Tensor) else valid)
        is_marked = has_nulls or (valid is not None and target.is_nullable)
        marks_there = _validity_of(target) if is_marked else None
        target.assign(value, casting=casting)
        if marks_there is not None:
            marks_there.assign(cast("Any", valid))
        return
    extents = normal.shape.extents
    found = writable_targets(written, normal, rows)
    parts = list(stored_in(found))
    marks = (
        []
        if valid is None
        else list(write_parts(found, np.broadcast_to(fit_extents(np.asarray(valid), extents), extents)))
    )
    for part, own in marks:
        if not part.tensor.is_nullable and not np.all(own):
            _validity_of(part.tensor)  # for its errors
    values = np.broadcast_to(_values(value, parts, extents, casting), extents)
    shares = list(write_parts(found, values))
    # Remote writes, which may fail, come first, so that a failure leaves memory unchanged.
    beside = [own for _, own in marks] if marks else [None] * len(shares)
    write_away(
        [
            (part.tensor, own, there)
            for (part, own), there in zip(shares, beside, strict=True)
            if isinstance(part.tensor.buffer, RemoteTarget)
        ]
    )
    for part, own in shares:
        if not isinstance(part.tensor.buffer, RemoteTarget):
            part.tensor.assign(own, casting=casting)
    for part, own in marks:
        if part.tensor.is_nullable and not isinstance(part.tensor.buffer, RemoteTarget):
            _validity_of(part.tensor).assign(own)


def _validity_of(tensor: Tensor[Any]) -> Tensor[np.bool_]:
    """Return whether elements are valid, as a tensor over the same places.

    Raises
    ------
    ConversionError
        If the tensor has no room for nulls.
    """
    sides = tensor.buffer.sides
    if sides is None:
        raise ConversionError(
            f"elements of {tensor.dtype} cannot be null: `tw.nullable(t)` makes a nullable tensor"
        )
    return make_tensor(tensor.layout, sides[1])


def _all_elements(part: object) -> str:  # noqa: ARG001
    return "the elements"


def _values(value: Value, parts: list[WriteTarget], extents: Extents, casting: WriteCasting) -> Array:
    """Return a value as an array of the view's type that is not in memory which is written."""
    first = parts[0].tensor
    given = _array_of(value)
    if given is None or given.dtype != first.dtype or first.buffer.memory is None:
        return fit_values(first, value, extents, casting)
    buffers = {id(part.tensor.buffer): part.tensor.buffer for part in parts}.values()
    runs = [own.memory for own in buffers if own.memory is not None]
    same = any(np.may_share_memory(given, run) for run in runs)
    return fit_extents(copy_elements(given) if same else given, extents)


def _array_of(value: Value) -> Array | None:
    """Return the array that a value is, or the one over its memory, if there is one."""
    if isinstance(value, np.ndarray):
        return cast("Array", value)
    if type(value) is Tensor and value.shape.is_box:
        return value.buffer.memory_of(value.layout.implementation)
    return None


def accumulate(values: Array, normal: Expression, casting: WriteCasting, rows: Shape | None = None) -> None:
    """Add values, one for each in row-major order, to the elements of a view, of which some may be shared."""
    if not normal.shape.size:
        return
    found = write_targets_of(normal, rows)
    parts = list(stored_in(found))
    for part in parts:
        if TensorSource(part.tensor).owner.is_readonly:
            raise ReadOnlyError("a source of the view is read-only; copy() gives one that can change")
    extents = normal.shape.extents
    shares = write_parts(found, values.reshape(extents))
    add_all([(part.tensor.buffer, part.tensor.layout.implementation, mine) for part, mine in shares], casting)
