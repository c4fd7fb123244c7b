"""Ufuncs of sparse tensors: of the fills, and of the elements at the places that any of them stores.

What comes out equal to the new fill is not stored. A dense operand is refused whatever the ufunc: the type
of a result would otherwise follow from values.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any, cast

import numpy as np

from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import check_dtype, is_fill, make_sparse, packed_layout
from tensorwrapper.errors import ConversionError
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._operand import Operand
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.tensor.operators._shapes import box_of_result
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["at_places", "choose_sparse", "compute_sparse", "union_of"]


def compute_sparse(
    ufunc: np.ufunc, operands: list[Operand], options: dict[str, Any]
) -> "tuple[TensorBase[Any], ...]":
    """Return the sparse tensors of a ufunc of sparse tensors and numbers: most have one.

    O(stored) for one tensor and numbers, whose places it shares; one merge of sorted places for two.
    """
    return _computed(partial(ufunc, **options), operands, ufunc.__name__)


def choose_sparse(function: Any, operands: list[Operand], name: str) -> TensorBase[Any]:  # noqa: ANN401 - any function of arrays
    """Return the sparse tensor of a function of elements, as `compute_sparse` does of a ufunc."""
    return _computed(function, operands, name)[0]


def _computed(function: Any, operands: list[Operand], name: str) -> "tuple[TensorBase[Any], ...]":  # noqa: ANN401
    shape, tensors = _shape_of(operands, name)
    places, found = union_of(tensors)
    values = iter(found)
    fills: list[Any] = []
    elements: list[Any] = []
    for operand in operands:
        if isinstance(operand, TensorBase) and operand.shape.rank:
            fills.append(cast("Array", operand.buffer.fill_value))
            elements.append(next(values))
        else:
            fills.append(np.asarray(operand) if isinstance(operand, TensorBase) else operand)
            elements.append(fills[-1])
    with refusals(name):
        # The fill is one number at places of which the user knows nothing: no warning of 0 / 0.
        with np.errstate(all="ignore"):
            new_fills = _several(function(*fills))
        results = _several(function(*elements))
    make = tensors[0]._make
    return tuple(
        [
            make(packed_layout(shape), _stored(places, np.asarray(result), shape.size, np.asarray(fill)))
            for result, fill in zip(results, new_fills, strict=True)
        ]
    )


def _several(found: Any) -> "tuple[Any, ...]":  # noqa: ANN401 - one array or more
    return tuple(cast("Iterable[Any]", found)) if isinstance(found, tuple) else (found,)


def _stored(places: IntArray, result: Array, size: int, fill: Array) -> BufferCommon[Any]:
    """Return a buffer of what differs from the fill."""
    check_dtype(result.dtype)
    fill = fill.astype(result.dtype)
    gone = is_fill(result, fill)
    if gone.any():
        kept = np.flatnonzero(~gone)
        places, result = places[kept], result[kept]
    return make_sparse(places, result, size, fill)


def _shape_of(operands: list[Operand], name: str) -> tuple[Shape[Any], list[TensorBase[Any]]]:
    tensors: list[TensorBase[Any]] = []
    for operand in operands:
        if isinstance(operand, TensorBase) and operand.shape.rank:
            if operand.buffer.fill_value is None:
                raise _with_dense(name)
            tensors.append(operand)
        elif np.ndim(operand) if not isinstance(operand, TensorBase) else False:
            raise _with_dense(name)
    shapes = [tensor.shape for tensor in tensors]
    first = shapes[0]
    if all(shape is first for shape in shapes):
        return first, tensors
    if all(shape.flatten().is_box for shape in shapes):
        shape = box_of_result(tensors, name)
        plain = shape.flatten()
        return shape, [
            tensor if tensor.shape.flatten().extents == plain.extents else _stretched(tensor, plain.extents)
            for tensor in tensors
        ]
    for shape in shapes[1:]:
        OperandShapes.check_same(shape, first, name)
    return OperandShapes.rows(shapes, 0, name), tensors


def _stretched(tensor: TensorBase[Any], extents: Extents) -> TensorBase[Any]:
    """Return a sparse box broadcast, wherever it lies."""
    flat = tensor._flat()
    return flat._make(flat.layout[...].broadcast(extents), flat.buffer)


def _with_dense(name: str) -> ConversionError:
    return ConversionError(
        f"{name}: a sparse tensor with a dense operand; `s.to_dense()` has all its elements, "
        "`tw.sparse([(0, 1)], [1.5], (2, 3))` stores few of the other"
    )


def union_of(tensors: list[TensorBase[Any]]) -> tuple[IntArray, list[Array]]:
    """Return the places that any tensor stores, ascending, and the elements of each tensor at all of them."""
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
