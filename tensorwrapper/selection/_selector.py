"""Selectors: the key between the brackets of a tensor, as a value with a text form."""

import re
from collections.abc import Callable, Iterable, Iterator
from types import EllipsisType
from typing import Any, Final, Protocol, SupportsIndex, TypeAlias, TypeVar, cast, final

import attrs

from tensorwrapper._error_text import brief
from tensorwrapper._integers import to_counts, to_int
from tensorwrapper._value_class import frozen, value_class
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    OutOfBoundsError,
    ParseError,
    RankError,
    SizeOverflowError,
    StepError,
)
from tensorwrapper.layout.lowlevel import expand_positional, parse_positional
from tensorwrapper.shape import Shape, ShapeLike
from tensorwrapper.typing import Extents, PositionalItem, PositionalKey

MAX_DIGITS: Final = 100
"""Longer numbers are not position anywhere, and Python is slow to read them."""

_TOO_LARGE: Final = 10**MAX_DIGITS


def _to_number(value: SupportsIndex, what: str) -> int:
    number = to_int(value, what)
    if abs(number) >= _TOO_LARGE:
        raise SizeOverflowError(f"{what} may have {MAX_DIGITS} digits, but has {number.bit_length()} bits")
    return number


def _to_extent(value: SupportsIndex) -> int:
    extent = _to_number(value, "the extent of a new mode")
    if extent < 1:
        raise ExtentError(f"the extent of a new mode must be at least 1, but is {extent}")
    return extent


@final
@frozen
class NewMode:
    """A mode that is not in the source: every position along it shows the same elements.

    Raises
    ------
    ExtentError
        If `extent` is less than 1.

    Examples
    --------
    >>> from tensorwrapper.selection import NewMode, Selector
    >>> Selector(0, NewMode(3))
    Selector.parse('[0, +3]')
    """

    extent: int = attrs.field(default=1, converter=_to_extent)
    """Number of positions."""


SelectorAtom: TypeAlias = int | slice | EllipsisType | NewMode
"""One part of a selector, as it is kept."""

SelectorItem: TypeAlias = SupportsIndex | slice | EllipsisType | NewMode | None
"""One part of a selector; ``None`` is a new mode of extent 1."""


def _bound(value: object, what: str) -> int | None:
    return None if value is None else _to_number(cast("SupportsIndex", value), f"the {what} of a slice")


def to_atom(item: SelectorItem) -> SelectorAtom:
    """Return an item as it is kept: integers are Python's, and a step of 1 is left out."""
    if isinstance(item, EllipsisType | NewMode):
        return item
    if item is None:
        return NewMode()
    if isinstance(item, slice):
        step = _bound(item.step, "step")
        kept = slice(_bound(item.start, "start"), _bound(item.stop, "end"), None if step == 1 else step)
        if step == 0:
            raise StepError(f"slice step cannot be zero: {text_of(kept)}")
        return kept
    if hasattr(item, "__index__"):
        return _to_number(item, "a position")
    raise ConversionError(
        f"a part of a selector must be an integer, a slice, an ellipsis, None or a NewMode, not {brief(item)}"
    )


def text_of(atom: SelectorAtom) -> str:
    """Return the text of one atom.

    Examples
    --------
    >>> [text_of(atom) for atom in (-1, slice(None, 2), slice(None, None, -2), ..., NewMode(1), NewMode(5))]
    ['-1', ':2', '::-2', '...', '+', '+5']
    """
    if isinstance(atom, int):
        return str(atom)
    if isinstance(atom, slice):
        start, stop, step = ("" if part is None else str(part) for part in (atom.start, atom.stop, atom.step))
        return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"
    if isinstance(atom, NewMode):
        return "+" if atom.extent == 1 else f"+{atom.extent}"
    return "..."


