"""Affine maps as text: ``(i, j) -> (i + 4, 2*j, i - j)``."""

import re
from collections.abc import Sequence
from typing import NoReturn, TypeAlias, final

from tensorwrapper._integers import MAX_DIGITS, number_text
from tensorwrapper.errors import ConversionError, ParseError

__all__ = ["AffineRows", "affine_text", "checked_text", "names_of", "parse_affine", "parse_tuple"]

AffineRows: TypeAlias = tuple[int, list[list[int]], list[int]]
"""How many inputs there are, one row of coefficients per output, and the constants."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_TOKEN = re.compile(r"\s*(?:(->)|([0-9]+)|([A-Za-z_][A-Za-z0-9_]*)|([-+*(),]))", re.ASCII)
_MOST = 1 << 24  # coefficients of a map that a text may ask for


def names_of(rank: int) -> tuple[str, ...]:
    """Return the names of so many inputs: ``i0``, ``i1``, ..."""
    return tuple([f"i{mode}" for mode in range(rank)])


def _term(coefficient: int, name: str) -> str:
    return name if coefficient == 1 else f"{number_text(coefficient, full=False)}*{name}"


def _sum_text(row: Sequence[int], constant: int, names: Sequence[str]) -> str:
    parts = [(c < 0, _term(abs(c), name)) for c, name in zip(row, names, strict=True) if c]
    if constant or not parts:
        parts.append((constant < 0, number_text(abs(constant), full=False)))
    head = f"{'-' if parts[0][0] else ''}{parts[0][1]}"
    return head + "".join([f" {'-' if negative else '+'} {text}" for negative, text in parts[1:]])


def affine_text(rank: int, rows: Sequence[Sequence[int]], offset: Sequence[int]) -> str:
    """Return the text of a map; `parse_affine` reads it."""
    names = names_of(rank)
    sums = [_sum_text(row, constant, names) for row, constant in zip(rows, offset, strict=True)]
    return f"({', '.join(names)}) -> ({', '.join(sums)})"


@final
class _Reader:
    """Reads the tokens of one text; it is used once."""

    __slots__ = ("_place", "_text")

    def __init__(self, text: str, place: int = 0) -> None:
        self._text = text
        self._place = place

    def refuse(self, allowed: str) -> NoReturn:
        found = self._text[self._place : self._place + 20].strip()
        shown = repr(self._text if len(self._text) <= 80 else f"{self._text[:80]}...")
        stands = repr(found) if found else "the end"
        raise ParseError(f"{shown} is not the text of a map: at {self._place} stands {stands}, not {allowed}")

    def peek(self) -> str:
        match = _TOKEN.match(self._text, self._place)
        return match[0].strip() if match else ""

    def next(self) -> str:
        match = _TOKEN.match(self._text, self._place)
        if match is None:
            return ""
        self._place = match.end()
        return match[0].strip()

    def expect(self, token: str) -> None:
        if self.peek() != token:
            self.refuse(repr(token))
        self.next()

    def end(self) -> None:
        if self._text[self._place :].strip():
            self.refuse("the end")

    def number(self) -> int:
        token = self.peek()
        if not token.isdigit() or len(token) > MAX_DIGITS:
            self.refuse(f"a number of at most {MAX_DIGITS} digits")
        self.next()
        return int(token)

    def name(self) -> str:
        token = self.peek()
        if not _NAME.fullmatch(token):
            self.refuse("a name")
        self.next()
        return token

    def signs(self) -> int:
        """Return 1 or -1 for the signs before a term."""
        sign = 1
        while self.peek() in {"+", "-"}:
            sign = -sign if self.next() == "-" else sign
        return sign

    def inputs(self) -> dict[str, int]:
        self.expect("(")
        places: dict[str, int] = {}
        while self.peek() != ")":
            if places:
                self.expect(",")
                if self.peek() == ")":
                    break
            if self.peek() in places:
                self.refuse("another name: each stands once")
            places[self.name()] = len(places)
        self.expect(")")
        return places

    def row(self, places: dict[str, int]) -> tuple[list[int], int]:
        """Return the coefficients and the constant of a sum."""
        row, constant = [0] * len(places), 0
        while True:
            sign = self.signs()
            factor = 1
            if self.peek().isdigit():
                factor = self.number()
                if self.peek() != "*":
                    constant += sign * factor
                    if self.peek() not in {"+", "-"}:
                        return row, constant
                    continue
                self.next()
            if self.peek() not in places:
                self.refuse(
                    f"one of the inputs {', '.join(places)}" if places else "a number: there are no inputs"
                )
            row[places[self.next()]] += sign * factor
            if self.peek() not in {"+", "-"}:
                return row, constant

    def rows(self, places: dict[str, int]) -> tuple[list[list[int]], list[int]]:
        self.expect("(")
        rows: list[list[int]] = []
        offset: list[int] = []
        while self.peek() != ")":
            if rows:
                self.expect(",")
                if self.peek() == ")":
                    break
            if len(rows) * len(places) > _MOST:
                self.refuse(f"a map of at most {_MOST} coefficients")
            row, constant = self.row(places)
            rows.append(row)
            offset.append(constant)
        self.expect(")")
        return rows, offset

    def integers(self) -> list[int]:
        self.expect("(")
        numbers: list[int] = []
        while self.peek() != ")":
            if numbers:
                self.expect(",")
                if self.peek() == ")":
                    break
            sign = self.signs()
            numbers.append(sign * self.number())
        self.expect(")")
        return numbers


def checked_text(text: object) -> str:
    """Return a text; anything else raises."""
    if not isinstance(text, str):
        raise ConversionError(f"a map is read from text, not from {type(text).__name__}")
    return text


def parse_affine(text: object) -> AffineRows:
    """Return what the text of a map says; the inputs may have any names."""
    reader = _Reader(checked_text(text))
    places = reader.inputs()
    reader.expect("->")
    rows, offset = reader.rows(places)
    reader.end()
    return len(places), rows, offset


def parse_tuple(text: object) -> list[int]:
    """Return the integers of ``(1, 2)``."""
    reader = _Reader(checked_text(text))
    numbers = reader.integers()
    reader.end()
    return numbers
