"""Frozen classes that write their own ``__init__``, made so that every editor shows its parameters."""

from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform, overload

import attrs

__all__ = ["slot_setters", "value_class"]

_T = TypeVar("_T")


# The mark stands on the first of two overloads, where mypy and pyright read it: fields are read-only. jedi,
# which editors and notebooks ask, does not: of a class that it knows for a dataclass it shows the fields,
# never the `__init__` that stands there, and with ``init=False`` nothing at all.
@overload
@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(attrs.field,))
def value_class(cls: type[_T], /) -> type[_T]: ...
@overload
def value_class(
    *, eq: bool | None = ..., repr: bool | None = ..., getstate_setstate: bool | None = ...
) -> Callable[[type[_T]], type[_T]]: ...
def value_class(cls: Any = None, /, **options: Any) -> Any:
    """Make a frozen class with slots of one that has fields and an ``__init__`` of its own.

    Parameters
    ----------
    cls
        The class; not given where there are options.
    **options
        As those of ``attrs.frozen``: `eq`, `repr` and `getstate_setstate` say what attrs writes; without them
        it writes what the class does not.

    Examples
    --------
    >>> @value_class(repr=False)
    ... class Twice:
    ...     number: int
    ...
    ...     def __init__(self, half: int) -> None:
    ...         object.__setattr__(self, "number", 2 * half)
    >>> Twice(3).number, Twice(3) == Twice(3)
    (6, True)
    """
    make: Any = attrs.frozen(init=False, **options)
    return make if cls is None else make(cls)


def slot_setters(cls: type[object], *slots: str) -> tuple[Callable[[object, object], None], ...]:
    """Return for each slot of a frozen class the function that sets it, for what makes its objects.

    Each is a third of what ``object.__setattr__`` costs, which looks the slot up by its name.

    Examples
    --------
    >>> @value_class
    ... class Point:
    ...     x: int
    ...
    >>> (set_x,) = slot_setters(Point, "x")
    >>> point = object.__new__(Point)
    >>> set_x(point, 3)
    >>> point
    Point(x=3)
    """
    members: Any = vars(cls)
    return tuple([members[slot].__set__ for slot in slots])
