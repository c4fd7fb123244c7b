"""Parquet and Feather files, read: each column is a tensor over the rows of the table.

Feather is Arrow's memory in a file: columns are tensors over the mapped file, a part for each batch. In
Parquet numbers are decoded a group of rows at a time, when they are asked for; how long lists and texts are
is known only when all of a column is decoded, and so it is when it is opened.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, final

import numpy as np

from tensorwrapper._arrays import splits_of
from tensorwrapper._integers import MAX_DIGITS
from tensorwrapper._json import parse_json
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import assign_elements, holds_strings
from tensorwrapper.errors import ConversionError, DataFileError, TensorWrapperError
from tensorwrapper.shape import Shape
from tensorwrapper.store.foreign._contents import Contents, Done, Held
from tensorwrapper.store.system._system import of_stranger, reading
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.typing import Array, Extents, IntArray
from tensorwrapper.wire import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from tensorwrapper.selection import Ability, Outer, View, Wanted

__all__ = ["KEY", "open_feather", "open_parquet"]

KEY: Final = b"tensorwrapper"
"""Under which the metadata of a table, and of each column, say what Arrow has no words for: JSON."""
_JSON_BYTES: Final = 2**20


def open_parquet(path: Path, limits: Limits) -> Contents:
    """Return what a Parquet file has; its footer is read.

    Raises
    ------
    DataFileError
        If there is no such file, or it is damaged.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    with reading(path, "Parquet"), pq.ParquetFile(path) as file:
        table = _Table(path, file.metadata, limits)
        return _contents(file.schema_arrow, table.column, "row groups")


def open_feather(path: Path, limits: Limits) -> Contents:
    """Return what a Feather file (of version 2: Arrow's own) has; its footer is read.

    Raises
    ------
    DataFileError
        If there is no such file, or it is damaged.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    with reading(path, "Feather"):
        memory = pa.memory_map(str(path))
        with pa.ipc.open_file(memory) as file:
            batches = _Batches(path, memory, limits)
            return _contents(file.schema, batches.column, "batches")


def _contents(
    schema: "pa.Schema",
    column: "Callable[[int, pa.Field, Tensor[Any]], Tensor[Any] | View[Any]]",
    packing: str,
) -> Contents:
    import pyarrow as pa  # noqa: PLC0415 - an extra

    held: dict[str, Held] = {}
    losses: list[str] = []
    for number, field in enumerate(schema):
        try:
            if pa.types.is_struct(field.type):
                # NumPy would make objects of it.
                raise ConversionError("fields are columns of their own: flatten() of a table of pyarrow")
            empty = as_tensor(pa.array([], field.type))
            said = _said(field.metadata)
        except (TensorWrapperError, pa.ArrowException) as error:
            losses.append(f"the column {field.name!r} has {str(field.type)[:80]}: {error}")
            continue
        if field.name in held:
            raise DataFileError(f"there are two columns {field.name!r}")
        read = partial(_placed, partial(column, number, field, empty), said)
        held[field.name] = Held(0, None, packing, read, cast("Mapping[str, Any]", said.get("metadata", {})))
    return Contents(held, _said(schema.metadata), tuple(losses))


def _said(metadata: "Mapping[bytes, bytes] | None") -> Mapping[str, Any]:
    """Return what we wrote of a table or a column."""
    if not metadata or KEY not in metadata:
        return {}
    text = metadata[KEY]
    found = parse_json(
        text, "what is said of a column", depth=DEFAULT_LIMITS.depth, digits=MAX_DIGITS, max_bytes=_JSON_BYTES
    )
    return cast("Mapping[str, Any]", found) if isinstance(found, dict) else {}


def _placed(read: "Callable[[], Tensor[Any] | View[Any]]", said: Mapping[str, Any]) -> object:
    """Return a column with the names and the origin that are said of it."""
    found = read()
    names = said.get("dimension_names")
    if isinstance(names, list):
        found = found.named(*cast("list[str | None]", names))
    origin = said.get("index_origin")
    if isinstance(origin, list) and all(type(first) is int for first in cast("list[object]", origin)):
        found = found.translate_to(cast("list[int]", origin))
    return found


@final
@frozen(eq=False)
class _Batches:
    """The columns of a Feather file, a part in each batch."""

    path: Path
    memory: "pa.MemoryMappedFile"
    limits: Limits

    def column(self, number: int, field: "pa.Field", empty: Tensor[Any]) -> "Tensor[Any] | View[Any]":
        """Return a column: a tensor over the mapped file, or a view of several."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        parts: list[Tensor[Any]] = []
        nbytes = 0
        whole, place = pa.ipc.IpcReadOptions(), number
        with pa.ipc.open_file(self.memory, options=whole) as file:
            if file.num_record_batches and not self._is_mapped(file.get_batch(0)):
                # Of what is compressed, only this column: for what is not, that would make a copy.
                whole, place = pa.ipc.IpcReadOptions(included_fields=[number]), 0
        with pa.ipc.open_file(self.memory, options=whole) as file:
            for batch in range(file.num_record_batches):
                array = file.get_batch(batch).column(place)
                # Not what it says of itself alone: offsets and text, too.
                array.validate(full=True)
                nbytes += array.nbytes
                _check_bytes(nbytes, field.name, self.limits)
                parts.append(as_tensor(array))
        if len(parts) < 2:
            return parts[0] if parts else empty
        from tensorwrapper.selection import concat  # noqa: PLC0415 - files of one batch need no views

        return concat(parts)

    def _is_mapped(self, batch: "pa.RecordBatch") -> bool:
        """Tell whether the first elements of a batch lie in the mapped file."""
        self.memory.seek(0)
        start = self.memory.read_buffer(1).address
        found = [own for column in batch.columns for own in column.buffers() if own is not None and own.size]
        return not found or start <= found[0].address < start + self.memory.size()


