"""Tokenizers of untrusted text: read forwards only, with errors that have position and excerpt.

`Tokenizer` is for texts with nested parts (patterns, maps). A text matched by one expression needs only
`refuse_at`, which words the error in the same way, and `quoted`, whose result is always short.

A text costs time in proportion to its length, if the tokens do: use possessive quantifiers (``*+``).
"""

import re
from typing import NoReturn, final

from tensorwrapper.errors import ParseError

_AROUND = 24  # characters that an excerpt has on each side
_QUOTED = 60
_SPACE = re.compile(r"\s*+", re.ASCII)


def quoted(text: str) -> str:
    """Return a text as errors quote it, cut short if it is long."""
    return repr(text if len(text) <= _QUOTED else text[: _QUOTED - 3] + "...")


def excerpt(text: str, at: int) -> str:
    """Return the surroundings of a position in a text, for errors."""
    start, stop = max(at - _AROUND, 0), at + _AROUND
    return f"{'...' * (start > 0)}{text[start:stop]!r}{'...' * (stop < len(text))}"


def refuse_at(text: str, at: int, what: str, allowed: str, found: str = "") -> NoReturn:
    """Raise for an unexpected part of a text of `what` at a position.

    Examples
    --------
    >>> refuse_at("(3; 4", 5, "a shape", "')'")
    Traceback (most recent call last):
    tensorwrapper.errors.ParseError: '(3; 4' is not the text of a shape at position 5: found nothing, \
expected ')'
    """
    there = repr(found[:_AROUND] or text[at]) if at < len(text) else "nothing"
    raise ParseError(
        f"{excerpt(text, at)} is not the text of {what} at position {at}: found {there}, expected {allowed}"
    )


@final
class Tokenizer:
    r"""A text, its next token, and the position up to which it has been read.

    Parameters
    ----------
    text
        The text.
    tokens
        Matches white space and one token, which is its first group.
    what
        Description of the expected text, with its article, for errors.

    Examples
    --------
    >>> scanner = Tokenizer("[a, b]", re.compile(r"\s*+([a-z]|[\[\],])"), "a list")
    >>> scanner.expect("[")
    >>> scanner.advance(), scanner.takes(","), scanner.token
    ('a', True, 'b')
    """

    __slots__ = ("_end", "_text", "_tokens", "_what", "token")

    token: str
    """The next token; empty at the end, and if none matches."""

    def __init__(self, text: str, tokens: re.Pattern[str], what: str) -> None:
        self._text, self._tokens, self._what = text, tokens, what
        self._end, self.token = 0, ""
        self.advance()

    def advance(self) -> str:
        """Return the next token, and advance past it."""
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
        """Return True and advance past the next token, if it is this one."""
        if self.token != token:
            return False
        self.advance()
        return True

    def expect(self, token: str) -> None:
        """Advance past a required token."""
        if not self.takes(token):
            self.refuse(repr(token))

    def finish(self) -> None:
        """Raise unless the text is at its end."""
        if self.token or self._end < len(self._text):
            self.refuse("the end")

    def refuse(self, allowed: str) -> NoReturn:
        """Raise for an unexpected token; `allowed` describes the expected ones."""
        refuse_at(self._text, self._end - len(self.token), self._what, allowed, self.token)
