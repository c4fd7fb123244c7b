"""Names of modes: which are allowed, how those of two shapes agree, and modes and keys given by name."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import SupportsIndex, TypeAlias, cast, final

import numpy as np

from tensorwrapper._arguments import check_kind_of
from tensorwrapper._error_text import brief, counted
from tensorwrapper._integers import to_int, to_ints
from tensorwrapper._value_class import slot_setters, value_class
from tensorwrapper.errors import ConversionError, ExtentError, IndexTypeError, ModeNameError, RankError
from tensorwrapper.typing import Array, KeyItem, NamedKey

ModeNames: TypeAlias = tuple[str | None, ...]
"""One entry per mode: its name, or None for an unnamed mode."""

Names: TypeAlias = ModeNames | None
"""Stored names: None if all modes are unnamed, so that shapes without names have no overhead."""


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


def usable_names(given: Iterable[object]) -> ModeNames:
    """Return valid names of modes: None for each invalid or duplicate name.

    Examples
    --------
    >>> usable_names(["x", "no name", "y", "y", "_", None])
    ('x', None, None, None, None, None)
    """
    items = list(given)
    return tuple(
        [
            own
            if isinstance(own, str) and own.isidentifier() and own != "_" and items.count(own) == 1
            else None
            for own in items
        ]
    )


def to_names(names: Iterable[object], rank: int) -> Names:
    """Return `names` in the stored form for this rank.

    Raises
    ------
    RankError
        If the number of names differs from the rank.
    ModeNameError
        If a name is a duplicate, or is not an identifier.
    """
    given = tuple(names)
    if len(given) != rank:
        raise RankError(f"{brief(given)} has {counted(len(given), 'name')} for a shape of rank {rank}")
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
            f"a mode of a shape without names is an integer, not {brief(name)}; named() gives names"
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
    """Return the common names of several shapes of one rank.

    A mode without a name takes that of the other shapes.

    Raises
    ------
    ModeNameError
        If a mode has different names, or two modes have one name.
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


def picked_names(names: ModeNames, items: Sequence[object]) -> ModeNames:
    """Return the names of the result of a NumPy key in which all positions and masks are arrays.

    One array of one mode, of positions or a mask, keeps its mode; several arrays make new modes.
    """
    widths = [0 if item is None or item is Ellipsis else _width(item) for item in items]
    whole = [slice(None)] * (len(names) - sum(widths))
    dots = next((place for place, item in enumerate(items) if item is Ellipsis), len(items))
    kept: list[str | None] = []
    picked: list[str | None] = []
    places: list[int] = []
    first = mode = modes = 0
    expanded: list[object] = [*items[:dots], *whole, *items[dots + 1 :]]
    for place, item in enumerate(expanded):
        width = 0 if item is None else _width(item)
        if item is None or isinstance(item, slice):
            kept.append(None if item is None else names[mode])
        else:
            # In a key with arrays, an integer counts as an array.
            first = first if places else len(kept)
            places.append(place)
            array: Array = np.asarray(item)
            # A mask makes one mode, even one with rank 0.
            modes = max(modes, 1 if array.dtype == np.bool_ else array.ndim)
            if array.ndim:
                picked += [names[mode]] * array.ndim
        mode += width
    apart = bool(places) and places[-1] - places[0] >= len(places)
    front = 0 if apart else first
    return (*kept[:front], *(picked if len(picked) == 1 else [None] * modes), *kept[front:])


def _width(item: object) -> int:
    """Return how many modes an item of a key uses up: a mask as many as it has."""
    array = isinstance(item, np.ndarray)
    return np.ndim(cast("Array", item)) if array and cast("Array", item).dtype == np.bool_ else 1


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
            raise IndexTypeError(f"the index of the mode {name!r} is an integer or a slice, not an ellipsis")
        try:
            mode = mode_of_name(check_name(name, "the name of a mode"), names)
        except ConversionError as error:
            raise IndexTypeError(str(error)) from error
        items[mode] = item
    return tuple(items)


def text_of_names(names: Names) -> str:
    """Return what the text of a shape says of its names; modes without one are ``_``."""
    return "" if names is None else f" names ({', '.join([name or '_' for name in names])})"


def repr_of_names(names: Names) -> str:
    """Return the call that gives a shape its names."""
    return "" if names is None else f".named({', '.join(map(repr, names))})"


