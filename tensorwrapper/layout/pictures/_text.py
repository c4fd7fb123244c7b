"""Layouts as text, as CuTe writes them: ``(4,8):(8,1)`` is extents, a colon, and strides.

A composite is written ``A o 3 o B``: first B, then 3 is added, then A. Our own addition to that text is an
offset after the strides: ``(4):(-1)+3``.
"""

import re
from collections.abc import Iterator
from typing import cast

from tensorwrapper._error_text import brief
from tensorwrapper._tokenizer import quoted
from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._hierarchical import Hierarchical, make_hierarchical, make_strided
from tensorwrapper.layout.boxes._hierarchy import MAX_DEPTH, IntTree, OrdinalOrder
from tensorwrapper.layout.boxes._swizzle import Swizzle
from tensorwrapper.layout.operations._composite import Stage, make_composite

_DIGITS = 100  # longer numbers never occur in layouts, and Python parses them slowly
_FUNCTIONS = 63  # and the integers between them: each is checked against all that come before
_LENGTH = 1 << 20  # characters
# Quantifiers never go back: otherwise many spaces would take quadratic time.
_WORD = re.compile(r"\s*+(?:(-?[0-9]++)|([(),]))", re.ASCII)
_STEP = re.compile(r"\s*+-?[0-9]++", re.ASCII)
_OFFSET = re.compile(r"\s*+(?:([+-])\s*+([0-9]++)\s*+)?+", re.ASCII)
_SWIZZLE = re.compile(
    r"\s*+Sw?+<\s*+([0-9]{1,3}+)\s*+,\s*+([0-9]{1,3}+)\s*+,\s*+(-?[0-9]{1,3}+)\s*+>\s*+", re.ASCII
)
_NUMBER = re.compile(rf"\s*+-?[0-9]{{1,{_DIGITS}}}+\s*+", re.ASCII)


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


def check_length(text: str) -> None:
    """Raise if a text is longer than any that is read."""
    if len(text) > _LENGTH:
        raise LayoutError(f"the text of a layout has at most {_LENGTH} characters, not {len(text)}")


def parse_layout(text: object, order: OrdinalOrder) -> LayoutCommon:
    """Return the layout that a text writes."""
    if not isinstance(text, str):
        raise ConversionError(f"a layout is parsed from text, not from {brief(text)}")
    check_length(text)
    functions = _functions(text.strip())
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


def _functions(text: str) -> list[str]:
    """Return the texts between each ``o``, which has space on both sides."""
    parts = text.split("o")
    if len(parts) == 1:
        return parts
    padded = [f" {parts[0]}", *parts[1:-1], f"{parts[-1]} "]
    if not all(part[:1].isspace() and part[-1:].isspace() for part in padded):
        raise LayoutError(f"{quoted(text)} is not a layout: 'A o 3 o B' has a space on both sides of each o")
    return [part.strip() for part in parts]


def _moved(function: Stage, number: int) -> Stage:
    if not number:
        return function
    if isinstance(function, Swizzle):
        raise LayoutError(f"{number} cannot be added to what {function} gives; add it to the layout inside")
    return Hierarchical(function.extents, function.nested_strides, function.offset + number, function.order)


def _strided(text: str, order: OrdinalOrder) -> Hierarchical:
    head, _, rest = text.partition(":")
    step = _STEP.match(rest)
    end = rest.rfind(")") + 1 if step is None else step.end()
    moved = _OFFSET.fullmatch(rest, end) if end else None
    if moved is None:
        raise LayoutError(f"{quoted(text)} is not a layout: extents, a colon, strides, as in (4,8):(8,1)")
    extents, strides = parse_tree(head), parse_tree(rest[:end])
    if moved[2] and len(moved[2]) > _DIGITS:
        raise LayoutError(f"the offset of {quoted(text)} has more than {_DIGITS} digits")
    offset = int((moved[1] or "") + (moved[2] or "0"))
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
