"""Texts that strangers wrote: read token by token, never backwards, and refused with place and excerpt.

`Tokenizer` is for texts with nested parts (patterns, maps). What is matched by one expression needs only
`refuse_at`, which words the error in the same way, and `quoted`, which no long text makes long.

A text costs time in proportion to its length, if the tokens do: use possessive quantifiers (``*+``).
"""

import re
from typing import NoReturn, final

from tensorwrapper.errors import ParseError

__all__ = ["Tokenizer", "excerpt", "quoted", "refuse_at"]

_AROUND = 24  # characters that an excerpt has on each side
_QUOTED = 60
_SPACE = re.compile(r"\s*+", re.ASCII)


def quoted(text: str) -> str:
    """Return a text as errors quote it, cut short if it is long."""
    return repr(text if len(text) <= _QUOTED else text[: _QUOTED - 3] + "...")


def excerpt(text: str, at: int) -> str:
    """Return what stands around a place of a text, as errors quote it."""
    start, stop = max(at - _AROUND, 0), at + _AROUND
    return f"{'...' * (start > 0)}{text[start:stop]!r}{'...' * (stop < len(text))}"


def refuse_at(text: str, at: int, what: str, allowed: str, found: str = "") -> NoReturn:
    """Raise, because at this place of a text stands what no text of `what` has there.

    Examples
    --------
    >>> refuse_at("(3; 4", 5, "a shape", "')'")
    Traceback (most recent call last):
    tensorwrapper.errors.ParseError: '(3; 4' is not the text of a shape: at position 5 stands nothing, where \
only ')' may stand
    """
    stands = repr(found[:_AROUND] or text[at]) if at < len(text) else "nothing"
    raise ParseError(
        f"{excerpt(text, at)} is not the text of {what}: at position {at} stands {stands}, where only "
        f"{allowed} may stand"
    )


@final
class Tokenizer:
    r"""A text, the token that stands next in it, and how far it has been read.

    Parameters
    ----------
    text
        The text.
    tokens
        Matches white space and one token, which is its first group.
    what
        What the text should be, with its article, for errors.

    Examples
    --------
    >>> scanner = Tokenizer("[a, b]", re.compile(r"\s*+([a-z]|[\[\],])"), "a list")
    >>> scanner.expect("[")
    >>> scanner.advance(), scanner.takes(","), scanner.token
    ('a', True, 'b')
    """

    __slots__ = ("_end", "_text", "_tokens", "_what", "token")

    token: str
    """The token that stands next; empty at the end, and where there is none."""

    def __init__(self, text: str, tokens: re.Pattern[str], what: str) -> None:
        self._text, self._tokens, self._what = text, tokens, what
        self._end, self.token = 0, ""
        self.advance()

    def advance(self) -> str:
        """Return the token that stands next, and go past it."""
        token = self.token
        found = self._tokens.match(self._text, self._end)
        if found is None:
            space = _SPACE.match(self._text, self._end)
            self._end = self._end if space is None else space.end()
            self.token = ""
        else:
            self._end, self.token = found.end(), found[1]
        return token

    def takes(self, token: str) -> bool:
        """Tell whether a token stands next, and go past it if so."""
        if self.token != token:
            return False
        self.advance()
        return True

    def expect(self, token: str) -> None:
        """Go past a token that must stand next."""
        if not self.takes(token):
            self.refuse(repr(token))

    def finish(self) -> None:
        """Raise unless the text is at its end."""
        if self.token or self._end < len(self._text):
            self.refuse("the end")

    def refuse(self, allowed: str) -> NoReturn:
        """Raise, because only what is `allowed` may stand next."""
        refuse_at(self._text, self._end - len(self.token), self._what, allowed, self.token)
