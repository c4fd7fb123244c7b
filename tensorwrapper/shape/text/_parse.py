"""Shapes parsed from text: the inverse of `str`, with the notation of ``_text.py``.

The text may be untrusted. Nothing is evaluated, each piece is matched by an expression without backtracking,
and memory is in proportion to the text.
"""

import re
from itertools import accumulate, pairwise
from typing import NoReturn, cast, final

import numpy as np

from tensorwrapper._error_text import counted
from tensorwrapper._integers import MAX_DIGITS
from tensorwrapper._tokenizer import excerpt, refuse_at
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, ParseError, TensorWrapperError
from tensorwrapper.shape.boxes._names import Names, to_names
from tensorwrapper.shape.boxes._smooth import make_smooth
from tensorwrapper.shape.kinds._nested import Flat, NestedCommon, make_nested
from tensorwrapper.shape.kinds._tiled import Tiled
from tensorwrapper.shape.kinds._triangular import Triangular
from tensorwrapper.shape.rows._columns import check_int64
from tensorwrapper.shape.rows._partition import Partition
from tensorwrapper.shape.text._assembly import Assembly, Numbers
from tensorwrapper.typing import Half, Index, IntArray

_HEAD = re.compile(r"\s*+(tiled|triangular)?+\s*+\(", re.ASCII)
_AT = re.compile(r"\s*+@\s*+\(", re.ASCII)
_LAYERS = re.compile(r"\s*+layers\s*+\(", re.ASCII)
_NAMES = re.compile(r"\s*+names\s*+\(", re.ASCII)
_SPACE = re.compile(r"\s*+", re.ASCII)
_LONG = re.compile(rf"[0-9]{{{MAX_DIGITS + 1}}}", re.ASCII)
_NONE = re.compile(r"\s*+\|\s*+((?:x\s*+)*+)", re.ASCII)
_HALF = re.compile(r"\s*+(strictly\s++)?+(upper|lower)\s*+", re.ASCII)
_BAR = re.compile(r"\|\s*+", re.ASCII)


def _lists(number: str, inner: str) -> re.Pattern[str]:
    """Return what matches numbers with bars between them, as far as it goes."""
    cell = rf"{number}(?:\s*+{inner}\s*+{number})*+\s*+" if inner else rf"{number}\s*+"
    return re.compile(rf"{cell}(?:\|\s*+{cell})*+", re.ASCII)


_EXTENTS = _lists("(?:0|[1-9][0-9]*+)", "x")
_ORIGINS = _lists("[+-]?(?:0|[1-9][0-9]*+)", "")


def parse_shape(text: object) -> tuple[Flat | NestedCommon, Names]:
    """Return the shape of a text, and the names of its modes.

    Raises
    ------
    ParseError
        If the text is not a valid shape; the message has the position.
    ConversionError
        If it is not a text.
    """
    if not isinstance(text, str):
        raise ConversionError(f"a shape is parsed from text, not from {type(text).__name__}")
    if "..." in text:
        raise ParseError(
            f"{excerpt(text, text.index('...'))} is a summary, which leaves numbers out; "
            'format(shape, "full") writes them all'
        )
    long = _LONG.search(text)
    if long is not None:
        _refuse(text, long.start(), f"a number of at most {MAX_DIGITS} digits")
    head = _HEAD.match(text)
    if head is None:
        _refuse(text, _after_space(text), "'(', 'tiled(' or 'triangular('")
    body = _body(text, head.end(), named=head[1] is not None)
    end = body.end + 1
    origin, end = _part(text, end, _AT)
    layers, end = _part(text, end, _LAYERS)
    names, end = _part(text, end, _NAMES)
    end = _after_space(text, end)
    if end != len(text):
        _refuse(text, end, "'@(', 'layers (', 'names (' or the end")
    if head[1] == "triangular":
        flat = _read_triangle(text, body, origin)
    elif head[1] == "tiled":
        flat = _read_tiled(text, body, origin)
    else:
        flat = _read_plain(text, body, origin)
    return _nest(text, body, layers, flat), _read_names(text, names, flat.rank)


def _refuse(text: str, at: int, allowed: str) -> NoReturn:
    refuse_at(text, at, "a shape", allowed)


def _reject(text: str, at: int, error: object) -> NoReturn:
    raise ParseError(f"{excerpt(text, at)} is not the text of a shape: at position {at}, {error}")


def _after_space(text: str, start: int = 0) -> int:
    match = _SPACE.match(text, start)
    return start if match is None else match.end()


# The content of parentheses.


@final
@frozen
class _Body:
    """The items between two parentheses, as places in the text."""

    start: int
    end: int
    spans: list[tuple[int, int]]
    layers: list[int] | None
    """Number of items between semicolons, if there are any."""
    lone: bool
    """Whether it is one item, without a comma behind it."""


