"""Records of the same fields put together: one after the other, under a new mode, or chosen by a mask."""

from collections.abc import Sequence
from typing import Any, Literal, cast

import numpy as np

from tensorwrapper.errors import DTypeError, ExtentMismatchError, RankError, TensorNameError
from tensorwrapper.fields._field import Field, Fields
from tensorwrapper.fields._shared_shape import leading
from tensorwrapper.selection import concat, stack, where
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes, mode_of
from tensorwrapper.tensor import Tensor, as_tensor, from_buffer
from tensorwrapper.tensor.lowlevel import as_computed
from tensorwrapper.typing import Array


def check_alike(what: str, parts: Sequence[tuple[Fields, Shape[Any]]]) -> None:
    """Raise unless all parts have the names of the first, and share as many modes.

    Raises
    ------
    TensorNameError
        If one has a name that another has not.
    RankError
        If they share other numbers of modes, or a field has other numbers.
    """
    fields, shape = parts[0]
    for number, (others, other) in enumerate(parts):
        odd = next((name for name in (*others, *fields) if (name in others) != (name in fields)), None)
        if odd is not None:
            having, lacking = (number, 0) if odd in others else (0, number)
            raise TensorNameError(
                f"{what} needs the same fields: operand {having} has {odd!r}, operand {lacking} lacks it"
            )
        if other.rank != shape.rank:
            raise RankError(
                f"{what}: fields share {shape.rank} modes in operand 0, {other.rank} in operand {number}"
            )
        for name, field in others.items():
            if field.rank != fields[name].rank:
                raise RankError(
                    f"{what}: the field {name!r} has {fields[name].rank} modes in operand 0, {field.rank} in "
                    f"operand {number}"
                )


def joined(
    what: Literal["concat", "stack"], parts: Sequence[tuple[Fields, Shape[Any]]], mode: int
) -> dict[str, Field]:
    """Return the fields of records one after the other along a mode, or under a new one; views."""
    check_alike(what, parts)
    fields, shape = parts[0]
    new = what == "stack"
    number = mode_of(mode, shape.rank + new)
    for name, field in fields.items():
        if field.rank + new <= number:
            raise RankError(
                f"{what} along mode {number} needs fields that have it, and {name!r} has {field.rank}: "
                f"`r.drop({name!r})`"
            )
    join = stack if new else concat
    return {name: join([others[name] for others, _ in parts], mode=number) for name in fields}


def chosen(mask: object, parts: Sequence[tuple[Fields, Shape[Any]]]) -> dict[str, Field]:
    """Return the fields of the first records where a mask is true, and of the second elsewhere; views.

    The mask has the shape of leading modes that all fields have.
    """
    check_alike("where", parts)
    (fields, shape), (others, other) = parts
    if shape is not other and shape != other:
        raise ExtentMismatchError(f"where needs records of one shape, not {shape!r} and {other!r}")
    computed: Any = as_computed(mask)
    given: Tensor[Any] = as_tensor(computed)
    if given.dtype != np.bool_:
        raise DTypeError(f"a mask has elements of type bool, not {given.dtype}")
    modes = given.rank
    if modes > shape.rank or not modes or given.shape != leading(shape, modes):
        raise ExtentMismatchError(
            f"a mask of shape {given.shape!r} does not choose among records of {shape!r}"
        )
    short = next((name for name, field in fields.items() if field.rank < modes), None)
    if short is not None:
        raise RankError(f"a mask of {modes} modes chooses none of the field {short!r}: `r.drop({short!r})`")
    masks: dict[int, Tensor[Any]] = {}
    made: dict[str, Field] = {}
    for name, field in fields.items():
        own = field.shape
        if id(own) not in masks:
            masks[id(own)] = given if own.rank == modes else _spread(given.elements(), own, modes)
        made[name] = where(masks[id(own)], cast("Any", field), cast("Any", others[name]))
    return made


def _spread(mask: Array, shape: Shape[Any], modes: int) -> Tensor[Any]:
    """Return a mask of the first modes as one of all modes."""
    counts = np.diff(OperandShapes.splits_under(shape, modes))
    return from_buffer(np.repeat(mask, counts), shape)
