"""Pieces of JSON that a stranger may have written, taken for what they must be."""

import re
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from tensorwrapper._json import Json
from tensorwrapper.errors import SelectionError
from tensorwrapper.typing import IntArray

__all__ = [
    "LARGEST",
    "check_keys",
    "one_key",
    "to_dtype",
    "to_integer",
    "to_integers",
    "to_list",
    "to_object",
    "to_range",
    "to_table",
    "to_value",
]

LARGEST = 2**62
"""What no number may exceed: sums of two stay in 64 bits."""
MAX_RANK = 32

_DTYPE = re.compile(r"[<>|=]?[biufcmM][0-9]{1,2}(\[[0-9]{0,4}[a-zA-Z]{1,2}\])?")


def to_object(value: Json, where: str) -> dict[str, Json]:
    """Return a JSON object."""
    if not isinstance(value, dict):
        raise SelectionError("schema", f"{where} must be an object, not {_kind(value)}")
    return value


def to_list(value: Json, where: str) -> list[Json]:
    """Return a JSON array."""
    if not isinstance(value, list):
        raise SelectionError("schema", f"{where} must be an array, not {_kind(value)}")
    return value


def to_integer(value: Json, where: str, least: int = -LARGEST, most: int = LARGEST) -> int:
    """Return an integer between two bounds, both of which it may be."""
    if type(value) is not int:
        raise SelectionError("schema", f"{where} must be an integer, not {_kind(value)}")
    if not least <= value <= most:
        raise SelectionError("limit", f"{where} must be from {least} to {most}, not {str(value)[:40]}")
    return value


def to_integers(
    value: Json, where: str, least: int = -LARGEST, *, count: int | None = None
) -> tuple[int, ...]:
    """Return integers, at most as many as a box may have modes."""
    items = to_list(value, where)
    if count is not None and len(items) != count:
        raise SelectionError("schema", f"{where} must have {count} integers, not {len(items)}")
    if len(items) > MAX_RANK:
        raise SelectionError("limit", f"{where} has {len(items)} integers; {MAX_RANK} are allowed")
    return tuple([to_integer(item, f"{where}[{n}]", least) for n, item in enumerate(items)])


def to_range(value: Json, where: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return origin and extents of a range."""
    given = to_object(value, where)
    check_keys(given, where, {"start", "end"})
    start = to_integers(given["start"], f"{where}.start")
    end = to_integers(given["end"], f"{where}.end", count=len(start))
    if any(b < a for a, b in zip(start, end, strict=True)):
        raise SelectionError("bounds", f"{where} ends at {end}, before its start {start}")
    return start, tuple([b - a for a, b in zip(start, end, strict=True)])


def to_dtype(value: Json, where: str) -> "np.dtype[Any]":
    """Return a plain type by its NumPy name with its byte order."""
    if not isinstance(value, str) or not _DTYPE.fullmatch(value):
        raise SelectionError("schema", f'{where} must name a type of numbers, as "<f8", not {_kind(value)}')
    try:
        return np.dtype(value)
    except TypeError as error:
        raise SelectionError("schema", f"{where}: there is no type {value!r}") from error


def to_value(value: Json, dtype: "np.dtype[Any]", where: str) -> Any:  # noqa: ANN401 - of that type
    """Return a constant of a type."""
    try:
        if dtype.kind == "c":
            pair = to_list(value, where)
            real, imaginary = [_real(part, where) for part in pair]
            return dtype.type(complex(real, imaginary))
        if dtype.kind == "f":
            return dtype.type(_real(value, where))
        if dtype.kind == "b":
            if not isinstance(value, bool):
                raise SelectionError("schema", f"{where} must be true or false, not {_kind(value)}")
            return np.bool_(value)
        number = to_integer(value, where, -(2**63), 2**64 - 1)
        if dtype.kind in "mM":
            return np.array(number, dtype=np.int64).view(dtype)[()]
        return np.array(number, dtype=dtype)[()]
    except (ValueError, OverflowError) as error:
        if isinstance(error, SelectionError):
            raise
        raise SelectionError(
            "bounds", f"{where}: {str(value)[:40]} is no constant of type {dtype}"
        ) from error


def _real(value: Json, where: str) -> float:
    if isinstance(value, str) and value in {"nan", "inf", "-inf"}:
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SelectionError("schema", f"{where} must be a number, not {_kind(value)}")
    return float(value)


def to_table(value: Json, where: str, frames: Sequence[bytes], most: int) -> IntArray:
    """Return positions, from the JSON itself or from a frame."""
    if isinstance(value, dict):
        check_keys(value, where, {"frame"})
        number = to_integer(value["frame"], f"{where}.frame", 0)
        if number >= len(frames):
            raise SelectionError("source", f"{where} names frame {number}, and there are {len(frames)}")
        frame = frames[number]
        if len(frame) % 8 or len(frame) // 8 > most:
            raise SelectionError(
                "limit", f"{where}: a frame of {len(frame)} bytes is no table of up to {most}"
            )
        table = np.frombuffer(frame, dtype="<i8").astype(np.int64, copy=False)
    else:
        items = to_list(value, where)
        if len(items) > most:
            raise SelectionError("limit", f"{where} has {len(items)} positions; {most} are allowed")
        table = np.array([to_integer(item, f"{where}[]") for item in items], dtype=np.int64)
    if len(table) and (table.min() < -LARGEST or table.max() > LARGEST):
        raise SelectionError("limit", f"{where} has positions beyond {LARGEST}")
    return table


def check_keys(
    given: dict[str, Json], where: str, needed: set[str], allowed: frozenset[str] = frozenset()
) -> None:
    """Raise unless an object has the keys that it needs, and no others than are allowed."""
    missing = sorted(needed - given.keys())
    if missing:
        raise SelectionError("schema", f"{where} lacks {missing}")
    extra = sorted(given.keys() - needed - allowed)
    if extra:
        raise SelectionError(
            "schema", f"{where} has {[key[:40] for key in extra[:4]]}, which do not belong there"
        )


def one_key(given: dict[str, Json], where: str, known: Sequence[str]) -> str:
    """Return the one key of an object that says what it is."""
    found = [key for key in known if key in given]
    if len(found) != 1:
        raise SelectionError("schema", f"{where} must have one of {list(known)}, and has {found}")
    return found[0]


def _kind(value: Json) -> str:
    return f"{type(value).__name__} {str(cast('object', value))[:40]!r}"