def strict_slice(item: slice, mode: int, extent: int) -> slice:
    """Return a slice whose bounds are all within a mode of `extent` positions, as Python would write it.

    An end of ``-extent - 1`` is before the first position, for slices that run backwards to it. A slice
    that starts where it ends selects nothing, which is allowed.

    Raises
    ------
    OutOfBoundsError
        If the slice starts or ends outside.
    ExtentError
        If it runs against its step.
    """
    where = f"slice {text_of(item)} of mode {mode}"
    step: int = 1 if item.step is None else item.step
    forward = step > 0
    start: int = (0 if forward else extent - 1) if item.start is None else item.start
    end: int = (extent if forward else -extent - 1) if item.stop is None else item.stop
    # Only a slice that runs forward can start behind the last position: it ends there too, and is empty.
    last = extent if forward else extent - 1
    if item.start is not None and not -extent <= start <= last:
        raise OutOfBoundsError(f"{where}: start index {start} out of range [{-extent}, {last}]")
    if not -extent - 1 <= end <= extent:
        raise OutOfBoundsError(f"{where}: end index {end} out of range [{-extent - 1}, {extent}]")
    if item.start is not None and start < 0:
        start += extent
    end += extent if end < 0 else 0
    if start > end if forward else start < end:
        word, sign = ("greater", "positive") if forward else ("less", "negative")
        raise ExtentError(
            f"{where}: slice start ({start}) must not be {word} than end ({end}) for {sign} step ({step})"
        )
    if start == end:
        return slice(0, 0)
    return slice(start, None if end < 0 else end, item.step)


MAX_LENGTH: Final = 2**20
_SHOWN: Final = 60
_NUMBER: Final = r"-?[0-9]++"
# Quantifiers never go back: otherwise many spaces without a number would take quadratic time.
_ATOM: Final = re.compile(
    rf"(?P<dots>\.\.\.)|\+(?P<new>[0-9]*+)|(?P<at>{_NUMBER})"
    rf"|(?P<start>{_NUMBER})?+\s*+:\s*+(?P<stop>{_NUMBER})?+\s*+(?::\s*+(?P<step>{_NUMBER})?+)?+",
    re.ASCII,
)


def atoms_text(atoms: tuple[SelectorAtom, ...]) -> str:
    """Return the text of atoms, in brackets."""
    return f"[{', '.join([text_of(atom) for atom in atoms])}]"