@final
@frozen(eq=False)
class _Table:
    """The columns of a Parquet file."""

    path: Path
    metadata: "pq.FileMetaData"
    limits: Limits

    def column(self, _number: int, field: "pa.Field", empty: Tensor[Any]) -> "Tensor[Any] | View[Any]":
        """Return a column: a view of numbers, or a tensor of lists or text."""
        name = field.name
        if holds_strings(empty.dtype) or not empty.shape.is_box:
            return self._whole(name)
        rows = [self.metadata.row_group(k).num_rows for k in range(self.metadata.num_row_groups)]
        extents = (sum(rows), *empty.shape.extents[1:])
        if max(extents) > self.limits.extent or min(rows, default=0) < 0:
            raise DataFileError(f"{name!r} has the extents {extents}; {self.limits.extent} is the most")
        from tensorwrapper.selection import as_view  # noqa: PLC0415 - other kinds of file need no views

        splits = splits_of(np.array(rows, dtype=np.int64))
        return as_view(_Column(self.path, self.metadata, name, splits, extents, empty.dtype, self.limits))

    def _whole(self, name: str) -> Tensor[Any]:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

        parts: list[pa.Array] = []
        nbytes = 0
        with pq.ParquetFile(self.path, metadata=self.metadata, memory_map=True) as file:
            for group in range(self.metadata.num_row_groups):
                found = file.read_row_group(group, columns=[name]).column(0)
                nbytes += found.nbytes
                _check_bytes(nbytes, name, self.limits)
                parts.extend(found.chunks)
            kind = file.schema_arrow.field(name).type
        return as_tensor(pa.chunked_array(parts, kind).combine_chunks())


def _check_bytes(nbytes: int, name: str, limits: Limits) -> None:
    if nbytes > limits.decompressed_bytes:
        raise DataFileError(
            f"{name!r} takes {nbytes} bytes in memory; {limits.decompressed_bytes} are allowed; "
            "limits=Limits(decompressed_bytes=...) raises that"
        )


@final
@frozen(eq=False, repr=False)
class _Column:
    """Numbers of a Parquet file: groups of rows are decoded for what is asked of them."""

    path: Path
    metadata: "pq.FileMetaData"
    name: str
    splits: IntArray
    """Where the groups of rows begin, and the last ends."""
    extents: Extents
    dtype: "np.dtype[Any]"
    limits: Limits

    @property
    def shape(self) -> Shape[Any]:
        """The rows of the table, and the modes of lists of one length."""
        return Shape(*self.extents)

    @property
    def version(self) -> str:
        """What tells this file from another one at the same path."""
        with of_stranger(self.path, "Parquet"):
            found = self.path.stat()
        return f"{found.st_ino}:{found.st_mtime_ns}:{found.st_size}"

    @property
    def abilities(self) -> "frozenset[Ability]":
        """Any thread may read it: each read opens the file."""
        return frozenset(("threads",))

    def cost(self, selection: "Wanted") -> int:
        """Return how many bytes the groups have that are decoded."""
        groups = self._groups(np.asarray(cast("Outer", selection).modes[0]))
        rows = int((self.splits[groups + 1] - self.splits[groups]).sum())
        return rows * prod(self.extents[1:]) * self.dtype.itemsize

    def _groups(self, rows: IntArray) -> IntArray:
        return np.unique(self.splits.searchsorted(rows, "right") - 1)

    def read(self, selections: "Sequence[Wanted]", out: Sequence[Array]) -> Done:
        """Read selections of positions; each group that they touch is decoded once."""
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

        pairs = [(cast("Outer", own), target) for own, target in zip(selections, out, strict=True)]
        wanted = [([np.asarray(m) for m in own.modes], target) for own, target in pairs if own.size]
        rows = np.concatenate([modes[0] for modes, _ in wanted]) if wanted else np.empty(0, np.int64)
        with (
            of_stranger(self.path, "Parquet"),
            pq.ParquetFile(self.path, metadata=self.metadata, memory_map=True) as file,
        ):
            for group in self._groups(rows).tolist():
                first, last = self.splits[group : group + 2].tolist()
                found = self._decoded(file, group, last - first)
                for modes, target in wanted:
                    begin, end = modes[0].searchsorted([first, last]).tolist()
                    if begin < end:
                        assign_elements(
                            target[begin:end], found[np.ix_(modes[0][begin:end] - first, *modes[1:])]
                        )
        return Done(len(out))

    def _decoded(self, file: "pq.ParquetFile", group: int, n_rows: int) -> Array:
        _check_bytes(n_rows * prod(self.extents[1:]) * self.dtype.itemsize, self.name, self.limits)
        column = file.read_row_group(group, columns=[self.name]).column(0)
        try:
            found = np.asarray(as_tensor(column.combine_chunks()))
        except ConversionError as error:
            raise DataFileError(f"{self.path}: {self.name!r} cannot be read: {error}") from error
        if found.shape != (n_rows, *self.extents[1:]):
            raise DataFileError(f"{self.path}: {self.name!r} has not the rows that its groups claim")
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Column) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self.path, self.name, self.extents, self.dtype, self.splits.tobytes()

    def __repr__(self) -> str:
        return f"parquet({str(self.path)!r}, {self.name!r}, {self.shape!r}, {self.dtype})"
