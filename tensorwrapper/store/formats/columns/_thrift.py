"""Structures of Thrift's compact protocol, used in the footer and the pages of Parquet files.

Pyarrow has the same information, but aborts the process if some statistics are inconsistent.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias, cast

from tensorwrapper.errors import DataFileError

Spec: TypeAlias = "Mapping[int, type | Spec | list[Spec | type]]"
"""Fields to read: ``int``, ``bytes``, the fields of a structure, or a list with the spec of its items."""

_DEPTH: Final = 16
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)


def read_struct(data: bytes, place: int, spec: Spec, depth: int = 0) -> tuple[dict[int, Any], int]:
    """Return the requested fields of a structure, by number, and its end. Linear in its bytes.

    Raises
    ------
    DataFileError
        If the structure is invalid.
    IndexError
        If it exceeds the data.
    """
    if depth > _DEPTH:
        raise DataFileError("the metadata of a Parquet file are nested too deeply")
    found: dict[int, Any] = {}
    field = 0
    # A wide file has tens of thousands of fields, so frequent ones are read inline, without a call.
    while True:
        head = data[place]
        place += 1
        if not head:
            return found, place
        step = head >> 4
        field, place = (field + step, place) if step else _zigzag(data, place)
        kind = head & 15
        if kind in (_TRUE, _FALSE):
            continue
        wanted = spec.get(field)
        if _I16 <= kind <= _I64 and (wanted is int or wanted is None):
            number = data[place]
            number, place = (number, place + 1) if number < 128 else _varint(data, place)
            if wanted is int:
                found[field] = (number >> 1) ^ -(number & 1)
            continue
        if kind == _BINARY and wanted is None and data[place] < 128:
            place = _passed(data, place + 1 + data[place])
            continue
        value, place = _value(data, place, kind, wanted, depth)
        if wanted is not None:
            found[field] = value


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7
        if shift > 63:
            raise DataFileError("a number in the metadata of a Parquet file has more than 64 bits")


def _zigzag(data: bytes, place: int) -> tuple[int, int]:
    value, place = _varint(data, place)
    return (value >> 1) ^ -(value & 1), place


def _value(data: bytes, place: int, kind: int, wanted: Any, depth: int) -> tuple[Any, int]:  # noqa: ANN401 - a `Spec`
    """Return a value and its end; None for unwanted fields."""
    value: Any = None
    if kind in (_I16, _I32, _I64):
        value, place = _zigzag(data, place)
    elif kind == _BINARY:
        length, place = _varint(data, place)
        value, place = data[place : place + length], _passed(data, place + length)
    elif kind == _STRUCT:
        value, place = read_struct(data, place, _fields(wanted), depth + 1)
    elif kind in (_LIST, _SET):
        value, place = _items(data, place, _of_items(wanted), depth)
    elif kind == _MAP:
        place = _map(data, place, depth)
    elif kind in (_BYTE, _DOUBLE):
        place = _passed(data, place + (1 if kind == _BYTE else 8))
    else:
        raise DataFileError(f"the metadata of a Parquet file have a field of type {kind}")
    if wanted is not None and not _fits(kind, wanted):
        raise DataFileError(f"the metadata of a Parquet file have a field of type {kind} in a wrong place")
    return value, place


def _fields(wanted: Any) -> Spec:  # noqa: ANN401 - a `Spec`
    return cast("Spec", wanted) if isinstance(wanted, dict) else {}


def _of_items(wanted: Any) -> Any:  # noqa: ANN401 - a `Spec`
    return cast("Any", wanted[0]) if isinstance(wanted, list) else None


def _fits(kind: int, wanted: Any) -> bool:  # noqa: ANN401 - a `Spec`
    if wanted is int:
        return kind in (_I16, _I32, _I64)
    if wanted is bytes:
        return kind == _BINARY
    return kind in ((_LIST, _SET) if isinstance(wanted, list) else (_STRUCT,))


def _passed(data: bytes, place: int) -> int:
    if place > len(data):
        raise IndexError(place)
    return place


def _items(data: bytes, place: int, wanted: Any, depth: int) -> tuple[list[Any], int]:  # noqa: ANN401 - a `Spec`
    head = data[place]
    count, place = (head >> 4, place + 1) if head >> 4 < 15 else _varint(data, place + 1)
    found: list[Any] = []
    kind = head & 15
    if kind == _STRUCT and (wanted is None or isinstance(wanted, dict)):
        fields = _fields(wanted)
        for _ in range(count):
            own, place = read_struct(data, place, fields, depth + 2)
            found.append(own)
        return found, place
    for _ in range(count):
        if _I16 <= kind <= _I64 and wanted is None and data[place] < 128:
            place += 1
            continue
        value, place = _item(data, place, kind, wanted, depth)
        if wanted is not None:
            found.append(value)
    return found, place


def _item(data: bytes, place: int, kind: int, wanted: Any, depth: int) -> tuple[Any, int]:  # noqa: ANN401 - a `Spec`
    if kind in (_TRUE, _FALSE):
        # Bools in lists take a byte each, unlike bool fields.
        kind = _BYTE
    return _value(data, place, kind, wanted, depth + 1)


def _map(data: bytes, place: int, depth: int) -> int:
    count, place = _varint(data, place)
    if not count:
        return place
    kinds = data[place]
    place += 1
    for _ in range(count):
        _, place = _item(data, place, kinds >> 4, None, depth)
        _, place = _item(data, place, kinds & 15, None, depth)
    return place
