"""Read Parquet files: a column is decoded one row group at a time.

Columns of numbers are views, whose row groups are decoded on access. The lengths of lists are known only
after decoding. So opening a large column of lists decodes it group by group, keeps only the lengths, and
decodes elements again on access. Text and small columns are tensors. Page headers give the decompressed
sizes, which are checked first.

Sources cannot have nulls. A column of numbers is a view only if the footer statistics or the schema exclude
nulls; otherwise it is decoded on opening. Large lists keep the decoded groups with nulls, and decode other
groups again. A null time is NaT, so columns of times are views.
"""

import contextlib
import functools
from collections.abc import Generator, Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast, final

import attrs
import numpy as np

from tensorwrapper._arrays import elements_at, positions_before, splits_of
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import assign_elements, holds_strings
from tensorwrapper.errors import DataFileError, VersionChangedError
from tensorwrapper.shape import Shape
from tensorwrapper.store.formats._bytes import check_bytes
from tensorwrapper.store.formats._contents import Contents, Done, Opening
from tensorwrapper.store.formats._file_location import Where, name_of, reading_at
from tensorwrapper.store.formats.columns._leaves import Column, Leaf, leaf_array
from tensorwrapper.store.formats.columns._pages import Chunk, Footer, decoded_bytes, read_footer
from tensorwrapper.store.formats.columns._table import contents_of, tensor_of
from tensorwrapper.store.ranges._byte_readers import Span
from tensorwrapper.store.ranges._ranges import Ranges
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.store.system._system import of_stranger
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, Extents, IntArray, NullRows
from tensorwrapper.wire import Limits

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from tensorwrapper.selection import Ability, Outer, View, Wanted

_READ_BY_ALL: Final = {"UNCOMPRESSED", "SNAPPY"}
_CODECS: Final = dict(
    enumerate(("UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"))
)
"""Names of codec numbers in the format."""
_OPTIONAL: Final = {"GZIP": "gzip", "ZSTD": "zstd", "BROTLI": "brotli", "LZ4": "lz4", "LZ4_RAW": "lz4_raw"}
"""Codecs that are optional in pyarrow, with pyarrow's names."""
_AT_ONCE: Final = 2**26
"""Bytes to fetch before decoding."""
_SMALL: Final = 2**25
"""Lists of up to this many bytes are decoded once and kept."""


def open_parquet(where: Where, how: Opening) -> Contents:
    """Return the contents of a Parquet file; reads its footer.

    Null lists raise or read as empty rows, as `how` determines.

    Raises
    ------
    DataFileError
        If the file is missing or damaged.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    if isinstance(where, Path):
        where = where.absolute()  # Columns are read later, maybe from another working folder.
    opened = _version_of(where)
    with reading_at(where, "Parquet"), pq.ParquetFile(_given(where)) as file:
        columns = _columns_of(read_footer(where))
        table = _Table(where, opened, file.metadata, columns, how.limits, how.null_rows)
        return contents_of(file.schema_arrow, table.column, "row groups", table.why_unread)


def _version_of(where: Where) -> str:
    """Return a version that distinguishes files at the same path."""
    if isinstance(where, Ranges):
        return where.version
    with of_stranger(where, "Parquet"):
        found = where.stat()
    return f"{found.st_ino}:{found.st_mtime_ns}:{found.st_size}"


def _given(where: Where, spans: Sequence[Span] = ()) -> "Path | BinaryIO":
    """Return pyarrow's input for a file; for an address, fetch the spans concurrently."""
    return where if isinstance(where, Path) else cast("BinaryIO", where.file_for_libraries(spans))


def _columns_of(footer: Footer) -> dict[str, Footer]:
    """Return a mapping from column names to the column chunks of each row group."""
    found: dict[str, list[list[Chunk]]] = {}
    for number, group in enumerate(footer):
        for chunk in group:
            name = chunk.path[0].decode("utf-8", "replace") if chunk.path else ""
            own = found.setdefault(name, [[] for _ in footer])
            own[number].append(chunk)
    return {name: tuple([tuple(own) for own in groups]) for name, groups in found.items()}


