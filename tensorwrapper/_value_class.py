"""Frozen attrs classes that are cheap to import: what attrs makes of a class is made when it is first used.

attrs writes methods of a class as text and compiles it, which was more than half of the cost of a class.
Here ``__eq__``, ``__hash__`` and ``__repr__`` are functions over the fields, with the same results. The
constructor and the fields are those of attrs, but of a class that has only fields, and only on request.
"""

import contextlib
import sys
from collections.abc import Callable
from operator import attrgetter, eq
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, dataclass_transform, overload

import attrs

from tensorwrapper._error_text import brief, shortened, with_article
from tensorwrapper._hints import setting_hint
from tensorwrapper._lazy import Later

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
            return _made(cls, eq, repr, options)

        return make if cls is None else make(cls)


def _made(cls: Any, eq: bool | None, repr: bool | None, options: dict[str, Any]) -> Any:  # noqa: A002, ANN401, FBT001
    """Return a class with slots for the fields of another one, and all that it has."""
    own, bases = {**vars(cls), "__qualname__": cls.__qualname__}, cls.__mro__[1:-1]
    if any(hasattr(base, "__attrs_attrs__") for base in bases):
        raise TypeError(f"{cls.__qualname__} has a base with fields: frozen classes are final")
    names = tuple([name for name, kind in cls.__annotations__.items() if not _is_class_variable(kind)])
    definition = {key: own[key] for key in ("__module__", "__qualname__")} | {
        "__annotations__": cls.__annotations__,
        **{name: own.pop(name) for name in names if name in own},
    }
    if hasattr(cls, "__attrs_post_init__"):
        definition["__attrs_post_init__"] = cls.__attrs_post_init__
    for name in ("__dict__", "__weakref__"):
        own.pop(name, None)
    # A slot that a base has is used again: two of one name would hold two values.
    slots = {name: vars(base)[name] for base in bases for name in vars(base).get("__slots__", ())}
    reused = {name: slot for name, slot in slots.items() if name in names}
    weak = () if any("__weakref__" in vars(base) for base in bases) else ("__weakref__",)
    own |= _methods(cls, names, definition, eq, repr, options) | reused
    own["__slots__"] = (*[name for name in names if name not in reused], *weak)
    made = type(cls)(cls.__name__, cls.__bases__, own)
    _hand_over(cls, made)
    return made


def _methods(
    cls: Any,  # noqa: ANN401
    names: tuple[str, ...],
    definition: dict[str, Any],
    eq: bool | None,  # noqa: FBT001
    repr: bool | None,  # noqa: A002, FBT001
    options: dict[str, Any],
) -> dict[str, object]:
    """Return the methods of a class, but for those that it has itself."""
    own = vars(cls)
    body: dict[str, object] = {
        "__attrs_attrs__": Later(lambda _: attrs.fields(_by_attrs(definition, options))),
        "__match_args__": Later(_positional),
        "__setattr__": _refuse_to_change,
        "__delattr__": _refuse_to_change,
    }
    if "__init__" not in own:
        body["__init__"] = Later(lambda _: _by_attrs(definition, options).__init__)
    with_eq = eq or (eq is None and "__eq__" not in own)
    if with_eq:
        body["__eq__"] = Later(_equality)
        if "__hash__" not in own:
            body["__hash__"] = Later(_hashing)
        if not hasattr(cls, "__dask_tokenize__"):
            body["__dask_tokenize__"] = _token
    with_repr = repr or (repr is None and "__repr__" not in own)
    if with_repr:
        body["__repr__"] = Later(_representation)
    if not hasattr(cls, "_repr_html_"):
        body["_repr_html_"] = _html if with_repr else _html_of_text
    states = options.get("getstate_setstate")
    if states or (states is None and not {"__getstate__", "__setstate__"} & own.keys()):
        body["__getstate__"], body["__setstate__"] = _state(names)
    if sys.version_info >= (3, 13):
        body["__replace__"] = attrs.evolve
    return body


