"""The label's JSON: canonical when written, strict when read. Standard library only.

Written with sorted keys, compact and as raw UTF-8, which is the text of the C++ reference (floats may
differ in how they are spelled, never in value). Read with duplicate keys, NaN, numbers beyond a double and
lone surrogates refused, and with its size and depth bounded before anything is built.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NoReturn, TypeAlias, cast

import numpy as np

from tensorwrapper.errors import LocalProtocolError, RemoteProtocolError
from tensorwrapper.wire._limits import Limits

__all__ = ["Json", "dump_label", "load_label", "plain_object", "plain_scalars"]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""What JSON can say."""

# Possessive: a string of megabytes must not leave a place to backtrack to at each of its characters.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)


def _pairs(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    built = dict(pairs)
    if len(built) != len(pairs):
        twice = next(key for key, n in Counter([key for key, _ in pairs]).items() if n > 1)
        raise RemoteProtocolError("header", f"the label has the key {twice[:40]!r} twice")
    return built


def _constant(name: str) -> NoReturn:
    raise RemoteProtocolError("header", f"the label has {name}, which is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise RemoteProtocolError("header", f"the label has the number {text[:40]}, beyond any double")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_finite)
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _decode(text: str) -> tuple[Json, int]:
    """Return the value at the start of a text and where it ends."""
    # Not JSONDecoder.decode: it would look for white space around the value, which is gone already.
    return cast("tuple[Json, int]", _DECODER.raw_decode(text))


def load_label(text: str, limits: Limits) -> Json:
    """Return the value of a foreign label, without white space around it.

    Raises
    ------
    RemoteProtocolError
        ``header`` if it is not strict JSON, ``limit`` if it is too deep or has too many values.
    """
    opened = text.count("[") + text.count("{")
    if opened > limits.depth or opened + text.count(",") > limits.label_items:
        _check_structure(text, limits)
    try:
        value, end = _decode(text)
    except json.JSONDecodeError as error:
        raise RemoteProtocolError("header", f"the label is not JSON: {error.msg} at {error.pos}") from error
    except RecursionError as error:
        raise RemoteProtocolError("limit", "the label nests deeper than this reader can follow") from error
    except ValueError as error:
        if isinstance(error, RemoteProtocolError):
            raise
        # Python refuses to convert integers of thousands of digits.
        raise RemoteProtocolError("header", "the label has an integer with too many digits") from error
    if end != len(text):
        raise RemoteProtocolError("header", f"the label goes on after its JSON value, at {end}")
    if "\\u" in text:
        try:
            _ENCODER.encode(value).encode("utf-8", "strict")
        except UnicodeEncodeError as error:
            raise RemoteProtocolError("header", "the label has half a surrogate pair in a string") from error
    return value


def _check_structure(text: str, limits: Limits) -> None:
    """Raise if the label is too deep or too long a list, without building any of it."""
    bare = _STRING.sub("", text)
    items = bare.count("[") + bare.count("{") + bare.count(",")
    if items > limits.label_items:
        raise RemoteProtocolError("limit", f"the label has over {limits.label_items} values")
    depth = 0
    for bracket in re.finditer(r"[\[\]{}]", bare):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > limits.depth:
            raise RemoteProtocolError("limit", f"the label nests over {limits.depth} deep")


def dump_label(value: Mapping[str, object]) -> str:
    """Return the canonical text of a label made of plain values."""
    try:
        return _ENCODER.encode(value)
    except ValueError as error:
        # Python refuses to spell out integers of thousands of digits.
        raise LocalProtocolError("schema", f"the label has a value that JSON cannot say: {error}") from error


def _scalar(value: object, where: str) -> Json:
    if isinstance(value, np.generic):
        value = cast("object", value.item())
    if isinstance(value, float) and not math.isfinite(value):
        raise LocalProtocolError("schema", f"{where} is {value}, which JSON cannot say")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise LocalProtocolError("schema", f"{where} must be a number, a text, a bool or None, not {value!r}")


def plain_scalars(metadata: Mapping[str, object], where: str) -> dict[str, Json]:
    """Return one level of scalars as JSON values; the error names the key."""
    items = _mapping(metadata, where).items()
    return {_key(key, where): _scalar(value, f"{where}[{key!r}]") for key, value in items}


def plain_object(metadata: Mapping[str, object], where: str) -> dict[str, Json]:
    """Return a nested mapping as JSON values; the error names the key."""
    try:
        return _object(_mapping(metadata, where), where)
    except RecursionError as error:
        raise LocalProtocolError("schema", f"{where} nests too deeply, or holds itself") from error


def _object(metadata: Mapping[str, object], where: str) -> dict[str, Json]:
    return {_key(key, where): _plain(value, f"{where}[{key!r}]") for key, value in metadata.items()}


def _mapping(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise LocalProtocolError(
            "schema", f"{where} must be a mapping, not {value!r} ({type(value).__name__})"
        )
    return cast("Mapping[str, object]", value)


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
