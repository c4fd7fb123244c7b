"""`TensFile`: a `.tens` file as a mapping from names to tensors."""

import contextlib
import itertools
import os
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, SupportsIndex, TypeAlias, cast, final

from tensorwrapper._error_text import brief, counted, shortened, type_text
from tensorwrapper._hints import Hinted, hint
from tensorwrapper._integers import to_count, to_positive
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import (
    ConversionError,
    DataFileError,
    LeakedResourceWarning,
    ReadOnlyError,
    RemoteProtocolError,
    TensorNameError,
    TensorWrapperError,
)
from tensorwrapper.store.records._directory import Directory, dotted
from tensorwrapper.store.records._entry import Entry, make_entry, number_of, packing_of
from tensorwrapper.store.records._format import HEADER_BYTES, unpack_header
from tensorwrapper.store.records._index import check_tear, load_directory, read_facts_at, warn_of_damage
from tensorwrapper.store.records._index_rows import Place, Row, furthest
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.store.records._origin import (
    FileOrigin,
    remember,
    remember_elements,
    stat_of,
    version_of_records,
)
from tensorwrapper.store.records._read_tail import load_end
from tensorwrapper.store.records._reader import RecordReader
from tensorwrapper.store.records._record import RecordFacts, encode_view
from tensorwrapper.store.records._taking import take_rows, to_rows
from tensorwrapper.store.system._bytes_at import lock_for_writing, sync_folder, unlock
from tensorwrapper.store.system._replace import beside, make_beside
from tensorwrapper.store.system._system import about_path, open_regular, refused_by_system, to_path
from tensorwrapper.store.system._viewed import Viewable
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire import DEFAULT_LIMITS, Compression, Limits, Message
from tensorwrapper.wire.lowlevel import is_records

if TYPE_CHECKING:
    import numpy.typing as npt

    from tensorwrapper.fields import Records
    from tensorwrapper.selection import View
    from tensorwrapper.store.append._writer import RecordWriter
    from tensorwrapper.store.views._check import SourceState
    from tensorwrapper.store.views._open_sources import SourceScope
    from tensorwrapper.store.views._read import StoredView
    from tensorwrapper.store.views._sources import StoredSource

FileMode: TypeAlias = Literal["r", "a", "w"]
"""``r`` reads, ``a`` appends to an existing or new file, ``w`` writes a new file and replaces an old one."""

PIECE_BYTES: Final = 2**30


def _has_fields(given: object) -> bool:
    return isinstance(given, Mapping) or is_records(given)


def is_view(given: object) -> bool:
    """Return True if a value is a view, without importing the module of views."""
    kind = type(given)
    return kind.__name__ == "View" and kind.__module__ == "tensorwrapper.selection._view"


@final
@frozen(eq=False)
class _Location:
    """The location of a tensor, or of a field of records."""

    reader: RecordReader
    owner: str
    """Name in the file; for a field, the name of its records."""
    places: tuple[Place, ...]
    """Records of the original tensor."""
    grown: Sequence[Row]
    """Records of its extensions."""
    field: str = ""

    def message(self) -> Message:
        """Return the message of the first record."""
        return self.reader.piece(self.owner, self.places, 0)[1]


def _version_of(found: _Location) -> str:
    """Return a version that identifies the content of a tensor."""
    starts = [*[place.start for place in found.places], *[row[1].start for row in found.grown]]
    return version_of_records(found.reader.mapped_at, starts)


