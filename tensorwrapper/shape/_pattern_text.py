"""Patterns of shapes read from text, which may come from a stranger.

Two notations are read as one: ``[*batch, shape=[height, width], channels]``, and that with dollar signs,
``[$batch..., $shape=($height, $width), $channels[$i]]``. The first is the one that is written.
"""

import re
from typing import Final, NoReturn, final

from tensorwrapper.errors import ConversionError, ParseError
from tensorwrapper.shape._pattern_items import MAX_DEPTH, MAX_ITEMS, MAX_NUMBER, Group, Item, Mode, Run

__all__ = ["parse_item", "parse_items"]

MAX_TEXT: Final = 2**20
"""How many characters the text of a pattern may have."""

# Each token is matched where the one before ended, by expressions that never go back.
_TOKEN = re.compile(r"\s*+(\.\.\.|\$\.?+(?=[A-Za-z])|[\[\]()=,*+?]|[A-Za-z][A-Za-z0-9_]*+|[0-9]++)", re.ASCII)
_SPACE = re.compile(r"\s*+", re.ASCII)
_CLOSING: Final = {"[": "]", "(": ")"}
_SHOWN: Final = 24
_DIGITS: Final = len(str(MAX_NUMBER - 1))


def parse_items(text: object) -> tuple[Item, ...]:
    """Return the items of the text of a pattern, brackets and all."""
    reader = _Reader(text)
    reader.expect("[")
    items = reader.items("]", 0)
    reader.finish()
    return items


def parse_item(text: str) -> Item:
    """Return the one item that a text writes."""
    reader = _Reader(text)
    item = reader.item(0)
    reader.finish()
    return item


@final
class _Reader:
    """A text, and how far it has been read."""

    __slots__ = ("_end", "_text", "_token")

    def __init__(self, text: object) -> None:
        if not isinstance(text, str):
            raise ConversionError(f"a pattern is parsed from text, not from {type(text).__name__}")
        if len(text) > MAX_TEXT:
            raise ParseError(f"the text of a pattern has at most {MAX_TEXT} characters, not {len(text)}")
        self._text, self._end, self._token = text, 0, ""
        self._advance()

    def _advance(self) -> str:
        """Return the token that stands here, and go on to the next."""
        token = self._token
        found = _TOKEN.match(self._text, self._end)
        if found is None:
            space = _SPACE.match(self._text, self._end)
            self._end = self._end if space is None else space.end()
            self._token = ""
        else:
            self._end, self._token = found.end(), found[1]
        return token

    def _refuse(self, allowed: str) -> NoReturn:
        at = self._end - len(self._token)
        found = repr(self._token[:_SHOWN] or self._text[at : at + 1]) if at < len(self._text) else "nothing"
        start, stop = max(at - _SHOWN, 0), at + _SHOWN
        excerpt = f"{'...' * (start > 0)}{self._text[start:stop]!r}{'...' * (stop < len(self._text))}"
        raise ParseError(
            f"{excerpt} is not the text of a pattern: at position {at} stands {found}, where only {allowed} "
            "may stand"
        )

    def expect(self, token: str) -> None:
        """Go past a token that must stand here."""
        if self._token != token:
            self._refuse(repr(token))
        self._advance()

    def finish(self) -> None:
        """Raise unless the text is at its end."""
        if self._token or self._end < len(self._text):
            self._refuse("the end")

    def _takes(self, token: str) -> bool:
        if self._token != token:
            return False
        self._advance()
        return True

    def items(self, closing: str, depth: int) -> tuple[Item, ...]:
        """Return the items up to a closing bracket, and go past it."""
        if self._takes(closing):
            return ()
        found = [self.item(depth)]
        while self._takes(","):
            found.append(self.item(depth))
            if len(found) > MAX_ITEMS:
                self._refuse(f"{closing!r} (a pattern has at most {MAX_ITEMS} items)")
        if self._token != closing:
            self._refuse(f"',' or {closing!r}")
        self._advance()
        return tuple(found)

    def item(self, depth: int) -> Item:
        """Return the item that stands here."""
        if self._takes("..."):
            return Run()
        if self._token in ("*", "+"):
            least = int(self._advance() == "+")
            return Run(self._name("a name"), least, self._subscript())
        if self._token.startswith("?") or self._token[:1].isdigit():
            return Mode(extent=self._extent())
        name = self._name("a mode, a run or a group")
        subscript = self._subscript()
        if self._takes("..."):
            return Run(name, 0, subscript)
        if not self._takes("="):
            return Mode(name, name, subscript)
        if self._token not in _CLOSING:
            return Mode(name, self._extent(), subscript)
        if depth >= MAX_DEPTH:
            self._refuse(f"an extent (groups nest at most {MAX_DEPTH} deep)")
        return Group(name, self.items(_CLOSING[self._advance()], depth + 1), subscript)

    def _extent(self) -> int | str | None:
        if self._takes("?"):
            return None
        if not self._token[:1].isdigit():
            return self._name("an extent or a group")
        if len(self._token) > _DIGITS or (self._token[0] == "0" and len(self._token) > 1):
            self._refuse(f"a number of at most {_DIGITS} digits, the first not 0,")
        return int(self._advance())

    def _name(self, allowed: str) -> str:
        if self._token.startswith("$"):
            self._advance()
        if not self._token[:1].isalpha():
            self._refuse(allowed)
        return self._advance()

    def _subscript(self) -> str | None:
        if not self._takes("["):
            return None
        name = self._name("a name")
        self.expect("]")
        return name
