"""Block patterns as text and as JSON.

The text has the word ``tiles``, the ordinals of the present ones, the word ``of`` and the tiling. A tiling is
written as that of a tiled shape: per mode the sizes of its tiles, then the origin if it differs from zero. A
bar alone stands for an empty list. Texts of more than 1000 ordinals or sizes are summaries:

>>> from tensorwrapper import BlockPattern, Tiling
>>> str(BlockPattern(Tiling([1, 2, 3], [2, 4], origin=(0, 7)), [(0, 0), (1, 1)]))
'tiles 0|3 of (1|2|3, 2|4)@(0, 7)'
>>> str(BlockPattern(Tiling([5], []), []))
'tiles | of (5, |)'

JSON has the keys ``"tiles"``, the list of the ordinals, and ``"tiling"``, the object of the tiling.

All tiles are written one by one, so a reader needs memory in proportion to the length of a text.
"""

import re
from typing import Any, NoReturn, cast

import numpy as np

from tensorwrapper._integers import MAX_DIGITS
from tensorwrapper._json import dump_json, load_json, parse_json
from tensorwrapper._json_fields import Field, FieldReason
from tensorwrapper._tokenizer import refuse_at
from tensorwrapper.errors import ConversionError, ParseError, TensorWrapperError
from tensorwrapper.shape._shape import Shape
from tensorwrapper.shape._shape_base import implementation_of
from tensorwrapper.shape.kinds._tiled import Tiled
from tensorwrapper.shape.patterns._queries import PatternQueries
from tensorwrapper.shape.text._text import MOST_NUMBERS, SHOWN, format_shape
from tensorwrapper.shape.tilings._tiling import Tiling
from tensorwrapper.typing import IntArray

_WHAT = "a block pattern"
_SPACE = re.compile(r"\s*+", re.ASCII)
_TILES = re.compile(r"\s*+tiles\s++", re.ASCII)
_NUMBER = r"(?:0|[1-9][0-9]*+)\s*+"
_ORDINALS = re.compile(rf"\|\s*+|{_NUMBER}(?:\|\s*+{_NUMBER})*+", re.ASCII)
_OF = re.compile(r"of\s*+(?=\()", re.ASCII)
_LONG = re.compile(rf"[0-9]{{{MAX_DIGITS + 1}}}", re.ASCII)
_RANK_0 = re.compile(r"\(\s*+\)\s*+", re.ASCII)
_TAIL = re.compile(r"layers|names", re.ASCII)
_DEPTH = 4  # the object, its tiling, the sizes, those of a mode


def pattern_str(pattern: PatternQueries[Any], spec: str) -> str:
    """Return the text of a pattern: a summary if it has over 1000 ordinals or sizes, unless it is ``"full"``.

    Raises
    ------
    ConversionError
        For any other format.
    """
    if spec not in ("", "full"):
        raise ConversionError(
            f'a block pattern is formatted as "" (its str) or "full" (never a summary), not {spec!r}'
        )
    ordinals = pattern.ordinals()
    few = ordinals if spec or len(ordinals) <= MOST_NUMBERS else ordinals[:SHOWN]
    numbers = "|".join([*map(str, few.tolist()), *["..."] * (len(few) < len(ordinals))])
    return f"tiles {numbers or '|'} of {_tiling_text(pattern.tiling, spec)}"


def _tiling_text(tiling: Tiling[Any], spec: str) -> str:
    if not tiling.rank:
        return "()"
    # A tiled shape says the sizes, and behind them the numbers of its first tiles: here the first element.
    return format_shape(Tiled(tiling.partitions, tiling.origin), spec).removeprefix("tiled")


def pattern_to_json(pattern: PatternQueries[Any]) -> str:
    """Return a pattern as JSON, compact and with sorted keys."""
    tiling = load_json(pattern.tiling.to_json())
    return dump_json({"tiles": pattern.ordinals().tolist(), "tiling": tiling})


# Reading.


def read_text(text: object) -> tuple[Tiling, IntArray]:
    """Return the tiling and the unchecked ordinals in the text of a pattern.

    Raises
    ------
    ParseError
        If it is not the text of a pattern; the message shows the place.
    ConversionError
        If it is not text.
    """
    if not isinstance(text, str):
        raise ConversionError(f"{_WHAT} is parsed from text, not from {type(text).__name__}")
    if "..." in text:
        raise ParseError(
            f'the text of {_WHAT} is a summary, which leaves numbers out; format(pattern, "full") has all'
        )
    long = _LONG.search(text)
    if long is not None:
        _refuse(text, long.start(), f"a number of at most {MAX_DIGITS} digits")
    head = _TILES.match(text)
    if head is None:
        _refuse(text, _end_of_space(text), "'tiles'")
    numbers = _ORDINALS.match(text, head.end())
    if numbers is None:
        _refuse(text, head.end(), "ordinals of tiles, such as '0|3', or '|'")
    of = _OF.match(text, numbers.end())
    if of is None:
        _refuse(text, numbers.end(), "'|' and an ordinal, or 'of (',")
    tiling = _read_tiling(text[of.end() :])
    written = numbers[0].strip()
    try:
        return tiling, np.array([int(n) for n in written.split("|") if n], dtype=np.int64)
    except OverflowError as error:
        raise ParseError(f"the text of {_WHAT} has an ordinal that does not fit into 64 bits") from error


def _refuse(text: str, at: int, allowed: str) -> NoReturn:
    refuse_at(text, at, _WHAT, allowed)


def _end_of_space(text: str) -> int:
    space = _SPACE.match(text)
    return 0 if space is None else space.end()


def _read_tiling(text: str) -> Tiling:
    if _RANK_0.fullmatch(text):
        return Tiling()
    if _TAIL.search(text):
        raise ParseError(f"the tiling in the text of {_WHAT} has layers or names, which only shapes have")
    try:
        shape = cast("Tiled", implementation_of(Shape.parse(f"tiled{text}")))
        start = shape.grid.origin
        return Tiling(*[p.sizes for p in shape.partitions], origin=start)
    except TensorWrapperError as error:
        raise ParseError(f"cannot read the tiling after 'of' in the text of {_WHAT}: {error}") from error


def read_json(text: object) -> tuple[Tiling, IntArray]:
    """Return the tiling and the unchecked ordinals in the JSON of a pattern, `str` or UTF-8.

    Raises
    ------
    ParseError
        If it is not strict JSON, or not that of a pattern; the message names the key.
    ConversionError
        If it is not text.
    """
    value = parse_json(text, f"the JSON of {_WHAT}", depth=_DEPTH, digits=MAX_DIGITS)
    field = Field(value, "", _refuse_key).object({"tiles", "tiling"})
    ordinals = field["tiles"].array()
    return Tiling.from_json(dump_json(field["tiling"].value)), ordinals


def _refuse_key(path: str, reason: FieldReason, text: str) -> NoReturn:  # noqa: ARG001 - one error for all
    raise ParseError(f"{path or f'the JSON of {_WHAT}'} {text}")