def _why_unread(name: str, groups: Footer) -> Loss | None:
    """Return why this pyarrow does not read a column; None if it does.

    This uses our own parser of the footer. For some damaged footers, pyarrow 26 aborts the process when a
    caller requests column chunks.
    """
    odd = [chunk for group in groups for chunk in group if chunk.is_odd]
    away = next((chunk.away for chunk in odd if chunk.away), None)
    if away is not None:
        path = away.decode("utf-8", "backslashreplace")[:120]
        text = f"the column {name!r} is in other files, {path!r}"
        return Loss(text, name, "link", "tw.open of these has it")
    if odd:
        return Loss(f"the column {name!r} is encrypted", name, "codec", "pyarrow reads it with its keys")
    codec = next(
        (own for own in map(_missing, {chunk.codec for group in groups for chunk in group}) if own), None
    )
    if codec is None:
        return None
    text = f"the column {name!r} is packed by {codec}, which this pyarrow was built without"
    return Loss(text, name, "codec", "the pyarrow of PyPI and of conda-forge unpacks all but LZO")


@functools.cache
def _missing(number: int) -> str | None:
    """Return the name of a codec that pyarrow does not support; None if it does."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    codec = _CODECS.get(number, f"codec {number}")
    known = codec in _READ_BY_ALL or (codec in _OPTIONAL and pa.Codec.is_available(_OPTIONAL[codec]))
    return None if known else codec


@final
@frozen(eq=False)
class _Table:
    """The columns of a Parquet file."""

    where: Where
    opened: str
    metadata: "pq.FileMetaData"
    columns: Mapping[str, Footer]
    limits: Limits
    null_rows: NullRows

    def why_unread(self, own: Column) -> Loss | None:
        """Return why a column cannot be read; None if it can, or if only reading determines it."""
        return _why_unread(own.name, _parts(self.columns.get(own.field.name, ()), own.leaf))

    def column(self, own: Column, empty: Tensor[Any]) -> "Tensor[Any] | View[Any]":
        """Return a column as a view (numbers, many lists) or as a tensor (lists, text)."""
        name = own.name
        chunks = _parts(self._chunks_of(own.field.name), own.leaf)
        groups = _Groups(
            self.where, self.opened, self.metadata, name, own, chunks, self.limits, self.null_rows
        )
        if holds_strings(empty.dtype) or not empty.shape.is_box:
            kept = holds_strings(empty.dtype) or len(groups.rows) < 2 or groups.claimed() <= _SMALL
            return groups.whole() if kept else self._lists(groups)
        extents = (sum(groups.rows), *empty.shape.extents[1:])
        if max(extents) > self.limits.extent or min(groups.rows, default=0) < 0:
            raise DataFileError(f"{name!r} has the extents {extents}, but the limit is {self.limits.extent}")
        is_time = empty.dtype.kind in "mM" and (empty.shape.rank == 1 or self.null_rows == "refuse")
        if not is_time and groups.may_have_nulls():
            return groups.whole()
        from tensorwrapper.selection import as_view  # noqa: PLC0415 - other kinds of file need no views

        splits = splits_of(np.array(groups.rows, dtype=np.int64))
        found = as_view(_Column(groups, splits, extents, empty.dtype))
        return found.named(*empty.shape.names) if any(empty.shape.names) else found

    def _chunks_of(self, name: str) -> Footer:
        own = self.columns.get(name, ())
        if len(own) != self.metadata.num_row_groups or not all(own):
            raise DataFileError(f"{name_of(self.where)} lacks parts of {name!r} that its footer declares")
        return own

    def _lists(self, groups: "_Groups") -> "View[Any]":
        from tensorwrapper.selection import as_view, concat  # noqa: PLC0415 - as above

        parts: list[View[Any]] = []
        numbers = [number for number, count in enumerate(groups.rows) if count]
        for number, found in zip(numbers, groups.tensors(numbers), strict=True):
            source = _Lists(groups, number, found.shape, found.dtype)
            parts.append(as_view(found if found.is_nullable else source))
        return concat(parts)


def _parts(groups: Footer, leaf: Leaf) -> Footer:
    """Return the column chunks of a field of the column."""
    return groups if leaf.is_all else tuple([own[leaf.parts.start : leaf.parts.stop] for own in groups])


@final
@frozen
class _Groups:
    """Row groups of one column, or of a field of a column."""

    where: Where
    opened: str
    """The version of the file whose footer was read."""
    metadata: "pq.FileMetaData"
    name: str
    column: Column
    chunks: Footer
    """Column chunks by row group, several per group for nested columns."""
    limits: Limits
    null_rows: NullRows
    _known: dict[int, tuple[str, bool]] = attrs.field(
        factory=dict[int, tuple[str, bool]], init=False, eq=False, repr=False
    )
    """For groups whose pages were checked, the version of the file, and the result."""

    @property
    def path(self) -> Path | str:
        """Name of the file for errors."""
        return name_of(self.where)

    @property
    def rows(self) -> list[int]:
        """Number of rows of each group."""
        return [self.metadata.row_group(k).num_rows for k in range(self.metadata.num_row_groups)]

    @property
    def version(self) -> str:
        """Version of the file now."""
        return _version_of(self.where)

    def _check_version(self) -> None:
        """Raise if another file is at the path, of which the footer would tell nothing."""
        if isinstance(self.where, Path) and self.version != self.opened:
            raise VersionChangedError(f"{self.path} was changed or replaced after it was opened")

    def claimed(self, group: int | None = None) -> int:
        """Return the declared unpacked size of a group, or of all groups."""
        groups = self.chunks if group is None else self.chunks[group : group + 1]
        return sum([chunk.unpacked for own in groups for chunk in own])

    def may_have_nulls(self) -> bool:
        """Return True unless schema or footer exclude nulls, of elements and of lists."""
        return any(chunk.nulls != 0 and self._is_optional(chunk) for own in self.chunks for chunk in own)

    def _is_optional(self, chunk: Chunk) -> bool:
        known = chunk.number < self.metadata.num_columns
        return not known or self.metadata.schema.column(chunk.number).max_definition_level > 0

    def fetches(self, groups: Sequence[int]) -> tuple[int, int]:
        """Return the number of requests and bytes to fetch the groups."""
        if isinstance(self.where, Path):
            return 0, 0
        told = [self.where.told(self._spans(turn)) for turn in self._turns(groups)]
        return sum([requests for requests, _ in told]), sum([nbytes for _, nbytes in told])

    def _spans(self, groups: Sequence[int]) -> list[Span]:
        return [(own.start, own.start + own.packed) for group in groups for own in self.chunks[group]]

    def _turns(self, groups: Sequence[int]) -> Iterator[Sequence[int]]:
        """Yield groups to fetch together, limited to save memory."""
        if isinstance(self.where, Path) or not groups:
            yield groups
            return
        sizes = np.array([sum([own.packed for own in self.chunks[group]]) for group in groups])
        turn = np.cumsum(sizes) // _AT_ONCE
        for part in np.split(np.asarray(groups), np.flatnonzero(np.diff(turn)) + 1):
            yield part.tolist()

    def tensors(self, groups: Sequence[int]) -> Iterator[Tensor[Any]]:
        """Yield the rows of some groups."""
        # The variable of a loop would keep a group while the next one is decoded.
        tensor = functools.partial(tensor_of, path=self.path, name=self.name, null_rows=self.null_rows)
        yield from map(tensor, self.decoded(groups))

    def whole(self) -> Tensor[Any]:
        """Return all rows."""
        import pyarrow as pa  # noqa: PLC0415 - an extra

        nbytes, parts = 0, list[pa.Array]()
        for found in self.decoded(range(self.metadata.num_row_groups)):
            nbytes += found.nbytes
            check_bytes(nbytes, self.name, self.limits)
            parts.extend(found.chunks)
        kind = parts[0].type if parts else self.column.leaf.kind
        return tensor_of(pa.chunked_array(parts, kind), self.path, self.name, self.null_rows)

    def decoded(self, groups: Sequence[int]) -> "Iterator[pa.ChunkedArray]":
        """Yield a column of the row groups; raise if a group exceeds the limits."""
        for turn in self._turns(groups):
            with of_stranger(self.path, "Parquet"):
                spans = self._spans(turn)
                check_bytes(sum([stop - start for start, stop in spans]), self.name, self.limits)
                file = _given(self.where, spans)
            for group in turn:
                yield self._decoded(group, file)

    def _decoded(self, group: int, given: "Path | BinaryIO") -> "pa.ChunkedArray":
        import pyarrow as pa  # noqa: PLC0415 - an extra

        self._check_version()
        with of_stranger(self.path, "Parquet"), self._whole():
            check_bytes(8 * self.metadata.row_group(group).num_rows, self.name, self.limits)
            texts = self._check_pages(group, given)
            words = [b".".join(own.path).decode() for own in self.chunks[group]] if texts else []
            is_mapped = isinstance(given, Path)
            with _class_of_files()(
                given,
                metadata=self.metadata,
                memory_map=is_mapped,
                pre_buffer=is_mapped,
                read_dictionary=words,
            ) as file:
                found = file.reader.read_row_group(group, column_indices=self._leaves(group))
            if (
                found.column_names != [self.column.field.name]
                or found.num_rows != self.metadata.row_group(group).num_rows
            ):
                raise DataFileError(
                    f"{self.name!r} does not have the number of rows that its row groups declare"
                )
            leaf = self.column.leaf
            # No other field of the structs was read.
            path = (0,) * len(leaf.path)
            parts = [leaf_array(own, path) for own in found.column(0).chunks]
            if words:
                check_bytes(sum(map(_text_bytes, parts)), self.name, self.limits)
                parts = [own.cast(leaf.kind) for own in parts]
            return pa.chunked_array(parts, parts[0].type if parts else leaf.kind)

    @contextlib.contextmanager
    def _whole(self) -> Generator[None, None, None]:
        """Raise the error of a changed file for all errors while it is read, and behind the block."""
        try:
            yield
        finally:
            self._check_version()

    def _check_pages(self, group: int, given: "Path | BinaryIO") -> bool:
        """Raise if the decompressed size is too large. Return True if only repeated strings may exceed it.

        The pages of a group are read once for each version of the file.
        """
        version, known = self.version, self._known.get(group)
        if known is not None and known[0] == version != "":
            return known[1]
        nbytes = texts = 0
        opened = given.open("rb", buffering=0) if isinstance(given, Path) else contextlib.nullcontext(given)
        with opened as file:
            for chunk in self.chunks[group]:
                found, most = decoded_bytes(file, chunk, self._width(chunk))
                nbytes += found
                texts += most if chunk.is_text else 0
        check_bytes(nbytes, self.name, self.limits)
        has_long_texts = nbytes + texts > self.limits.decompressed_bytes
        self._known[group] = version, has_long_texts
        return has_long_texts

    def _width(self, chunk: Chunk) -> int:
        """Return the bytes per value if the schema fixes them and not the type."""
        # Making the schema takes longer than reading the page headers.
        if not chunk.has_width or chunk.number >= self.metadata.num_columns:
            return 0
        return max(self.metadata.schema.column(chunk.number).length, 0)

    def _leaves(self, group: int) -> list[int]:
        """Return the numbers of the column's parts, because pyarrow treats names with dots as paths."""
        numbers = [chunk.number for chunk in self.chunks[group]]
        leaf = self.column.leaf
        if not leaf.is_all and len(numbers) != len(leaf.parts):
            raise DataFileError(f"{self.path} lacks parts of {self.name!r}")
        if max(numbers, default=0) >= self.metadata.num_columns:
            raise DataFileError(f"{self.path} has more parts of {self.name!r} than its schema")
        return numbers


