"""Assemble an Awkward Array from its buffers: lists and options from the outermost to the elements.

Every index is checked before use. Elements stay lazy if they are contiguous in their buffer.
"""

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast, final

import numpy as np

from tensorwrapper._arrays import concatenated_ranges
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import StringData
from tensorwrapper.errors import DataFileError
from tensorwrapper.shape import Shape
from tensorwrapper.store.formats._bytes import check_bytes
from tensorwrapper.store.formats.conventions._file_view import (
    Group,
    Part,
    integers_of,
    refused,
    whole,
)
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.tensor import as_tensor, from_buffer, strings
from tensorwrapper.tensor.lowlevel import buffer_beside_valid, text_or_bytes
from tensorwrapper.typing import IntArray

if TYPE_CHECKING:
    import numpy.typing as npt

    from tensorwrapper.selection import View
    from tensorwrapper.tensor import Tensor

StepKind: TypeAlias = Literal["regular", "offsets", "ranges", "index", "bytes", "bits", "plain"]
_INTEGER: Final = 8
"""Size of a position in bytes."""


@final
@frozen(eq=False)
class Step:
    """A list or an option above the elements."""

    kind: StepKind
    parts: tuple[Part, ...] = ()
    size: int = 0
    """Length of each regular list."""
    valid_when: bool = True
    is_little: bool = True
    """True if the first bit of a mask is the least significant one."""


@final
@frozen(eq=False)
class Leaf:
    """Elements, with the lists and options above them."""

    path: tuple[str, ...]
    """Path of field names."""
    steps: tuple[Step, ...]
    data: Part | None
    """The elements; None for Awkward's unknown type."""
    text: str = ""
    """Kind of strings that the last step splits from bytes; empty for numbers."""


def read_leaf(leaf: Leaf, count: int, group: Group) -> "Tensor[Any] | View[Any]":
    """Return the elements of a leaf in `count` entries.

    Raises
    ------
    DataFileError
        If buffers are inconsistent or exceed the limits, or if a list is null and null rows are not allowed.
    """
    walk = _Walk(count, group)
    for step in leaf.steps[:-1] if leaf.text else leaf.steps:
        walk.take(step)
    if leaf.text:
        found: object = walk.text(leaf.steps[-1], cast("Part", leaf.data), leaf.text)
    else:
        found = walk.numbers(leaf.data)
    return walk.dealt(found)


