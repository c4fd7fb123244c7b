"""Ufuncs of sparse tensors, applied to the fills and to elements stored in any operand.

Results equal to the new fill are not stored. A dense operand is refused for every ufunc: the type of a result
would otherwise follow from values.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any, cast

import numpy as np

from tensorwrapper._arrays import concatenated_ranges
from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import check_dtype, is_fill, make_sparse, packed_layout
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._blocks import compute_blocks
from tensorwrapper.tensor.operators._fill_rules import DENSE, check_beside
from tensorwrapper.tensor.operators._operand import Operand
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.tensor.operators._shapes import leading_modes, shape_of
from tensorwrapper.typing import Array, IntArray


def compute_sparse(
    ufunc: np.ufunc, operands: list[Operand], options: dict[str, Any]
) -> "tuple[TensorBase[Any], ...]":
    """Return the sparse tensors of a ufunc of sparse tensors and numbers: most have one.

    O(stored) for one tensor and numbers, whose places it shares; one merge of sorted places for two. Tensors
    in blocks stay so where their tiles meet.
    """
    made = compute_blocks(partial(ufunc, **options), operands, ufunc.__name__)
    if made is not None:
        return made
    check_beside(ufunc.__name__, (), [_fill_of(operand) for operand in operands])
    return _computed(partial(ufunc, **options), operands, ufunc.__name__)


def choose_sparse(function: Any, operands: list[Operand], name: str) -> TensorBase[Any]:  # noqa: ANN401 - any function of arrays
    """Return the sparse tensor of a function of a mask, and of sparse tensors and numbers to choose from.

    A dense mask chooses between equal fills: it is looked up where elements are stored.
    """
    if all(not isinstance(own, TensorBase) or own.buffer.in_tiles or not own.shape.rank for own in operands):
        made = compute_blocks(function, operands, name)
        if made is not None:
            return made[0]
    mask, *choices = operands
    fills = [_fill_of(operand) for operand in operands]
    check_beside(name, fills[:1], fills[1:])
    return _computed(function, choices if fills[0] is DENSE else operands, name, mask)[0]


def _fill_of(operand: Operand) -> object:
    """Return the element of an operand that is not stored, a number itself; `DENSE` of dense tensors."""
    if not isinstance(operand, TensorBase):
        return DENSE if np.ndim(operand) else operand
    if not operand.shape.rank:
        return np.asarray(operand)
    return DENSE if operand.buffer.fill_value is None else operand.buffer.fill_value


def _computed(
    function: Any,  # noqa: ANN401 - any function of arrays
    operands: list[Operand],
    name: str,
    mask: "Operand | None" = None,
) -> "tuple[TensorBase[Any], ...]":
    """Return the result of a function of sparse tensors and numbers, behind a mask if that is dense."""
    given = [own for own in operands if isinstance(own, TensorBase) and own.shape.rank]
    masks = [mask] if mask is not None and _fill_of(mask) is DENSE else []
    shape, reference = given[0].shape, None
    if masks or any(own.shape is not shape for own in given):
        shape, reference = shape_of([*masks, *given], name)
    tensors = [_fitted(own, shape, reference, name) for own in given]
    places, found = union_of(tensors)
    values = iter(found)
    fills: list[Any] = [np.False_ for _ in masks]
    elements: list[Any] = [_at(own, places, shape, reference, name) for own in masks]
    for operand in operands:
        fills.append(_fill_of(operand))
        is_number = not (isinstance(operand, TensorBase) and operand.shape.rank)
        elements.append(fills[-1] if is_number else next(values))
    with refusals(name):
        # The user does not see where the fill is used, so suppress warnings such as for 0 / 0.
        with np.errstate(all="ignore"):
            new_fills = _several(function(*fills))
        results = _several(function(*elements))
    make = given[0]._make
    return tuple(
        [
            make(packed_layout(shape), _stored(places, np.asarray(result), shape.size, np.asarray(fill)))
            for result, fill in zip(results, new_fills, strict=True)
        ]
    )


def _several(found: Any) -> "tuple[Any, ...]":  # noqa: ANN401 - one array or more
    return tuple(cast("Iterable[Any]", found)) if isinstance(found, tuple) else (found,)


def _stored(places: IntArray, result: Array, size: int, fill: Array) -> BufferCommon[Any]:
    """Return a buffer of the elements that differ from the fill."""
    check_dtype(result.dtype)
    fill = fill.astype(result.dtype)
    gone = is_fill(result, fill)
    if gone.any():
        kept = np.flatnonzero(~gone)
        places, result = places[kept], result[kept]
    return make_sparse(places, result, size, fill)


def _fitted(
    tensor: TensorBase[Any], shape: Shape[Any], reference: "TensorBase[Any] | None", name: str
) -> TensorBase[Any]:
    """Return a sparse tensor as one of the shape of the result: a box broadcast, or one number per prefix."""
    if tensor.shape is shape:
        return tensor
    plain = shape.flatten()
    if reference is None:
        if tensor.shape.flatten().extents == plain.extents:
            return tensor
        flat = tensor._flat()
        return flat._make(flat.layout[...].broadcast(plain.extents), flat.buffer)
    modes = leading_modes(tensor, plain, name)
    if modes == plain.rank:
        return tensor
    own, values = tensor.buffer.stored_of(tensor.layout.implementation)
    splits = OperandShapes.splits_under(plain, modes)
    counts = np.diff(splits)[own]
    places = concatenated_ranges(splits[:-1][own], counts)
    fill = cast("Array", tensor.buffer.fill_value)
    return tensor._make(
        packed_layout(shape), make_sparse(places, np.repeat(values, counts), shape.size, fill)
    )


def _at(
    mask: Operand, places: IntArray, shape: Shape[Any], reference: "TensorBase[Any] | None", name: str
) -> Array:
    """Return the elements of a dense mask at places of the result. O(places), but for rows of other rows."""
    plain = shape.flatten()
    if reference is None:
        array = np.asarray(mask._flat() if isinstance(mask, TensorBase) else mask)
        return cast("Array", np.broadcast_to(array, plain.extents)[np.unravel_index(places, plain.extents)])
    modes = leading_modes(mask, plain, name)
    flat: Array = mask.elements() if isinstance(mask, TensorBase) else np.asarray(mask).reshape(-1)
    if modes == plain.rank:
        return flat[places]
    return flat[np.searchsorted(OperandShapes.splits_under(plain, modes), places, "right") - 1]


def union_of(tensors: list[TensorBase[Any]]) -> tuple[IntArray, list[Array]]:
    """Return the ascending positions stored in any tensor, and the elements of each tensor there."""
    stored = [t.buffer.stored_of(t.layout.implementation) for t in tensors]
    places = stored[0][0]
    for other, _ in stored[1:]:
        if other is not places and not np.array_equal(other, places):
            places = _merged(places, other)
    return places, [
        at_places(places, own, values, cast("Array", t.buffer.fill_value))
        for t, (own, values) in zip(tensors, stored, strict=True)
    ]


def _merged(one: IntArray, other: IntArray) -> IntArray:
    """Return the numbers of two ascending arrays, each once. O(numbers)."""
    both = np.concatenate([one, other])
    # Of two runs that ascend, a stable sort is one merge.
    both.sort(kind="stable")
    is_new = np.ones(len(both), dtype=np.bool_)
    np.not_equal(both[1:], both[:-1], out=is_new[1:])
    return both[is_new]


def at_places(places: IntArray, own: IntArray, values: Array, fill: Array) -> Array:
    """Return the elements at ascending places, of which `own` are stored: all of these are among them."""
    if len(own) == len(places):
        return values
    result = np.full(len(places), fill, dtype=values.dtype)
    result[np.searchsorted(places, own)] = values
    return result