@final
@value_class(repr=False, getstate_setstate=False)
class NamedRanges:
    """Names for ranges of indices, to slice any mode by: ``shape[ranges["occupied"]]``.

    Ranges may overlap, be empty and leave indices out. Two values are equal if they have the same names for
    the same ranges in the same order.

    Parameters
    ----------
    ranges
        For each name, an identifier, the first index and the index after the last; or a `range` of step 1.

    Raises
    ------
    ModeNameError
        If a name is not an identifier.
    ExtentError
        If a range ends before it begins, or has a step other than 1.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> orbitals = NamedRanges({"occupied": (0, 5), "virtual": (5, 20)})
    >>> amplitudes = Shape(20, 20).named("i", "a")
    >>> amplitudes[{"i": orbitals["occupied"], "a": orbitals["virtual"]}]
    Shape(5, 15, origin=(0, 5)).named('i', 'a')
    """

    _ranges: tuple[tuple[str, int, int], ...]

    def __init__(self, ranges: "Mapping[str, tuple[SupportsIndex, SupportsIndex] | range]") -> None:
        if not isinstance(cast("object", ranges), Mapping):
            raise ConversionError(f"named ranges are given by a mapping of names, not by {ranges!r}")
        _set_ranges(self, tuple([_checked(name, bounds) for name, bounds in ranges.items()]))

    @classmethod
    def of_extents(cls, extents: Mapping[str, SupportsIndex], *, origin: SupportsIndex = 0) -> "NamedRanges":
        """Return ranges one after the other, given by how many indices each has.

        Examples
        --------
        >>> NamedRanges.of_extents({"core": 2, "valence": 3, "virtual": 15})
        NamedRanges({'core': (0, 2), 'valence': (2, 5), 'virtual': (5, 20)})
        """
        start = to_int(origin, "an origin")
        check_kind_of(extents, Mapping, "extents must be a dictionary of names and extents")
        ranges: dict[str, tuple[int, int]] = {}
        for name, extent in extents.items():
            stop = start + to_int(extent, f"the extent of the range {name!r}")
            ranges[name] = (start, stop)
            start = stop
        return cls(ranges)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order in which they were given."""
        return tuple([name for name, _, _ in self._ranges])

    def __getitem__(self, name: str) -> slice:
        """Return the range of a name as a slice with absolute bounds, which any mode can be given.

        Raises
        ------
        ModeNameError
            If no range has the name; the text lists those there are.
        """
        for given, first, last in self._ranges:
            if given == name:
                return slice(first, last)
        there = ", ".join(map(repr, self.names)) or "no others"
        raise ModeNameError(f"no range has the name {name!r}; there are {there}")

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def names_at(self, index: SupportsIndex) -> tuple[str, ...]:
        """Return the names of all ranges that hold an index; O(ranges).

        Examples
        --------
        >>> NamedRanges({"core": (0, 2), "occupied": (0, 5)}).names_at(1)
        ('core', 'occupied')
        """
        place = to_int(index, "an index")
        return tuple([name for name, first, last in self._ranges if first <= place < last])

    def __repr__(self) -> str:
        return f"NamedRanges({self._as_dict()})"

    def __reduce__(self) -> "tuple[Callable[..., NamedRanges], tuple[object, ...]]":
        return NamedRanges, (self._as_dict(),)

    def _as_dict(self) -> dict[str, tuple[int, int]]:
        return {name: (first, last) for name, first, last in self._ranges}


def _checked(name: object, bounds: object) -> tuple[str, int, int]:
    text = check_name(name, "the name of a range")
    if isinstance(bounds, range):
        if bounds.step != 1:
            raise ExtentError(
                f"the range {text!r} has step {bounds.step}; only step 1 makes a part of a shape"
            )
        first, last = bounds.start, bounds.stop
    else:
        ends = to_ints(cast("Iterable[SupportsIndex]", bounds), f"the bounds of the range {text!r}")
        if len(ends) != 2:
            raise ConversionError(f"the range {text!r} has a first index and one behind the last, not {ends}")
        first, last = ends
    if last < first:
        raise ExtentError(f"the range {text!r} goes from {first} to {last}; it must not end before it begins")
    return text, first, last


(_set_ranges,) = slot_setters(NamedRanges, "_ranges")
