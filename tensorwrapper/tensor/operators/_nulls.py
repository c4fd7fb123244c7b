"""Calls of NumPy on nullable elements: NumPy computes only on valid elements.

An element is null if one of its operands is. For truth values, `and` and `or` give an answer where the other
operand alone decides. The value under a null takes no part, not even in a warning.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer import Dense, Nullable, Strings
from tensorwrapper.buffer.lowlevel import packed_layout
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.shape import Shape
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._operand import Operand, first_tensor, is_tensor, is_text
from tensorwrapper.tensor.operators._shapes import shape_of
from tensorwrapper.tensor.operators._strings import places_of
from tensorwrapper.tensor.rows._nulls import Marks, over_valid, sides_of

_KLEENE: Final = {"bitwise_and": False, "logical_and": False, "bitwise_or": True, "logical_or": True}
"""Ufuncs of bools that one operand can decide, with the deciding value."""


def is_nullable(operand: object) -> bool:
    """Return True if an operand is a tensor whose elements may be nulls."""
    return is_tensor(operand) and operand.buffer.nullable


def valid_at(
    operand: Operand, shape: Shape[Any], reference: "TensorBase[Any] | None", name: str
) -> "Marks | None":
    """Return whether an operand is valid at each element of a result; None if it is everywhere."""
    if not isinstance(operand, TensorBase) or not operand.buffer.nullable:
        return None
    valid = operand.buffer.valid_of(operand.layout.implementation)
    places = places_of(operand, shape, reference, name)
    return valid if places is None else valid[places]


def compute_with_nulls(
    call: "Callable[[list[Any]], object]", operands: Sequence[Operand], name: str
) -> "tuple[TensorBase[Any], ...]":
    """Return the result of a call element by element, for operands of which at least one is nullable.

    Parameters
    ----------
    call
        Is given plain tensors of rank 1 and numbers, and returns tensors of rank 1, or one of them.
    operands
        Tensors, arrays and numbers, which fit by the rule of operands.
    name
        The ufunc, for errors.

    Returns
    -------
    tuple
        The results, over the shape of all operands.
    """
    shape, reference = shape_of(operands, name)
    like = first_tensor(operands)
    decides = _KLEENE.get(name)
    if decides is not None and all(_is_truth(operand) for operand in operands):
        return (_kleene(operands, shape, reference, name, decides=decides),)
    marks = [own for operand in operands if (own := valid_at(operand, shape, reference, name)) is not None]
    valid = np.ones(shape.size, np.bool_)
    for own in marks:
        valid &= own
    whole = _of_all(call, operands, valid, like)
    if whole is not None:
        return whole
    chosen = None if valid.all() else np.flatnonzero(valid)
    given = [_at(operand, chosen, shape, reference, name, like) for operand in operands]
    if not any(isinstance(own, TensorBase) for own in given):
        given[0] = like._make(packed_layout(Shape()), Dense(np.asarray(given[0]).reshape(1)))
    found = call(given)
    results = cast("tuple[TensorBase[Any], ...]", found if isinstance(found, tuple) else (found,))
    count = int(np.count_nonzero(valid))
    spread = [_all_of(own, count) for own in results]
    return tuple(over_valid(spread, valid, shape, like))


def _of_all(
    call: "Callable[[list[Any]], object]", operands: Sequence[Operand], valid: Marks, like: TensorBase[Any]
) -> "tuple[TensorBase[Any], ...] | None":
    """Return the result of a call for all numbers, also under nulls; None if it warns or raises.

    One pass in place of two copies of each operand. An element that warns is valid, or under a null: the
    general way tells which.
    """
    if any(is_text(own) for own in operands):
        return None
    given = [sides_of(own)[0] if isinstance(own, TensorBase) else own for own in operands]
    try:
        with np.errstate(all="raise"):
            found = call(given)
    except (TensorWrapperError, ArithmeticError, ValueError):
        return None
    results = cast("tuple[TensorBase[Any], ...]", found if isinstance(found, tuple) else (found,))
    if any(own.shape.size != len(valid) for own in results):
        return None
    made: list[TensorBase[Any]] = []
    for own in results:
        marks = Dense(cast("Any", valid.copy() if made else valid))
        values = own.buffer.pack(own.layout.implementation, own=False)
        made.append(like._make(packed_layout(own.shape), Nullable(values, marks)))
    return tuple(made)


def _all_of(result: TensorBase[Any], count: int) -> TensorBase[Any]:
    """Return a result of rank 0, which is that of numbers, for each of the valid elements."""
    if result.shape.rank:
        return result
    return result._make(packed_layout(result.shape).broadcast(Shape(count)), result.buffer)


def _is_truth(operand: Operand) -> bool:
    return isinstance(operand, bool) or getattr(operand, "dtype", None) == np.bool_


def _at(
    operand: Operand,
    chosen: "npt.NDArray[np.intp] | None",
    shape: Shape[Any],
    reference: "TensorBase[Any] | None",
    name: str,
    like: TensorBase[Any],
) -> Any:  # noqa: ANN401 - a number stays what it is
    """Return an operand at the chosen elements of the result: a plain tensor of rank 1, or a number."""
    if isinstance(operand, TensorBase):
        plain, _ = sides_of(operand)
        if not operand.shape.rank:
            return plain
        flat = plain.buffer.pack(plain.layout.implementation, own=False)
    elif np.ndim(operand):
        array = np.asarray(cast("Any", operand)).reshape(-1)
        if array.dtype.kind in "SUTO":
            from tensorwrapper.tensor.protocols._string_values import read_strings  # noqa: PLC0415

            flat = Strings(read_strings(array, None)[0])
        else:
            flat = Dense(array)
    else:
        return operand
    places = places_of(operand, shape, reference, name)
    if chosen is not None:
        places = chosen if places is None else places[chosen]
    if places is not None:
        flat = flat.collect(iter([places]), len(places))
    return like._make(packed_layout(Shape(flat.size)), flat)


def _kleene(
    operands: Sequence[Operand],
    shape: Shape[Any],
    reference: "TensorBase[Any] | None",
    name: str,
    *,
    decides: bool,
) -> TensorBase[Any]:
    """Return `and` or `or` of nullable bools; a deciding value also decides against a null."""
    decided = np.zeros(shape.size, np.bool_)
    known = np.ones(shape.size, np.bool_)
    for operand in operands:
        plain, valid = (
            sides_of(operand)
            if isinstance(operand, TensorBase)
            else (np.asarray(operand), np.ones((), np.bool_))
        )
        own = plain.elements() if isinstance(plain, TensorBase) else plain.reshape(-1)
        there = np.broadcast_to(valid, own.shape)
        places = places_of(operand, shape, reference, name) if _has_modes(operand) else None
        if places is not None:
            own, there = own[places], there[places]
        decided |= there & (own == decides)
        known &= there
    flat = decided if decides else ~decided
    return first_tensor(operands)._make(
        packed_layout(shape),
        Nullable(Dense(cast("Any", flat)), Dense(cast("Any", known | decided))),
    )


def _has_modes(operand: Operand) -> bool:
    return operand.shape.rank > 0 if isinstance(operand, TensorBase) else np.ndim(operand) > 0
