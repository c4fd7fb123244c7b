"""Layouts as text, as CuTe writes them: ``(4,8):(8,1)`` is extents, a colon, and strides.

A composite is written ``A o 3 o B``: first B, then 3 is added, then A. Our own addition to that text is an
offset after the strides: ``(4):(-1)+3``.
"""

import re
from collections.abc import Iterator
from typing import cast

from tensorwrapper._scanner import quoted
from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._hierarchical import Hierarchical, make_hierarchical, make_strided
from tensorwrapper.layout.boxes._hierarchy import MAX_DEPTH, IntTree, OrdinalOrder
from tensorwrapper.layout.boxes._swizzle import Swizzle
from tensorwrapper.layout.operations._composite import Stage, make_composite

__all__ = ["parse_layout", "parse_tree", "split_tiler"]

_DIGITS = 100  # longer numbers are no layout of anything, and Python is slow to read them
_FUNCTIONS = 63  # and the integers between them: each is checked against all that come before
_WORD = re.compile(r"\s*(?:(-?\d+)|([(),]))", re.ASCII)
_LAYOUT = re.compile(r"([^:]*):\s*(\(.*\)|-?\d+)\s*(?:([+-])\s*(\d+))?\s*", re.ASCII)
_SWIZZLE = re.compile(r"\s*Sw?<\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(-?\d{1,3})\s*>\s*", re.ASCII)
_NUMBER = re.compile(rf"\s*-?\d{{1,{_DIGITS}}}\s*", re.ASCII)


def parse_tree(text: str) -> IntTree:
    """Return the nested tuple of integers that a text such as ``((2,3),4)`` writes.

    Raises
    ------
    LayoutError
        If the text is anything else, or nested too deeply.

    Examples
    --------
    >>> parse_tree("((2, 3),4)"), parse_tree("(5)"), parse_tree("()")
    (((2, 3), 4), (5,), ())
    """
    words = _words(text)
    tree = _tree(words, next(words, ""), text, 0)
    if next(words, ""):
        raise LayoutError(f"{quoted(text)} goes on after a complete tuple")
    return tree


def _words(text: str) -> Iterator[str]:
    end = len(text.rstrip())
    place = 0
    while place < end:
        match = _WORD.match(text, place)
        if match is None:
            raise LayoutError(f"{quoted(text)} has {text[place]!r} at place {place}, not an integer or ( , )")
        if match.end() - place > _DIGITS and match[1]:
            raise LayoutError(f"{quoted(text)} has a number of more than {_DIGITS} digits")
        place = match.end()
        yield match[1] or match[2]


def _tree(words: Iterator[str], word: str, text: str, depth: int) -> IntTree:
    if word not in ("(", ")", ",", ""):
        return int(word)
    if word != "(":
        where = f"before {word!r}" if word else "at its end"
        raise LayoutError(f"{quoted(text)} lacks an integer or a tuple {where}")
    if depth == MAX_DEPTH:
        raise LayoutError(f"{quoted(text)} is nested deeper than {MAX_DEPTH} levels")
    parts: list[IntTree] = []
    word = next(words, "")
    while word != ")":
        parts.append(_tree(words, word, text, depth + 1))
        word = next(words, "")
        if word == ",":
            word = next(words, "")
            if word == ")":
                raise LayoutError(f"{quoted(text)} has a comma before a closing parenthesis")
        elif word != ")":
            raise LayoutError(f"{quoted(text)} lacks a comma or a closing parenthesis")
    return tuple(parts)


def parse_layout(text: object, order: OrdinalOrder) -> LayoutCommon:
    """Return the layout that a text writes."""
    if not isinstance(text, str):
        raise ConversionError(f"a layout is parsed from text, not from {text!r}")
    functions = re.split(r"\s+o\s+", text.strip())
    if len(functions) == 1:
        alone = _strided(text, order)
        return make_strided(alone.extents, alone.nested_strides, alone.offset, order)
    if len(functions) % 2 == 0 or len(functions) > _FUNCTIONS:
        raise LayoutError(
            f"{quoted(text)} is not a composite: 'A o 3 o B' has an integer between functions, of which "
            f"there are at most {_FUNCTIONS // 2 + 1}"
        )
    chain: list[Stage] = [_strided(functions[-1], order)]
    for function, number in zip(functions[-3::-2], functions[-2::-2], strict=True):
        if not _NUMBER.fullmatch(number):
            raise LayoutError(
                f"{quoted(text)} has {quoted(number)} where an integer between functions stands"
            )
        chain[0] = _moved(chain[0], int(number))
        match = _SWIZZLE.fullmatch(function)
        chain.insert(0, Swizzle(*map(int, match.groups())) if match else _strided(function, order))
    inner = cast("Hierarchical", chain.pop())
    return make_composite(tuple(chain), inner)


def _moved(function: Stage, number: int) -> Stage:
    if not number:
        return function
    if isinstance(function, Swizzle):
        raise LayoutError(f"{number} cannot be added to what {function} gives; add it to the layout inside")
    return Hierarchical(function.extents, function.nested_strides, function.offset + number, function.order)


def _strided(text: str, order: OrdinalOrder) -> Hierarchical:
    match = _LAYOUT.fullmatch(text)
    if match is None:
        raise LayoutError(f"{quoted(text)} is not a layout: extents, a colon, strides, as in (4,8):(8,1)")
    extents, strides = parse_tree(match[1]), parse_tree(match[2])
    if match[4] and len(match[4]) > _DIGITS:
        raise LayoutError(f"the offset of {quoted(text)} has more than {_DIGITS} digits")
    offset = int((match[3] or "") + (match[4] or "0"))
    return make_hierarchical(extents, strides, offset, order)


def split_tiler(text: str) -> list[str]:
    """Return the entries between the brackets of a tiler, which are parted by semicolons.

    Examples
    --------
    >>> split_tiler("[4:1;[2:1;_]]")
    ['4:1', '[2:1;_]']
    """
    if not text.endswith("]"):
        raise LayoutError(f"the tiler {quoted(text)} lacks a closing bracket")
    if not text[1:-1].strip():
        return []
    entries: list[str] = []
    depth, start = 0, 1
    for place, letter in enumerate(text[:-1]):
        depth += (letter == "[") - (letter == "]")
        if depth < 1 or depth > MAX_DEPTH:
            raise LayoutError(f"the brackets of the tiler {quoted(text)} do not match, or nest too deeply")
        if letter == ";" and depth == 1:
            entries.append(text[start:place])
            start = place + 1
    if depth != 1:
        raise LayoutError(f"the brackets of the tiler {quoted(text)} do not match")
    return [*entries, text[start:-1]]
