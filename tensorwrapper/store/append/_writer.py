"""`RecordWriter`: append records to an open file, and the index after them."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast, final

import attrs
import numpy as np

from tensorwrapper._tensor_names import check_name
from tensorwrapper.errors import (
    ConversionError,
    DataFileError,
    DTypeError,
    ExtentMismatchError,
    RankError,
    SizeOverflowError,
    TensorNameError,
)
from tensorwrapper.store.append._check_append import Pattern
from tensorwrapper.store.records._checksum import Algorithm, checksum_of, choose
from tensorwrapper.store.records._directory import Directory
from tensorwrapper.store.records._format import HEADER_BYTES, MOST_ROWS, pack_header
from tensorwrapper.store.records._index_rows import Place, Row, pack_rows
from tensorwrapper.store.records._read_tail import hashes_of
from tensorwrapper.store.records._record import (
    FieldNames,
    check_listed,
    check_views,
    cut,
    cut_fields,
    encode_index,
    encode_metadata,
    encode_records,
    encode_tensor,
)
from tensorwrapper.store.system._bytes_at import write_at
from tensorwrapper.store.system._system import refused_by_system
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.wire import DEFAULT_LIMITS, Compression, Limits
from tensorwrapper.wire.lowlevel import WriteOptions

if TYPE_CHECKING:
    from tensorwrapper.fields import Records
    from tensorwrapper.store.append._fields import FieldPatterns

_Body: TypeAlias = list[bytes | memoryview]

_Facts: TypeAlias = tuple[str, int, int, int | None, FieldNames]
"""Name, number of the piece, number of pieces, previous rows, and fields of a record to write."""

_Planned: TypeAlias = tuple[_Facts, _Body]

_AT_ONCE: Final = 2**20  # bytes
_CRC32: Final = Algorithm.CRC32


@final
class RecordWriter:
    """Writer of records to an open file, which the caller closes."""

    __slots__ = (
        "_covered",
        "_directory",
        "_ends",
        "_field_ends",
        "_file",
        "_interrupted",
        "_options",
        "_piece_bytes",
    )

    def __init__(
        self,
        file: int,
        directory: Directory,
        piece_bytes: int,
        compress: Compression | None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._options = WriteOptions(compress, limits=limits, keep_nullable=True)
        self._file = file
        self._directory = directory
        self._piece_bytes = piece_bytes
        # Rows listed in an index; empty after a scan.
        self._covered = directory.n_rows if directory.chain else 0
        # For extended tensors: the last extension, the pattern of rows, and the number of rows.
        self._ends: dict[str, tuple[Row | None, Pattern, int]] = {}
        self._field_ends: dict[str, tuple[Row | None, FieldPatterns, int]] = {}
        self._interrupted = False

    @property
    def is_interrupted(self) -> bool:
        """True if an exception made the state inconsistent with the file; then all writes raise.

        A signal handler can raise between any two steps. The file itself stays valid, and opening it again
        finds all complete records.
        """
        return self._interrupted

    def add_tensor(
        self,
        name: str,
        tensor: object,
        metadata: Mapping[str, object] | None,
        metadata_depth: int = 1,
        compress: Compression | Literal["as_opened"] | None = "as_opened",
    ) -> None:
        """Append a tensor, all of its records or none.

        Raises
        ------
        TensorNameError
            If the name is taken or invalid.
        LocalProtocolError, ConversionError, DTypeError
            If the tensor cannot be written.
        DataFileError
            If the disk is full.
        """
        self._check_free(name)
        options = self._options_for(metadata_depth, compress)
        self._append(self._planned(name, self._parts(tensor), metadata, options))

    def add_tensors(
        self, tensors: Iterable[tuple[str, object, Compression | None]], metadata_depth: int
    ) -> None:
        """Append tensors with their names and codecs, all or none, in few writes. Raises as `add_tensor`."""
        names: set[str] = set()

        def planned() -> Iterator[_Planned]:
            for name, tensor, codec in tensors:
                self._check_free(name)
                if name in names:
                    raise TensorNameError(f"the name {name!r} is given twice")
                names.add(name)
                options = self._options_for(metadata_depth, codec)
                parts = self._parts(tensor)
                if len(parts) == 1:
                    yield (name, 0, 1, None, ()), encode_tensor(parts[0], name, options=options)
                else:
                    yield from self._planned(name, parts, None, options)

        self._append(planned())

    def _check_free(self, name: str, fields: FieldNames = ()) -> None:
        """Raise unless a name is free for a new tensor, or for records with these fields."""
        directory = self._directory
        for own in (name, *map(f"{name}.".__add__, fields)) if fields else (name,):
            if directory.has(check_name(own)) or (directory.records and directory.field_of(own) is not None):
                raise TensorNameError(f"the name {own!r} is taken, and files cannot replace tensors")
        if fields:
            check_listed({**directory.records, name: fields})

    def add_records(
        self, name: str, given: "Records", compress: Compression | Literal["as_opened"] | None = "as_opened"
    ) -> None:
        """Append records, all of their file records or none. Raises as `add_tensor`."""
        from tensorwrapper.store.append._fields import read_fields  # noqa: PLC0415 - few files have records

        self._check_free(name, given.names)
        options = self._options_for(1, compress)
        self._append(self._planned_fields(name, read_fields(given, name), options))

    def add_view(self, name: str, body: _Body) -> None:
        """Append the record of a view with the message `body`. Raises as `add_tensor`."""
        self._check_free(name)
        check_views(len(self._directory.views) + 1)
        self._directory.add_view(name, self._write_about(name, body))
        self._interrupted = False

    def extend_records(
        self,
        name: str,
        given: object,
        compress: Compression | Literal["as_opened"] | None,
        read: "Callable[[Sequence[Row], FieldNames], Records]",
    ) -> None:
        """Append rows to all fields of records, or start new records; all rows or none.

        Parameters
        ----------
        read
            Function that returns the existing records with these fields.

        Raises
        ------
        TensorNameError
            If names are invalid, or differ from those of the fields.
        RankError, ExtentMismatchError, LayerError, ModeNameError, ConversionError, DTypeError
            If these rows cannot extend the fields.
        LocalProtocolError, DataFileError
            As `extend`.
        """
        from tensorwrapper.store.append._fields import FieldPatterns, read_fields  # noqa: PLC0415 - few files have records

        options, directory = self._options_for(1, compress), self._directory
        known = self._field_ends.get(name)
        if known is None or known[0] is not directory.newest(name):
            tip = directory.tip(check_name(name))
            if tip is None:
                first = read_fields(given, name)
                self._check_free(name, first.names)
                pattern = FieldPatterns.of(first, name)
                self._append(self._planned_fields(name, first, options))
                self._field_ends[name] = None, pattern, len(first)
                return
            last = read(tip, directory.records[name])
            n_rows = (tip[-1][4] or 0) + len(last)
            known = directory.newest(name), FieldPatterns.of(last, name), n_rows
        _, pattern, n_rows = known
        try:
            added = pattern.fitted(given)
        except (ConversionError, ExtentMismatchError, DTypeError, RankError):
            # As in `extend`.
            first = read(self._first_rows(name), directory.records[name])
            pattern = FieldPatterns.of(first, name)
            added = pattern.fitted(given)
        if added is not None and len(added):
            if n_rows + len(added) > MOST_ROWS:
                raise SizeOverflowError(f"the records {name!r} would have over {MOST_ROWS} rows")
            self._append(self._planned_fields(name, added, options, after=n_rows))
            n_rows += len(added)
        self._field_ends[name] = directory.newest(name), pattern, n_rows

    def extend(
        self,
        name: str,
        given: object,
        compress: Compression | Literal["as_opened"] | None,
        read: Callable[[Sequence[Row]], Tensor[Any]],
    ) -> None:
        """Append rows to a tensor, or start a new tensor; all rows or none.

        Parameters
        ----------
        read
            Function that returns the tensor in existing records.

        Raises
        ------
        TensorNameError
            If the name is invalid.
        RankError, ExtentMismatchError, LayerError, ModeNameError, ConversionError, DTypeError
            If these rows cannot extend the tensor.
        LocalProtocolError
            If the format does not support the rows.
        DataFileError
            If the disk is full.
        """
        options = self._options_for(1, compress)
        known = self._ends.get(name)
        if known is None or known[0] is not self._directory.newest(name):
            tip = self._directory.tip(check_name(name))
            if tip is None:
                tensor = as_tensor(given)
                pattern = Pattern.of(tensor, name)
                self._append(self._planned(name, self._parts(tensor), None, options))
                self._ends[name] = None, pattern, len(tensor)
                return
            last = read(tip)
            known = self._directory.newest(name), Pattern.of(last, name), (tip[-1][4] or 0) + len(last)
        _, pattern, n_rows = known
        try:
            added = pattern.fitted(given)
        except (ConversionError, ExtentMismatchError, DTypeError, RankError):
            # A box may extend rows, and rows without nulls nullable ones: the first record decides.
            pattern = Pattern.of(read(self._first_rows(name)), name)
            added = pattern.fitted(given)
        if added is not None and len(added):
            if n_rows + len(added) > MOST_ROWS:
                raise SizeOverflowError(f"the tensor {name!r} would have over {MOST_ROWS} rows")
            self._append(self._planned(name, self._parts(added), None, options, after=n_rows))
            n_rows += len(added)
        self._ends[name] = self._directory.newest(name), pattern, n_rows

    def _first_rows(self, name: str) -> Sequence[Row]:
        """Return the records of a tensor before it was extended."""
        places = self._directory.places(name) or ()
        return [(name, place, piece, len(places), None) for piece, place in enumerate(places)]

    def _options_for(
        self, metadata_depth: int, compress: Compression | Literal["as_opened"] | None
    ) -> WriteOptions:
        options = self._options
        codec = options.compress if compress == "as_opened" else compress
        if metadata_depth == 1 and codec == options.compress:
            return options
        return attrs.evolve(options, compress=codec, metadata_depth=metadata_depth)

    def _parts(self, tensor: object) -> Sequence[object]:
        """Return the runs of rows of a tensor, each for one record."""
        given: Any = tensor
        if type(tensor) is np.ndarray and given.nbytes <= self._piece_bytes:
            return (tensor,)
        parts = cut(given if type(tensor) is Tensor else as_tensor(tensor), self._piece_bytes)
        return parts if isinstance(parts, tuple) else [*parts]

    def _planned(
        self,
        name: str,
        parts: Sequence[object],
        metadata: Mapping[str, object] | None,
        options: WriteOptions,
        *,
        after: int | None = None,
    ) -> "Iterator[_Planned]":
        """Yield the records of a tensor in parts, which may be rows that extend one after as many others."""
        pieces = len(parts)
        for piece, part in enumerate(parts):
            said = metadata if piece == 0 else None
            body = encode_tensor(part, name, piece, pieces, extends=after, metadata=said, options=options)
            yield (name, piece, pieces, after, ()), body
            if after is not None:
                after += len(cast("Tensor[Any]", part))

    def _planned_fields(
        self, name: str, given: "Records", options: WriteOptions, *, after: int | None = None
    ) -> "Iterator[_Planned]":
        """Yield the file records of records, as `_planned` does."""
        fields = cast("Mapping[str, Tensor[Any]]", dict(given.items()))
        parts = [*cut_fields(fields, self._piece_bytes)]
        for piece, part in enumerate(parts):
            body = encode_records(part, given.rank, name, piece, len(parts), extends=after, options=options)
            yield (name, piece, len(parts), after, given.names), body
            if after is not None:
                after += len(next(iter(part.values())))

    def _append(self, planned: "Iterable[_Planned]") -> None:
        """Append consecutive file records, all of them or none."""
        directory, written = self._directory, self._write(planned)
        rows = [(name, place, piece, pieces, after) for (name, piece, pieces, after, _), place in written]
        fields = [facts[4] for facts, _ in written]
        if len(rows) > 1 and not directory.records and not any(fields):
            directory.add_all(rows)
        else:
            for row, own in zip(rows, fields, strict=True):
                directory.take(row, own)
        self._interrupted = False

    def add_metadata(self, metadata: Mapping[str, object]) -> None:
        """Append metadata of the file."""
        body = encode_metadata(metadata, self._options.limits)
        self._directory.add(("", self._write_about("", body), 0, 1, None))
        self._interrupted = False

    def add_index(self, *, durable: bool) -> None:
        """Append an index of all records that are not indexed yet, if any.

        Each index refers to the previous one. Indexes that are not larger than the new one are merged into
        it. So n records, each followed by an index, cost n log n bytes and are found in log n steps.
        """
        directory = self._directory
        first, count = self._covered, directory.n_rows
        if first == count and not self._views_after(directory.chain):
            return
        chain, merged = list(directory.chain), [(0, first)]
        while chain and first - chain[-1][1] <= count - first:
            merged.append(chain.pop())
            first = merged[-1][1]
        rows = directory.rows_from(merged[:0:-1] or merged)
        if rows is None:
            # Leave a damaged index as it is.
            chain, first = list(directory.chain), self._covered
            rows = directory.rows_from([(0, first)])
        if durable:
            # Sync before writing the index, which must not reach the disk before its records.
            os.fsync(self._file)
        table, names, grown = pack_rows(rows or [])
        start = directory.end
        previous = chain[-1][0] if chain else None
        records = directory.records
        if records:
            listed = {row[0] for row in rows or []}
            records = {name: fields for name, fields in records.items() if name in listed}
        hashes, views = hashes_of(rows or []), self._views_after(chain)
        body = encode_index(
            table, names, previous, start, hashes=hashes, grown=grown, records=records, views=views
        )
        # Opening the file always checks the index.
        written = self._write_about("", body, anywhere=True)
        directory.chain = [*chain, (start, first)]
        directory.end = written.stop
        self._covered = count
        self._interrupted = False
        if durable:
            os.fsync(self._file)

    def _views_after(self, chain: Sequence[tuple[int, int]]) -> dict[str, int]:
        """Return the views that are not in any index of a chain."""
        if not self._directory.views:
            return {}
        last = chain[-1][0] if chain else -1
        return {name: start for name, start in self._directory.views.items() if start > last}

    def _write_about(self, name: str, body: "_Body", *, anywhere: bool = False) -> Place:
        """Append the message of a view, or one about the file, as `_write` does."""
        ((_, place),) = self._write([((name, 0, 1, None, ()), body)], anywhere=anywhere)
        return place

    def _write(
        self, planned: "Iterable[_Planned]", *, anywhere: bool = False
    ) -> "list[tuple[_Facts, Place]]":
        """Append all messages or none. The caller then records the result and clears the flag."""
        if self._interrupted:
            raise DataFileError("an exception interrupted a write to this file; open it again to continue")
        self._interrupted = True
        written: list[tuple[_Facts, Place]] = []
        # Many small records are written at once.
        buffers: _Body = []
        start = end = self._directory.end
        try:
            for facts, body in planned:
                length = sum(map(len, body))
                algorithm = choose(length, anywhere=anywhere)
                # Copying a short message is faster than iterating over its many pieces twice.
                data: _Body = [b"".join(body)] if algorithm == _CRC32 and len(body) > 1 else body
                buffers += (pack_header(length, algorithm, checksum_of(data, algorithm)), *data)
                written.append((facts, Place(end, length)))
                end += HEADER_BYTES + length
                if end - start >= _AT_ONCE:
                    self._flush(start, buffers)
                    buffers, start = [], end
            self._flush(start, buffers)
        except BaseException:
            os.ftruncate(self._file, self._directory.end)
            self._interrupted = False
            raise
        return written

    def _flush(self, start: int, buffers: _Body) -> None:
        try:
            write_at(self._file, start, buffers)
        except OSError as error:
            nbytes = sum(map(len, buffers))
            raise refused_by_system(f"could not write {nbytes} bytes: {error.strerror}", error) from error