def _part(text: str, start: int, opening: re.Pattern[str]) -> tuple[_Body | None, int]:
    """Return the content of parentheses after a word, if there are any, and their end."""
    match = opening.match(text, start)
    if match is None:
        return None, start
    body = _body(text, match.end(), named=False)
    if body.layers is not None:
        _refuse(text, text.index(";", match.end()), "','")
    return body, body.end + 1


def _body(text: str, start: int, *, named: bool) -> _Body:
    end = text.find(")", start)
    if end < 0:
        _refuse(text, len(text), "')'")
    inner = text.find("(", start, end)
    if inner >= 0:
        _refuse(text, inner, "a number")
    layers = _split(text, start, end, ";")
    if len(layers) == 1:
        spans = _split(text, start, end, ",")
        lone = len(spans) == 1 and not named
        if len(spans) == 2 and not named and [_is_blank(text, span) for span in spans] == [False, True]:
            # One item and a comma, as Python writes a tuple of one.
            spans.pop()
        return _Body(start, end, _filled(text, spans), None, lone)
    if named:
        _refuse(text, layers[0][1], "','")
    items = [_filled(text, _split(text, a, b, ",")) for a, b in layers]
    flat = [span for spans in items for span in spans]
    return _Body(start, end, flat, [len(spans) for spans in items], lone=False)


