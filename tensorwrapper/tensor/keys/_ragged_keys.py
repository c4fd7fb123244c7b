"""Keys that are jagged tensors: separate positions or a mask for every row."""

from types import EllipsisType
from typing import Any, cast

import numpy as np

from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import choose, outer_product, wrap_layout
from tensorwrapper.shape.lowlevel import unnamed_shape
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.typing import Array


def is_ragged(key: object) -> bool:
    """Return True if a key is a jagged tensor, or a view of rows."""
    return isinstance(key, TensorCommon) and not cast("TensorCommon[Any]", key).shape.flatten().is_box  # type: ignore[redundant-cast]


def are_points(key: object) -> bool:
    """Return True if a key has several lists, arrays or masks, which pick points together, as in NumPy."""
    if not isinstance(key, tuple):
        return False
    basic = int | slice | np.integer | EllipsisType | None
    items = cast("tuple[object, ...]", key)
    return sum(not isinstance(own, basic) and np.ndim(cast("Any", own)) > 0 for own in items) > 1


def _has_layers(key: object) -> bool:
    return isinstance(key, TensorCommon) and cast("TensorCommon[Any]", key).shape.has_layers  # type: ignore[redundant-cast]


def _elements_of(key: TensorBase[Any]) -> Array:
    """Return the elements of a key; a null is not marked by a mask."""
    sides = key.buffer.sides
    if sides is None or key.dtype != np.bool_:
        return key.elements()
    held = key.layout.implementation
    return cast("Array", sides[0].elements_of(held) & sides[1].elements_of(held))


def chosen_layout(layout: Layout[Any], key: object) -> Layout[Any]:
    """Return the layout of an outer selection by a key with arrays, without a copy.

    Errors are those of `outer_product` and of `choose`.
    """
    # Fast path for lists of a few positions of boxes: one pass over the key takes a tenth of the rest.
    plain = layout.implementation.outer(key)
    if plain is not None:
        return wrap_layout(plain)
    if type(key) is tuple:  # For rows only the whole key is a tensor.
        return outer_product(layout, cast("object", key))
    if is_ragged(key) or (layout.shape.has_layers and _has_layers(key)):
        tensor = cast("TensorCommon[Any]", key)._as_operand()
        implementation = layout.implementation
        chosen = choose(implementation.unnamed(), unnamed_shape(tensor.shape), _elements_of(tensor))
        return wrap_layout(chosen, implementation.names)
    return outer_product(layout, key)
