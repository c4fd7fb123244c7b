"""What a selector is made of: positions, slices, an ellipsis and new modes."""

from types import EllipsisType
from typing import Final, SupportsIndex, TypeAlias, cast, final

import attrs

from tensorwrapper._integers import to_int
from tensorwrapper.errors import ConversionError, ExtentError, OutOfBoundsError, SizeOverflowError, StepError

__all__ = ["MAX_DIGITS", "NewMode", "SelectorAtom", "SelectorItem", "strict_slice", "text_of", "to_atom"]


MAX_DIGITS: Final = 100
"""Longer numbers are no position anywhere, and Python is slow to read them."""

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
@attrs.frozen
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
    """How many positions it has."""


SelectorAtom: TypeAlias = int | slice | EllipsisType | NewMode
"""One part of a selector, as it is kept."""

SelectorItem: TypeAlias = SupportsIndex | slice | EllipsisType | NewMode | None
"""What one part of a selector may be made from; ``None`` is a new mode of extent 1."""


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
        f"a part of a selector must be an integer, a slice, an ellipsis, None or a NewMode, not {item!r}"
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
    """Return a slice whose bounds all lie in a mode of `extent` positions, as Python would have it written.

    An end of ``-extent - 1`` stands before the first position, for slices that run backwards to it. A slice
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
