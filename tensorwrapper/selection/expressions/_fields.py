"""Numbers, types, boxes and tables as JSON: written, and parsed with checks."""

import re
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from operator import sub
from typing import Any, NoReturn, cast

import numpy as np

from tensorwrapper._json import Json, load_json
from tensorwrapper._json_fields import Field, FieldReason
from tensorwrapper.buffer.lowlevel import fit_number
from tensorwrapper.errors import (
    ConversionError,
    JaggedModeError,
    SelectionError,
    SizeOverflowError,
    StringDataError,
)
from tensorwrapper.shape import Shape
from tensorwrapper.typing import IntArray

LARGEST = 2**62
"""Bound on numbers: sums of two stay in 64 bits."""
MAX_RANK = 32
"""Number of modes of a box at most."""

_DTYPE = re.compile(r"[<>|]([biufc][0-9]{1,2}|[mM]8(\[([1-9][0-9]{0,9})?[a-zA-Z]{1,2}\])?|U[0-9]{1,5})")
_NONE: AbstractSet[str] = frozenset()
_NAMED: dict[str, "np.dtype[Any]"] = {
    **{(name := np.dtype(code).str): np.dtype(name) for code in "?bBhHiIqQfdFD"},
    "str": np.dtypes.StringDType(),
    "nullable str": np.dtypes.StringDType(na_object=None),
    "bytes": np.dtype(np.object_),
}


def _refuse(path: str, reason: FieldReason, text: str) -> NoReturn:
    raise SelectionError(reason, f"{path} {text}")


def to_object(value: Json, where: str) -> dict[str, Json]:
    """Return a JSON object."""
    return value if isinstance(value, dict) else Field(value, where, _refuse).mapping()


def to_list(value: Json, where: str) -> list[Json]:
    """Return a JSON array."""
    return value if isinstance(value, list) else Field(value, where, _refuse).listed(of="an array")


def to_integer(value: Json, where: str, least: int = -LARGEST, most: int = LARGEST) -> int:
    """Return an integer between two bounds, both of which it may be."""
    if type(value) is int and least <= value <= most:
        return value
    return Field(value, where, _refuse).integer(least, most)


def to_integers(
    value: Json, where: str, least: int = -LARGEST, *, count: int | None = None
) -> tuple[int, ...]:
    """Return integers, at most as many as a box may have modes."""
    if type(value) is list and len(value) <= MAX_RANK and (count is None or len(value) == count):
        for item in value:
            if type(item) is not int or not least <= item <= LARGEST:
                break
        else:
            return tuple(cast("list[int]", value))
    return Field(value, where, _refuse).integers(least, LARGEST, length=count, most_items=MAX_RANK)


