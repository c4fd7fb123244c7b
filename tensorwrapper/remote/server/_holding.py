"""`Holding`: one tensor that is served, at one version, and what a client may know and read of it."""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, cast, final

import attrs
import numpy as np

from tensorwrapper._value_class import evolve
from tensorwrapper.buffer.lowlevel import convert_elements
from tensorwrapper.errors import ComputationCancelledError, ConversionError, RequestRefusedError
from tensorwrapper.remote.protocol._elements import bytes_of, dtype_text, pack_strings
from tensorwrapper.remote.protocol._events import AskWrite, Elements, Entries, Facts, Rows, Text
from tensorwrapper.remote.protocol._terms import ServeLimits
from tensorwrapper.remote.server._gathering import memory_of
from tensorwrapper.remote.server._tiles import tiles_of
from tensorwrapper.remote.server._view_source import ViewSource
from tensorwrapper.remote.server._writing import store_values, values_of
from tensorwrapper.selection import Runs, Source, TensorSource, View, Wanted, as_view
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, IntArray

if TYPE_CHECKING:
    from tensorwrapper.selection import Cancel, ViewLike

__all__ = ["Holding"]

_FEW: Final = 2**16
"""Bytes of several selections that the thread of the sockets reads itself."""
_STRING: Final = 16
"""Bytes of a string that are counted before it is read."""


