"""Boxes, regions, projections and signatures out of the JSON of a graph, with all faults of a document.

A refused value is noted with the reason, and reading goes on with the next one.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Final, NoReturn, TypeVar, final
from uuid import UUID

from tensorwrapper._json_fields import Field, FieldReason
from tensorwrapper.errors import Finding, FindingRule, TensorWrapperError, ValidationError
from tensorwrapper.shape import Shape
from tensorwrapper.sharding._boxes import Box
from tensorwrapper.sharding._index_map import IndexMap
from tensorwrapper.sharding._operands import NAME
from tensorwrapper.sharding._projection import Projection
from tensorwrapper.sharding._ranges import Ranges
from tensorwrapper.sharding.graph._nodes import Region, Signature

T = TypeVar("T")

_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", re.ASCII)
_MODES: Final = 32  # untrusted maps and shards of many modes would keep a checker busy
_WORD: Final = 2**62
_NAME: Final = 256  # characters; every item of a list has the name in its path
_FINDINGS: Final = 1000  # a document may be wrong in every place


class RefusedError(Exception):
    """A value was refused, and why was noted."""


def needed(value: T | None) -> T:
    """Return a parsed value; raise if it was refused, so that its user is refused, too."""
    if value is None:
        raise RefusedError
    return value


@final
class Faults:
    """Errors of a document."""

    __slots__ = ("findings",)

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def refuse(self, path: str, reason: FieldReason, text: str) -> NoReturn:  # noqa: ARG002 - one rule for both
        """Note the error of a value, and skip it."""
        self.note(path, text)
        raise RefusedError

    def note(self, path: str, text: str, rule: FindingRule = "schema", also: tuple[str, ...] = ()) -> None:
        """Note an error; too many of them end the reading."""
        self.findings.append(Finding(rule, path, text, also))
        if len(self.findings) >= _FINDINGS:
            raise ValidationError("the JSON of a graph, of which not all was read", tuple(self.findings))

    def attempt(self, read: Callable[[Field], T], field: Field) -> T | None:
        """Return the parsed value of a field; None if it was refused."""
        try:
            return read(field)
        except RefusedError:
            return None


@final
class PartReader:
    """Reads the parts of nodes. Each method raises `RefusedError` after noting the error."""

    __slots__ = ("_boxes", "_ids", "faults")

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        # Many shards name one tensor, and many operands of a shard have one range: each is made once.
        self._ids: dict[str, UUID] = {}
        self._boxes: dict[tuple[tuple[int, ...], tuple[int, ...]], Box] = {}

    def uuid(self, field: Field) -> UUID:
        """Return an id."""
        value = field.value
        known = self._ids.get(value) if isinstance(value, str) else None
        if known is not None:
            return known
        if not isinstance(value, str) or not _UUID.fullmatch(value):
            field.must_be("a UUID, as 8-4-4-4-12 hexadecimal digits")
        return self._ids.setdefault(value, UUID(value))

    def integers(self, field: Field) -> tuple[int, ...]:
        """Return a list of integers of any size, one per mode."""
        return field.integers(most_items=_MODES)

    def box(self, field: Field) -> Box:
        """Return the box of a range."""
        field.object({"start", "end"})
        start = self.faults.attempt(self.integers, field["start"])
        corners = needed(start), self.integers(field["end"])
        box = self._boxes.get(corners)
        if box is None:
            box = self._boxes[corners] = _made(field, lambda: Shape.from_bounds(*corners))
        return box

    def named(self, field: Field, read: Callable[[Field], T]) -> dict[str, tuple[T, ...]]:
        """Return an object of lists, each item of which `read` reads."""
        before, found = len(self.faults.findings), dict[str, tuple[T, ...]]()
        for name, items in field.entries():
            if len(name) > _NAME or not NAME.fullmatch(name):
                allowed = f"match ^[a-zA-Z_][a-zA-Z0-9_]*$ and have at most {_NAME} characters"
                self.faults.note(str(field), f"must be an object whose keys {allowed}, not {name[:40]!r}")
                continue
            listed = self.faults.attempt(Field.items, items) or []
            read_items = [self.faults.attempt(read, item) for item in listed]
            found[name] = tuple([item for item in read_items if item is not None])
        if len(self.faults.findings) > before:
            raise RefusedError
        return found

    def region(self, field: Field) -> Region:
        """Return a region."""
        field.object({"tensorId", "range"})
        tensor = self.faults.attempt(self.uuid, field["tensorId"])
        box = self.box(field["range"])
        return Region(needed(tensor), box)

    def projection(self, field: Field, rank: int | None) -> Projection:
        """Return a projection; `rank` is that of the index, if there is one."""
        affine = field.object({"affineMap", "shape"}, {"ranges"})["affineMap"].object(
            {"projection", "offset"}
        )
        rows = affine["projection"].items(of="a list of rows", most=_MODES)
        matrix = [self.faults.attempt(self.integers, row) for row in rows]
        offset = self.faults.attempt(self.integers, affine["offset"])
        shape = self.integers(field["shape"])
        numbers = [needed(row) for row in matrix], needed(offset)
        # Without rows nothing but the index tells the number of columns.
        columns = None if rows else rank or 0
        tables = self._tables(field["ranges"]) if "ranges" in field else None
        return _made(field, lambda: Projection(IndexMap(*numbers, input_rank=columns), shape, tables))

    def _tables(self, field: Field) -> list[Ranges | None]:
        """Return the tables of ranges of the modes of an operand."""
        found: list[Ranges | None] = []
        for own in field.items(most=_MODES):
            if own.value is None:
                found.append(None)
                continue
            start = own.object({"start", "marks"})["start"].integer(-_WORD, _WORD)
            marks = own["marks"].integers()
            found.append(_made(own["marks"], partial(Ranges.from_marks, marks, origin=start)))
        return found

    def signature(self, field: Field, rank: int | None) -> Signature:
        """Return a signature; `rank` is that of the index, if there is one."""
        field.object(optional={"inputs", "outputs"})

        def read(item: Field) -> Projection:
            return self.projection(item, rank)

        return Signature(*self.sides(field, read))

    def sides(
        self, field: Field, read: Callable[[Field], T]
    ) -> tuple[dict[str, tuple[T, ...]], dict[str, tuple[T, ...]]]:
        """Return the results of `read` for the inputs and the outputs in an object; none if it lacks them."""

        def side(items: Field) -> dict[str, tuple[T, ...]]:
            return self.named(items, read)

        inputs = self.faults.attempt(side, field["inputs"]) if "inputs" in field else {}
        outputs = side(field["outputs"]) if "outputs" in field else {}
        return needed(inputs), outputs


def _made(field: Field, make: Callable[[], T]) -> T:
    """Return the result of `make` for the values of a field, which may not fit together."""
    try:
        return make()
    except TensorWrapperError as error:
        field.refuse(str(error))