def _is_class_variable(kind: object) -> bool:
    if isinstance(kind, str):
        return kind.strip("'\"").startswith(("ClassVar", "typing.ClassVar"))
    return kind is ClassVar or getattr(kind, "__origin__", None) is ClassVar


def _by_attrs(definition: dict[str, Any], options: dict[str, Any]) -> Any:  # noqa: ANN401 - a class
    """Return a class that attrs made of the fields alone: what it knows of them, and the constructor."""
    return attrs.frozen(eq=False, repr=False, **options)(type("", (), dict(definition)))


def _positional(cls: Any) -> tuple[str, ...]:  # noqa: ANN401 - a class of these
    return tuple([field.name for field in attrs.fields(cls) if field.init and not field.kw_only])


def _state(names: tuple[str, ...]) -> tuple[Callable[..., object], Callable[..., object]]:
    def __getstate__(self: object) -> dict[str, Any]:  # noqa: N807
        return {name: getattr(self, name) for name in names}

    def __setstate__(self: object, state: dict[str, Any]) -> None:  # noqa: N807
        for name in names:
            if name in state:
                object.__setattr__(self, name, state[name])

    return __getstate__, __setstate__


def _hand_over(cls: type[object], made: type[object]) -> None:
    """Let methods that call `super` or name their class find the one with slots."""
    for value in vars(made).values():
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        for cell in getattr(function, "__closure__", None) or ():
            with contextlib.suppress(ValueError):  # of an empty cell
                if cell.cell_contents is cls:
                    cell.cell_contents = made


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


def _equality(cls: Any) -> Callable[[object, object], bool]:  # noqa: ANN401 - a class of these
    values = _values([field for field in attrs.fields(cls) if field.eq])

    def __eq__(self: object, other: object) -> bool:  # noqa: N807
        if other.__class__ is not self.__class__:
            return NotImplemented
        # Not the tuples as wholes: they take one object for equal to itself, which a NaN is not.
        return all(map(eq, values(self), values(other)))

    return __eq__


def _hashing(cls: Any) -> Callable[[object], int]:  # noqa: ANN401 - a class of these
    salt = cls.__qualname__
    values = _values([own for own in attrs.fields(cls) if (own.eq if own.hash is None else own.hash)])

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


def _representation(cls: Any) -> Callable[[object], str]:  # noqa: ANN401 - a class of these
    shown = [
        (field.name, field.name.lstrip("_"), field.repr if callable(field.repr) else repr)
        for field in attrs.fields(cls)
        if field.repr
    ]

    def __repr__(self: object) -> str:  # noqa: N807
        texts = [f"{label}={text(getattr(self, name, attrs.NOTHING))}" for name, label, text in shown]
        return f"{self.__class__.__qualname__.rpartition('>.')[2]}({', '.join(texts)})"

    return __repr__


def _html(self: Any) -> str:  # noqa: ANN401 - an object of any of these classes
    """Return the HTML for notebooks: the text, the fields, and the picture if there is one."""
    shown = [field for field in attrs.fields(type(self)) if field.repr]
    facts = [(field.name.lstrip("_"), brief(getattr(self, field.name, attrs.NOTHING))) for field in shown]
    return _html_block(self, type(self).__name__ if facts else shortened(repr(self)), facts)


def _html_of_text(self: object) -> str:
    """Return the HTML for notebooks of a class with a custom text, which may hide fields on purpose."""
    return _html_block(self, shortened(repr(self)), [])


def _html_block(value: object, text: str, facts: list[tuple[str, str]]) -> str:
    draw = getattr(value, "to_svg", None)
    picture = "" if draw is None else draw()
    from tensorwrapper._displays import html_block  # noqa: PLC0415 - few are shown

    return html_block(text, facts, picture if picture.startswith("<svg") else "")


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