@functools.cache
def _class_of_files() -> "type[pq.ParquetFile]":
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    class File(pq.ParquetFile):
        """A file whose columns are read by number."""

        def _build_nested_paths(self) -> dict[str, list[int]]:
            """Return an empty dict, because a map of all names takes longer than reading a column."""
            return {}

    return File


def _text_bytes(array: "pa.Array") -> int:
    """Return the size in bytes of dictionary-encoded strings once decoded."""
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.compute as pc  # noqa: PLC0415 - an extra

    while not isinstance(array, pa.DictionaryArray):
        if not pa.types.is_nested(array.type):
            return array.nbytes
        array = array.flatten()
    lengths = np.asarray(pc.binary_length(array.dictionary), dtype=np.int64)
    counts = np.bincount(np.asarray(array.indices.drop_null()), minlength=len(lengths))
    return int(counts @ lengths)


@final
@frozen(eq=False, repr=False)
class _Lists:
    """Lists of one row group of a Parquet file, decoded on access."""

    groups: _Groups
    number: int
    shape: Shape[Any]
    dtype: "np.dtype[Any]"

    @property
    def version(self) -> str:
        """Version that distinguishes files at the same path."""
        return self.groups.version

    @property
    def abilities(self) -> "frozenset[Ability]":
        """Abilities of the source: runs of elements, and reads in any thread, as each read opens the file."""
        return frozenset(("runs", "threads"))

    def cost(self, selection: "Wanted") -> int:
        """Return the size of the group to decode in bytes."""
        return max(self.groups.claimed(self.number), 1) if selection.size else 0

    def fetches(self, selections: "Sequence[Wanted]") -> tuple[int, int]:
        """Return the number of requests and bytes of a read."""
        return self.groups.fetches([self.number] if any(own.size for own in selections) else [])

    def read(self, selections: "Sequence[Wanted]", out: Sequence[Array]) -> Done:
        """Read selections of elements; the group is decoded once."""
        from tensorwrapper.selection import Runs  # noqa: PLC0415 - other kinds of file need no views

        pairs = [(own, target) for own, target in zip(selections, out, strict=True) if own.size]
        if not pairs:
            return Done(len(out))
        (found,) = self.groups.tensors([self.number])
        if found.shape != self.shape or found.is_nullable:
            raise DataFileError(f"{self.groups.path} was changed: the rows of {self.groups.name!r} differ")
        elements = found.elements()
        for selection, target in pairs:
            runs = selection if isinstance(selection, Runs) else Runs.of(cast("Any", selection).modes[0])
            assign_elements(target, elements[runs.numbers()])
        return Done(len(out))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Lists) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self.groups.where, self.groups.opened, self.groups.name, self.number, self.shape, self.dtype

    def __repr__(self) -> str:
        return f"parquet({str(self.groups.path)!r}, {self.groups.name!r}, group {self.number}, {self.dtype})"


