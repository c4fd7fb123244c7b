"""`ServedTensor`: one served tensor, at one version, with its facts and its elements for clients."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, cast, final

import attrs
import numpy as np

from tensorwrapper._arrays import as_truths
from tensorwrapper.buffer.lowlevel import convert_elements
from tensorwrapper.errors import ConversionError, RequestRefusedError
from tensorwrapper.remote.protocol._elements import (
    LINES,
    NULLABLE,
    VALID,
    bytes_of,
    dtype_text,
    fill_bytes,
    pack_strings,
)
from tensorwrapper.remote.protocol._events import AskWrite, Elements, Entries, Facts, Rows, Text
from tensorwrapper.remote.protocol._limits import ServeLimits
from tensorwrapper.remote.served._buffer_pool import BufferPool
from tensorwrapper.remote.served._element_reader import ElementReader, places_of
from tensorwrapper.remote.served._shared_lock import SharedLock
from tensorwrapper.remote.served._writing import validity_of, values_of
from tensorwrapper.selection import Runs, Source, View, Wanted, as_view
from tensorwrapper.selection.lowlevel import sides_of_view
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, IntArray
from tensorwrapper.wire.lowlevel import small_dtype

if TYPE_CHECKING:
    from tensorwrapper.selection import Cancel, ViewLike

_GLANCE: Final = 2**16
"""Rows that tell whether lengths differ."""


@final
class ServedTensor:
    """A tensor, or an argument of `as_view`, at one version.

    Elements are copied under the shared side of the lock for editing, so an answer has all of a change or
    nothing.
    A tensor in tiles has two readers: of the tiles one after the other, and of the box.
    """

    __slots__ = (
        *("_box", "_given", "_text", "_valid", "_whole"),
        *("facts", "limits", "lock", "splits", "staging"),
    )

    def __init__(
        self,
        name: str,
        given: "ViewLike",
        version: str,
        limits: ServeLimits,
        staging: BufferPool | None = None,
        *,
        kept: bool = True,
    ) -> None:
        self.staging: BufferPool = BufferPool() if staging is None else staging
        self.lock: SharedLock = SharedLock()
        self.limits = limits
        self._text: str | None = None
        sides = sides_of(given)
        self._whole = whole = ElementReader(given if sides is None else sides[0], kept=kept)
        self._given = whole.given if sides is None else given
        box = _box_of(whole.given)
        self._box = None if box is None else ElementReader(box, kept=kept)
        # Readers of the validity of nullable elements: of all, and of the box.
        self._valid: tuple[ElementReader, ElementReader | None] | None = None
        if sides is not None:
            marks = _box_of(sides[1])
            self._valid = (
                ElementReader(sides[1], kept=kept),
                None if marks is None else ElementReader(marks, kept=kept),
            )
        shape = self.shape
        self.splits = _row_splits(shape)
        fill = None if whole.tensor is None else whole.tensor.buffer.fill_value
        try:
            dtype = NULLABLE * (sides is not None) + dtype_text(self.source.dtype)
        except ConversionError as error:
            raise ConversionError(f"cannot serve the tensor {name!r}: {error}") from None
        self.facts = Facts(
            name,
            version,
            shape.kind,
            shape.rank,
            shape.size,
            dtype,
            shape=shape.to_json() if shape.is_box else None,
            rows=None if self.splits is None else len(self.splits) - 1,
            entries=None if fill is None else len(whole.stored()[0]),
            fill=None if fill is None else fill_bytes(fill, self.source.dtype).hex(),
            box=None if self._box is None else self._box.shape.origin,
            present=whole.count_present(),
            symmetry=whole.symmetry(),
        )

    @property
    def source(self) -> Source:
        """Source of its elements."""
        return self._whole.source

    @property
    def given(self) -> "ViewLike":
        """The served tensor, or a view of it."""
        return self._given

    @property
    def is_nullable(self) -> bool:
        """True if elements may be nulls."""
        return self._valid is not None

    @property
    def shape(self) -> Shape[Any]:
        """The indices of the elements."""
        return self._whole.shape

    def bytes_of(self, selections: Sequence[Wanted], dtype: str | None) -> int:
        """Return the maximum memory needed to create an answer of elements, in bytes."""
        itemsize = self.source.dtype.itemsize + self.is_nullable
        if dtype is not None and dtype not in (VALID, *LINES):
            try:
                itemsize += _dtype(dtype).itemsize
            except RequestRefusedError:
                return 0
        return sum([own.size for own in selections]) * itemsize

    def is_quick(self, selections: Sequence[Wanted], *, box: bool = False) -> bool:
        """Return True if reading selections takes less time than passing them to another thread."""
        face = self._box if box else self._whole
        return face is None or (not self.lock.locked() and face.is_quick(selections))

    def _face(self, *, box: bool, valid: bool = False) -> ElementReader:
        faces = self._valid if valid else (self._whole, self._box)
        if faces is None:
            raise RequestRefusedError("unsupported", f"no element of {self.facts.name!r} is a null")
        face = faces[1] if box else faces[0]
        if face is None:
            raise RequestRefusedError("unsupported", f"{self.facts.name!r} is not a box in tiles")
        return face

    # Answers.

    def text(self) -> Text:
        """Return the whole shape as JSON."""
        text = self._text
        if text is None:
            self._check_rows()
            # Other threads read while it is made; no edit changes it.
            text = self._text = self.shape.to_json()
        if len(text) > self.limits.shape_bytes:
            raise RequestRefusedError(
                "limit", f"the shape has {len(text)} bytes, but the limit is {self.limits.shape_bytes}"
            )
        return Text(self.facts.version, text)

    def _check_rows(self) -> None:
        """Raise for a shape of more lengths than a text has room for, which is not made."""
        splits, most = self.splits, self.limits.shape_bytes
        if splits is None or 2 * len(splits) <= most:
            return
        lengths = np.diff(splits[:_GLANCE])
        # Lengths that are all alike are written as one.
        if (lengths != lengths[0]).any():
            raise RequestRefusedError(
                "limit", f"{len(splits) - 1} rows have no room in {most} bytes of a shape"
            )

    def rows(self, rows: Runs, nbytes: int = 0) -> Rows:
        """Return the starts of runs of rows, all row lengths, and the elements if they are few."""
        splits = self.splits
        if splits is None:
            raise RequestRefusedError("unsupported", f"{self.facts.name!r} has no rows of that kind")
        if rows.stop >= len(splits):
            raise RequestRefusedError("bounds", f"there are {len(splits) - 1} rows, not {rows.stop}")
        if 8 * rows.size > self.limits.answer_bytes:
            raise RequestRefusedError("limit", f"{rows.size} rows are too many for one answer")
        starts, ends = splits[rows.starts], splits[rows.ends]
        if len(rows.starts) == rows.size:
            lengths = ends - starts
        else:
            numbers = rows.numbers()
            lengths = splits[numbers + 1] - splits[numbers]
        size, own = int((ends - starts).sum()), self.source.dtype
        few = size * own.itemsize <= min(nbytes, self.limits.answer_bytes)
        if not nbytes or not few or own.kind == "T" or self.is_nullable:
            return Rows(self.facts.version, starts, lengths)
        # Fast path for contiguous elements: no runs are made.
        if self.is_in_line:
            near = self.read_at(places_of(starts, ends - starts))
            return Rows(near.version, starts, lengths, near.frames[0])
        found = self.read((Runs(starts, ends - starts),), None)
        return Rows(found.version, starts, lengths, found.frames[0])

    @property
    def is_in_line(self) -> bool:
        """True if the elements are contiguous in memory, in the byte order of an answer."""
        return self._whole.line is not None and self.source.dtype.kind != "T"

    def read_at(self, places: IntArray) -> Elements:
        """Return elements by their numbers, which are within bounds; of a tensor that is in line."""
        flat = self._whole.line
        if flat is None:
            raise AssertionError  # `is_in_line` tells
        with self.lock.reading:
            return Elements(self.facts.version, (bytes_of(flat.take(places, mode="clip")),))

    def runs_of(self, rows: Runs) -> Runs:
        """Return the runs of elements of runs of indices of mode 0: of rows, or of a dense box."""
        splits, shape, facts = self.splits, self.shape, self.facts
        if splits is None and (not shape.is_box or not shape.rank or facts.entries is not None):
            raise RequestRefusedError("unsupported", f"{facts.name!r} is neither rows nor a dense box")
        count = shape.extents[0] if splits is None else len(splits) - 1
        if rows.stop > count:
            raise RequestRefusedError("bounds", f"there are {count} rows, not {rows.stop}")
        if splits is None:
            inner = math.prod(shape.extents[1:])
            return Runs(rows.starts * inner, rows.lengths * inner)
        starts = splits[rows.starts]
        return Runs(starts, splits[rows.ends] - starts)

    def read(
        self,
        selections: Sequence[Wanted],
        dtype: str | None,
        stop: "Cancel | None" = None,
        *,
        box: bool = False,
    ) -> Elements:
        """Return the elements of selections, copied out at once."""
        is_valid = dtype == VALID
        if dtype in LINES:
            face, dtype = self._whole.line_of(dtype), None
        else:
            face = self._face(box=box, valid=is_valid)
        own, dtype = face.source.dtype, None if is_valid else dtype
        plain = dtype is None and not self.is_nullable
        part = face.part(selections, self.limits.answer_bytes) if plain else None
        if part is not None:
            with self.lock.reading:
                return Elements(self.facts.version, (memoryview(as_truths(part).tobytes()),))
        if own.kind == "T" and dtype is not None:
            raise RequestRefusedError("unsupported", "cannot cast strings")
        wanted_type = own if dtype is None else _dtype(dtype)
        # One byte of a stored element may become sixteen in the requested type.
        face.check(selections, max(own.itemsize, wanted_type.itemsize), self.limits.answer_bytes)
        total = sum([wanted.size for wanted in selections])
        out: Array = self.staging.take(total, own)
        done, targets = 0, list[Array]()
        for wanted in selections:
            targets.append(out[done : done + wanted.size].reshape(wanted.extents))
            done += wanted.size
        with self.lock.reading:
            version = self.facts.version
            face.copy_to(selections, targets, stop)
            if self.is_nullable and not is_valid:
                # Do not send the value under a null.
                self._clear(selections, out, stop, box=box)
        if own.kind == "T":
            return Elements(version, pack_strings(out, 16 * self.limits.answer_bytes))
        packed = out if wanted_type == own else convert_elements(out, wanted_type)
        little = packed.astype(packed.dtype.newbyteorder("<"), copy=False)
        if little is not out and not np.may_share_memory(little, out):
            self.staging.give((bytes_of(out),))
        return Elements(version, (bytes_of(little),))

    def _clear(self, selections: Sequence[Wanted], out: Array, stop: "Cancel | None", *, box: bool) -> None:
        """Write zeros for nulls among elements of selections."""
        valid = np.empty(len(out), np.bool_)
        done, targets = 0, list[Array]()
        for wanted in selections:
            targets.append(valid[done : done + wanted.size].reshape(wanted.extents))
            done += wanted.size
        self._face(box=box, valid=True).copy_to(selections, targets, stop)
        out[~valid] = np.zeros((), out.dtype)

    def entries(
        self, selections: Sequence[Wanted], *, box: bool = False, stop: "Cancel | None" = None
    ) -> Entries:
        """Return the stored entries of a sparse tensor within selections."""
        if self.facts.entries is None:
            raise RequestRefusedError("unsupported", f"{self.facts.name!r} is not sparse")
        face = self._face(box=box)
        face.check(selections, 0, self.limits.answer_bytes)
        with self.lock.reading:
            most = self.limits.answer_bytes // (8 + self.source.dtype.itemsize)
            counts, numbers, values = face.stored_in(selections, most, stop)
            chosen = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"), copy=False)
            return Entries(self.facts.version, np.array(counts, np.int64), numbers, bytes_of(chosen))

    @property
    def is_writable(self) -> bool:
        """True if its elements can be replaced: in writable memory, each at one position."""
        return self._whole.is_writable and (self._valid is None or self._valid[0].is_writable)

    def write(self, request: AskWrite, bump: Callable[[], str]) -> str:
        """Store values, all or none, and return the new version of the tensor."""
        if not self.is_writable:
            raise RequestRefusedError("readonly", f"{self.facts.name!r} is read-only")
        face = self._face(box=request.box)
        face.check(request.selections, 0, self.limits.answer_bytes)
        values = values_of(request, self.source.dtype, self.facts.dtype)
        valid = validity_of(request) if self.is_nullable else None
        with self.lock:
            if request.version not in (self.facts.version, ""):
                raise RequestRefusedError(
                    "changed", f"the tensor {self.facts.name!r} is at version {self.facts.version}"
                )
            face.store(request.selections, values)
            if valid is not None:
                self._face(box=request.box, valid=True).store(request.selections, valid)
            self.forget()
            entries = None if self.facts.entries is None else len(self._whole.stored()[0])
            self.facts = attrs.evolve(self.facts, version=bump(), entries=entries)
            return self.facts.version

    def forget(self) -> None:
        """Drop caches of the elements, which have been edited."""
        for face in (self._whole, self._box, *(self._valid or ())):
            if face is not None:
                face.forget()


def sides_of(given: "ViewLike") -> "tuple[Any, Any] | None":
    """Return the values and truth values of a nullable tensor or view; None for others."""
    known = cast("object", given)
    if isinstance(known, Tensor):
        tensor = cast("Tensor[Any]", known)
        sides = tensor.buffer.sides
        if sides is None:
            return None
        return make_tensor(tensor.layout, sides[0]), make_tensor(tensor.layout, sides[1])
    view = as_view(given)
    # The type of text tells whether it may be null, and its nulls travel with it.
    found = None if view.dtype.kind == "T" else sides_of_view(view.expression)
    return None if found is None else (View(found[0]), View(found[1]))


def _dtype(text: str) -> "np.dtype[Any]":
    small = small_dtype(text)
    if small is not None:
        return small
    try:
        return np.dtype(text)
    except (TypeError, ValueError):
        raise RequestRefusedError("unsupported", f"unknown type of elements {text!r}") from None


def _box_of(given: "ViewLike") -> "View[Any] | Tensor[Any] | None":
    """Return the box under tiles, or under layers of tiles; None for other tensors."""
    known: Any = cast("object", given) if isinstance(given, Tensor) else as_view(given)
    if known.shape.is_box:
        return None
    flat = known.flatten() if known.shape.has_layers else known
    return flat.untiled() if hasattr(flat, "tiling") else None


def _row_splits(shape: Shape[Any]) -> IntArray | None:
    """Return the row splits of a jagged shape of plain rows; None for others."""
    if shape.is_box or shape.has_layers or shape.rank != 2 or any(shape.names):
        return None
    if shape.is_uniform(1) and shape.extent(0):
        return None
    splits = shape.splits(1)
    return splits if Shape.from_offsets(splits) == shape else None
