"""The calls that a view records, and one simple step that such a call comes down to."""

from collections.abc import Iterable
from types import EllipsisType
from typing import Any, TypeAlias, cast, final

import numpy as np

from tensorwrapper._arrays import shown_array
from tensorwrapper._value_class import frozen
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.typing import Array

__all__ = ["Atom", "Call", "capture"]

Call: TypeAlias = "tuple[str, tuple[Any, ...], Shape[Any]]"
"""The name of an operation, its arguments, and the shape before it."""


@final
@frozen
class Atom:
    """One simple operation on the modes of a view, with all that it needs.

    Attributes
    ----------
    operation
        Its name: ``"permute"``, ``"reverse"``, ``"slice"``, ``"chip"``, ``"rotate"`` and so on.
    arguments
        Integers, and tuples of them.
    """

    operation: str
    arguments: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.operation}({', '.join([_text(a) for a in self.arguments])})"


_SHOWN = 8  # positions of a list that a text shows


def _text(argument: object) -> str:
    if not isinstance(argument, tuple):
        return repr(argument)
    items = cast("tuple[object, ...]", argument)
    if len(items) > _SHOWN:
        return f"({', '.join(map(str, items[:_SHOWN]))}, ... {len(items)} in all)"
    return repr(items)


_ROW = frozenset({tuple})
_PLAIN = frozenset({int, str, slice, type(None), EllipsisType, Shape})


def capture(argument: object) -> object:
    """Return an argument that cannot change and can be read twice."""
    kind: type[object] = type(argument)
    # Nearly all keys, orders and numbers are of these types: looked up, they cost a tenth.
    if kind in _PLAIN:
        return argument
    if kind in _ROW and _PLAIN.issuperset(map(type, cast("tuple[object, ...]", argument))):
        return argument
    if isinstance(argument, int | slice | str | Shape | Tiling) or argument is None or argument is Ellipsis:
        return cast("object", argument)
    if isinstance(argument, np.ndarray):
        copy = shown_array(cast("Array", argument), copy=True)
        copy.flags.writeable = False
        return copy
    if isinstance(argument, tuple | list):
        return tuple([capture(item) for item in cast("Iterable[object]", argument)])
    if hasattr(argument, "__index__") or not isinstance(argument, Iterable):
        return argument
    if hasattr(kind, "__array__"):
        # Items of a tensor are tensors, and no numbers.
        return capture(shown_array(cast("object", argument)))
    return tuple([capture(item) for item in cast("Iterable[object]", argument)])