def to_range(value: Json, where: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return origin and extents of a range."""
    given = to_object(value, where)
    check_keys(given, where, {"start", "end"})
    start = to_integers(given["start"], f"{where}.start")
    end = to_integers(given["end"], f"{where}.end", count=len(start))
    extents = tuple(map(sub, end, start))
    if min(extents, default=0) < 0:
        raise SelectionError("bounds", f"{where} ends at {end}, before its start {start}")
    return start, extents


def to_dtype(value: Json, where: str) -> "np.dtype[Any]":
    """Return the type of a name: NumPy's, with its byte order, or one of strings."""
    if not isinstance(value, str) or not (value in _NAMED or _DTYPE.fullmatch(value)):
        raise SelectionError("schema", f'{where} must name a type, as "<f8", not {_kind(value)}')
    found = _named(value)
    if found is None:
        raise SelectionError("schema", f"{where}: there is no type {value!r} on every machine")
    return found


def dtype_name(dtype: "np.dtype[Any]") -> str:
    """Return the name of a type: that of NumPy with its byte order, or one of strings.

    Raises
    ------
    ConversionError
        If it has no name: NumPy's name of ``float8_e5m2`` is "<f1", which is not a type.
    """
    if dtype.kind == "T":
        return "nullable str" if hasattr(dtype, "na_object") else "str"
    if dtype.kind == "O":
        return "bytes"
    if _named(dtype.str) != dtype:
        raise ConversionError(f"elements of type {dtype} have no name in JSON")
    return dtype.str


def _named(name: str) -> "np.dtype[Any] | None":
    """Return the portable dtype of a name; None for other values."""
    if name in _NAMED:
        return _NAMED[name]
    if not _DTYPE.fullmatch(name):
        return None
    try:
        dtype = np.dtype(name)
    except (TypeError, ValueError):
        return None
    # Others have several names, or differ from one machine to the next.
    return None if dtype.str != name or dtype.char in "gG" else dtype


def to_value(value: Json, dtype: "np.dtype[Any]", where: str) -> Any:  # noqa: ANN401 - of that type
    """Return a constant of a type."""
    if type(value) is float and dtype.char == "d":
        return np.float64(value)
    try:
        with np.errstate(over="raise", invalid="ignore"):
            is_null = value is None and hasattr(dtype, "na_object")
            return fit_number(None if is_null else _plain(value, dtype, where), dtype, where)[()]
    except (ConversionError, SizeOverflowError, StringDataError, OverflowError, FloatingPointError) as error:
        raise SelectionError(
            "bounds", f"{where}: {str(value)[:40]} is not a constant of type {dtype}"
        ) from error


def _plain(value: Json, dtype: "np.dtype[Any]", where: str) -> object:
    """Return the JSON of a constant of a type: times as integers, complex numbers as pairs."""
    match dtype.kind:
        case "c":
            pair = to_list(value, where)
            if len(pair) != 2:
                raise SelectionError("schema", f"{where} must be a pair of numbers, not {len(pair)}")
            return complex(_real(pair[0], where), _real(pair[1], where))
        case "f":
            return _real(value, where)
        case "b":
            if not isinstance(value, bool):
                raise SelectionError("schema", f"{where} must be true or false, not {_kind(value)}")
            return value
        case "T" | "U":
            if not isinstance(value, str):
                raise SelectionError("schema", f"{where} must be a string, not {_kind(value)}")
            return value
        case "m" | "M":
            number = np.array(to_integer(value, where, -(2**63), 2**63 - 1), dtype=np.int64)
            return number.view(dtype)[()]
        case "O":
            raise SelectionError("schema", f"{where}: bytes have no constants in JSON")
        case _:
            return to_integer(value, where, -(2**63), 2**64 - 1)


def to_parameter(value: Json, where: str) -> int | float:
    """Return a number that a distribution needs."""
    return to_integer(value, where, -(2**63), 2**64) if type(value) is int else _real(value, where)


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
        try:
            raw = np.frombuffer(frames[number], dtype=np.uint8)
        except (TypeError, ValueError) as error:
            raise SelectionError("source", f"{where} names frame {number}, which is not bytes") from error
        if raw.nbytes % 8 or raw.nbytes // 8 > most:
            raise SelectionError(
                "limit", f"{where}: a frame of {raw.nbytes} bytes is not a table of up to {most}"
            )
        # Copy: the caller may still change the frame, and positions are checked only once.
        table = np.array(raw.view("<i8"), dtype=np.int64)
    else:
        items = to_list(value, where)
        if len(items) > most:
            raise SelectionError("limit", f"{where} has {len(items)} positions; {most} are allowed")
        if any(type(item) is not int for item in items):
            raise SelectionError("schema", f"{where} must be an array of integers")
        if any(not -LARGEST <= item <= LARGEST for item in cast("list[int]", items)):
            raise SelectionError("limit", f"{where} has positions beyond {LARGEST}")
        return np.array(items, dtype=np.int64)
    if len(table) and (table.min() < -LARGEST or table.max() > LARGEST):
        raise SelectionError("limit", f"{where} has positions beyond {LARGEST}")
    return table


def check_keys(
    given: dict[str, Json], where: str, needed: AbstractSet[str], allowed: AbstractSet[str] = _NONE
) -> None:
    """Raise unless an object has the keys that it needs, and no others than are allowed."""
    keys = given.keys()
    if keys != needed and not needed <= keys <= needed | allowed:
        Field(given, where, _refuse).object(needed, allowed)


def one_key(given: dict[str, Json], where: str, known: Collection[str]) -> str:
    """Return the one key of an object, which is its kind."""
    found = [key for key in given if key in known]
    if len(found) != 1:
        found = [key for key in known if key in given]
        raise SelectionError("schema", f"{where} must have one of {list(known)}, and has {found}")
    return found[0]


def _kind(value: Json) -> str:
    return f"{type(value).__name__} {str(cast('object', value))[:40]!r}"


def facts_of(shape: Shape[Any]) -> dict[str, Json]:
    """Return the facts of a shape that is not a box, for readers to compare: of bounded size."""
    # The leading modes of a nested box count as one, as for rows.
    outer = min(shape.rank, 1) if shape.flatten().is_box else shape.as_jagged().outer_rank
    try:
        start: list[Json] = list(shape.origin)
    except JaggedModeError:
        start = []
    return {
        **({"start": start} if any(start) else {}),
        "kind": shape.kind,
        "rank": shape.rank,
        "outer": outer,
        **({"extent": shape.extent(0)} if shape.rank else {}),
        "size": shape.size,
    }


def said_shape(shape: Shape[Any]) -> dict[str, Json]:
    """Return all of a shape as `Shape.to_json` writes it, but for names: modes of nodes are numbered."""
    said = cast("dict[str, Json]", load_json(shape.to_json()))
    said.pop("names", None)
    return said


def range_of(shape: Shape[Any]) -> dict[str, Json]:
    """Return the first index of a box, and the one after its last."""
    start, extents = shape.origin, shape.extents
    return {"start": list(start), "end": [a + n for a, n in zip(start, extents, strict=True)]}


def json_of_value(value: Any, dtype: "np.dtype[Any]") -> Json:  # noqa: ANN401 - a constant of any type
    """Return a constant as JSON: times as integers, complex numbers as pairs."""
    number: Any = np.array(value, dtype=dtype)
    match dtype.kind:
        case "m" | "M":
            return int(number.view(np.int64))
        case "c":
            return [_json_of_real(float(number.real)), _json_of_real(float(number.imag))]
        case "f":
            return _json_of_real(float(number))
        case "b" | "i" | "u" | "T" | "U":
            return cast("Json", number.item())
        case _:
            raise ConversionError(f"a constant of type {dtype} has no form in JSON")


def json_of_parameter(value: Any) -> Json:  # noqa: ANN401 - a number
    """Return a parameter of a distribution as JSON."""
    number: Any = value
    return int(number) if np.asarray(number).dtype.kind in "biuO" else _json_of_real(float(number))


def _json_of_real(value: float) -> Json:
    return value if np.isfinite(value) else repr(value)
