"""Selectors read from text, which may come from a stranger: nothing is evaluated, sizes are capped first."""

import re
from collections.abc import Iterator
from typing import Final

from tensorwrapper.errors import ConversionError, ParseError
from tensorwrapper.selection._selector_atoms import MAX_DIGITS, NewMode, SelectorAtom, text_of

__all__ = ["atoms_text", "read_atoms", "shorten"]

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
    """Yield what stands between the commas, without spaces around it, and where it starts."""
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
            f"the text of a selector may have numbers of at most {MAX_DIGITS} digits, but at position {at} "
            f"stands one of {len(digits)}"
        )
    return int(digits)


def read_atoms(text: object) -> list[SelectorAtom]:
    """Return the atoms that a text writes; O(length).

    Raises
    ------
    ParseError
        If it is not the text of a selector, or has too many characters or digits.
    ConversionError
        If it is no text.

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
            f"at position {at} of the text of a selector stands {found}, where only an integer, a slice "
            "start:end:step, '...' or a new mode '+extent' may stand"
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
