"""Check sums of payload parts: written on request, and compared before any byte of a part is used."""

import importlib
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from tensorwrapper._json import Json
from tensorwrapper.errors import LocalProtocolError
from tensorwrapper.wire._refusal import refuse

__all__ = ["Checksum", "check_parts", "describe_checksums"]

Checksum: TypeAlias = Literal["crc32", "xxh3"]
"""Algorithms: that of zlib, and the one with 64 bits of xxHash 3."""

_DIGITS: Final = {"crc32": 8, "xxh3": 16}

_Sum: TypeAlias = Callable[[memoryview], int]


def _algorithm(name: str) -> _Sum | None:
    """Return the function of an algorithm; None if its package is not here."""
    if name == "crc32":
        return zlib.crc32
    try:
        xxhash: Any = importlib.import_module("xxhash")
    except ImportError:
        return None
    return cast("_Sum", xxhash.xxh3_64_intdigest)


def describe_checksums(name: Checksum, parts: Sequence[memoryview]) -> dict[str, Json]:
    """Return the ``checksums`` object of a message with these parts. Reads every byte.

    Raises
    ------
    LocalProtocolError
        If there is no such algorithm, or its package is not here.
    """
    if name not in get_args(Checksum):
        raise LocalProtocolError(
            "unsupported", f"checksum must be one of {', '.join(get_args(Checksum))}, not {name!r}"
        )
    algorithm = _algorithm(name)
    if algorithm is None:
        raise LocalProtocolError(
            "unsupported", f"checksum={name!r} needs the package xxhash: the extra compress has it"
        )
    sums: list[Json] = [f"{algorithm(part):0{_DIGITS[name]}x}" for part in parts]
    return {"algorithm": name, "parts": sums}


def check_parts(described: object, parts: Sequence[memoryview]) -> None:
    """Raise unless every part has the check sum that a foreign ``checksums`` object gives it.

    Parts beyond those that it names, or that it names null, are not covered.
    """
    if described is not None:
        _check(described, parts)


def _check(described: object, parts: Sequence[memoryview]) -> None:
    if not isinstance(described, dict):
        refuse("schema", "checksums must be an object")
    fields = cast("dict[str, object]", described)
    name, sums = fields.get("algorithm"), fields.get("parts")
    if not isinstance(name, str):
        refuse("schema", "algorithm of checksums must be text")
    if not isinstance(sums, list):
        refuse("schema", "parts of checksums must be a list")
    given = cast("list[object]", sums)
    if len(given) > len(parts):
        refuse("layout", f"there are {len(given)} checksums for {len(parts)} payload parts")
    digits = _DIGITS.get(name)
    algorithm = None if digits is None else _algorithm(name)
    if digits is None or algorithm is None:
        refuse("unsupported", f"checksums are of the algorithm {name[:24]!r}, which is not here")
    for number, wanted in enumerate(given):
        if wanted is not None:
            _check_part(wanted, algorithm(parts[number]), digits, f"{name} of part {number}")


def _check_part(wanted: object, found: int, digits: int, what: str) -> None:
    if not isinstance(wanted, str) or len(wanted) != digits:
        refuse("schema", f"{what} must be {digits} hexadecimal digits")
    if wanted != f"{found:0{digits}x}":
        refuse("integrity", f"the part is damaged: {what} is {found:0{digits}x}, not {wanted}")
