"""What nodes of a graph in JSON are made of, read from values that anybody may have written.

What is wrong is collected with its path; ``None`` stands for what could not be read.
"""

import re
from collections.abc import Callable
from typing import Final, TypeVar, final
from uuid import UUID

from tensorwrapper._json import Json, dump_json
from tensorwrapper.errors import Finding, FindingRule, TensorWrapperError, ValidationError
from tensorwrapper.shape import Shape
from tensorwrapper.sharding._boxes import Box
from tensorwrapper.sharding._index_map import IndexMap
from tensorwrapper.sharding._operands import NAME
from tensorwrapper.sharding._projection import Projection
from tensorwrapper.sharding.graph._nodes import Region, Signature

__all__ = ["Leaves", "shown"]

T = TypeVar("T")

_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", re.ASCII)
_SHOWN: Final = 60
_MODES: Final = 32  # a stranger's maps and shards of many modes would keep a checker busy
_NAME: Final = 256  # characters; every item of a list has the name in its path
_FINDINGS: Final = 1000  # a document may be wrong in every place


def shown(value: Json, most: int = _SHOWN) -> str:
    """Return the beginning of a value, as JSON."""
    text = dump_json(value)
    return text if len(text) <= most else f"{text[:most]}..."


@final
class Leaves:
    """Reads the parts of nodes and collects what is wrong with them."""

    __slots__ = ("_boxes", "_ids", "findings")

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        # Many shards name one tensor, and many operands of a shard have one range: each is made once.
        self._ids: dict[str, UUID] = {}
        self._boxes: dict[tuple[tuple[int, ...], tuple[int, ...]], Box] = {}

    def refuse(self, path: str, value: Json, allowed: str) -> None:
        """Note that a value is not what is allowed."""
        self.report(path, f"must be {allowed}, not {shown(value)}")

    def report(self, path: str, text: str, rule: FindingRule = "schema", also: tuple[str, ...] = ()) -> None:
        """Note what is wrong; too much of it ends the reading."""
        self.findings.append(Finding(rule, path, text, also))
        if len(self.findings) >= _FINDINGS:
            raise ValidationError("the JSON of a graph, of which not all was read", tuple(self.findings))

    def guarded(self, path: str, make: Callable[[], T]) -> T | None:
        """Return what `make` makes, or note why it cannot."""
        try:
            return make()
        except TensorWrapperError as error:
            self.report(path, str(error))
            return None

    def fields(self, value: Json, path: str, needed: str, optional: str = "") -> dict[str, Json] | None:
        """Return an object that has all the needed keys and no unknown one."""
        if not isinstance(value, dict):
            self.refuse(path, value, "an object")
            return None
        wanted, known = needed.split(), {*needed.split(), *optional.split()}
        missing, extra = (
            [key for key in wanted if key not in value],
            [key for key in value if key not in known],
        )
        for key in missing:
            self.report(path, f"lacks the key {key!r}")
        for key in extra[:3]:
            self.report(path, f"has the unknown key {key[:40]!r}; known are {', '.join(sorted(known))}")
        return None if missing or extra else value

    def text(self, value: Json, path: str) -> str | None:
        """Return a text."""
        if isinstance(value, str):
            return value
        self.refuse(path, value, "text")
        return None

    def uuid(self, value: Json, path: str) -> UUID | None:
        """Return an id."""
        if isinstance(value, str):
            known = self._ids.get(value)
            if known is None and _UUID.fullmatch(value):
                known = self._ids[value] = UUID(value)
            if known is not None:
                return known
        self.refuse(path, value, "a UUID, as 8-4-4-4-12 hexadecimal digits")
        return None

    def integers(self, value: Json, path: str) -> list[int] | None:
        """Return a list of integers, which may have any size."""
        if isinstance(value, list):
            # Not isinstance: true is an integer to Python, and not to anybody else.
            numbers = [item for item in value if type(item) is int]
            if len(numbers) == len(value) <= _MODES:
                return numbers
        self.refuse(path, value, f"a list of integers, at most {_MODES}")
        return None

    def box(self, value: Json, path: str) -> Box | None:
        """Return the box of a range."""
        fields = self.fields(value, path, "start end")
        if fields is None:
            return None
        start, end = (
            self.integers(fields["start"], f"{path}.start"),
            self.integers(fields["end"], f"{path}.end"),
        )
        if start is None or end is None:
            return None
        corners = tuple(start), tuple(end)
        if corners not in self._boxes:
            box = self.guarded(path, lambda: Shape.from_bounds(*corners))
            if box is None:
                return None
            self._boxes[corners] = box
        return self._boxes[corners]

    def named(
        self, value: Json, path: str, read: Callable[[Json, str], T | None]
    ) -> "dict[str, tuple[T, ...]] | None":
        """Return an object of lists, each item of which `read` reads."""
        if not isinstance(value, dict):
            self.refuse(path, value, "an object of lists")
            return None
        found: dict[str, tuple[T, ...]] = {}
        whole = True
        for name, items in value.items():
            fits = len(name) <= _NAME and NAME.fullmatch(name) is not None
            if not fits:
                allowed = f"an object whose keys match ^[a-zA-Z_][a-zA-Z0-9_]*$, at most {_NAME} characters"
                self.refuse(path, name, allowed)
            if not isinstance(items, list):
                self.refuse(f"{path}.{name[:_SHOWN]}", items, "a list")
            if not fits or not isinstance(items, list):
                whole = False
                continue
            read_items = [read(item, f"{path}.{name}[{k}]") for k, item in enumerate(items)]
            found[name] = tuple([item for item in read_items if item is not None])
            whole = whole and len(found[name]) == len(items)
        return found if whole else None

    def region(self, value: Json, path: str) -> Region | None:
        """Return a region."""
        fields = self.fields(value, path, "tensorId range")
        if fields is None:
            return None
        tensor, box = (
            self.uuid(fields["tensorId"], f"{path}.tensorId"),
            self.box(fields["range"], f"{path}.range"),
        )
        return None if tensor is None or box is None else Region(tensor, box)

    def projection(self, value: Json, path: str, rank: int | None) -> Projection | None:
        """Return a projection; `rank` is that of the index, if there is one."""
        fields = self.fields(value, path, "affineMap shape")
        held = (
            None
            if fields is None
            else self.fields(fields["affineMap"], f"{path}.affineMap", "projection offset")
        )
        if fields is None or held is None:
            return None
        rows, within = held["projection"], f"{path}.affineMap.projection"
        if not isinstance(rows, list) or len(rows) > _MODES:
            self.refuse(within, rows, f"a list of rows, at most {_MODES}")
            return None
        read = [self.integers(row, f"{within}[{d}]") for d, row in enumerate(rows)]
        matrix = [row for row in read if row is not None]
        offset = self.integers(held["offset"], f"{path}.affineMap.offset")
        shape = self.integers(fields["shape"], f"{path}.shape")
        if len(matrix) != len(rows) or offset is None or shape is None:
            return None
        # Without rows nothing but the index tells the number of columns.
        columns = None if matrix else rank or 0
        return self.guarded(path, lambda: Projection(IndexMap(matrix, offset, input_rank=columns), shape))

    def signature(self, value: Json, path: str, rank: int | None) -> Signature | None:
        """Return a signature; `rank` is that of the index, if there is one."""
        fields = self.fields(value, path, "", "inputs outputs")
        if fields is None:
            return None

        def read(item: Json, where: str) -> Projection | None:
            return self.projection(item, where, rank)

        inputs = self.named(fields.get("inputs", {}), f"{path}.inputs", read)
        outputs = self.named(fields.get("outputs", {}), f"{path}.outputs", read)
        return None if inputs is None or outputs is None else Signature(inputs, outputs)