@final
class Holding:
    """A tensor, or what a view can be made of, at one version.

    Elements are copied out under a lock, which whoever edits them in place holds: an answer has either all
    of a change or nothing.
    """

    __slots__ = ("_entries", "_memory", "_tensor", "_tiles", "facts", "limits", "lock", "source", "splits")

    def __init__(self, name: str, given: "ViewLike", version: str, limits: ServeLimits) -> None:
        self.lock = threading.Lock()
        self.limits = limits
        self._tensor = _tensor_of(given)
        self.source: Source = (
            ViewSource(as_view(given)) if self._tensor is None else TensorSource(self._tensor)
        )
        self._memory = None if self._tensor is None else memory_of(self._tensor)
        self._tiles = None if self._tensor is None or self._memory else tiles_of(self._tensor)
        self._entries: tuple[IntArray, Array] | None = None
        shape = self.source.shape
        self.splits = _row_splits(shape)
        fill = None if self._tensor is None else self._tensor.buffer.fill_value
        try:
            dtype = dtype_text(self.source.dtype)
        except ConversionError as error:
            raise ConversionError(f"the tensor {name!r} cannot be served: {error}") from None
        self.facts = Facts(
            name,
            version,
            shape.kind,
            shape.rank,
            shape.size,
            dtype,
            shape=shape.to_json() if shape.is_box else None,
            rows=None if self.splits is None else len(self.splits) - 1,
            entries=None if fill is None else len(self._stored()[0]),
            fill=None if fill is None else np.asarray(fill, self.source.dtype).tobytes().hex(),
        )

    def is_quick(self, selections: Sequence[Wanted]) -> bool:
        """Tell whether selections are read faster than another thread is asked to do it."""
        memory = self._memory
        few = (
            len(selections) == 1 or sum([own.size for own in selections]) * self.source.dtype.itemsize <= _FEW
        )
        return few and memory is not None and not self.lock.locked() and all(map(memory.is_quick, selections))

    @property
    def given(self) -> "ViewLike":
        """What is served: a tensor, or a view of it."""
        if self._tensor is not None:
            return self._tensor
        return self.source.view if isinstance(self.source, ViewSource) else self.source

    @property
    def shape(self) -> Shape[Any]:
        """The indices of the elements."""
        return self.source.shape

    # What it answers.

    def text(self) -> Text:
        """Return the whole shape as JSON."""
        text = self.shape.to_json()
        if len(text) > self.limits.shape_bytes:
            raise RequestRefusedError(
                "limit", f"the shape has {len(text)} bytes; {self.limits.shape_bytes} are allowed"
            )
        return Text(self.facts.version, text)

    def rows(self, rows: Runs, nbytes: int = 0) -> Rows:
        """Return where runs of rows begin, the lengths of all rows in them, and few elements at once."""
        splits = self.splits
        if splits is None:
            raise RequestRefusedError("unsupported", f"{self.facts.name!r} has no rows of that kind")
        if len(rows.starts) and int(rows.ends[-1]) >= len(splits):
            raise RequestRefusedError("bounds", f"there are {len(splits) - 1} rows, and not {rows.ends[-1]}")
        if 8 * rows.size > self.limits.answer_bytes:
            raise RequestRefusedError("limit", f"{rows.size} rows are too many for one answer")
        starts, ends = splits[rows.starts], splits[rows.ends]
        if len(rows.starts) == rows.size:
            lengths = ends - starts
        else:
            numbers = rows.numbers()
            lengths = splits[numbers + 1] - splits[numbers]
        size, own = int((ends - starts).sum()), self.source.dtype
        if not nbytes or size * own.itemsize > min(nbytes, self.limits.answer_bytes) or own.kind == "T":
            return Rows(self.facts.version, starts, lengths)
        found = self.read((Runs(starts, ends - starts),), None)
        return Rows(found.version, starts, lengths, found.frames[0])

    def read(self, selections: Sequence[Wanted], dtype: str | None, stop: "Cancel | None" = None) -> Elements:
        """Return the elements of selections, copied out at once."""
        own = self.source.dtype
        self._check(selections, own.itemsize)
        total = sum([wanted.size for wanted in selections])
        out: Array = np.empty(total, own)
        done, targets = 0, list[Array]()
        for wanted in selections:
            targets.append(out[done : done + wanted.size].reshape(wanted.extents))
            done += wanted.size
        with self.lock:
            version = self.facts.version
            memory = self._memory
            if memory is not None and all(map(memory.knows, selections)):
                for wanted, target in zip(selections, targets, strict=True):
                    memory.copy_to(wanted, target)
            else:
                self._read_others(selections, targets, stop)
        if own.kind == "T":
            if dtype is not None:
                raise RequestRefusedError("unsupported", "strings are no elements of another type")
            return Elements(version, pack_strings(out, 16 * self.limits.answer_bytes))
        wanted_type = own if dtype is None else _dtype(dtype)
        packed = out if wanted_type == own else convert_elements(out, wanted_type)
        little = packed.astype(packed.dtype.newbyteorder("<"), copy=False)
        return Elements(version, (bytes_of(little),))

    def _read_others(
        self, selections: Sequence[Wanted], targets: Sequence[Array], stop: "Cancel | None"
    ) -> None:
        tiles, left = self._tiles, list(zip(selections, targets, strict=True))
        if tiles is not None:
            for wanted, target in left:
                if isinstance(wanted, Runs) and tiles.knows(wanted):
                    tiles.copy_to(wanted, target)
            left = [own for own in left if not (isinstance(own[0], Runs) and tiles.knows(own[0]))]
        if not left:
            return
        source = evolve(self.source, stop=stop) if isinstance(self.source, ViewSource) else self.source
        handle = source.read([own for own, _ in left], [own for _, own in left])
        for _ in handle.completed():
            if stop is not None and stop.is_set():
                handle.cancel()
                raise ComputationCancelledError("nobody wants it any more")

    def entries(self, selections: Sequence[Wanted]) -> Entries:
        """Return what a sparse tensor stores within selections."""
        if self.facts.entries is None:
            raise RequestRefusedError("unsupported", f"{self.facts.name!r} is not sparse")
        self._check(selections, 0)
        with self.lock:
            ordinals, values = self._stored()
            found = [np.flatnonzero(_within(wanted, ordinals, self.shape)) for wanted in selections]
            places = np.concatenate(found) if found else np.empty(0, np.int64)
            if len(places) * (8 + values.itemsize) > self.limits.answer_bytes:
                raise RequestRefusedError("limit", f"{len(places)} entries are too many for one answer")
            chosen = np.ascontiguousarray(values[places]).astype(values.dtype.newbyteorder("<"), copy=False)
            counts = np.array([len(own) for own in found], dtype=np.int64)
            return Entries(self.facts.version, counts, ordinals[places], bytes_of(chosen))

    @property
    def is_writable(self) -> bool:
        """Whether elements of it can be replaced: what is in memory that may change, each at one place."""
        tensor = self._tensor
        return tensor is not None and not tensor.is_readonly and tensor.layout.is_injective

    def write(self, request: AskWrite, bump: Callable[[], str]) -> str:
        """Store values, all or none of them, and return the version that the tensor has since."""
        tensor = self._tensor
        if tensor is None or not self.is_writable:
            raise RequestRefusedError("readonly", f"{self.facts.name!r} cannot be written to")
        self._check(request.selections, 0)
        values = values_of(request, tensor.dtype, self.facts.dtype)
        with self.lock:
            if request.version not in (self.facts.version, ""):
                raise RequestRefusedError(
                    "changed", f"the tensor {self.facts.name!r} is at version {self.facts.version}"
                )
            store_values(tensor, request.selections, values)
            self.forget()
            entries = None if self.facts.entries is None else len(self._stored()[0])
            self.facts = attrs.evolve(self.facts, version=bump(), entries=entries)
            return self.facts.version

    def forget(self) -> None:
        """Forget what was derived from the elements, which have been edited."""
        self._entries = None

    def _stored(self) -> tuple[IntArray, Array]:
        found = self._entries
        if found is None:
            tensor = self._tensor
            if tensor is None:
                raise RequestRefusedError("unsupported", "a view has no entries")
            found = self._entries = tensor.buffer.stored_of(tensor.layout.implementation)
        return found

    def _check(self, selections: Sequence[Wanted], itemsize: int) -> None:
        """Refuse what leaves the tensor, or is more than an answer may have."""
        shape, total = self.shape, 0
        for wanted in selections:
            total += wanted.size
            if isinstance(wanted, Runs):
                if len(wanted.starts) and int(wanted.ends[-1]) > shape.size:
                    raise RequestRefusedError(
                        "bounds", f"element {int(wanted.ends[-1]) - 1} of {shape.size} is asked for"
                    )
                continue
            if not shape.is_box or len(wanted.modes) != shape.rank:
                raise RequestRefusedError(
                    "bounds",
                    f"positions of {len(wanted.modes)} modes do not select from {shape.kind} rank "
                    f"{shape.rank}; numbers of elements do",
                )
            for mode, (own, extent) in enumerate(zip(wanted.modes, shape.extents, strict=True)):
                if len(own) and int(own[-1]) >= extent:
                    raise RequestRefusedError("bounds", f"position {own[-1]} of {extent} in mode {mode}")
        if itemsize and total * itemsize > max(self.limits.answer_bytes, itemsize):
            raise RequestRefusedError(
                "limit",
                f"{total * itemsize} bytes are asked for at once; {self.limits.answer_bytes} are allowed",
            )


