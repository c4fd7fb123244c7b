"""Names for runs of indices, as quantum chemistry names occupied and virtual orbitals."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import SupportsIndex, cast, final

import attrs

from tensorwrapper._integers import to_int, to_ints
from tensorwrapper.errors import ConversionError, ExtentError, ModeNameError
from tensorwrapper.shape._names import check_name

__all__ = ["NamedRanges"]


@final
@attrs.frozen(init=False, repr=False, getstate_setstate=False)
class NamedRanges:
    """Names for ranges of indices, to slice any mode by: ``shape[ranges["occupied"]]``.

    Ranges may overlap, be empty and leave indices out. Two values are equal if they have the same names for
    the same ranges in the same order.

    Parameters
    ----------
    ranges
        For each name, an identifier, the first index and the one behind the last; or a `range` of step 1.

    Raises
    ------
    ModeNameError
        If a name is no identifier.
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


_set_ranges = cast("Callable[[object, object], None]", vars(NamedRanges)["_ranges"].__set__)