def _split(text: str, start: int, stop: int, separator: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    while (at := text.find(separator, start, stop)) >= 0:
        spans.append((start, at))
        start = at + 1
    return [*spans, (start, stop)]


def _is_blank(text: str, span: tuple[int, int]) -> bool:
    return _after_space(text, span[0]) >= span[1]


def _filled(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the positions between commas, which must not be blank; empty if there is no content."""
    if len(spans) == 1 and _is_blank(text, spans[0]):
        return []
    for span in spans:
        if _is_blank(text, span):
            _refuse(text, span[1], "a number")
    return spans


@final
@frozen(eq=False)
class _Item:
    """The text of one mode, or of the modes of cells."""

    at: int
    row: Index | None
    """One number, or the extents of one cell."""
    table: IntArray | None
    """Else the numbers, one row for each prefix or cell."""
    marked: bool
    """Whether a bar follows the one number."""

    @property
    def plain(self) -> bool:
        """Return True if it is a single number."""
        return self.row is not None and len(self.row) == 1 and not self.marked

    @property
    def width(self) -> int:
        """Number of numbers for one prefix."""
        return len(self.row) if self.row is not None else cast("IntArray", self.table).shape[1]

    @property
    def numbers(self) -> Numbers:
        """The numbers, of which there is one for each prefix or for all."""
        return self.row[0] if self.row is not None else cast("IntArray", self.table)[:, 0]


def _items(text: str, body: _Body, pattern: re.Pattern[str] = _EXTENTS) -> list[_Item]:
    items = [_item(text, span, pattern) for span in body.spans]
    if body.lone and items:
        _refuse(text, body.end, "',' (as in '(3,)')")
    return items


def _item(text: str, span: tuple[int, int], pattern: re.Pattern[str]) -> _Item:
    start, stop = _after_space(text, span[0]), span[1]
    none = _NONE.match(text, start, stop)
    if none is not None:
        if none.end() != stop or (none[1] and pattern is _ORIGINS):
            _refuse(text, none.end() if none.end() != stop else none.start(1), "',' or ')'")
        return _Item(start, None, np.empty((0, none[1].count("x") + 1), dtype=np.int64), marked=False)
    match = pattern.match(text, start, stop)
    end = start if match is None else match.end()
    piece = text[start:end]
    cells = piece.count("|") + 1
    bar = _BAR.match(text, end, stop)
    marked = bar is not None and match is not None
    if marked and bar is not None:
        end = bar.end()
    if match is None or end != stop or (marked and cells > 1):
        _refuse(text, end, "a number" if match is None or marked else "'|', ',' or ')'")
    width = piece.count("x", 0, piece.find("|") if cells > 1 else None) + 1
    numbers = list(map(int, piece.replace("x", "|").split("|")))
    if cells == 1:
        return _Item(start, tuple(numbers), None, marked)
    if width > 1 or len(numbers) > cells:
        _check_widths(text, start, piece, width)
    try:
        return _Item(start, None, np.array(numbers, dtype=np.int64).reshape(cells, width), marked=False)
    except OverflowError:
        _reject(text, start, "a number of a list does not fit into 64 bits")


def _check_widths(text: str, start: int, piece: str, width: int) -> None:
    """Raise if not all cells have one rank."""
    cell = rf"[^|x]*+(?:x[^|x]*+){{{width - 1}}}+"
    match = re.compile(rf"{cell}(?:\|{cell})*+").match(piece)
    end = 0 if match is None else match.end()
    if end != len(piece):
        _refuse(text, start + end, f"cells of rank {width}, like the first")


# Shapes.


def _read_plain(text: str, body: _Body, origin: _Body | None) -> Flat:
    items = _items(text, body)
    at = None if origin is None else _items(text, origin, _ORIGINS)
    if not all(item.plain for item in items):
        return _read_jagged(text, items, at, body.start if origin is None else origin.start)
    extents = _plain_numbers(text, items)
    if origin is None or at is None:
        return make_smooth(extents, (0,) * len(extents))
    return make_smooth(extents, _origin(text, origin, at, len(extents)))


def _plain_numbers(text: str, items: list[_Item]) -> Index:
    numbers: list[int] = []
    for item in items:
        if item.row is None or not item.plain:
            _refuse(text, item.at, "one number for each mode")
        numbers += item.row
    return tuple(numbers)


def _origin(text: str, body: _Body, items: list[_Item], rank: int) -> Index:
    if len(items) != rank:
        _reject(
            text, body.start, f"the origin has {counted(len(items), 'entry')} for {counted(rank, 'mode')}"
        )
    return _plain_numbers(text, items)


def _read_jagged(text: str, items: list[_Item], origin: list[_Item] | None, start: int) -> Flat:
    first, *inner, last = items[0], *items[1:-1], items[-1]
    at = first.at
    if first.row is None or not first.plain:
        _refuse(text, at, "one number, the extent of mode 0,")
    try:
        assembly = Assembly.of_rows(first.row[0])
        for item in inner:
            at = item.at
            if item.width > 1:
                _refuse(text, at, "numbers without 'x' (cells stand last)")
            assembly.unroll(item.numbers)
        at = last.at
        if last.row is not None:
            assembly.even_cells(last.row)
        elif last.table is not None:
            assembly.table_of_cells(last.table)
        at = start
        return assembly.build(None if origin is None else [item.numbers for item in origin])
    except ParseError:
        raise
    except TensorWrapperError as error:
        _reject(text, at, error)


def _read_tiled(text: str, body: _Body, origin: _Body | None) -> Flat:
    if not body.spans:
        _refuse(text, body.end, "the sizes of tiles")
    cuts: list[Partition] = []
    at = body.start
    try:
        for mode, span in enumerate(body.spans):
            item = _item(text, span, _EXTENTS)
            at = item.at
            if item.width > 1:
                _refuse(text, at, "numbers without 'x'")
            sizes = item.numbers
            what = f"the tile sizes of mode {mode}"
            cuts.append(Partition.of_sizes([sizes] if isinstance(sizes, int) else sizes, what=what))
        if origin is None:
            return Tiled(tuple(cuts), (0,) * len(cuts))
        at = origin.start
        grid = _origin(text, origin, _items(text, origin, _ORIGINS), len(cuts))
        for mode, (first, cut) in enumerate(zip(grid, cuts, strict=True)):
            check_int64(mode, first, cut.count)
        return Tiled(tuple(cuts), grid)
    except ParseError:
        raise
    except TensorWrapperError as error:
        _reject(text, at, error)


def _read_triangle(text: str, body: _Body, origin: _Body | None) -> Flat:
    if origin is not None:
        _refuse(text, body.end + 1, "'layers (' or the end (a triangle starts at 0)")
    if len(body.spans) != 2:
        _refuse(text, body.end, "a side and a half, as in 'triangular(5, lower)',")
    (side,) = _plain_numbers(text, [_item(text, body.spans[0], _EXTENTS)])
    start, stop = body.spans[1]
    half = _HALF.match(text, start, stop)
    if half is None or half.end() != stop:
        _refuse(text, _after_space(text, start), "'lower', 'upper', 'strictly lower' or 'strictly upper'")
    try:
        return Triangular(side, cast("Half", half[2]), diagonal=half[1] is None)
    except TensorWrapperError as error:
        _reject(text, body.start, error)


def _nest(text: str, body: _Body, layers: _Body | None, flat: Flat) -> Flat | NestedCommon:
    if body.layers is None and layers is None:
        return flat
    if body.layers is not None and layers is not None:
        _refuse(text, layers.start, "the end (semicolons tell the layers already)")
    if layers is not None:
        counts, at = _plain_numbers(text, _items(text, layers)), layers.start
    else:
        items = [1] * len(body.spans)
        if items:
            items[-1] += flat.rank - len(items)
        ends = list(accumulate(body.layers or [], initial=0))
        counts, at = tuple([sum(items[a:b]) for a, b in pairwise(ends)]), body.start
    try:
        return make_nested(flat, counts)
    except TensorWrapperError as error:
        _reject(text, at, error)


def _read_names(text: str, body: _Body | None, rank: int) -> Names:
    if body is None:
        return None
    given = [text[a:b].strip(" \t\n\r\f\v") for a, b in body.spans]
    try:
        return to_names([None if name == "_" else name for name in given], rank)
    except TensorWrapperError as error:
        _reject(text, body.start, error)
