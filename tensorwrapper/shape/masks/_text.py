"""Masks as text and as JSON.

The text is that of the source, and in brackets the picks of each mode. ``:`` is a whole mode, ``2`` an index
with a dropped mode, ``0:6:2`` a range, and ``1|4|5`` other indices. Rows have one item; points are the
ordinals after the word. As for shapes, a text of more than 1000 numbers is a summary:

>>> from tensorwrapper import Mask, Shape
>>> str(Mask(Shape(4, 6), slice(None, None, 2), [1, 4, 5]))
'(4, 6)[0:3:2, 1|4|5]'
>>> str(Mask.of_points(Shape(2, 3), [(0, 1), (1, 2)]))
'(2, 3)[ordinals 1:6:4]'

JSON has the keys ``"picks"``, ``"shape"`` and ``"way"``. ``"picks"`` is a list with one entry per mode: an
integer, an object with ``"start"``, ``"stop"`` and ``"step"``, or a list of integers. ``"way"`` is
``"modes"``, ``"rows"`` or ``"points"``.
"""

import re
from typing import Any, NoReturn, TypeAlias, cast

import numpy as np

from tensorwrapper._error_text import counted
from tensorwrapper._integers import MAX_DIGITS, number_text
from tensorwrapper._json import Json, dump_json, load_json, parse_json
from tensorwrapper._json_fields import Field, FieldReason
from tensorwrapper._tokenizer import quoted
from tensorwrapper.errors import ConversionError, ParseError
from tensorwrapper.shape._shape import Shape
from tensorwrapper.shape.masks._keys import MaskItem
from tensorwrapper.shape.masks._positions import Positions
from tensorwrapper.shape.masks._source_positions import MaskPlaces, MaskWay
from tensorwrapper.shape.text._text import MOST_NUMBERS, SHOWN

MaskRead: TypeAlias = "tuple[Shape, bool, list[MaskItem]]"
"""The parsed mask: the source, whether points are picked, and the items."""

_LONG = re.compile(rf"[0-9]{{{MAX_DIGITS + 1}}}", re.ASCII)
_INT = r"[+-]?(?:0|[1-9][0-9]*+)"
_ITEM = re.compile(rf"\s*+(?:(:)|({_INT}):({_INT})(?::({_INT}))?+|({_INT}(?:\|{_INT})*+))\s*+", re.ASCII)
_POINTS = re.compile(r"\s*+ordinals\s++", re.ASCII)
_DEPTH = 6  # the object, its picks, one of them; or its shape, which nests at most four deep
_KEYS = {"picks", "shape", "way"}
_WAYS = ("modes", "rows", "points")


def mask_str(mask: MaskPlaces[Any], *, full: bool = False) -> str:
    """Return the text of a mask; not `full`, a summary if it has more than 1000 numbers."""
    ordinals = "ordinals " if mask.way == "points" else ""
    shown = None if full or _stored(mask) <= MOST_NUMBERS else SHOWN
    wholes = _wholes(mask)
    items = [
        ":" if whole else _item(p, shown, full=full) for p, whole in zip(mask.picks, wholes, strict=True)
    ]
    return f"{format(mask.source, 'full' if full else '')}[{ordinals}{', '.join(items)}]"


def _stored(mask: MaskPlaces[Any]) -> int:
    """Return how many numbers are written one by one."""
    return sum(p.count for p in mask.picks if isinstance(p, Positions) and not isinstance(p.places, range))


def _wholes(mask: MaskPlaces[Any]) -> list[bool]:
    """Tell for each mode whether it is picked as it is."""
    source = mask.source.flatten()
    if mask.way == "points":
        return [False]
    ends = [(source.origin_at(()), source.extent(0))] if mask.way == "rows" else None
    ends = list(zip(source.origin, source.extents, strict=True)) if ends is None else ends
    pairs = zip(mask.picks, ends, strict=True)
    return [n > 0 and p == Positions.of_range(range(a, a + n)) for p, (a, n) in pairs]


def _item(picks: Positions | int, shown: int | None, *, full: bool) -> str:
    if isinstance(picks, int):
        return number_text(picks, full=full)
    places = picks.places
    if not isinstance(places, range):
        few = places if shown is None else places[:shown]
        return "|".join([*map(str, few.tolist()), *["..."] * (len(few) < len(places))])
    ends = [places.start, places.stop, *[places.step] * (places.step != 1)]
    return ":".join([number_text(end, full=full) for end in ends])


def mask_repr(mask: MaskPlaces[Any]) -> str:
    """Return the call that makes a mask; one with more than 1000 numbers is cut short."""
    shown = None if _stored(mask) <= MOST_NUMBERS else SHOWN
    items = [
        "slice(None)" if whole else _python(p, shown)
        for p, whole in zip(mask.picks, _wholes(mask), strict=True)
    ]
    while len(items) > 1 and items[-1] == "slice(None)":
        items.pop()
    name = "Mask.of_ordinals" if mask.way == "points" else "Mask"
    return f"{name}({', '.join([repr(mask.source), *items])})"


