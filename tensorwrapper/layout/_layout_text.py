"""Layouts as text, as CuTe writes them: ``(4,8):(8,1)`` is extents, a colon, and strides.

A composite is written ``A o 3 o B``: first B, then 3 is added, then A. Our own addition to that text is an
offset after the strides: ``(4):(-1)+3``.
"""

import re
from collections.abc import Iterator

from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout._common import LayoutCommon
from tensorwrapper.layout._composite import Composite, Stage, as_inner
from tensorwrapper.layout._hierarchical import Hierarchical, make_strided
from tensorwrapper.layout._hierarchy import (
    MAX_DEPTH,
    IntTree,
    OrdinalOrder,
    leaves,
    rebuild,
    tree_text,
)
from tensorwrapper.layout._strided import Strided
from tensorwrapper.layout._swizzle import Swizzle

__all__ = ["layout_text", "parse_layout", "parse_tree"]

_TOKEN = re.compile(r"\s*(?:(-?\d+)|([(),]))", re.ASCII)
_LAYOUT = re.compile(r"([^:+]*):([^:+]*?)(?:\s*([+-])\s*(\d+))?\s*", re.ASCII)
_SWIZZLE = re.compile(r"\s*Sw?\s*<\s*(\d+)\s*,\s*(\d+)\s*,\s*(-?\d+)\s*>\s*", re.ASCII)
_NUMBER = re.compile(r"\s*-?\d+\s*", re.ASCII)


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
    tokens = _tokens(text)
    tree = _tree(tokens, next(tokens, ""), text, 0)
    if next(tokens, ""):
        raise LayoutError(f"{text!r} goes on after a complete tuple")
    return tree


def _tokens(text: str) -> Iterator[str]:
    end = len(text.rstrip())
    place = 0
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            raise LayoutError(f"{text!r} has {text[place]!r} at place {place}, not an integer or ( , )")
        place = match.end()
        yield match[1] or match[2]


def _tree(tokens: Iterator[str], token: str, text: str, depth: int) -> IntTree:
    if token not in ("(", ")", ",", ""):
        return int(token)
    if token != "(":
        raise LayoutError(f"{text!r} lacks an integer or a tuple {f'before {token!r}' if token else 'at its end'}")
    if depth == MAX_DEPTH:
        raise LayoutError(f"{text[:40]!r}... is nested deeper than {MAX_DEPTH} levels")
    parts: list[IntTree] = []
    token = next(tokens, "")
    while token != ")":
        parts.append(_tree(tokens, token, text, depth + 1))
        token = next(tokens, "")
        if token == ",":
            token = next(tokens, "")
            if token == ")":
                raise LayoutError(f"{text!r} has a comma before a closing parenthesis")
        elif token != ")":
            raise LayoutError(f"{text!r} lacks a comma or a closing parenthesis")
    return tuple(parts)


def parse_layout(text: object, order: OrdinalOrder) -> LayoutCommon:
    """Return the layout that a text writes."""
    if not isinstance(text, str):
        raise ConversionError(f"a layout is parsed from text, not from {text!r}")
    functions = re.split(r"\s+o\s+", text.strip())
    inner = _strided(functions[-1], order)
    if len(functions) == 1:
        return make_strided(inner.extents, inner.nested_strides, inner.offset, order)
    if len(functions) % 2 == 0:
        raise LayoutError(f"{text!r} is not a composite: 'A o 3 o B' has an integer after each function")
    stages: list[Stage] = []
    before = inner
    for function, number in zip(functions[-3::-2], functions[-2::-2], strict=True):
        if not _NUMBER.fullmatch(number):
            raise LayoutError(f"{text!r} has {number!r} where the integer between two functions stands")
        if before is inner:
            inner = Hierarchical(
                inner.extents, inner.nested_strides, inner.offset + int(number), order
            )
        elif int(number):
            raise LayoutError(f"{text!r} adds {number} between two stages; only the first offset may move")
        stages.insert(0, _stage(function, order))
        before = stages[0]
    made = Composite(tuple(stages), inner)
    check_stages(made)
    return made