@final
class _Walk:
    """The current entries: their positions in the next array, and their validity."""

    def __init__(self, count: int, group: Group) -> None:
        self.group = group
        self.count = count
        self.at: slice | IntArray = slice(0, count)
        self.valid: npt.NDArray[np.bool_] | None = None
        """Validity of the elements; None if all are valid."""
        self.levels: list[tuple[int, int | IntArray]] = []
        """For each list level the number of lists, and their common length or their lengths."""

    def take(self, step: Step) -> None:
        """Descend into a list or an option."""
        if step.kind == "regular":
            self._regular(step.size)
        elif step.kind in ("offsets", "ranges"):
            self._lists(*self._ends(step))
        elif step.kind == "index":
            index = self._pick(self._integers(step.parts[0]))
            self.at = np.maximum(index, 0)
            self._mark(index >= 0)
        elif step.kind in ("bytes", "bits"):
            mask = self._integers(step.parts[0])
            if step.kind == "bits":
                order: Literal["little", "big"] = "little" if step.is_little else "big"
                check_bytes(_INTEGER * 8.0 * len(mask), self.group.name, self.group.limits)
                mask = np.unpackbits(mask.astype(np.uint8), bitorder=order).astype(np.int64)
            self._mark((self._pick(mask) != 0) == step.valid_when)

    def numbers(self, data: Part | None) -> "Tensor[Any] | View[Any]":
        """Return the elements at the current entries."""
        if data is None:
            if self.count and self.valid is None:
                raise refused(self.group.name, f"it has {self.count} elements of no type")
            data = Part(self.group.name, (0,), np.dtype(np.float64), lambda: as_tensor(np.empty(0)))
        flat: Any = data.read()
        flat = flat.named(*[None] * len(data.extents)) if any(flat.shape.names) else flat
        size = int(np.prod(data.extents, dtype=object))
        flat = flat if len(data.extents) == 1 else flat.reshape(size)
        if self.valid is None:
            self._check_places(size)
            return cast("Tensor[Any] | View[Any]", flat[self.at])
        check_bytes(self.count * float(data.dtype.itemsize), self.group.name, self.group.limits)
        self._check_places(size)
        valid, at = self.valid, self.at
        places = np.arange(at.start, at.stop, dtype=np.int64) if isinstance(at, slice) else at
        elements = np.zeros(self.count, data.dtype)
        elements[valid] = np.asarray(flat[places[valid]])
        return from_buffer(buffer_beside_valid(elements, valid), Shape(self.count))

    def text(self, step: Step, data: Part, kind: str) -> "Tensor[Any]":
        """Return the strings at the current entries; the last step cuts them."""
        starts, stops = self._ends(step)
        marks = None if self.valid is None else np.packbits(self.valid, bitorder="little")
        if self.valid is not None:
            starts, stops = np.where(self.valid, starts, 0), np.where(self.valid, stops, 0)
        octets = whole(data, self.group.limits).view(np.uint8)
        found = StringData.from_ranges(starts, stops, octets, "binary", validity=marks)
        return strings(text_or_bytes(found) if kind == "string" else found, shape=Shape(self.count))

    def dealt(self, found: object) -> "Tensor[Any] | View[Any]":
        """Return elements grouped into their lists, innermost first."""
        value: Any = found
        for count, level in reversed(self.levels):
            if isinstance(level, int) and value.shape.is_box:
                value = value.reshape((count, level, *value.shape.extents[1:]))
            elif isinstance(level, int) and not level:
                check_bytes(float(_INTEGER * count), self.group.name, self.group.limits)
                value = value.unflatten(np.zeros(count, np.int64))
            else:
                value = value.unflatten(level)
        return cast("Tensor[Any] | View[Any]", value)

    def _integers(self, part: Part) -> IntArray:
        return integers_of(part, self.group.limits)

    def _check_places(self, size: int) -> None:
        """Raise unless all entries are below `size`."""
        at = self.at
        if isinstance(at, slice):
            last = at.stop - 1 if self.count else -1
            first = at.start
        else:
            own = at if self.valid is None else at[self.valid]
            first, last = (int(own.min()), int(own.max())) if len(own) else (0, -1)
        if first < 0 or last >= size:
            raise refused(
                self.group.name, f"a buffer has {size} entries, but entry {max(first, last)} is required"
            )

    def _pick(self, array: IntArray) -> IntArray:
        """Return the entries of an array at the current entries, 0 for those that are not valid."""
        self._check_places(len(array))
        if isinstance(self.at, slice):
            return array[self.at]
        if self.valid is None:
            return array[self.at]
        found = np.zeros(self.count, array.dtype)
        found[self.valid] = array[self.at[self.valid]]
        return found

    def _ends(self, step: Step) -> tuple[IntArray, IntArray]:
        first = self._integers(step.parts[0])
        last = first[1:] if step.kind == "offsets" else self._integers(step.parts[1])
        return self._pick(first[: len(last)]), self._pick(last)

    def _mark(self, valid: "npt.NDArray[np.bool_]") -> None:
        both = valid if self.valid is None else valid & self.valid
        self.valid = None if both.all() else both

    def _regular(self, size: int) -> None:
        total = self.count * size
        if self.valid is None and isinstance(self.at, slice):
            if total > self.group.limits.extent:
                raise refused(self.group.name, f"it has {self.count} lists of {size}")
            self.levels.append((self.count, size))
            self.at, self.count = slice(self.at.start * size, self.at.stop * size), total
            return
        check_bytes(float(_INTEGER * max(total, self.count)), self.group.name, self.group.limits)
        at = self.at
        places = np.arange(at.start, at.stop, dtype=np.int64) if isinstance(at, slice) else at
        if len(places) and int(places.max()) * size > MAX_INT64:
            raise refused(self.group.name, f"it has lists of {size} with starts beyond 64 bits")
        if self.valid is not None:
            self._lists(places * size, places * size + size)
            return
        self.levels.append((self.count, size))
        self.at, self.count = (places[:, None] * size + np.arange(size)).reshape(-1), total

    def _lists(self, starts: IntArray, stops: IntArray) -> None:
        if self.valid is not None:
            nulls = int(np.count_nonzero(~self.valid))
            if self.group.null_rows != "empty":
                text = f"{nulls} of {self.count} lists of {self.group.name!r} are null"
                advice = "tw.open(path, null_rows='empty') makes empty rows of them"
                raise DataFileError(Loss(text, self.group.name, "null", advice))
            starts, stops = np.where(self.valid, starts, 0), np.where(self.valid, stops, 0)
            self.valid = None
        if len(starts) and (int(starts.min()) < 0 or (stops < starts).any()):
            raise refused(self.group.name, "a list starts below 0 or stops before it starts")
        lengths = stops - starts
        self.levels.append((self.count, lengths))
        if not len(starts) or (starts[1:] == stops[:-1]).all():
            self.at = slice(int(starts[0]), int(stops[-1])) if len(starts) else slice(0, 0)
            self.count = self.at.stop - self.at.start
            return
        check_bytes(_INTEGER * float(lengths.sum(dtype=float)), self.group.name, self.group.limits)
        self.at = concatenated_ranges(starts, lengths)
        self.count = len(self.at)
