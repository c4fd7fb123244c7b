"""Frozen attrs classes that are cheap to import: they share compiled methods.

attrs writes ``__eq__``, ``__hash__`` and ``__repr__`` of a class as text and compiles it, which was two
thirds of the cost of a class, and a quarter of the time of importing the views. Here they are functions over
the fields, with the same results.
"""

from collections.abc import Callable
from operator import attrgetter, eq
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast, dataclass_transform, overload

import attrs

from tensorwrapper._error_text import brief, shortened, with_article
from tensorwrapper._hints import setting_hint

__all__ = [
    "Closing",
    "Shown",
    "evolve",
    "frozen",
    "slot_setters",
    "token_of",
    "token_of_parts",
    "value_class",
]

_T = TypeVar("_T")

if TYPE_CHECKING:
    from typing import Self

    from attrs import frozen  # at run time it is the same: checkers and editors know the fields from it

    # mypy lets `attrs.evolve` change only classes that attrs made, and does not recognise a `value_class`.
    def evolve(value: _T, /, **changes: object) -> _T: ...
else:
    from attrs import evolve

    def frozen(cls=None, /, *, eq=None, repr=None, **options):  # noqa: A002, ANN001, ANN003, ANN202
        """Make a frozen class with slots, as ``attrs.frozen`` does, and takes the same options.

        Examples
        --------
        >>> @frozen
        ... class Point:
        ...     x: int
        ...     y: int = 0
        >>> Point(3), Point(3) == Point(3, 0), hash(Point(3)) == hash(Point(4))
        (Point(x=3, y=0), True, False)
        """

        def make(cls):  # noqa: ANN001, ANN202
            own = vars(cls)
            with_eq = eq or (eq is None and "__eq__" not in own)
            with_hash = with_eq and "__hash__" not in own
            with_repr = repr or (repr is None and "__repr__" not in own)
            made = attrs.frozen(eq=False, repr=False, **options)(cls)
            fields = attrs.fields(made)
            if with_eq:
                made.__eq__ = _equality([field for field in fields if field.eq])
            if with_hash:
                hashed = [field for field in fields if (field.eq if field.hash is None else field.hash)]
                made.__hash__ = _hashing(made.__qualname__, hashed)
            if with_repr:
                made.__repr__ = _representation([field for field in fields if field.repr])
            made.__setattr__ = made.__delattr__ = _refuse_to_change
            if not hasattr(made, "_repr_html_"):
                made._repr_html_ = _html([field for field in fields if field.repr] if with_repr else [])
            if with_eq and not hasattr(made, "__dask_tokenize__"):
                made.__dask_tokenize__ = _token
            return made

        return make if cls is None else make(cls)


def _refuse_to_change(self: object, name: str, value: object = None) -> None:  # noqa: ARG001
    """Raise the error of attrs, with a hint at an alternative."""
    kind = type(self)
    error = attrs.exceptions.FrozenInstanceError()
    hint = setting_hint(kind, name)
    text = f"{with_article(kind.__name__)} keeps its attributes, {name!r} cannot be set{hint}"
    cast("Any", BaseException).args.__set__(error, (text,))  # its own constructor takes no text
    raise error


def _values(fields: list[Any]) -> Callable[[Any], tuple[Any, ...]]:
    names = [field.name for field in fields]
    keys = [field.eq_key for field in fields]
    if any(keys):
        return lambda value: tuple(
            getattr(value, name) if key is None else key(getattr(value, name))
            for name, key in zip(names, keys, strict=True)
        )
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


def _equality(fields: list[Any]) -> Callable[[object, object], bool]:
    values = _values(fields)

    def __eq__(self: object, other: object) -> bool:  # noqa: N807
        if other.__class__ is not self.__class__:
            return NotImplemented
        # Not the tuples as wholes: they take one object for equal to itself, which a NaN is not.
        return all(map(eq, values(self), values(other)))

    return __eq__


def _hashing(salt: str, fields: list[Any]) -> Callable[[object], int]:
    values = _values(fields)

    def __hash__(self: object) -> int:  # noqa: N807
        return hash((salt, values(self)))

    return __hash__