def _tensor_of(given: "ViewLike") -> Tensor[Any] | None:
    """Return the tensor in memory that something is; None of views and of sources elsewhere."""
    value = cast("object", given)
    if isinstance(value, Tensor):
        return cast("Tensor[Any]", value)
    return None if isinstance(value, View) else as_view(given).expression.node.tensor


def _dtype(text: str) -> "np.dtype[Any]":
    try:
        return np.dtype(text)
    except TypeError:
        raise RequestRefusedError("unsupported", f"there are no elements of type {text!r}") from None


def _row_splits(shape: Shape[Any]) -> IntArray | None:
    """Return where rows begin, of a jagged shape that is nothing but rows; None of any other."""
    if shape.is_box or shape.has_layers or shape.rank != 2 or any(shape.names):
        return None
    if shape.is_uniform(1) and shape.extent(0):
        return None
    splits = shape.splits(1)
    return splits if Shape.from_offsets(splits) == shape else None


def _within(wanted: Wanted, ordinals: IntArray, shape: Shape[Any]) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Tell which row-major numbers a selection has."""
    if isinstance(wanted, Runs):
        if not len(wanted.starts):
            return np.zeros(len(ordinals), np.bool_)
        run = np.searchsorted(wanted.starts, ordinals, "right") - 1
        inside: np.ndarray[Any, np.dtype[np.bool_]] = (run >= 0) & (ordinals < wanted.ends[run])
        return inside
    kept = np.ones(len(ordinals), np.bool_)
    if not shape.rank:
        return kept
    for own, positions in zip(np.unravel_index(ordinals, shape.extents), wanted.modes, strict=True):
        if isinstance(positions, range):
            kept &= (own >= positions.start) & (own < positions.stop)
            kept &= (own - positions.start) % positions.step == 0
        else:
            place = np.minimum(np.searchsorted(positions, own), len(positions) - 1)
            kept &= positions[place] == own
    return kept
