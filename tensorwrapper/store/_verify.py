"""`verify`: read every byte of a `.tens` file, and compare its index with its records."""

import os
from collections.abc import Callable
from contextlib import nullcontext
from typing import final

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError, TensorWrapperError
from tensorwrapper.store._file import TensFile
from tensorwrapper.store.append._appended_tensor import check_grown
from tensorwrapper.store.records._directory import Directory
from tensorwrapper.store.records._format import ALIGNMENT, HEADER_BYTES, unpack_header
from tensorwrapper.store.records._index import is_sound, scan
from tensorwrapper.store.records._index_rows import Place, Row
from tensorwrapper.store.records._reader import RecordReader
from tensorwrapper.wire import DEFAULT_LIMITS, Limits


@final
@frozen
class Verification:
    """Result of verifying a file."""

    tensors: int
    """Number of readable tensors."""
    records: int
    """Number of records read, including those of the file itself."""
    nbytes: int
    """Size of the file in bytes."""
    indexed: bool
    """True if the file ends with an index. A file without one is complete, but opening it requires a scan."""
    problems: tuple[str, ...]
    """Problems, a sentence each."""

    @property
    def ok(self) -> bool:
        """True if there are no problems."""
        return not self.problems


def verify(
    path: str | os.PathLike[str],
    *,
    deep: bool = False,
    follow: str | os.PathLike[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    progress: Callable[[int, int], object] | None = None,
) -> Verification:
    """Read all of a `.tens` file and report its errors.

    Every checksum is computed, every tensor is opened, and the index is compared with the records. A change
    of bytes, or of their order, is missed with a probability of at most 2**-32.

    Parameters
    ----------
    path
        The file.
    deep
        Whether to also open the sources of stored views, which must be present and unchanged.
    follow
        Another folder for such sources, as in `open`.
    limits
        As in `open`; a tensor that exceeds them is a problem.
    progress
        Function called after each record with the bytes read and the total.

    Raises
    ------
    DataFileError
        If the file cannot be opened: it is missing, empty or of another format, or its index is invalid.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.tens"
    >>> with TensFile(path, "w") as f:
    ...     f["a"] = [11, 22, 33]
    >>> verify(path).ok
    True
    >>> _ = path.write_bytes(path.read_bytes().replace(bytes([22, 0, 0]), bytes([77, 0, 0])))
    >>> verify(path).problems
    ('the record at 192 has a checksum that does not fit',)
    """
    with TensFile(path, limits=limits, follow=follow) as file:
        directory, reader = file._directory, file._reading
        size = reader.size
        walked = scan(reader.read_at, size)
        problems = list(walked.complaints)
        # An old writer may have listed records as tensors.
        directory.records = walked.records | directory.records
        places, end = _scan(reader, size)
        problems += [] if walked.torn is None else [walked.torn]
        # Only the index lists records after a damaged header.
        places += [place for _, place, *_ in directory.rows if place.start >= end]
        problems += _compare(directory, walked, end) if directory.chain else []
        for place in places:
            damage = _damage(reader, place)
            problems += [] if damage is None else [damage]
            if progress is not None:
                progress(place.stop, size)
        damaged = _all_unreadable(file, deep=deep)
        problems += damaged.values()
        return Verification(
            len(file) - len(damaged),
            len(places),
            size,
            bool(directory.chain),
            tuple(dict.fromkeys(problems)),
        )


def _scan(reader: RecordReader, size: int) -> tuple[list[Place], int]:
    """Return all records up to the first invalid one, and the position of that one."""
    places: list[Place] = []
    end = 0
    while end < size:
        try:
            place = Place(end, unpack_header(reader.read_at(end, HEADER_BYTES)).length)
        except DataFileError:
            break
        if place.stop > size or place.stop % ALIGNMENT:
            break
        places.append(place)
        end = place.stop
    return places, end


def _compare(directory: Directory, walked: Directory, end: int) -> list[str]:
    """Return the differences between the index and the scanned records."""
    listed = {row for row in directory.rows if row[1].start < end}
    found = set(walked.rows)
    misnamed = [
        f"the index says that {name!r} has the fields {', '.join(fields)[:80]}, and there are "
        f"{', '.join(walked.records[name])[:80]}"
        for name, fields in directory.records.items()
        if fields != walked.records.get(name, fields)
    ]
    views = {name: start for name, start in directory.views.items() if start < end}
    return [
        *misnamed,
        *(f"the index lists the view {name!r}, which is not there" for name in views.keys() - walked.views),
        *(f"the index does not list the view {name!r}" for name in walked.views.keys() - directory.views),
        *(f"the index lists {_named(row)}, which is not there" for row in sorted(listed - found, key=_start)),
        *(f"the index does not list {_named(row)}" for row in sorted(found - listed, key=_start)),
    ]


def _start(row: Row) -> int:
    return row[1].start


def _named(row: Row) -> str:
    name, place, piece, pieces, after = row
    part = f", piece {piece} of {pieces}" if pieces > 1 else ""
    part += "" if after is None else f", from row {after} on"
    return f"{f'the tensor {name!r}' if name else 'metadata'} at {place.start}{part}"


def _damage(reader: RecordReader, place: Place) -> str | None:
    try:
        header = unpack_header(reader.read_at(place.start, HEADER_BYTES))
        if not is_sound(reader.read_at, place, header):
            return f"the record at {place.start} has a checksum that does not fit"
    except DataFileError as error:
        return f"the record at {place.start} {error}"
    return None


def _all_unreadable(file: TensFile, *, deep: bool) -> dict[str, str]:
    """Return the problems of all tensors, by name."""
    from tensorwrapper.store.views._open_sources import opening  # noqa: PLC0415 - few files have views

    with opening() if file._directory.views else nullcontext():
        return {name: text for name in file if (text := _unreadable(file, name, deep=deep)) is not None}


def _unreadable(file: TensFile, name: str, *, deep: bool) -> str | None:
    try:
        if file._directory.has_view(name):
            # A missing source is not damage of this file.
            file.sources(name)
            states = file.check_sources(name) if deep else ()
            problem = next((own.problem for own in states if own.problem), "")
            if problem:
                return f"{name!r} cannot be read: {problem}"
            if deep:
                # Sources in this file may have grown meanwhile.
                file[name]
            return None
        found = file._location(name)
        if found.grown:
            check_grown(found.reader, found.places, found.grown)
        else:
            file[name]
    except TensorWrapperError as error:
        return f"{name!r} cannot be read: {error}"
    return None
