"""`compact`: rewrite a file with as few records per extended tensor as possible."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, SupportsIndex, cast, final, get_args

from tensorwrapper._integers import to_positive
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError
from tensorwrapper.store._file import TensFile
from tensorwrapper.store._verify import verify
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire import DEFAULT_LIMITS, Compression, Limits

if TYPE_CHECKING:
    from tensorwrapper.fields import Records

_PIECE_BYTES: Final = 2**26


@final
@frozen
class Compaction:
    """Sizes of a file before and after compaction."""

    records: int
    """Number of tensor records before."""
    kept: int
    """Number of tensor records after."""
    nbytes: int
    """Size of the file before, in bytes."""
    saved: int
    """Bytes saved; negative if the file grew."""


def compact(
    path: str | os.PathLike[str],
    *,
    piece_bytes: SupportsIndex = _PIECE_BYTES,
    limits: Limits = DEFAULT_LIMITS,
) -> Compaction:
    """Rewrite a `.tens` file, so that tensors extended by `TensFile.extend` are in few records.

    Names, their order, metadata, records, stored views and compression stay. An extended tensor reads as a
    `Tensor` afterwards. Strings and sparse tensors larger than `piece_bytes` stay in several records, and
    still read as views; symmetric ones stay in one record. As with `save`, the old file exists until the new
    one is on disk. Readers that have the old file open keep reading it. The old file is read twice, because
    all checksums are verified before anything is written.

    Parameters
    ----------
    path
        The file. No other process may write to it meanwhile.
    piece_bytes
        Limit on the bytes of elements in a record, and in memory at a time.
    limits
        As in `open`.

    Raises
    ------
    DataFileError
        If the file is missing, damaged, being written by another process, or cannot be written. The old file
        is kept.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.tens"
    >>> with TensFile(path, "a") as f:
    ...     for k in range(100):
    ...         f.extend("x", [k])
    >>> found = compact(path)
    >>> found.records, found.kept, found.saved > 20_000
    (100, 1, True)
    >>> with TensFile(path) as f:
    ...     f["x"][97:].tolist()
    [97, 98, 99]
    """
    limit = to_positive(piece_bytes, "piece_bytes")
    with TensFile(path, limits=limits) as old:
        old._lock()
        # Verify the old checksums first, because new ones would hide damage.
        problems = (*old.losses, *verify(path, limits=limits).problems)
        if problems:
            raise DataFileError(f"{old.path} is not compacted: {problems[0]}")
        with TensFile(path, "w", metadata=old.metadata, piece_bytes=limit, limits=limits) as new:
            for name in old._directory.names:
                fields = old._fields_of(name, look=True)
                if fields:
                    _copy_records(old, new, name, fields, limit)
                else:
                    _copy(old, new, name, limit)
            for name in old._directory.views:
                new._writing().add_view(name, [old._view_bytes(name)])
            kept, size = _count(new), old._reading.size
        records = _count(old)
    return Compaction(records, kept, size, size - old.path.stat().st_size)


def _count(file: TensFile) -> int:
    return sum([bool(row[0]) for row in file._directory.rows])


def _copy(old: TensFile, new: TensFile, name: str, limit: int) -> None:
    codec = _codec(old, [name])
    first, *others = _batches(old._parts(name), limit)
    said = old.tensor_metadata(name) or None
    new.append(name, first, metadata=said, metadata_depth=DEFAULT_LIMITS.depth, compress=codec)
    for other in others:
        new.extend(name, other, compress=codec)


def _codec(old: TensFile, names: Iterable[str]) -> Compression | None:
    """Return the compression of the first compressed tensor."""
    packings = map(old._packing, names)
    return next((cast("Compression", own) for own in packings if own in get_args(Compression)), None)


def _copy_records(old: TensFile, new: TensFile, name: str, fields: Sequence[str], limit: int) -> None:
    from tensorwrapper.store.append._fields import joined, parts_of_records  # noqa: PLC0415 - few files have records

    codec, directory = _codec(old, [f"{name}.{field}" for field in fields]), old._directory
    waiting: list[Records] = []

    def write() -> None:
        new.extend(name, joined(waiting), compress=codec)
        waiting.clear()

    places, grown = directory.places(name) or (), directory.extensions.get(name, ())
    for part in parts_of_records(old._reading, name, places, grown, tuple(fields)):
        if waiting and sum([own.nbytes for own in waiting]) + part.nbytes > limit:
            write()
        waiting.append(part)
    write()


def _batches(parts: Sequence[Tensor[Any]], limit: int) -> Iterator[Tensor[Any]]:
    """Yield one tensor per new record, joined from parts of up to `limit` bytes."""
    from tensorwrapper.selection import concat  # noqa: PLC0415 - only for what is no one lazy tensor

    waiting: list[Tensor[Any]] = []
    size = 0
    for part in parts:
        own = part.nnz * (part.dtype.itemsize + 8) if part.is_sparse else part.nbytes
        if waiting and size + own > limit:
            yield concat(waiting).compute() if len(waiting) > 1 else waiting[0]
            waiting, size = [], 0
        waiting.append(part)
        size += own
    yield concat(waiting).compute() if len(waiting) > 1 else waiting[0]
