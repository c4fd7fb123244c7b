"""Affine maps as text: ``(i, j) -> (i + 4, 2*j, i - j)``."""

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from tensorwrapper._integers import MAX_DIGITS, number_text
from tensorwrapper._tokenizer import Tokenizer
from tensorwrapper.errors import ConversionError

AffineRows: TypeAlias = tuple[int, list[list[int]], list[int]]
"""Number of inputs, one row of coefficients per output, and the constants."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_TOKEN = re.compile(r"\s*+(->|[0-9]++|[A-Za-z_][A-Za-z0-9_]*+|[-+*(),])", re.ASCII)
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


def _number(scanner: Tokenizer) -> int:
    if not scanner.token.isdigit() or len(scanner.token) > MAX_DIGITS:
        scanner.refuse(f"a number of at most {MAX_DIGITS} digits")
    return int(scanner.advance())


def _name(scanner: Tokenizer) -> str:
    if not _NAME.fullmatch(scanner.token):
        scanner.refuse("a name")
    return scanner.advance()


def _sign(scanner: Tokenizer) -> int:
    """Return 1 or -1 for the signs before a term."""
    sign = 1
    while scanner.token in {"+", "-"}:
        sign = -sign if scanner.advance() == "-" else sign
    return sign


def _items(scanner: Tokenizer) -> Iterator[int]:
    """Return an iterator over the items between parentheses, with commas between them, by number."""
    scanner.expect("(")
    count = 0
    while not scanner.takes(")"):
        if count:
            scanner.expect(",")
            if scanner.takes(")"):
                return
        yield count
        count += 1


def _inputs(scanner: Tokenizer) -> dict[str, int]:
    places: dict[str, int] = {}
    for place in _items(scanner):
        if scanner.token in places:
            scanner.refuse("another name: each occurs once")
        places[_name(scanner)] = place
    return places


def _row(scanner: Tokenizer, places: dict[str, int]) -> tuple[list[int], int]:
    """Return the coefficients and the constant of a sum."""
    row, constant = [0] * len(places), 0
    while True:
        factor = _sign(scanner)
        number = scanner.token.isdigit()
        if number:
            factor *= _number(scanner)
        if number and not scanner.takes("*"):
            constant += factor
        elif scanner.token in places:
            row[places[scanner.advance()]] += factor
        else:
            scanner.refuse(
                f"one of the inputs {', '.join(places)}" if places else "a number: there are no inputs"
            )
        if scanner.token not in {"+", "-"}:
            return row, constant


def checked_text(text: object) -> str:
    """Return a text; anything else raises."""
    if not isinstance(text, str):
        raise ConversionError(f"a map is read from text, not from {type(text).__name__}")
    return text


def _scanner(text: object) -> Tokenizer:
    return Tokenizer(checked_text(text), _TOKEN, "a map")


def parse_affine(text: object) -> AffineRows:
    """Return the parsed text of a map; the inputs may have any names."""
    scanner = _scanner(text)
    places = _inputs(scanner)
    scanner.expect("->")
    rows: list[list[int]] = []
    offset: list[int] = []
    for number in _items(scanner):
        if number * len(places) > _MOST:
            scanner.refuse(f"a map of at most {_MOST} coefficients")
        row, constant = _row(scanner, places)
        rows.append(row)
        offset.append(constant)
    scanner.finish()
    return len(places), rows, offset


def parse_tuple(text: object) -> list[int]:
    """Return the integers of ``(1, 2)``."""
    scanner = _scanner(text)
    numbers = [_sign(scanner) * _number(scanner) for _ in _items(scanner)]
    scanner.finish()
    return numbers
