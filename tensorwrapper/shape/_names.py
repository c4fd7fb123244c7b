"""Names of modes: which are allowed, how those of two shapes agree, and modes and keys given by name."""

from collections.abc import Iterable, Sequence
from typing import SupportsIndex, TypeAlias, cast

from tensorwrapper.errors import ConversionError, ModeNameError, RankError
from tensorwrapper.typing import KeyItem, NamedKey

__all__ = [
    "ModeNames",
    "Names",
    "agreed_names",
    "check_name",
    "joined_names",
    "kept_names",
    "key_of_names",
    "mode_of_name",
    "names_tuple",
    "permutation_of_names",
    "permuted_names",
    "plain_names",
    "repr_of_names",
    "text_of_names",
    "to_names",
]

ModeNames: TypeAlias = tuple[str | None, ...]
"""One entry per mode: its name, or None if it has none."""

Names: TypeAlias = ModeNames | None
"""What a shape keeps: None if no mode has a name, so that shapes without names pay nothing."""


def check_name(name: object, what: str) -> str:
    """Return a name if it is one: an identifier as in Python, of letters of any script, but not ``_``."""
    if not isinstance(name, str):
        raise ConversionError(f"{what} must be text, not {name!r}")
    if not name.isidentifier() or name == "_":
        raise ModeNameError(
            f"{what} must be an identifier (letters, digits and underscores; '_' alone stands for no name), "
            f"not {name!r}"
        )
    return name


def to_names(names: Iterable[object], rank: int) -> Names:
    """Return `names` as a shape of this rank keeps them.

    Raises
    ------
    RankError
        If there are not as many as modes.
    ModeNameError
        If one comes twice, or is no identifier.
    """
    given = tuple(names)
    if len(given) != rank:
        raise RankError(f"{given} has {len(given)} names for a shape of rank {rank}")
    checked = [None if n is None else check_name(n, f"the name of mode {m}") for m, n in enumerate(given)]
    return _distinct(tuple(checked))


def _distinct(names: ModeNames) -> Names:
    for mode, name in enumerate(names):
        if name is not None and names.index(name) < mode:
            raise ModeNameError(f"the modes {names.index(name)} and {mode} would both have the name {name!r}")
    return plain_names(names)


def names_tuple(names: Names, rank: int) -> ModeNames:
    """Return one entry per mode."""
    return (None,) * rank if names is None else names


def mode_of_name(name: str, names: Names) -> int:
    """Return which mode has a name; the error says which names there are, if any."""
    if names is not None and name in names:
        return names.index(name)
    if names is None:
        raise ConversionError(
            f"a mode of a shape without names is an integer, not {name!r}; named() gives names"
        )
    there = ", ".join(repr(n) for n in names if n is not None)
    raise ModeNameError(f"no mode has the name {name!r}; there are {there}")


def permutation_of_names(order: Iterable[SupportsIndex | str], names: Names) -> list[SupportsIndex]:
    """Return an order of modes, some of them given by name, with a number for each."""
    return [mode_of_name(mode, names) if isinstance(mode, str) else mode for mode in order]


def permuted_names(names: Names, order: Iterable[int]) -> Names:
    """Return the names of the modes in another order."""
    return None if names is None else tuple([names[mode] for mode in order])


def kept_names(names: ModeNames, kept: Iterable[bool]) -> Names:
    """Return the names of the modes that are left."""
    return plain_names(tuple([name for name, keep in zip(names, kept, strict=True) if keep]))


def agreed_names(all_names: Sequence[Names], what: str) -> Names:
    """Return the names of what several shapes of one rank make together.

    A mode without a name takes that of the other shapes.

    Raises
    ------
    ModeNameError
        If a mode has different names, or one name would stand for two modes.
    """
    given = [(number, names) for number, names in enumerate(all_names) if names is not None]
    if not given:
        return None
    _, agreed = given[0]
    for number, names in given[1:]:
        if names == agreed:
            continue
        for mode, (mine, theirs) in enumerate(zip(agreed, names, strict=True)):
            if mine is not None and theirs is not None and mine != theirs:
                raise ModeNameError(
                    f"{what} of shapes whose mode {mode} has different names: {mine!r} and, in shape "
                    f"{number}, {theirs!r}"
                )
        agreed = tuple([a or b for a, b in zip(agreed, names, strict=True)])
    return _distinct(agreed)


def joined_names(all_names: Iterable[ModeNames]) -> Names:
    """Return the names of the modes of several shapes, one after the other; none may come twice."""
    return _distinct(tuple([name for names in all_names for name in names]))


def plain_names(names: ModeNames) -> Names:
    """Return names as shapes keep them: None if there is none among them."""
    return names if any(names) else None


def key_of_names(key: NamedKey, names: Names, rank: int) -> tuple[KeyItem, ...]:
    """Return a key that gives some modes by name as one item per mode; the other modes are whole."""
    items: list[KeyItem] = [slice(None)] * rank
    for name, item in key.items():
        if cast("object", item) is Ellipsis:
            raise ConversionError(f"the index of the mode {name!r} is an integer or a slice, not an ellipsis")
        items[mode_of_name(check_name(name, "the name of a mode"), names)] = item
    return tuple(items)


def text_of_names(names: Names) -> str:
    """Return what the text of a shape says of its names; modes without one are ``_``."""
    return "" if names is None else f" names ({', '.join([name or '_' for name in names])})"


def repr_of_names(names: Names) -> str:
    """Return the call that gives a shape its names."""
    return "" if names is None else f".named({', '.join(map(repr, names))})"