@final
class TensFile(Viewable, Mapping[str, "Tensor[Any] | View[Any]"], metaclass=Hinted):
    """An open `.tens` file: a mapping from names to tensors, which are read lazily.

    A tensor that grew by `extend` reads as a `View` of all its records, any other as a `Tensor`. Both have
    the same methods.

    A tensor is a read-only view of the mapped file: opening it reads its label, and slicing it reads the
    bytes of the slice. (All bools are checked on opening. A file of up to 4 KiB is read as a whole.) It stays
    valid after the file is closed. Readers see the tensors that the file had when it was opened, also while
    another process appends.

    If another process shortens the file, ``file[name]`` raises `DataFileError`; a tensor that was read before
    cannot detect this, and accessing missing elements ends the process (SIGBUS on POSIX). This library never
    shortens a file that has readers.

    Only one thread at a time may write. See `open` for the parameters and the errors.
    """

    __slots__ = (
        "__weakref__",
        "_check_versions",
        "_directory",
        "_file",
        "_follow",
        "_given",
        "_limits",
        "_mode",
        "_moved",
        "_origin",
        "_owner",
        "_path",
        "_reader",
        "_status",
        "_temporary",
        "_way",
        "_where",
        "_writer",
    )

    def __dir__(self) -> list[str]:
        return dir(type(self))

    def __reduce__(self) -> NoReturn:
        # A copy would share the descriptor, which after closing may belong to another file.
        raise TypeError("cannot copy or pickle an open file; use `tw.open(f.path)`")

    def __init__(
        self,
        path: str | os.PathLike[str],
        mode: FileMode = "r",
        *,
        metadata: Mapping[str, object] | None = None,
        piece_bytes: SupportsIndex = PIECE_BYTES,
        compress: Compression | None = None,
        limits: Limits = DEFAULT_LIMITS,
        follow: str | os.PathLike[str] | None = None,
        check_versions: bool = True,
    ) -> None:
        self._follow = None if follow is None else os.fspath(follow)
        self._check_versions = check_versions
        self._limits = limits
        # Written tensors in memory by id, kept alive so that the ids stay unique.
        self._given: dict[int, tuple[object, str]] = {}
        # Reader of a converted file, and the names of the tensors copied from it.
        self._moved: tuple[object, Collection[str]] = (None, ())
        self._origin: FileOrigin | None = None
        self._way: SourceScope | None = None
        self._file: int | None = None
        self._status: os.stat_result | None = None  # on opening, of an existing file
        self._owner: int | None = None  # the process that holds the lock
        self._temporary: str | None = None
        self._where = ""  # of a written file, with links resolved: replace the target, not the link
        self._reader: RecordReader | None = None
        self._writer: RecordWriter | None = None
        if mode not in ("r", "a", "w"):
            raise ConversionError(f"mode must be 'r', 'a' or 'w', not {mode!r}")
        if mode == "r" and metadata is not None:
            raise ReadOnlyError("metadata= requires mode 'a' or 'w', not 'r'")
        self._path = to_path(path)
        self._mode: FileMode = mode
        try:
            self._begin(metadata, to_positive(piece_bytes, "piece_bytes"), compress, limits)
        except DataFileError as error:
            self._drop()
            raise about_path(self._path, error) from error
        except OSError as error:
            self._drop()
            raise refused_by_system(
                f"cannot open {shortened(str(self._path))}: {error.strerror}", error
            ) from error
        except BaseException:
            self._drop()
            raise

    def _begin(
        self,
        metadata: Mapping[str, object] | None,
        piece_bytes: int,
        compress: Compression | None,
        limits: Limits,
    ) -> None:
        absolute = os.path.abspath if self._mode == "r" else os.path.realpath
        self._where = absolute(str(self._path))
        if self._mode == "w":
            self._directory = Directory()
            self._temporary = beside(self._where)
            self._file = make_beside(self._where, self._temporary)
        else:
            flags = os.O_RDWR | os.O_CREAT if self._mode == "a" else os.O_RDONLY
            self._file, self._status = open_regular(self._path, flags)
        if self._mode == "r":
            size = self._status.st_size if self._status else 0
            if not size:
                raise DataFileError("is empty, and is not a .tens file")
            reader = self._reader = RecordReader.of_size(self._file, self._path, limits, size)
            self._directory = load_directory(reader.read_at, size)
            if self._directory.torn is not None:
                warn_of_damage(self._path, reader.read_at, self._directory, size)
            return
        reader = self._reader = RecordReader(self._file, self._path, limits)
        if self._mode == "a":
            if not lock_for_writing(self._file):
                raise DataFileError("is being written by another process")
            self._owner = os.getpid()
            # Appending does not need the complete directory of a file.
            ending = load_end(reader.read_at, reader.size)
            self._directory = ending or load_directory(reader.read_at, reader.size)
        if self._directory.torn is not None:
            check_tear(reader.read_at, self._directory, reader.size)
            # Truncate unfinished records of a killed writer, which no directory lists.
            os.ftruncate(self._file, self._directory.end)
        from tensorwrapper.store.append._writer import RecordWriter  # noqa: PLC0415 - readers need none

        self._writer = RecordWriter(self._file, self._directory, piece_bytes, compress, limits)
        if metadata is not None or not self._directory.end:
            # Always write metadata, which identifies an unfinished file as a .tens file.
            self._writer.add_metadata(metadata or {})

    @property
    def _reading(self) -> RecordReader:
        if self._reader is None:
            raise DataFileError(f"{self._path} is closed")
        return self._reader

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self._path

    @property
    def mode(self) -> FileMode:
        """Mode of the open file."""
        return self._mode

    @property
    def closed(self) -> bool:
        """True if `close` was called."""
        return self._file is None

    @property
    def metadata(self) -> dict[str, Any]:
        """Metadata of the file, as a new dictionary."""
        place = self._directory.metadata
        if place is None:
            return {}
        return dict(self._reading.message(place, RecordFacts("metadata")).metadata)

    @property
    def record_fields(self) -> dict[str, tuple[str, ...]]:
        """Names of stored records, each with the names of its fields in order."""
        directory = self._directory
        return {name: directory.records[name] for name in directory.names if name in directory.records}

    @property
    def aliases(self) -> Mapping[str, str]:
        """Other names of tensors; always empty for `.tens` files."""
        return {}

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Losses found on opening, such as unfinished or damaged tensors, a sentence each."""
        return self._directory.losses()

    def __getitem__(self, name: str) -> "Tensor[Any] | View[Any]":
        if self._directory.views and self._directory.has_view(name):
            return self._read_view(name, ())
        alone = self._directory.alone(name)
        if alone is not None:
            start, length = alone
            plain = (self._reader or self._reading).plain(start, length, name)
            if plain is not None:
                remember_elements(plain.buffer, self._origin or self._as_origin(), name, plain.layout, start)
                return plain
        found = self._location(name)
        try:
            tensor = self._grown(found) if found.grown else found.reader.tensor(found.owner, found.places)
        except DataFileError:
            # An old writer may have listed records as a tensor.
            if not found.field and self._fields_of(name, look=True):
                raise self._are_records(name) from None
            raise
        remember(tensor, self._as_origin(), name, partial(_version_of, found))
        return tensor

    def _grown(self, found: _Location) -> "Tensor[Any] | View[Any]":
        from tensorwrapper.store.append._appended_tensor import grown_view  # noqa: PLC0415 - few tensors grow

        return grown_view(found.reader, found.places, found.grown)

    def _as_origin(self) -> FileOrigin:
        """Return the file origin that is attached to tensors of this file."""
        if self._origin is None:
            status = self._status or os.fstat(cast("int", self._file))
            self._origin = FileOrigin(self._where, stat_of(status, of_ours=True), self._reading)
        return self._origin

    # Stored views.

    def _real_path(self) -> str:
        """Return the path of the file with links resolved; sources are relative to it."""
        return os.path.realpath(self._where)

    def _stored(self, name: str) -> "StoredView":
        """Return the message in the record of a view."""
        from tensorwrapper.store.views._read import StoredView  # noqa: PLC0415 - few files have views

        message = self._reading.message(self._view_place(name), RecordFacts("view", name))
        try:
            return StoredView.of(message, os.path.dirname(self._real_path()))
        except DataFileError as error:
            raise self._about_view(name, error) from error

    def _view_place(self, name: str) -> Place:
        reader, start = self._reading, self._directory.views[name]
        try:
            return Place(start, unpack_header(reader.read_at(start, HEADER_BYTES)).length)
        except DataFileError as error:
            raise self._about_view(name, error) from error

    def _about_view(self, name: str, error: DataFileError) -> DataFileError:
        text = f"{self._path}: the record of the view {name!r} {error}"
        return refused_by_system(text, error) if isinstance(error, OSError) else DataFileError(text)

    def _start(self) -> "SourceScope":
        from tensorwrapper.store.views._open_sources import OpenFiles, SourceScope  # noqa: PLC0415 - few files have views

        if self._way is None:
            self._way = SourceScope(self._real_path(), OpenFiles(), self._follow, self._check_versions)
        return self._way

    def _read_view(self, name: str, through: tuple[tuple[str, str], ...]) -> "View[Any]":
        """Return a stored view; `through` has the views on the way to it."""
        from tensorwrapper.store.views._open_sources import opening  # noqa: PLC0415 - as above
        from tensorwrapper.store.views._read import read_view  # noqa: PLC0415 - few files have views

        stored, way = self._stored(name), self._start().entering(name, through)
        try:
            with opening():
                return read_view(stored, way, lambda own: self._as_source(own, way.through)[0])
        except DataFileError as error:
            if str(way.path) in str(error):
                raise
            raise self._about_view(name, error) from error

    def _as_source(
        self, name: str, through: tuple[tuple[str, str], ...]
    ) -> "tuple[Tensor[Any] | View[Any], str]":
        """Return a tensor, or a stored view, and its version."""
        from tensorwrapper.store.views._open_sources import once  # noqa: PLC0415 - few files have views

        def find() -> "tuple[Tensor[Any] | View[Any], str]":
            if self._directory.views and self._directory.has_view(name):
                place = self._view_place(name)
                return self._read_view(name, through), version_of_records(
                    self._reading.read_at, [place.start]
                )
            return self[name], _version_of(self._location(name))

        return once((self._as_origin().stat, name), len(through), find)

    def sources(self, name: str) -> "tuple[StoredSource, ...]":
        """Return the sources of a stored view, or an empty tuple for a tensor. Opens no other file.

        Raises
        ------
        TensorNameError
            If the name is unknown.
        DataFileError
            If the record of the view is damaged.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import tensorwrapper as tw
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> tw.save(folder / "a.tens", {"x": [1, 2, 3]})
        >>> with TensFile(folder / "a.tens") as a:
        ...     tw.save(folder / "v.tens", {"v": tw.selection.as_view(a["x"])[::-1]}, keep_views=True)
        >>> with TensFile(folder / "v.tens") as f:
        ...     f["v"].tolist(), [(s.path, s.name) for s in f.sources("v")]
        ([3, 2, 1], [('a.tens', 'x')])
        """
        if not self._directory.has_view(name):
            self._location(name)
            return ()
        try:
            return tuple(self._stored(name).listed())
        except DataFileError as error:
            raise self._about_view(name, error) from error

    def check_sources(self, name: str) -> "tuple[SourceState, ...]":
        """Check the sources of a stored view: return whether each is present and unchanged.

        Every source is opened and its version compared, without reading elements. A tensor has no sources.

        Raises
        ------
        TensorNameError
            If the name is unknown.
        DataFileError
            If the record of the view is damaged.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import tensorwrapper as tw
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> tw.save(folder / "a.tens", {"x": [1, 2, 3]})
        >>> with TensFile(folder / "a.tens") as a:
        ...     tw.save(folder / "v.tens", {"v": tw.selection.as_view(a["x"])[::-1]}, keep_views=True)
        >>> (folder / "a.tens").unlink()
        >>> with TensFile(folder / "v.tens") as f:
        ...     [(s.path, s.members, s.state) for s in f.check_sources("v")]
        [('a.tens', 1, 'missing')]
        """
        from tensorwrapper.store.views._open_sources import opening  # noqa: PLC0415 - few files have views

        if not self._directory.has_view(name):
            self._location(name)
            return ()
        with opening():
            return self._check_sources(name, ())

    def _check_sources(self, name: str, through: tuple[tuple[str, str], ...]) -> "tuple[SourceState, ...]":
        from tensorwrapper.store.views._check import states_of  # noqa: PLC0415 - few files have views

        way = self._start().entering(name, through)

        def check_own(own: str) -> str:
            self._as_source(own, way.through)
            return self._problem_of(own, way.through)

        try:
            return states_of(self._stored(name), way, check_own)
        except DataFileError as error:
            raise self._about_view(name, error) from error

    def _problem_of(self, name: str, through: tuple[tuple[str, str], ...]) -> str:
        """Return the problem of the sources of a view, or an empty text."""
        from tensorwrapper.store.views._open_sources import once  # noqa: PLC0415 - few files have views

        def find() -> tuple[str, str]:
            states = self._check_sources(name, through)
            return next((own.problem for own in states if own.problem), ""), ""

        if not self._directory.has_view(name):
            return ""
        problem: str = once(("sources", self._as_origin().stat, name), len(through), find)[0]
        return problem

    def _view_bytes(self, name: str) -> bytes:
        """Return the raw message of a view's record."""
        return bytes(self._reading.body(self._view_place(name)))

    def _append_view(self, name: str, view: "View[Any]", metadata: Mapping[str, object] | None) -> None:
        """Add the record of a view."""
        from tensorwrapper.store.views._read import check_record  # noqa: PLC0415 - few files have views
        from tensorwrapper.store.views._write import ViewWriter  # noqa: PLC0415 - as above

        writing, origin = self._writing(), self._as_origin()
        writer = ViewWriter(origin, replaced=self._mode == "w", given=self._given, moved=self._moved)
        try:
            text = writer.write(view)
        except ConversionError as error:
            raise ConversionError(f"cannot store the view {name!r}: {error}") from error
        body = encode_view(name, text, writer.said, writer.frames, writer.tables, metadata, self._limits)
        try:
            # Use this file's tensors, whose dtype may differ from that of the given tensors.
            check_record(b"".join(body), self._limits, self._start(), view, writer.wholes, self.__getitem__)
        except TensorWrapperError as error:
            raise ConversionError(f"cannot store the view {name!r}: the version to read {error}") from error
        writing.add_view(name, body)

    def take(self, name: str, indices: "npt.ArrayLike") -> Tensor[Any]:
        """Return selected rows of a tensor in the given order, as `ArrayFile.take` does.

        Raises
        ------
        TensorNameError
            If there is no such tensor.
        OutOfBoundsError
            If there is no such row.
        DataFileError
            If the file is damaged, or closed.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import tensorwrapper as tw
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.tens"
        >>> tw.save(path, {"hits": tw.jagged([[5, 1], [], [7]])})
        >>> with tw.open(path) as f:
        ...     f.take("hits", [-1, 0]).tolist()
        [[7], [5, 1]]
        """
        from tensorwrapper.store.fetched._records import FetchedRecords  # noqa: PLC0415 - few files are asked this
        from tensorwrapper.store.fetched._tens import TensorRecords  # noqa: PLC0415 - as above
        from tensorwrapper.store.ranges._byte_readers import MemoryReader  # noqa: PLC0415 - as above
        from tensorwrapper.store.ranges._ranges import Ranges  # noqa: PLC0415 - as above

        rows = to_rows(indices)
        if self._directory.has_view(name):
            return take_rows(self[name], rows)
        found = self._location(name)
        begun: list[Row] = [
            (found.owner, own, k, len(found.places), None) for k, own in enumerate(found.places)
        ]
        reader = found.reader.lasting(found.places[-1])
        records = FetchedRecords(Ranges(MemoryReader(reader.mapped, str(self._path))), reader.limits)
        fields = self._directory.records.get(found.owner, ()) if found.field else ()
        taken = TensorRecords(records, [*begun, *found.grown], fields, found.field).take_by_splits(rows)
        return take_rows(self[name], rows) if taken is None else taken

    def records(self, names: "str | Iterable[str] | None" = None) -> "Records":
        """Return stored records, or tensors with the same rows, as one `Records` value.

        Parameters
        ----------
        names
            The name of stored records, or names of tensors to use as fields; None for all.

        Raises
        ------
        TensorNameError
            If the name is unknown.
        ExtentMismatchError
            If the tensors have different rows.
        DataFileError
            If a record is damaged.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import tensorwrapper as tw
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.tens"
        >>> with TensFile(path, "a") as f:
        ...     f.extend("ev", {"t": tw.jagged([[5, 1], [7]]), "run": [10, 20]})
        ...     f.extend("ev", {"t": [[], [2, 9]], "run": [30, 40]})
        >>> with TensFile(path) as f:
        ...     list(f), f.records("ev")[1:3].to_dict()
        (['ev.t', 'ev.run'], {'t': [[7], []], 'run': [20, 30]})
        """
        from tensorwrapper.fields import records  # noqa: PLC0415 - few files have records

        if not isinstance(names, str):
            return records({name: self[name] for name in (self if names is None else names)})
        fields = self._fields_of(names, look=True)
        places = self._directory.places(names)
        if not fields or places is None:
            raise TensorNameError(f"{self._path} has no records {names!r}{self._passed()}")
        from tensorwrapper.store.append._fields import records_in_file  # noqa: PLC0415 - as above

        grown = self._directory.extensions.get(names, ())
        return records_in_file(self._reading, names, places, grown, fields)

    def _lock(self) -> None:
        """Lock a file that is open for reading against writers, until it is closed.

        Raises
        ------
        DataFileError
            If another process is writing to the file, or changed it since it was opened.
        """
        if self._file is None or not lock_for_writing(self._file):
            raise DataFileError(f"{self._path} is being written by another process")
        self._owner = os.getpid()
        grew = self._reading.size != self._directory.end and self._directory.torn is None
        if grew or not self._is_in_place(self._file):
            raise DataFileError(f"{self._path} was written to or replaced since it was opened")

    def _packing(self, name: str) -> str:
        """Return the packing of a tensor's first record."""
        if self._directory.has_view(name):
            return "view"
        found = self._location(name)
        return packing_of(found.message(), found.field)

    def _parts(self, name: str) -> tuple[Tensor[Any], ...]:
        """Return the tensors under a name, in order; a single one if a lazy tensor can join them."""
        found = self._location(name)
        if not found.grown:
            return (found.reader.tensor(found.owner, found.places),)
        from tensorwrapper.store.append._appended_tensor import grown_parts  # noqa: PLC0415 - few tensors grow

        return grown_parts(found.reader, found.places, found.grown)

    def _location(self, name: str) -> "_Location":
        """Return the location of a tensor, or of a field of records.

        Raises
        ------
        TensorNameError
            If there is none.
        """
        if not isinstance(cast("object", name), str):
            raise TensorNameError(f"{self._path} has tensors by name, as in `f['x']`, not by {brief(name)}")
        directory = self._directory
        places = directory.places(name)
        if places is None:
            return self._field_location(name)
        if name in directory.records:
            raise self._are_records(name)
        return _Location(self._reading, name, places, directory.extensions.get(name, ()))

    def _field_location(self, name: str) -> "_Location":
        directory = self._directory
        found = directory.field_of(name)
        if found is None and any(self._fields_of(owner, look=True) for owner in dotted(name)):
            found = directory.field_of(name)
        owner, field = found or ("", "")
        places = directory.places(owner)
        if places is None:
            raise TensorNameError(f"{self._path} has no tensor {name!r}{self._passed()}")
        grown = directory.extensions.get(owner, ())
        # The reader has no file: all records must be in its map.
        reader = self._reading.of_field(furthest(places, grown), directory.records[owner], field)
        return _Location(reader, owner, places, grown, field)

    def _fields_of(self, name: str, *, look: bool = False) -> tuple[str, ...]:
        """Return the field names of records; empty if there are no such records.

        Parameters
        ----------
        look
            Whether to also read the record of a tensor, because an old writer may have listed records as a
            tensor.
        """
        directory = self._directory
        places = directory.places(name)
        if places is None:
            return ()
        if look and name not in directory.records:
            try:
                facts = read_facts_at(self._reading.read_at, places[0])
            except (DataFileError, RemoteProtocolError):
                return ()
            if facts.fields:
                directory.records[name] = facts.fields
        return directory.records.get(name, ())

    def _are_records(self, name: str) -> TensorNameError:
        fields = ", ".join(map(repr, self._directory.records[name]))
        return TensorNameError(
            f"{self._path} has records {name!r}, of {shortened(fields)}: use f.records({name!r})"
        )

    def _passed(self) -> str:
        passed = len(self._directory.complaints)
        were = "was" if passed == 1 else "were"
        records = counted(passed, "damaged record")
        return f" ({records} {were} passed over; tw.store.verify(path) lists them)" if passed else ""

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._directory.listed()))

    def __len__(self) -> int:
        return len(self._directory.listed())

    def __contains__(self, name: object) -> bool:
        directory = self._directory
        if directory.has(name):
            return name not in directory.records
        return isinstance(name, str) and directory.field_of(name) is not None

    def __eq__(self, other: object) -> bool:
        # Mapping equality would compare tensors by identity.
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def describe(self, name: str) -> Entry:
        """Return the entry of a name, without reading elements.

        Raises
        ------
        TensorNameError
            If there is no such tensor.
        DataFileError
            If its record is damaged.
        """
        if self._directory.has_view(name):
            place, view = self._view_place(name), self[name]
            nbytes = HEADER_BYTES + place.length
            return Entry(name, view.shape, type_text(view.dtype), "view", view.size, nbytes, 1, place.start)
        found = self._location(name)
        places = *found.places, *[row[1] for row in found.grown]
        return make_entry(name, self[name], found.message(), places, found.field)

    def append(
        self,
        name: str,
        tensor: object,
        *,
        metadata: Mapping[str, object] | None = None,
        metadata_depth: SupportsIndex = 1,
        compress: Compression | Literal["as_opened"] | None = "as_opened",
        keep_view: bool = False,
    ) -> None:
        """Append a tensor, as a whole or not at all.

        Parameters
        ----------
        name
            An unused name of 1 to 255 bytes in UTF-8 that is not a path.
        tensor
            A tensor, anything that `as_tensor` accepts, or `Records`, whose fields are written together.
        metadata
            Metadata of the tensor: one level of scalars unless `metadata_depth` is larger. Not allowed for
            records.
        metadata_depth
            Maximum nesting depth of `metadata`.
        compress
            The codec for this tensor, or None for no compression; by default that of the file.
        keep_view
            Whether to store the steps and sources of a `View` instead of its elements. Sources are tensors of
            files, including this one, or of servers. Tensors in memory are stored with the view, up to 1 MiB
            per source and 16 MiB in total. Other values are written as usual.

        Raises
        ------
        ReadOnlyError
            If the file is open for reading.
        TensorNameError
            If the name is taken or invalid.
        ConversionError
            If a view to store has an unsupported step, or a source outside files and servers.
        LocalProtocolError
            If the format does not support the tensor, or it exceeds the limits of this file.
        DataFileError
            If the file is closed, or the disk is full.
        """
        depth = to_count(metadata_depth, "metadata_depth")
        if keep_view and is_view(tensor):
            self._append_view(name, cast("View[Any]", tensor), metadata)
            return
        if is_records(tensor):
            if metadata is not None:
                raise ConversionError(f"records have no metadata, and {name!r} is given some")
            self._writing().add_records(name, tensor, compress)
            return
        self._writing().add_tensor(name, tensor, metadata, depth, compress)

    def extend(
        self,
        name: str,
        tensor: object,
        *,
        compress: Compression | Literal["as_opened"] | None = "as_opened",
    ) -> None:
        """Append rows to a tensor, all of them or none.

        The new rows are stored as one record, so each call costs the same. The name then reads as a view of
        all rows. An unused name starts a new tensor. A tensor without rows adds nothing.

        Parameters
        ----------
        name
            As in `append`, but it may exist.
        tensor
            The rows: a tensor of the same rank, or anything that `as_tensor` accepts. Rows of a box have the
            same extents and origin in all modes except the first; rows of a jagged tensor may have any
            length. Elements are cast as by `Tensor.assign`; those of sparse tensors and strings must have the
            same dtype. Records grow by a mapping, or `Records`, with the same number of rows in every field.
            Lists are converted to the field's kind of rows.
        compress
            As in `append`.

        Raises
        ------
        ReadOnlyError
            If the file is open for reading.
        TensorNameError
            If the name is invalid or names a field, or if a field is missing or unknown.
        RankError, ExtentMismatchError, LayerError, ModeNameError
            If the shape does not match the existing rows, or the rows of fields differ.
        ConversionError
            If only one of the two is jagged or sparse, or their fill values differ.
        DTypeError, SizeOverflowError
            If the elements do not fit the dtype of the tensor.
        LocalProtocolError, DataFileError
            As `append`, and if the last record is damaged.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import tensorwrapper as tw
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "hits.tens"
        >>> with TensFile(path, "a") as f:
        ...     f.extend("hits", tw.jagged([[1, 2], [3]]))
        ...     f.extend("hits", tw.jagged([[], [4, 5, 6]]))
        >>> with TensFile(path) as f:
        ...     f["hits"].shape, f["hits"][1:].tolist()
        (Shape.jagged([2, 1, 0, 3]), [[3], [], [4, 5, 6]])
        """
        writer, reader, directory = self._writing(), self._reading, self._directory
        many = _has_fields(tensor)
        if directory.views and directory.has_view(name):
            raise ConversionError(f"cannot extend {name!r}, which is a stored view")
        if many and directory.has(name) and not self._fields_of(name, look=True):
            raise ConversionError(f"{name!r} is a tensor; extend it by rows, not by a mapping of fields")
        if many or name in directory.records:
            from tensorwrapper.store.append._fields import rows_of_records  # noqa: PLC0415 - few files have records

            writer.extend_records(name, tensor, compress, partial(rows_of_records, reader))
            return
        owner = directory.field_of(name) if isinstance(cast("object", name), str) else None
        if owner is not None and not directory.has(name):
            raise TensorNameError(f"{name!r} is a field; use f.extend({owner[0]!r}, ...) with all fields")
        writer.extend(name, tensor, compress, reader.rows)

    def __setitem__(self, name: str, tensor: object) -> None:
        self.append(name, tensor)

    def tensor_metadata(self, name: str) -> Mapping[str, Any]:
        """Return the metadata with which a tensor was appended; empty without any."""
        if self._directory.has_view(name):
            return self._reading.message(self._view_place(name), RecordFacts("view", name)).metadata or {}
        found = self._location(name)
        message = found.message()
        return message.tensor_metadata[number_of(message, found.field)] or {}

    def _writing(self) -> "RecordWriter":
        if self._file is None:
            raise DataFileError(f"{self._path} is closed")
        if self._writer is None:
            raise ReadOnlyError(f"{self._path} is open for reading; use mode 'a' to append")
        return self._writer

    def _is_in_place(self, file: int) -> bool:
        try:
            return os.path.samestat(os.fstat(file), os.stat(self._where))
        except FileNotFoundError:
            return False

    def _check_in_place(self, file: int) -> None:
        """Raise if the file was replaced while this process appended to it."""
        if not self._is_in_place(file):
            raise DataFileError(
                f"{self._path} was replaced or removed while it was appended to; new tensors are lost"
            )

    def flush(self) -> None:
        """Write the index, and wait until everything is on disk.

        A file without an index is also complete, but opening it requires a scan. Appended tensors survive
        this process without `flush`, but perhaps not a crash of the machine.
        """
        writer = self._writing()
        try:
            if self._file is not None and self._temporary is None:
                self._check_in_place(self._file)
            writer.add_index(durable=True)
            # For a new file, also sync its name.
            sync_folder(os.path.dirname(self._where))
        except DataFileError:
            raise
        except OSError as error:
            raise refused_by_system(f"{self._path} could not be written: {error.strerror}", error) from error

    def close(self) -> None:
        """Write the index if anything is new, and close the file; closing twice is harmless."""
        if self._file is None:
            return
        try:
            if self._writer is not None:
                self._finish(self._writer, self._file)
        except DataFileError:
            raise
        except OSError as error:
            raise refused_by_system(f"{self._path} could not be written: {error.strerror}", error) from error
        finally:
            self._drop()

    def _finish(self, writer: "RecordWriter", file: int) -> None:
        if writer.is_interrupted:
            if self._temporary is not None:
                raise DataFileError(
                    f"an exception interrupted the writing of {self._path}; the old file is kept"
                )
            # Without an index, opening the file finds the appended records by a scan.
            return
        if self._temporary is None:
            self._check_in_place(file)
        # A temporary file must only be durable before it replaces the target.
        writer.add_index(durable=self._temporary is None)
        if self._temporary is not None:
            os.fsync(file)
            os.replace(self._temporary, self._where)
            self._temporary = None
        sync_folder(os.path.dirname(self._where))

    def _drop(self) -> None:
        """Release everything; discard a temporary file that was to replace another."""
        file, temporary = self._file, self._temporary
        self._file = self._temporary = None
        self._reader = self._writer = None
        self._given = {}
        try:
            # In a forked child the lock belongs to the parent.
            if file is not None and self._owner is not None and self._owner == os.getpid():
                unlock(file)
        finally:
            try:
                # Closing releases the lock, even after Ctrl-C.
                if file is not None:
                    os.close(file)
            finally:
                if temporary is not None:
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(temporary)

    def __enter__(self) -> "TensFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and self._mode == "w":
            self._drop()
        else:
            self.close()

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self._drop()
            warnings.warn(f"{self._path} was not closed", LeakedResourceWarning, stacklevel=2)

    def to_svg(self) -> str:
        """Return an SVG picture with a bar for each of the first tensors, proportional to its bytes."""
        from tensorwrapper.store.records._picture import MOST, draw_entries  # noqa: PLC0415 - when drawn

        tensors = (name for name in self if not self._directory.has_view(name))
        entries = [] if self.closed else [self.describe(name) for name in itertools.islice(tensors, MOST)]
        return draw_entries(entries, 0 if self.closed else len(self), title=shortened(repr(self))).to_svg()

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: the path, and a table of the first tensors."""
        from tensorwrapper.store.records._picture import file_html  # noqa: PLC0415 - few are shown

        return file_html(shortened(repr(self)), () if self.closed else self, self.describe)

    def __str__(self) -> str:
        from tensorwrapper.store.records._picture import file_text  # noqa: PLC0415 - few are shown

        return file_text(repr(self), () if self.closed else self, self.describe)

    def __repr__(self) -> str:
        state = "closed" if self.closed else counted(len(self), "tensor")
        return f"<TensFile {str(self._path)!r}, mode {self._mode!r}, {state}>"


hint(TensFile, "TensFile")