def shorten(text: str) -> str:
    """Return a text as errors quote it: long ones may come from anywhere."""
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}..."


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Yield the texts between commas, without spaces around them, and their positions."""
    start, stop = 0, len(text)
    body = text.strip()
    if body.startswith("[") and body.endswith("]"):
        start, stop = text.index("[") + 1, text.rindex("]")
    if not text[start:stop].strip():
        return
    for piece in text[start:stop].split(","):
        bare = piece.lstrip()
        yield start + len(piece) - len(bare), bare.rstrip()
        start += len(piece) + 1


def _number(digits: str, at: int) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise ParseError(
            f"a number in the text of a selector may have at most {MAX_DIGITS} digits, but that at "
            f"position {at} has {len(digits)}"
        )
    return int(digits)


def read_atoms(text: object) -> list[SelectorAtom]:
    """Return the atoms that a text writes; O(length).

    Raises
    ------
    ParseError
        If it is not the text of a selector, or has too many characters or digits.
    ConversionError
        If it is not text.

    Examples
    --------
    >>> read_atoms("1, ..., ::-2, +3")
    [1, Ellipsis, slice(None, None, -2), NewMode(extent=3)]
    """
    if not isinstance(text, str):
        raise ConversionError(f"a selector is parsed from text, not from {type(text).__name__}")
    if len(text) > MAX_LENGTH:
        raise ParseError(f"the text of a selector may have {MAX_LENGTH} characters, but has {len(text)}")
    return [_read(piece, at) for at, piece in _pieces(text)]


def _read(piece: str, at: int) -> SelectorAtom:
    match = _ATOM.fullmatch(piece)
    if match is None:
        found = shorten(piece) if piece else "nothing"
        raise ParseError(
            f"the text of a selector is wrong at position {at}: found {found}, expected an integer, a slice "
            "start:end:step, '...' or a new mode '+extent'"
        )
    if match["dots"]:
        return ...
    if match["at"]:
        return _number(match["at"], at)
    if match["new"] is not None:
        return NewMode(_number(match["new"] or "1", at))
    return slice(
        *[None if part is None else _number(part, at) for part in match.group("start", "stop", "step")]
    )


_PartT = TypeVar("_PartT")
_PartT_co = TypeVar("_PartT_co", covariant=True)


class Selectable(Protocol[_PartT_co]):
    """An object that a selector can be applied to: a layout, a tensor or a view."""

    @property
    def shape(self) -> Shape[Any]:
        """The indices of the elements."""
        ...

    def __getitem__(self, key: PositionalKey, /) -> _PartT_co: ...

    def broadcast(self, shape: ShapeLike) -> _PartT_co:
        """Return the same elements over `shape`."""
        ...


def _room(atom: "SelectorAtom") -> int:
    """Return how many positions an example of a mode has."""
    numbers = (atom.start, atom.stop) if isinstance(atom, slice) else (atom if isinstance(atom, int) else 0,)
    return max([8, *[-n if n < 0 else n + 1 for n in numbers if n is not None]])


@final
@value_class(eq=False, repr=False)
class Selector:
    """A key as a value: positions, slices, one ellipsis and new modes of any extent; hashable, and text.

    The text is a comma list, with or without brackets: ``3`` is a position (its mode goes), ``a:b:s`` a
    slice, ``...`` as many whole modes as remain, ``+`` and ``+n`` a new mode of extent 1 and n. Negative
    numbers count from the end. Modes that are not mentioned are taken whole.

    Slices are clipped at the ends of a mode, as NumPy's are. With ``strict=True`` a slice that starts or ends
    outside, or runs against its step, is an error; an end of ``-n - 1`` is then the one before the first of n
    positions, so that every slice can be written with both ends.

    Raises
    ------
    ConversionError
        If a part has another form.
    RankError
        If there are several ellipses.
    StepError
        If a step is 0.
    SizeOverflowError
        If a number has more than 100 digits.

    Examples
    --------
    >>> from tensorwrapper.selection import Selector
    >>> s = Selector.parse("1, ..., ::-2, +3")
    >>> s.result_extents((2, 4, 5))
    (4, 3, 3)
    >>> import tensorwrapper as tw
    >>> s.apply(tw.as_tensor([[1, 2, 3], [4, 5, 6]])).tolist()
    [[6, 6, 6], [4, 4, 4]]
    """

    atoms: tuple[SelectorAtom, ...]
    """The parts in order; integers are Python's, a step of 1 is left out."""

    def __init__(self, *items: SelectorItem) -> None:
        atoms = tuple([to_atom(item) for item in items])
        if atoms.count(...) > 1:
            raise RankError(f"a selector may have one ellipsis only: {shorten(atoms_text(atoms))}")
        object.__setattr__(self, "atoms", atoms)

    @classmethod
    def parse(cls, text: str) -> "Selector":
        """Return the selector that a text writes: the inverse of `str`; O(length).

        The text may be untrusted: at most 2**20 characters, numbers of at most 100 digits.

        Raises
        ------
        ParseError
            If it is not the text of a selector; the message says where.
        RankError, StepError, ExtentError
            If it has several ellipses, a step of 0, or a new mode of extent 0.

        Examples
        --------
        >>> print(Selector.parse("1:2:1,+1 , ..."))
        [1:2, +, ...]
        """
        return cls(*read_atoms(text))

    @classmethod
    def from_key(cls, key: SelectorItem | tuple[SelectorItem, ...]) -> "Selector":
        """Return the selector of a key between the brackets of a tensor; arrays are refused.

        Examples
        --------
        >>> import numpy as np
        >>> print(Selector.from_key(np.s_[1, ..., None, ::-2]))
        [1, ..., +, ::-2]
        """
        return cls(*key) if isinstance(key, tuple) else cls(key)

    def to_key(self) -> tuple[PositionalItem, ...]:
        """Return the key that selects the same in NumPy, with ``None`` for new modes.

        Raises
        ------
        ConversionError
            If a new mode has another extent than 1, for which NumPy has no word.

        Examples
        --------
        >>> Selector.parse("1, +, ...").to_key()
        (1, None, Ellipsis)
        """
        for atom in self.atoms:
            if isinstance(atom, NewMode) and atom.extent > 1:
                raise ConversionError(f"no key has a new mode of extent {atom.extent}, as {self} has")
        return self._narrow_key()

    def result_extents(self, extents: Iterable[SupportsIndex], *, strict: bool = False) -> Extents:
        """Return the extents of the selection from modes of these `extents`; O(rank).

        Raises
        ------
        OutOfBoundsError
            If a position is outside its mode; with `strict`, a bound of a slice too.
        TooManyIndicesError
            If there are more positions and slices than modes.
        ExtentError
            If an extent is negative; with `strict`, if a slice runs against its step.

        Examples
        --------
        >>> Selector.parse("1, +100, ..., +, :, ::-2").result_extents((2, 3, 4, 5))
        (100, 3, 1, 4, 3)
        """
        counts = to_counts(extents, "extents")
        key = self._strict_key(counts) if strict else self._narrow_key()
        news = iter([atom.extent for atom in self.atoms if isinstance(atom, NewMode)])
        entries = [entry for entry in parse_positional(key, counts) if not isinstance(entry, int)]
        return tuple([next(news) if entry is None else entry[2] for entry in entries])

    def apply(self, operand: Selectable[_PartT], *, strict: bool = False) -> _PartT:
        """Return the selection from a layout, tensor or view; nothing is copied.

        The result starts at zero. New modes of an extent above 1 are broadcast: tensors are read-only then.

        Raises
        ------
        OutOfBoundsError, TooManyIndicesError, ExtentError
            As `result_extents` does.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> Selector.parse("..., 0").apply(tw.as_tensor([[0, 1, 2], [3, 4, 5]])).tolist()
        [0, 3]
        """
        part = operand[self._strict_key(operand.shape.extents) if strict else self._narrow_key()]
        if all(atom.extent == 1 for atom in self.atoms if isinstance(atom, NewMode)):
            return part
        # A part of a layout is a layout, of a tensor a tensor; the types of both cannot say so.
        narrow = cast("Selectable[_PartT]", part)
        return narrow.broadcast(self.result_extents(operand.shape.extents))

    def _narrow_key(self) -> tuple[PositionalItem, ...]:
        """Return the key in which every new mode has extent 1."""
        return tuple([None if isinstance(atom, NewMode) else atom for atom in self.atoms])

    def _strict_key(self, extents: Extents) -> tuple[PositionalItem, ...]:
        """Return the key for modes of these extents, whose slices have been checked."""
        items = expand_positional(self._narrow_key(), len(extents))
        mode = 0
        for place, item in enumerate(items):
            if isinstance(item, slice):
                items[place] = strict_slice(item, mode, extents[mode])
            mode += item is not None
        return tuple(items)

    def to_svg(self, extents: Iterable[SupportsIndex] | None = None) -> str:
        """Return a picture, as SVG: a bar for each mode, with the selected positions dark.

        Parameters
        ----------
        extents
            Those of the modes. If none are given, those of an example: each mode has as many positions as
            the numbers written for it need, and eight at least.

        Raises
        ------
        OutOfBoundsError, TooManyIndicesError, ExtentError
            As `result_extents` does.

        Examples
        --------
        >>> Selector.parse("1, ::2").to_svg((2, 6)).startswith("<svg")
        True
        """
        from tensorwrapper.selection.transforms._picture import ModePart, draw_parts  # noqa: PLC0415 - when drawn

        counts = self._example() if extents is None else to_counts(extents, "extents")
        key = self._narrow_key()
        modes, atoms = iter(counts), iter(expand_positional(key, len(counts)))
        news = iter([atom for atom in self.atoms if isinstance(atom, NewMode)])
        parts: list[ModePart] = []
        for entry, item in zip(parse_positional(key, counts), atoms, strict=True):
            new = next(news) if entry is None else None
            parts.append(
                ModePart(
                    text_of(cast("SelectorAtom", item if new is None else new)),
                    next(modes) if new is None else new.extent,
                    entry,
                )
            )
        example = " of an example" if extents is None else ""
        return draw_parts(parts, title=f"what {shorten(str(self))} selects{example}").to_svg()

    def _example(self) -> Extents:
        """Return extents in which the numbers of each part fit."""
        return tuple([_room(atom) for atom in self.atoms if not isinstance(atom, NewMode)])

    def _parts(self) -> tuple[object, ...]:
        """Return the atoms in a form that Python 3.11 can hash."""
        return tuple(
            [(atom.start, atom.stop, atom.step) if isinstance(atom, slice) else atom for atom in self.atoms]
        )

    def __eq__(self, other: object) -> bool:
        return self._parts() == other._parts() if isinstance(other, Selector) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._parts())

    def __str__(self) -> str:
        return atoms_text(self.atoms)

    def __repr__(self) -> str:
        return f"Selector.parse({str(self)!r})"

    def __reduce__(self) -> tuple[Callable[..., "Selector"], tuple[SelectorAtom, ...]]:
        return Selector, self.atoms