def _python(picks: Positions | int, shown: int | None) -> str:
    if isinstance(picks, int):
        return number_text(picks, full=False)
    places = picks.places
    if isinstance(places, range):
        ends = [places.start, places.stop, *[places.step] * (places.step != 1)]
        return f"range({', '.join([number_text(end, full=False) for end in ends])})"
    few = places if shown is None else places[:shown]
    return f"[{', '.join([*map(str, few.tolist()), *['...'] * (len(few) < len(places))])}]"


def mask_to_json(mask: MaskPlaces[Any]) -> str:
    """Return a mask as JSON, compact and with sorted keys."""
    plain = [_plain(picks) for picks in mask.picks]
    return dump_json({"picks": plain, "shape": load_json(mask.source.to_json()), "way": mask.way})


def _plain(picks: Positions | int) -> Json:
    places = picks if isinstance(picks, int) else picks.places
    if isinstance(places, int):
        number_text(places, full=True)  # raises for a number that no reader takes
        return places
    if isinstance(places, range):
        number_text(max(abs(places.start), abs(places.stop)), full=True)
        return {"start": places.start, "step": places.step, "stop": places.stop}
    return cast("list[Json]", places.tolist())


# Parsing of untrusted text: memory is in proportion to its length, and nothing is evaluated.


def read_text(text: object) -> MaskRead:
    """Return the parsed text of a mask.

    Raises
    ------
    ParseError
        If it is not the text of a mask.
    ConversionError
        If it is not a text.
    """
    if not isinstance(text, str):
        raise ConversionError(f"a mask is parsed from text, not from {type(text).__name__}")
    at, bare = text.rfind("["), text.rstrip()
    if "..." in text:
        raise ParseError(
            'the text of a mask is a summary, which leaves numbers out; format(mask, "full") has all'
        )
    if at < 0 or not bare.endswith("]"):
        raise ParseError(f"{quoted(text)} is not the text of a mask: a shape, and in brackets what is picked")
    if _LONG.search(text):
        raise ParseError(f"the text of a mask has a number of more than {MAX_DIGITS} digits")
    shape = Shape.parse(text[:at])
    inner = bare[at + 1 : -1]
    points = _POINTS.match(inner)
    body = inner[points.end() :] if points else inner
    items = [_read_item(item) for item in body.split(",")] if body.strip() else []
    if points and len(items) != 1:
        raise ParseError(f"{quoted(inner)} must be the ordinals of points, in one item")
    return shape, points is not None, items


def _read_item(item: str) -> MaskItem:
    match = _ITEM.fullmatch(item)
    if match is None:
        raise ParseError(f"{quoted(item)} is not what a mask picks of a mode: 2, 0:6, 0:6:2, 1|4|5 or :")
    if match[1]:
        return slice(None)
    if match[5] is None:
        return _range(int(match[2]), int(match[3]), int(match[4] or 1), quoted(item))
    numbers = [int(number) for number in match[5].split("|")]
    return numbers[0] if len(numbers) == 1 else _array(numbers)


def _range(start: int, stop: int, step: int, where: str) -> range:
    if not step:
        raise ParseError(f"{where} has a step of 0")
    return range(start, stop, step)


def _array(numbers: list[int]) -> MaskItem:
    try:
        return np.array(numbers, dtype=np.int64)
    except OverflowError as error:
        raise ParseError("the picks of a mask have a number that does not fit into 64 bits") from error


def read_json(text: object) -> MaskRead:
    """Return the parsed JSON of a mask, as `str` or as UTF-8.

    Raises
    ------
    ParseError
        If it is not strict JSON, or not a mask; the message names the key.
    ConversionError
        If it is not a text.
    """
    value = parse_json(text, "the JSON of a mask", depth=_DEPTH, digits=MAX_DIGITS)
    field = Field(value, "", _refuse).object(_KEYS)
    way, picks = field["way"].one_of(_WAYS), field["picks"].items(of="a list of one entry per mode")
    shape = Shape.from_json(dump_json(field["shape"].value))
    _check_way(shape, cast("MaskWay", way), len(picks))
    return shape, way == "points", [_read_positions(entry) for entry in picks]


def _refuse(path: str, reason: FieldReason, text: str) -> NoReturn:  # noqa: ARG001 - one error for all
    raise ParseError(f"{path or 'the JSON of a mask'} {text}")


def _check_way(shape: Shape, way: MaskWay, count: int) -> None:
    flat = shape.flatten()
    expected = "modes" if flat.kind == "smooth" else "rows"
    if way not in ("points", expected):
        raise ParseError(f'way is "{way}", but of this shape "{expected}" or "points" are picked')
    allowed = flat.rank if way == "modes" else 1
    if count != allowed:
        raise ParseError(f"picks has {counted(count, 'entry')}, but {allowed} are needed")


def _read_positions(entry: Field) -> MaskItem:
    if isinstance(entry.value, dict):
        ends = entry.object({"start", "step", "stop"})
        return _range(ends["start"].integer(), ends["stop"].integer(), ends["step"].integer(), str(entry))
    return entry.array() if isinstance(entry.value, list) else entry.integer()
