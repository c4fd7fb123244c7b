"""Shapes as forms and buffers of Awkward Array, as in its ``to_buffers`` and ``from_buffers``."""

from collections.abc import Mapping
from typing import Final, SupportsIndex, cast

import numpy.typing as npt

from tensorwrapper._integers import MAX_DIGITS, to_count
from tensorwrapper._json import Json, dump_json, parse_json
from tensorwrapper.errors import ConversionError, ParseError, RankError
from tensorwrapper.shape.interchange._arrow import ListLevel, Lists, Views, rows_of_levels
from tensorwrapper.shape.interchange._tensorflow import RowPartitions
from tensorwrapper.shape.rows._partition import int64_array
from tensorwrapper.typing import IntArray

MAX_LEVELS: Final = 64
"""Maximal depth of nested forms."""
_MAX_ITEMS: Final = 10_000
_LISTS: Final = ("ListOffsetArray", "ListOffsetForm")
_VIEWS: Final = ("ListArray", "ListForm")
_REGULAR: Final = ("RegularArray", "RegularForm")
_LEAVES: Final = ("NumpyArray", "NumpyForm", "EmptyArray", "EmptyForm")


def awkward_of_rows(rows: RowPartitions, primitive: str) -> tuple[str, int, dict[str, IntArray]]:
    """Return form, length and buffers, but for that of the elements, ``node<k>-data``."""
    if not rows.rank:
        raise RankError("an array of Awkward Array has a mode, but this shape has none")
    lengths = rows.static_lengths
    form: Json = _node("NumpyArray", rows.rank - 1, primitive=primitive, inner_shape=[])
    buffers: dict[str, IntArray] = {}
    for mode in range(rows.rank - 1, 0, -1):
        size = lengths[mode]
        if size is not None:
            form = _node("RegularArray", mode - 1, size=size, content=form)
        else:
            form = _node("ListOffsetArray", mode - 1, offsets="i64", content=form)
            buffers[f"node{mode - 1}-offsets"] = rows.partitions[mode - 1].row_splits
    return dump_json(form), lengths[0] or 0, dict(reversed(buffers.items()))


def _node(kind: str, number: int, **fields: Json) -> Json:
    return {"class": kind, **fields, "parameters": {}, "form_key": f"node{number}"}


def rows_of_awkward(
    form: str | bytes | Mapping[str, object], length: SupportsIndex, buffers: Mapping[str, npt.ArrayLike]
) -> RowPartitions:
    """Return the rows that a form and buffers describe; O(lists)."""
    node = _fields(_loaded(form) if isinstance(form, str | bytes) else form)
    count = to_count(length, "the length of an array")
    levels: list[ListLevel] = []
    while (kind := node.get("class")) not in _LEAVES:
        if len(levels) == MAX_LEVELS:
            raise ParseError(f"forms nest at most {MAX_LEVELS} deep")
        if kind in _REGULAR:
            levels.append(_size(node.get("size"), "the size"))
        elif kind in _LISTS:
            levels.append(Lists(_buffer(node, "offsets", buffers)))
        elif kind in _VIEWS:
            levels.append(Views(_buffer(node, "starts", buffers), _buffer(node, "stops", buffers)))
        else:
            raise ConversionError(
                f"a shape is made of lists and numbers, not of a {str(kind)[:40]!r} of Awkward Array"
            )
        node = _fields(node.get("content"))
    inner = node.get("inner_shape", [])
    given = cast("list[object]", inner) if isinstance(inner, list | tuple) else None
    if given is None or len(given) > MAX_LEVELS:
        raise ParseError(f"an inner_shape is a list of at most {MAX_LEVELS} extents")
    extents = [_size(n, "an extent of the inner_shape") for n in given]
    return rows_of_levels(levels, count, tuple(extents))


def _loaded(text: str | bytes) -> Json:
    return parse_json(text, "the form", depth=2 * MAX_LEVELS, digits=MAX_DIGITS, items=_MAX_ITEMS)


def _fields(node: object) -> Mapping[str, object]:
    if not isinstance(node, Mapping):
        raise ParseError(f"a form is an object with the key 'class', not a {type(node).__name__}")
    return cast("Mapping[str, object]", node)


def _size(value: object, what: str) -> int:
    if type(value) is not int or value < 0:
        raise ParseError(f"{what} must be an integer that is not negative, not {str(value)[:40]!r}")
    return value


def _buffer(node: Mapping[str, object], what: str, buffers: Mapping[str, npt.ArrayLike]) -> IntArray:
    key = f"{node.get('form_key')}-{what}"
    if key not in buffers:
        raise ParseError(f"there is no buffer {key[:40]!r}")
    return int64_array(buffers[key], f"the buffer {key}")
