"""The label's JSON: canonical when written, strict when read.

Written, it is the text of the C++ reference (of some floats its last digits differ, never their value).
Read, its size and depth are bounded before anything is built.
"""

import datetime as dt
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from tensorwrapper._json import Json, dump_json, excess, has_number_over, load_json
from tensorwrapper.errors import LocalProtocolError, ParseError, RemoteProtocolError
from tensorwrapper.wire._limits import Limits, how_to_raise

SPACE = " \t\r\n"
"""White space that JSON allows around a value."""


def load_label(text: str, limits: Limits) -> Json:
    """Return the value of a foreign label, without white space around it.

    Raises
    ------
    RemoteProtocolError
        ``header`` if it is not strict JSON or too deep, ``limit`` if it has too many values or digits.
    """
    complaint = excess(text, depth=limits.depth, items=limits.label_items)
    if complaint is not None:
        many = excess(text, depth=len(text), items=limits.label_items) is not None
        raise RemoteProtocolError(
            "limit" if many else "header",
            f"the label {complaint}{how_to_raise('label_items' if many else 'depth')}",
        )
    try:
        value = load_json(text)
    except ParseError as error:
        raise RemoteProtocolError("header", f"the label {error}") from error
    except RecursionError as error:
        raise RemoteProtocolError("header", "the label nests deeper than this reader can follow") from error
    if len(text) > limits.digits and has_number_over(text, limits.digits):
        raise RemoteProtocolError(
            "limit", f"the label has a number of over {limits.digits} digits{how_to_raise('digits')}"
        )
    return value


def dump_label(value: Mapping[str, object]) -> str:
    """Return the canonical text of a label made of plain values."""
    try:
        text = dump_json(value)
    except ValueError as error:
        # Python refuses to spell out integers of thousands of digits.
        raise LocalProtocolError("schema", f"the label has a value that JSON cannot say: {error}") from error
    return _TEXT_OR_LONG.sub(_with_exponent, text) if _LONG.search(text) else text


_LONG = re.compile(r"[0-9]{16}\.[0-9]", re.ASCII)
_TEXT_OR_LONG = re.compile(rf'"(?:[^"\\]|\\.)*"|({_LONG.pattern})', re.ASCII)


def _with_exponent(found: "re.Match[str]") -> str:
    """Return a float of sixteen digits before its point as the reference spells it; a text as it is."""
    if found[1] is None:
        return found[0]
    digits = found[1].replace(".", "").rstrip("0")
    return f"{digits[0]}.{digits[1:]}e+15" if len(digits) > 1 else f"{digits}e+15"


def _scalar(value: object, where: str) -> Json:
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, np.datetime64):
        moment = cast("np.datetime64[Any]", value)  # type: ignore[redundant-cast]
        if np.isnat(moment):
            raise LocalProtocolError("schema", f"{where} is not a time, which JSON cannot say")
        return str(np.datetime_as_string(moment))
    if isinstance(value, np.generic):
        value = cast("object", value.item())
    if isinstance(value, float) and not math.isfinite(value):
        raise LocalProtocolError("schema", f"{where} is {value}, which JSON cannot say")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    advice = "; its `to_json()` is a text" if hasattr(value, "to_json") else ""
    raise LocalProtocolError(
        "schema", f"{where} must be a number, a text, a bool, a time or None, not {value!r}{advice}"
    )


def plain_scalars(metadata: Mapping[str, object], where: str) -> dict[str, Json]:
    """Return one level of scalars as JSON values; the error names the key."""
    items = _mapping(metadata, where).items()
    return {_key(key, where): _scalar(value, f"{where}[{key!r}]") for key, value in items}


def plain_levels(metadata: Mapping[str, object], where: str, depth: int) -> dict[str, Json]:
    """Return a mapping that nests at most so deep as JSON values; the error names the key."""
    if depth == 1:
        return plain_scalars(metadata, where)
    plain = plain_object(metadata, where)
    if _nesting_of(plain) > depth:
        raise LocalProtocolError("schema", f"{where} nests over {depth} levels; metadata_depth can raise it")
    return plain


def _nesting_of(value: Json) -> int:
    """Return the depth of nesting of a value; 0 for a scalar."""
    if isinstance(value, dict):
        return 1 + max(map(_nesting_of, value.values()), default=0)
    return 1 + max(map(_nesting_of, value), default=0) if isinstance(value, list) else 0


def plain_object(metadata: Mapping[str, object], where: str) -> dict[str, Json]:
    """Return a nested mapping as JSON values; the error names the key."""
    try:
        return _object(_mapping(metadata, where), where)
    except RecursionError as error:
        raise LocalProtocolError("schema", f"{where} nests too deeply, or holds itself") from error


def _object(metadata: Mapping[str, object], where: str) -> dict[str, Json]:
    return {_key(key, where): _plain(value, f"{where}[{key!r}]") for key, value in metadata.items()}


def _mapping(value: object, where: str) -> Mapping[str, object]:
    if type(value) is not dict and not isinstance(value, Mapping):
        raise LocalProtocolError(
            "schema", f"{where} must be a mapping, not {value!r} ({type(value).__name__})"
        )
    found: Any = value
    given: Mapping[str, object] = found
    return given


def _key(key: object, where: str) -> str:
    # Python's encoder would turn the key 1 into "1" without a word.
    if not isinstance(key, str):
        raise LocalProtocolError("schema", f"the keys of {where} must be text, not {key!r}")
    return key


def _plain(value: object, where: str) -> Json:
    if isinstance(value, Mapping):
        return _object(cast("Mapping[str, object]", value), where)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        items = cast("Sequence[object]", value)
        return [_plain(item, f"{where}[{k}]") for k, item in enumerate(items)]
    return _scalar(value, where)
