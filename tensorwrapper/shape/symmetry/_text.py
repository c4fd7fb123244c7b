"""Symmetries as text and as JSON.

The text is the rank, then generators: a sign, the cycles of the permutation, and ``*`` for a conjugation.
``(0 1 2)`` puts mode 1 at place 0, mode 2 at place 1 and mode 0 at place 2; ``()`` moves no mode.

>>> from tensorwrapper import Symmetry
>>> str(Symmetry.parse("s8")), str(Symmetry.parse("ah2"))
('4: +(2 3) +(0 1) +(0 2)(1 3)', '2: -(0 1)*')

JSON has the keys ``"generators"``, a list of ``[permutation, sign, conjugate]``, and ``"rank"``.
"""

import re
from typing import Final, NoReturn

from tensorwrapper._json import Json, dump_json, parse_json
from tensorwrapper._json_fields import Field, FieldReason
from tensorwrapper._tokenizer import quoted, refuse_at
from tensorwrapper.errors import ConversionError, ParseError
from tensorwrapper.shape.symmetry._operations import MOST_RANK, Operation

Read = tuple[int, list[Operation]]
"""What was read: a rank and generators."""

NAMES: Final = {
    "s1": "4:",
    "s2": "2: +(0 1)",
    "s4": "4: +(2 3) +(0 1)",
    "s8": "4: +(2 3) +(0 1) +(0 2)(1 3)",
    "s2ij": "4: +(0 1)",
    "s2kl": "4: +(2 3)",
    "a2": "2: -(0 1)",
    "h2": "2: +(0 1)*",
    "ah2": "2: -(0 1)*",
}
"""The symmetries that have a name. All but the last three are names of PySCF."""

_MOST: Final = 16
"""The most generators of a text: each doubles the group at least, which has up to 2 * 8! operations."""

_LENGTH: Final = 4096  # characters
_HEAD: Final = re.compile(r"\s*+([0-9]++)\s*+:", re.ASCII)
_GENERATOR: Final = re.compile(r"\s*+([+-])((?:\([0-9 ]*+\))++)(\*?+)(?=\s|$)", re.ASCII)
_CYCLE: Final = re.compile(r"\(([^)]*+)\)")


def symmetry_text(rank: int, generators: tuple[Operation, ...]) -> str:
    """Return the text of a symmetry."""
    return " ".join([f"{rank}:", *map(_generator_text, generators)])


def _generator_text(operation: Operation) -> str:
    left, cycles = set(range(len(operation.permutation))), ""
    for mode, image in enumerate(operation.permutation):
        cycle = [mode]
        while image != mode and image in left:
            cycle.append(image)
            left.discard(image)
            image = operation.permutation[image]  # noqa: PLW2901 - the next mode of the cycle
        if len(cycle) > 1 and mode in left:
            cycles += f"({' '.join(map(str, cycle))})"
        left.discard(mode)
    return f"{'+' if operation.sign > 0 else '-'}{cycles or '()'}{'*' * operation.conjugate}"


def read_text(text: object) -> Read:
    """Return the rank and the generators of a text, or of one of the names.

    Raises
    ------
    ParseError
        If it is not the text of a symmetry.
    ConversionError
        If it is not text.
    """
    if not isinstance(text, str):
        raise ConversionError(f"a symmetry is parsed from text, not from {type(text).__name__}")
    body = NAMES.get(text, text)
    head = _HEAD.match(body) if len(body) <= _LENGTH else None
    if head is None or int(head[1][:9]) > MOST_RANK:
        raise ParseError(
            f"{quoted(text)} is not the text of a symmetry: {', '.join(NAMES)}, or a rank up to {MOST_RANK} "
            f"and generators such as '4: +(0 1) -(2 3)*'"
        )
    rank, at, generators = int(head[1]), head.end(), list[Operation]()
    while body[at:].strip():
        match = _GENERATOR.match(body, at)
        if match is None or len(generators) == _MOST:
            here = at + len(body[at:]) - len(body[at:].lstrip())
            allowed = "a generator such as '+(0 1)'" if match is None else f"{_MOST} generators"
            refuse_at(body, here, "a symmetry", allowed)
        permutation = _permutation(rank, _CYCLE.findall(match[2]), match[0].strip())
        generators.append(Operation(permutation, -1 if match[1] == "-" else 1, bool(match[3])))
        at = match.end()
    return rank, generators


def _permutation(rank: int, cycles: list[str], text: str) -> tuple[int, ...]:
    permutation = list(range(rank))
    seen: set[str] = set()
    for cycle in cycles:
        modes = cycle.split()
        if not all(len(mode) == 1 and int(mode) < rank for mode in modes) or len({*modes, *seen}) < len(
            modes
        ) + len(seen):
            raise ParseError(f"{quoted(text)} needs different modes from 0 to {rank - 1}")
        seen.update(modes)
        for mode, image in zip(modes, modes[1:] + modes[:1], strict=True):
            permutation[int(mode)] = int(image)
    return tuple(permutation)


def symmetry_to_json(rank: int, generators: tuple[Operation, ...]) -> str:
    """Return a symmetry as JSON, compact and with sorted keys."""
    return dump_json({"generators": plain_generators(generators), "rank": rank})


def plain_generators(generators: tuple[Operation, ...]) -> list[Json]:
    """Return generators as JSON has them: ``[permutation, sign, conjugate]`` each."""
    return [[list(own.permutation), own.sign, own.conjugate] for own in generators]


def read_json(text: object) -> Read:
    """Return the rank and the generators of a JSON text, as `str` or as UTF-8; raises as `read_text` does."""
    value = parse_json(text, "the JSON of a symmetry", depth=4, digits=9, max_bytes=_LENGTH)
    field = Field(value, "", _refuse).object({"generators", "rank"})
    rank = field["rank"].count(most=MOST_RANK)
    return rank, read_generators(field["generators"], rank)


def read_generators(field: Field, rank: int) -> list[Operation]:
    """Return the generators that a field has, at most 16; it refuses whatever else it has."""
    return [_read_generator(entry, rank) for entry in field.items(most=_MOST)]


def _read_generator(entry: Field, rank: int) -> Operation:
    permutation, sign, conjugate = entry.items(of="a permutation, a sign and a truth value", length=3)
    if sign.integer(-1, 1) == 0:
        sign.must_be("1 or -1")
    modes = permutation.integers(0, rank - 1, length=rank)
    if len(set(modes)) < rank:
        permutation.must_be(f"a permutation of the modes 0 to {rank - 1}")
    return Operation(modes, sign.integer(), conjugate.boolean())


def _refuse(path: str, reason: FieldReason, text: str) -> NoReturn:  # noqa: ARG001 - one error for all
    raise ParseError(f"{path or 'the JSON of a symmetry'} {text}")
