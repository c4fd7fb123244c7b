"""NumPy's functions of all elements, for rows and nullable elements."""

import inspect
from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np

from tensorwrapper._text_order import by_exact_order
from tensorwrapper.buffer import Dense, Strings
from tensorwrapper.buffer.lowlevel import holds_strings, kind_of, packed_layout
from tensorwrapper.errors import ConversionError
from tensorwrapper.shape import Shape
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._elementwise import flat_operands
from tensorwrapper.tensor.operators._operand import (
    check_argument,
    hidden_operand,
    is_tensor_or_view,
    read_operand,
)
from tensorwrapper.tensor.operators._refusals import refusals
from tensorwrapper.tensor.rows._nulls import Marks, over_valid, sides_of
from tensorwrapper.typing import Array, IntArray

_UNIQUE: Final = {
    "unique": None,
    "unique_all": ("return_index", "return_inverse", "return_counts"),
    "unique_counts": ("return_counts",),
    "unique_inverse": ("return_inverse",),
    "unique_values": (),
}
"""Functions of distinct elements, and their additional results."""
_PLACES: Final = {"argwhere", "flatnonzero", "nonzero"}

OF_ALL_ELEMENTS: Final = frozenset({*_UNIQUE, *_PLACES, "histogram", "histogram_bin_edges"})
"""The names of functions that take elements of any shape as one run."""


def call_on_all(
    function: Callable[..., Any], arguments: "tuple[Any, ...]", options: dict[str, Any]
) -> object:
    """Return the result of a function of NumPy for all elements of its first argument, O(elements).

    Nulls are skipped, except among distinct elements, where a null is last.

    Raises
    ------
    ConversionError
        If `axis` is not None.
    """
    short = function.__name__
    name = f"np.{short}"
    tensor: TensorBase[Any] = arguments[0]._as_operand()
    plain, valid = sides_of(tensor)
    known: Any = plain.elements()
    if tensor.buffer.nullable:
        known = known[valid]
    with refusals(name):
        given = inspect.signature(function).bind(*arguments, **options).arguments
    if short in _UNIQUE:
        if given.get("axis") is not None:
            raise ConversionError(
                f"{name}: axis={given['axis']!r} of rows or nulls; "
                "without it, all elements are compared, and `r.rows().unique()` goes along rows"
            )
        return _distinct(function, tensor, known, valid, given)
    if short in _PLACES:
        places = np.flatnonzero(valid)[np.flatnonzero(known)]
        return places if short == "flatnonzero" else _indices(tensor, places, short)
    if given.get("weights") is not None:
        beside = flat_operands([read_operand(given["weights"], name)], tensor, name)[0]
        given["weights"] = np.broadcast_to(np.asarray(beside), valid.shape)[valid]
    del given["a"]
    rest = {key: _as_array(own, name) for key, own in given.items()}
    with refusals(name):
        return function(known, **rest)


def _as_array(value: object, name: str) -> object:
    """Return an argument as an array if it is a tensor, or if NumPy would read it otherwise."""
    check_argument(value, name)
    hidden = hidden_operand(value, name)
    given = value if hidden is None else hidden
    return np.asarray(given) if is_tensor_or_view(given) else given


def _indices(tensor: TensorBase[Any], places: IntArray, short: str) -> "Array | tuple[Array, ...]":
    """Return the positions in each mode of elements given by ordinals."""
    shape = tensor._flat().shape
    found = shape.indices_at(places) - np.array(shape.origin, np.int64)
    return found if short == "argwhere" else tuple(found.T)


def _distinct(
    function: Callable[..., Any],
    tensor: TensorBase[Any],
    known: Array,
    valid: Marks,
    given: dict[str, Any],
) -> object:
    """Return distinct elements, as the function returns them; if there may be nulls, as a tensor."""
    nullable = tensor.buffer.nullable
    asked = _UNIQUE[function.__name__]
    flags = [key for key in ("return_index", "return_inverse", "return_counts") if given.get(key)]
    flags = flags if asked is None else list(asked)
    # In the functions of the array API, no NaN equals another.
    options: dict[str, Any] = {
        "equal_nan": given.get("equal_nan", asked is None),
        **dict.fromkeys(flags, True),
    }
    with refusals(f"np.{function.__name__}"):
        found: Any = by_exact_order(np.unique, [known], options)
        found = np.unique(known, **options) if found is NotImplemented else found
    values: Array = found[0] if flags else found
    others: tuple[IntArray, ...] = found[1:] if flags else ()
    has_null = not valid.all()
    results: list[object] = [_nullable(tensor, values, has_null=has_null) if nullable else values]
    for key, own in zip(flags, others, strict=True):
        results.append(_beside(key, own, tensor, valid, len(values)))
    if asked is None:
        return tuple(results) if flags else results[0]
    if not asked:
        return results[0]
    kind = cast("Callable[..., object]", type(function(np.zeros(0))))
    return kind(*results)


def _nullable(tensor: TensorBase[Any], values: Array, *, has_null: bool) -> TensorBase[Any]:
    """Return distinct elements, followed by a null if there is one."""
    buffer: Any = Dense(values)
    if holds_strings(tensor.dtype):
        from tensorwrapper.tensor.protocols._string_values import read_strings  # noqa: PLC0415

        buffer = Strings(read_strings(values, kind_of(tensor.dtype))[0], nullable=False)
    made = tensor._make(packed_layout(Shape(len(values))), buffer)
    valid = np.ones(len(values) + has_null, np.bool_)
    valid[len(values) :] = False
    return over_valid([made], valid, Shape(len(valid)), tensor)[0]


def _beside(key: str, own: IntArray, tensor: TensorBase[Any], valid: Marks, number: int) -> object:
    """Return where distinct elements are, or how often; `number` is that of the null."""
    missing = np.flatnonzero(~valid)
    if key == "return_inverse":
        every = np.full(len(valid), number, np.intp)
        every[valid] = own.reshape(-1)
        flat = tensor._flat().shape
        if flat.is_box:
            return every.reshape(flat.extents)
        return tensor._make(packed_layout(tensor.shape), Dense(cast("Any", every)))
    if key == "return_index":
        own = np.flatnonzero(valid)[own]
        return np.append(own, missing[:1])
    return np.append(own, len(missing)) if len(missing) else own
