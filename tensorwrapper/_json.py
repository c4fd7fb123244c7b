"""JSON as this library has it: canonical when written, strict when read. Standard library only.

Written with sorted keys, compact and as raw UTF-8. Read with duplicate keys, NaN, numbers beyond a double and
lone surrogates refused. Readers of untrusted text call `excess` first, which measures a text before any
object is built from it.
"""

import functools
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from tensorwrapper.errors import ConversionError, ParseError

if TYPE_CHECKING:
    import json

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A value of JSON."""

# Possessive: a string of megabytes must not leave a place to backtrack to at each of its characters.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")
_DIGITS = "0123456789"
_AT_ONCE = 2**13  # numbers that are written in a millisecond
_SPACE = " \t\n\r"  # white space of JSON


def _pairs(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    built = dict(pairs)
    if len(built) != len(pairs):
        twice = next(key for key, n in Counter([key for key, _ in pairs]).items() if n > 1)
        raise ParseError(f"has the key {twice[:40]!r} twice")
    return built


def _constant(name: str) -> NoReturn:
    raise ParseError(f"has {name}, which is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ParseError(f"has the number {text[:40]}, beyond any double")
    return value


@functools.cache
def _decoder(*, constants: bool) -> "json.JSONDecoder":
    import json  # noqa: PLC0415 - most programs read and write none

    constant = None if constants else _constant
    return json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=constant, parse_float=_finite)


@functools.cache
def _encoder() -> "json.JSONEncoder":
    import json  # noqa: PLC0415 - as in `_decoder`

    return json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def load_json(text: str, *, constants: bool = False) -> Json:
    """Return the value of a JSON text without white space around it.

    With `constants`, ``NaN``, ``Infinity`` and ``-Infinity`` are numbers, as many programs write them.

    Raises
    ------
    ParseError
        If it is not strict JSON; the error completes a sentence about the text.
    RecursionError
        If it nests deeper than Python follows.

    Examples
    --------
    >>> load_json('{"a":[1,2]}')
    {'a': [1, 2]}
    >>> load_json('{"a":1,"a":2}')
    Traceback (most recent call last):
    tensorwrapper.errors.ParseError: has the key 'a' twice
    """
    value: Json
    try:
        # Not JSONDecoder.decode: it would look for white space around the value.
        value, end = _decoder(constants=constants).raw_decode(text)
    except ParseError:
        raise
    except ValueError as error:
        import json  # noqa: PLC0415 - as in `_decoder`

        if isinstance(error, json.JSONDecodeError):
            raise ParseError(f"is not JSON: {error.msg} at {error.pos}") from error
        # Python refuses to convert integers of thousands of digits.
        raise ParseError("has an integer with too many digits") from error
    if end != len(text):
        raise ParseError(f"goes on after its JSON value, at {end}")
    if "\\u" in text:
        import json  # noqa: PLC0415 - as in `_decoder`

        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8", "strict")
        except UnicodeEncodeError as error:
            raise ParseError("has half a surrogate pair in a string") from error
    return value


def parse_json(
    text: object,
    what: str,
    *,
    depth: int,
    digits: int,
    items: int | None = None,
    max_bytes: int | None = None,
    constants: bool = False,
) -> Json:
    """Return the value of a possibly untrusted JSON text, with or without white space around it.

    Parameters
    ----------
    text
        `str`, or `bytes` of UTF-8.
    what
        Description of the text in errors: ``"the JSON of a mask"``.
    depth, digits, items, max_bytes
        How deep it may nest, how many digits in a row it may have, how many values, and how many bytes of
        UTF-8: any number of the last two if not given.
    constants
        Whether the words NaN, Infinity and -Infinity are numbers.

    Raises
    ------
    ParseError
        If it is not strict JSON, or too much of something.
    ConversionError
        If it is not text.

    Examples
    --------
    >>> parse_json(b"  [1, 2] ", "a list", depth=1, digits=20)
    [1, 2]
    """
    bare = _decoded(text, what, max_bytes).strip(_SPACE)
    complaint = excess(bare, depth=depth, items=len(bare) if items is None else items)
    if complaint is None and has_number_over(bare, digits):
        complaint = f"has a number of more than {digits} digits"
    if complaint is not None:
        raise ParseError(f"{what} {complaint}")
    try:
        return load_json(bare, constants=constants)
    except ParseError as error:
        raise ParseError(f"{what} {error}") from error
    except RecursionError as error:
        raise ParseError(f"{what} nests deeper than this reader can follow") from error


def _decoded(text: object, what: str, most: int | None) -> str:
    if not isinstance(text, str | bytes):
        raise ConversionError(f"{what} is read from text or bytes, not from {type(text).__name__}")
    if most is not None and len(text) > most:
        raise ParseError(f"{what} has {len(text)} bytes or more; at most {most} are allowed")
    try:
        if isinstance(text, bytes):
            return text.decode("utf-8")
        # Half a surrogate pair is not UTF-8 either, and text may have one.
        size = len(text) if text.isascii() else len(text.encode("utf-8"))
    except UnicodeError as error:
        raise ParseError(f"{what} is not UTF-8: {error}") from error
    if most is not None and size > most:
        raise ParseError(f"{what} has {size} bytes; at most {most} are allowed")
    return text


def excess(text: str, *, depth: int, items: int) -> str | None:
    """Return a complaint about a JSON text that nests over `depth` or has over `items` values, or None.

    Values are counted by brackets and commas, and nothing is built.

    Examples
    --------
    >>> excess("[[1],2]", depth=2, items=9), excess("[[1],2]", depth=1, items=9)
    (None, 'nests over 1 deep')
    """
    opened = text.count("[") + text.count("{")
    if opened <= depth and opened + text.count(",") <= items:
        return None
    bare = _STRING.sub("", text)
    if bare.count("[") + bare.count("{") + bare.count(",") > items:
        return f"has over {items} values"
    level = 0
    for bracket in _BRACKET.finditer(bare):
        level += 1 if bracket[0] in "[{" else -1
        if level > depth:
            return f"nests over {depth} deep"
    return None


def has_number_over(text: str, digits: int) -> bool:
    """Return whether a number in a JSON text has over so many digits in a row.

    Examples
    --------
    >>> has_number_over('[-123.5,"123456"]', 2), has_number_over('[-123.5,"123456"]', 3)
    (True, False)
    """
    return len(text) > digits and _has_run_over(text, digits) and _has_run_over(_STRING.sub("", text), digits)


def _has_run_over(text: str, digits: int) -> bool:
    # A long run has a digit at one of these widely spaced places, so few characters are checked.
    step = max(digits, 1)
    for place in range(0, len(text), step):
        if text[place] in _DIGITS:
            before, after = text[max(place - step, 0) : place], text[place : place + step + 1]
            run = len(before) - len(before.rstrip(_DIGITS)) + len(after) - len(after.lstrip(_DIGITS))
            if run > digits:
                return True
    return False


def dump_json(value: object) -> str:
    """Return the canonical text of plain values; raise `ValueError` for others.

    Examples
    --------
    >>> dump_json({"b": [1, 2], "a": "x"})
    '{"a":"x","b":[1,2]}'
    """
    return _encoder().encode(value)


def _has_parts(value: list[Json]) -> bool:
    return any(isinstance(own, list | dict) for own in value)


def dump_in_parts(value: Json) -> str:
    """Return `dump_json` of a value, whose long lists other threads may interrupt.

    Examples
    --------
    >>> dump_in_parts({"b": [[1, 2], 3], "a": "x"})
    '{"a":"x","b":[[1,2],3]}'
    """
    if isinstance(value, dict):
        return (
            "{" + ",".join([f"{dump_json(key)}:{dump_in_parts(value[key])}" for key in sorted(value)]) + "}"
        )
    if not isinstance(value, list):
        return dump_json(value)
    if len(value) <= _AT_ONCE:
        return "[" + ",".join(map(dump_in_parts, value)) + "]" if _has_parts(value) else dump_json(value)
    parts = (value[start : start + _AT_ONCE] for start in range(0, len(value), _AT_ONCE))
    return "[" + ",".join([dump_json(part)[1:-1] for part in parts]) + "]"


def shown_json(value: Json, most: int = 60) -> str:
    """Return the beginning of a value as JSON, for a message; the rest is never written.

    Examples
    --------
    >>> shown_json([1, {"a": None}]), shown_json([7] * 1_000_000, 8)
    ('[1,{"a":null}]', '[7,7,7,7...')
    """
    text = ""
    for piece in _encoder().iterencode(value):
        text += piece[: most + 1]
        if len(text) > most:
            return f"{text[:most]}..."
    return text