@final
@frozen(eq=False, repr=False)
class _Column:
    """Numbers of a Parquet file, whose row groups are decoded on access."""

    groups: _Groups
    splits: IntArray
    """Start rows of the row groups, and the end of the last."""
    extents: Extents
    dtype: "np.dtype[Any]"

    @property
    def shape(self) -> Shape[Any]:
        """Shape of the column: the rows of the table, and modes for fixed-size lists."""
        return Shape(*self.extents)

    @property
    def version(self) -> str:
        """Version that distinguishes files at the same path."""
        return self.groups.version

    @property
    def abilities(self) -> "frozenset[Ability]":
        """Abilities of the source: reads in any thread, as each read opens the file."""
        return frozenset(("threads",))

    def cost(self, selection: "Wanted") -> int:
        """Return the size of the groups to decode in bytes."""
        rows = int(np.diff(self.splits)[self._wanted([selection])].sum())
        return rows * prod(self.extents[1:]) * self.dtype.itemsize

    def read(self, selections: "Sequence[Wanted]", out: Sequence[Array]) -> Done:
        """Read selections; each group that they touch is decoded once."""
        pairs = [(cast("Outer", own), target) for own, target in zip(selections, out, strict=True)]
        wanted = [
            (own.modes, positions_before(own.modes[0], self.splits), target)
            for own, target in pairs
            if own.size
        ]
        groups = self._wanted(selections)
        tensors = self.groups.tensors(groups)
        for group in groups:
            first, last = self.splits[group : group + 2].tolist()
            found = self._checked(next(tensors), last - first)
            for (rows, *inner), marks, target in wanted:
                begin, end = marks[group : group + 2].tolist()
                if begin < end:
                    own = rows[begin:end]
                    if isinstance(own, range):
                        own = range(own.start - first, own.stop - first, own.step)
                    else:
                        own = own - first
                    assign_elements(target[begin:end], elements_at(found, [own, *inner]))
            # The next group is decoded in the memory of this one.
            del found
        return Done(len(out))

    def fetches(self, selections: "Sequence[Wanted]") -> tuple[int, int]:
        """Return the number of requests and bytes of a read."""
        return self.groups.fetches(self._wanted(selections))

    def _wanted(self, selections: "Sequence[Wanted]") -> list[int]:
        """Return the groups that selections touch."""
        touched = np.zeros(len(self.splits) - 1, np.bool_)
        for own in selections:
            if own.size:
                touched |= np.diff(positions_before(cast("Outer", own).modes[0], self.splits)) > 0
        found: list[int] = np.flatnonzero(touched).tolist()
        return found

    def _checked(self, tensor: Tensor[Any], n_rows: int) -> Array:
        """Return the rows of a group after checking them against the footer."""
        groups = self.groups
        if tensor.is_nullable:
            raise DataFileError(f"{groups.path}: {groups.name!r} has nulls that its footer does not count")
        found = np.asarray(tensor)
        if found.shape != (n_rows, *self.extents[1:]):
            raise DataFileError(
                f"{groups.path}: {groups.name!r} does not have the number of rows that its row groups declare"
            )
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Column) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return (
            self.groups.where,
            self.groups.opened,
            self.groups.name,
            self.extents,
            self.dtype,
            self.splits.tobytes(),
        )

    def __repr__(self) -> str:
        return f"parquet({str(self.groups.path)!r}, {self.groups.name!r}, {self.shape!r}, {self.dtype})"