def _token(self: Any) -> object:  # noqa: ANN401 - an object of any of these classes
    """Return Dask's token of a value, from the fields that equality compares, so that equal values share it.

    Pickles of equal values differ: they also store which parts are one object, and their memory.
    """
    kind = cast("type[Any]", self.__class__)
    return token_of(
        f"{kind.__module__}.{kind.__qualname__}", *_values([f for f in attrs.fields(kind) if f.eq])(self)
    )


def token_of(*parts: object) -> object:
    """Return a result of ``__dask_tokenize__`` made of these parts.

    Dask would use the texts of the parts, which may be equal for different parts or cut short.
    """
    from dask.base import normalize_token  # noqa: PLC0415

    return cast("object", normalize_token(parts))


def token_of_parts(value: object) -> object:
    """Return Dask's token of a value whose pickle is made of these parts: equal elements, equal tokens.

    The pickle itself differs between equal values: it also stores whether an array is writable.
    """
    kind = type(value)
    return token_of(f"{kind.__module__}.{kind.__qualname__}", *value.__reduce_ex__(4)[1:])


def _representation(fields: list[Any]) -> Callable[[object], str]:
    shown = [
        (field.name, field.name.lstrip("_"), field.repr if callable(field.repr) else repr) for field in fields
    ]

    def __repr__(self: object) -> str:  # noqa: N807
        texts = [f"{label}={text(getattr(self, name, attrs.NOTHING))}" for name, label, text in shown]
        return f"{self.__class__.__qualname__.rpartition('>.')[2]}({', '.join(texts)})"

    return __repr__


def _html(fields: list[Any]) -> Callable[[object], str]:
    # For a class with a custom text, no fields are shown: the text may hide them on purpose.
    shown = [(field.name, field.name.lstrip("_")) for field in fields]

    def _repr_html_(self: object) -> str:
        """Return the HTML for notebooks: the text, the fields, and the picture if there is one."""
        facts = [(label, brief(getattr(self, name, attrs.NOTHING))) for name, label in shown]
        draw = getattr(self, "to_svg", None)
        picture = "" if draw is None else draw()
        text = type(self).__name__ if facts else shortened(repr(self))
        from tensorwrapper._displays import html_block  # noqa: PLC0415 - few are shown

        return html_block(text, facts, picture if picture.startswith("<svg") else "")

    return _repr_html_


class Shown:
    """No primitives. Running or open objects are shown in notebooks by their text."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        from tensorwrapper._displays import html_block  # noqa: PLC0415 - few are shown

        return html_block(shortened(repr(self)))


class Closing(Shown):
    """One primitive, `close`, which may be called twice; the end of a ``with`` calls it."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy would share the resource, and closing one would close both.
        raise TypeError(f"{with_article(type(self).__name__)} is open: it is neither copied nor pickled")

    if TYPE_CHECKING:

        def close(self) -> None:
            """Release the resource."""

    def __enter__(self) -> "Self":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


# The decorator is on the first of two overloads, where mypy and pyright find it: fields are read-only. jedi,
# the completion of editors and notebooks, ignores it: for a class that it takes for a dataclass it shows the
# fields, never the declared `__init__`, and with ``init=False`` nothing at all.
@overload
@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(attrs.field,))
def value_class(cls: type[_T], /) -> type[_T]: ...
@overload
def value_class(
    *, eq: bool | None = ..., repr: bool | None = ..., getstate_setstate: bool = ..., kw_only: bool = ...
) -> Callable[[type[_T]], type[_T]]: ...
def value_class(cls: Any = None, /, **options: Any) -> Any:
    """Make a frozen class with slots of one that has fields and shows an ``__init__``.

    Its ``__init__`` is declared in the class. If attrs writes it, declare it under ``if TYPE_CHECKING``:
    editors show the declaration, and otherwise the private names of fields.

    Parameters
    ----------
    cls
        The class; not given where there are options.
    **options
        As those of ``attrs.frozen``: `eq`, `repr` and `getstate_setstate` choose the methods of attrs;
        without them it writes only methods that the class does not have. With `kw_only` all parameters are
        keywords.

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
    make: Any = frozen(**options)
    return make if cls is None else make(cls)


def slot_setters(cls: type[object], *slots: str) -> tuple[Callable[[object, object], None], ...]:
    """Return for each slot of a frozen class the function that sets it, for fast constructors.

    Each takes a third of the time of ``object.__setattr__``, which looks the slot up by its name.

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
