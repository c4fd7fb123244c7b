"""Check sums of payload parts: written on request, and compared before any byte of a part is used."""

import importlib
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from tensorwrapper._json import Json
from tensorwrapper._json_fields import Field
from tensorwrapper.errors import LocalProtocolError
from tensorwrapper.wire._protocol_errors import refuse, refuse_field

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
    algorithm = checksum_of(name)
    sums: list[Json] = [f"{algorithm(part):0{_DIGITS[name]}x}" for part in parts]
    return {"algorithm": name, "parts": sums}


def checksum_of(name: Checksum) -> Callable[[memoryview], int]:
    """Return the function that sums bytes up.

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
    return algorithm


_HEXADECIMAL: Final = frozenset("0123456789abcdef")


def check_parts(described: Json, parts: Sequence[memoryview]) -> None:
    """Raise unless every part has the check sum that a foreign ``checksums`` object gives it.

    Parts beyond those that it names, or that it names null, are not covered.
    """
    if described is not None:
        _check(Field(described, "checksums", refuse_field), parts)


def _check(described: Field, parts: Sequence[memoryview]) -> None:
    fields = described.object(optional=None)
    name, sums = fields["algorithm"].text(), fields["parts"].items()
    if len(sums) > len(parts):
        refuse("layout", f"there are {len(sums)} checksums for {len(parts)} payload parts")
    digits = _DIGITS.get(name)
    algorithm = None if digits is None else _algorithm(name)
    if digits is None or algorithm is None:
        refuse("unsupported", f"checksums are of the algorithm {name[:24]!r}, which is not here")
    for part, wanted in zip(parts, sums, strict=False):
        if wanted.value is not None:
            _check_part(wanted, algorithm(part), digits, name)


def _check_part(wanted: Field, found: int, digits: int, name: str) -> None:
    if len(wanted.text()) != digits or not _HEXADECIMAL.issuperset(wanted.text()):
        wanted.must_be(f"{digits} lowercase hexadecimal digits")
    if wanted.text() != f"{found:0{digits}x}":
        refuse("integrity", f"{wanted}: damaged: {name} is {found:0{digits}x}, not {wanted.text()}")
