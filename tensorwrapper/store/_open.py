"""`open` and `save` for `.tens` and other files."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, SupportsIndex, cast, overload

from tensorwrapper._arguments import check_null_rows
from tensorwrapper._error_text import brief, shortened
from tensorwrapper._integers import to_count
from tensorwrapper._lazy import naming_extras
from tensorwrapper.errors import (
    ConversionError,
    DataFileError,
    ReadOnlyError,
    TensorNameError,
)
from tensorwrapper.store._file import PIECE_BYTES, FileMode, TensFile, is_view
from tensorwrapper.store.ranges._addresses import has_no_path
from tensorwrapper.store.system._system import to_path
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import NullRows
from tensorwrapper.wire import DEFAULT_LIMITS, Compression, Limits
from tensorwrapper.wire.lowlevel import is_records

if TYPE_CHECKING:
    from tensorwrapper.store.formats._array_file import ArrayFile
    from tensorwrapper.store.formats._contents import ChunksLike
    from tensorwrapper.store.formats._kinds import Kind
    from tensorwrapper.store.wirecell._recognise import FileKind
    from tensorwrapper.wirecell import TensorSet


@overload
def open(  # noqa: A001 - in the package's name it reads as what it does
    path: str | os.PathLike[str],
    mode: Literal["a", "w"],
    *,
    metadata: Mapping[str, object] | None = None,
    piece_bytes: SupportsIndex = PIECE_BYTES,
    compress: Compression | None = None,
    limits: Limits = DEFAULT_LIMITS,
    follow: str | os.PathLike[str] | None = None,
    check_versions: bool = True,
) -> TensFile:
    """Open a file as a mapping from names to lazily read tensors."""


@overload
def open(  # noqa: A001 - in the package's name it reads as what it does
    path: "str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO",
    mode: FileMode = "r",
    *,
    kind: "FileKind | None" = None,
    metadata: Mapping[str, object] | None = None,
    piece_bytes: SupportsIndex = PIECE_BYTES,
    compress: Compression | None = None,
    limits: Limits = DEFAULT_LIMITS,
    null_rows: NullRows = "refuse",
    raw: bool = False,
    follow: str | os.PathLike[str] | None = None,
    check_versions: bool = True,
) -> "TensFile | ArrayFile": ...
def open(  # noqa: A001
    path: "str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO",
    mode: FileMode = "r",
    *,
    kind: "FileKind | None" = None,
    metadata: Mapping[str, object] | None = None,
    piece_bytes: SupportsIndex = PIECE_BYTES,
    compress: Compression | None = None,
    limits: Limits = DEFAULT_LIMITS,
    null_rows: NullRows = "refuse",
    raw: bool = False,
    follow: str | os.PathLike[str] | None = None,
    check_versions: bool = True,
) -> "TensFile | ArrayFile":
    """Open a file as a mapping from names to lazily read tensors.

    The content of the file determines its format, as for `recognise`; its name does not. Use a `.tens` file
    in a ``with`` statement. A file of another format is an `ArrayFile`, which need not be closed.

    Parameters
    ----------
    path
        The path of the file, or of the folder of a Zarr store. With mode ``"r"`` also an address (http,
        https, or any file system of fsspec), an open binary file, or bytes in memory. `open` reads byte
        ranges of these. Archives of tensor sets and manifests of kerchunk are copied to a temporary file, up
        to 256 MiB.
    mode
        ``"r"`` reads an existing file. ``"a"`` appends to it, or creates it; every tensor is in the file when
        `append` returns. ``"w"`` writes a temporary file in the same folder, which replaces `path` on close.
        If an exception leaves the ``with`` statement, `path` is not replaced.
    kind
        Format of the file, where the content does not determine it. Files of another format raise an error.
    metadata
        When writing, metadata of the file: any JSON. They replace earlier metadata.
    piece_bytes
        When writing, store larger tensors in runs of rows of at most this many bytes.
    compress
        When writing, a codec for the elements, ``"zlib"``, ``"zstd"`` or ``"blosc2"``, in blocks, so that a
        slice reads only the blocks that it touches. Elements that do not become smaller are stored
        uncompressed.
    limits
        Limits on the message of a record. They also apply to writing, so that a reader with the same limits
        can read the file.
    null_rows
        How to read null lists in a column of a Parquet or Feather file: as an error, or as empty rows.
    raw
        Whether to list the raw arrays of a convention (sparse matrices of AnnData, rows of CF) instead of its
        tensors.
    follow
        A folder in which files may be read that links and manifests of this file refer to. Without it they
        are listed in `losses`. Sources of stored views may be in it, and in the folder of the file.
        Alternatively the prefix of the address of a server with sources.
    check_versions
        Whether reading a changed source of a stored view is an error. If not, it issues a
        `ChangedSourceWarning`.

    Raises
    ------
    DataFileError
        If the file is missing, damaged beyond use, of an unknown format, or being written by another process.
    ConversionError
        If the source has an unsupported type, or the address is that of a server; use `connect` for servers.
        If the mode is not ``"r"`` and the file is not a `.tens` file; use `convert` to write others.
    ReadOnlyError
        If `metadata` is given with mode ``"r"``.
    ModuleNotFoundError
        If the library for the format is not installed: h5py, pyarrow or zarr.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.tens"
    >>> with open(path, "a", metadata={"run": 3}) as f:
    ...     f["a"] = [[1, 2], [3, 4]]
    >>> with open(path) as f:
    ...     f.metadata["run"], f["a"][1].tolist()
    (3, [3, 4])
    >>> import numpy as np
    >>> np.savez(path.with_suffix(".npz"), b=np.arange(6).reshape(2, 3))
    >>> open(path.with_suffix(".npz"))["b"][:, 1].tolist()
    [1, 4]
    """
    if null_rows != "refuse":
        check_null_rows(null_rows)
    followed = None if follow is None else _front(follow)
    if mode == "r" and has_no_path(path):
        _check_read_only(metadata)
        from tensorwrapper.store._open_other import open_ranges  # noqa: PLC0415 - not for a path of ours

        return open_ranges(path, kind, limits, null_rows, raw=raw, follow=followed)
    where = to_path(cast("str", path)) if mode == "r" else _place(cast("str", path))
    if mode != "r":
        if kind not in (None, "tens") or (kind is None and _other_kind(where) is not None):
            raise ConversionError(f"{where} can only be read; use save or store.convert to write such files")
        return TensFile(
            where,
            mode,
            metadata=metadata,
            piece_bytes=piece_bytes,
            compress=compress,
            limits=limits,
            follow=follow,
            check_versions=check_versions,
        )
    if kind == "tens" or (kind is None and where.suffix == ".tens"):
        try:
            return TensFile(
                where, mode, metadata=metadata, limits=limits, follow=follow, check_versions=check_versions
            )
        except DataFileError:
            # The extension may be wrong.
            if kind is not None or not _is_other(where):
                raise
    _check_read_only(metadata)
    from tensorwrapper.store._open_other import open_other  # noqa: PLC0415 - of other kinds alone

    found = open_other(where, kind, limits, null_rows, raw=raw, follow=followed)
    if found is not None:
        return found
    return TensFile(where, mode, limits=limits, follow=follow, check_versions=check_versions)


def _front(follow: str | os.PathLike[str]) -> str:
    """Return the folder, or the address prefix, below which other files are read."""
    if isinstance(cast("object", follow), str | os.PathLike):
        return os.fspath(follow)
    raise ConversionError(
        f"follow= must be a folder or an address prefix, not {type(follow).__name__}: {brief(follow)}"
    )


def _check_read_only(metadata: object) -> None:
    if metadata is not None:
        raise ReadOnlyError("metadata= requires mode 'a' or 'w', not 'r'")


def _is_other(where: Path) -> bool:
    """Return True if the content of a file with extension `.tens` has another format."""
    from tensorwrapper.store.wirecell._recognise import recognise  # noqa: PLC0415 - files of ours do not come here

    try:
        return recognise(where).kind != "tens"
    except DataFileError:
        return False


def _place(given: str | os.PathLike[str]) -> Path:
    """Return the path; raise for other arguments."""
    if has_no_path(given):
        raise ConversionError(f"{brief(given)} has no path; a path is required to write a file")
    return to_path(given)


def save(
    path: str | os.PathLike[str],
    tensors: Mapping[str, object],
    *,
    metadata: Mapping[str, object] | None = None,
    metadata_depth: SupportsIndex = 1,
    piece_bytes: SupportsIndex = PIECE_BYTES,
    compress: Compression | Mapping[str, Compression | None] | None = None,
    chunks: "ChunksLike | None" = None,
    limits: Limits = DEFAULT_LIMITS,
    keep_views: bool = False,
) -> None:
    """Write tensors to a new file, and replace an existing one.

    The extension determines the format, as for `store.convert`; with any other extension it is a `.tens`
    file, which can store all tensors. The old file exists until all tensors are on disk. Readers that have
    the old file open keep reading it.

    Parameters
    ----------
    path
        Path of the file.
    tensors
        A mapping from names to tensors, or to anything that `as_tensor` accepts. In a `.tens` file, `Records`
        are one unit, which grows by `TensFile.extend`. In other formats each field is a tensor with a dotted
        name, ``ev.t``.
    metadata
        Metadata of the file: any JSON.
    metadata_depth
        Maximum nesting depth of the metadata of `no_elements` tensors.
    piece_bytes
        Store larger tensors in runs of rows of at most this many bytes.
    compress
        A codec for the elements, as in `open`, or a mapping from names to codecs or None; other names are
        stored uncompressed. HDF5 supports ``"zlib"``, Parquet also ``"zstd"``, Feather only ``"zstd"``, Zarr
        all.
    chunks
        For HDF5 and Zarr, the chunk extents of all tensors, or a mapping from names to chunk extents. By
        default chunks follow the memory order, with about 1 MiB each, or the layers of a nested shape. For
        Parquet and Feather, ``(n,)`` for n rows at a time.
    limits
        Limits on the content of the file, as in `open`.
    keep_views
        Whether to store views as views in a `.tens` file, after all tensors, as `TensFile.append` does with
        `keep_view`. A tensor in memory that is saved too becomes a source by name.

    Raises
    ------
    TensorNameError
        If a name is empty, a path, or over 255 bytes long, or `compress` names a tensor that is not saved.
    LocalProtocolError
        If the format does not support a tensor, or a reader with these limits would refuse it.
    ConversionError
        If the format cannot store a tensor, or a view cannot be stored.
    DataFileError
        If the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.tens"
    >>> save(path, {"rows": [[1, 2], [3, 4]]})
    >>> with open(path) as f:
    ...     list(f)
    ['rows']
    """
    if is_records(tensors):
        raise ConversionError(
            "records need a name, as in {'ev': r}; {**r} saves one tensor, or one column, per field"
        )
    given: object = tensors
    if type(given) is not dict and not isinstance(given, Mapping):
        raise ConversionError(
            f"tensors must map names to tensors, as {{'t': t}} does, but are of type {type(tensors).__name__}"
        )
    codec: Compression | None = None
    codecs: Mapping[str, Compression | None]
    if compress is None:
        codecs = dict.fromkeys(tensors)
    elif isinstance(compress, Mapping):
        codecs = compress
    else:
        codec, codecs = compress, dict.fromkeys(tensors, compress)
    for name in codecs:
        if name not in tensors:
            raise TensorNameError(f"compress names {name!r}, which is not among the tensors")
    where = to_path(path)
    kind = _other_kind(where)
    if kind is not None:
        if keep_views:
            raise ConversionError(f"{where} cannot store views; use a .tens file")
        from tensorwrapper.store.formats._contents import Options  # noqa: PLC0415 - of other kinds alone

        with naming_extras():
            kind.write(
                where,
                ((name, tensor, {}) for name, tensor in _with_fields(tensors)),
                metadata or {},
                Options(chunks, codecs),
            )
        return
    if chunks is not None:
        raise ConversionError(f"{where} has no chunks; use piece_bytes for a .tens file")
    with TensFile(
        where, "w", metadata=metadata, piece_bytes=piece_bytes, compress=codec, limits=limits
    ) as file:
        kept = [name for name, given in tensors.items() if is_view(given)] if keep_views else []
        _append_all(file, tensors, metadata_depth, codecs, kept)


def _append_all(
    file: TensFile,
    tensors: Mapping[str, object],
    metadata_depth: SupportsIndex,
    codecs: Mapping[str, Compression | None],
    kept: Sequence[str],
) -> None:
    """Append tensors, then the stored views, whose sources may be these tensors."""
    depth, writer = to_count(metadata_depth, "metadata_depth"), file._writing()

    def given() -> Iterator[tuple[str, object, Compression | None]]:
        for name, tensor in tensors.items():
            if name in kept:
                continue
            if kept and isinstance(tensor, Tensor):
                file._given[id(cast("object", tensor))] = tensor, name
            yield name, tensor, codecs.get(name)

    # Records are appended one by one, and all others in the runs between them.
    if type(tensors) is dict and not any(map(is_records, tensors.values())):
        writer.add_tensors(given(), depth)
    else:
        for are_records, run in groupby(given(), lambda own: is_records(own[1])):
            if are_records:
                for name, records, codec in run:
                    file.append(name, records, compress=codec)
            else:
                writer.add_tensors(run, depth)
    for name in kept:
        file.append(name, tensors[name], keep_view=True)


def _with_fields(tensors: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield tensors with their names, and the fields of records with dotted names."""
    for name, given in tensors.items():
        if is_records(given):
            yield from ((f"{name}.{field}", tensor) for field, tensor in given.items())
        else:
            yield name, given


def save_sets(path: str | os.PathLike[str], sets: "Iterable[TensorSet]", *, prefix: str = "") -> None:
    """Write Wire-Cell's tensor sets to a new tensor file, one at a time.

    Parameters
    ----------
    path
        Path of the file; its extension determines the format: ``.tar``, ``.tar.gz``, ``.tgz``,
        ``.tar.bz2``, ``.tbz2``, ``.zip`` or ``.npz``.
    sets
        Sets with different numbers; a generator is consumed one set at a time.
    prefix
        Prefix of the names of all members.

    Raises
    ------
    ConversionError
        If the name has no such extension, a tensor is not a dense box with origin zero and at least one mode,
        or metadata cannot be written as JSON.
    TensorSetError
        If two sets have the same number.
    TensorNameError
        If `prefix` has a slash, or a control character.
    DataFileError
        If the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from tensorwrapper.wirecell import TensorSet
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "points.tar.gz"
    >>> save_sets(path, [TensorSet(7, [[1.5, 2.5]], [{"datapath": "x"}])])
    >>> open(path).sets()[7].tree["x"].tensor.tolist()
    [1.5, 2.5]
    """
    from tensorwrapper.store.wirecell._kinds import SETS, end_of  # noqa: PLC0415 - what files of ours do not need
    from tensorwrapper.store.wirecell._names import tensor_number  # noqa: PLC0415
    from tensorwrapper.store.wirecell._write import write_sets  # noqa: PLC0415

    where = to_path(path)
    end = end_of(where)
    if end not in SETS:
        raise ConversionError(
            f"{shortened(str(where))} is not a tensor file; its name must end in one of {', '.join(SETS)}"
        )
    if tensor_number(f"{prefix}tensor_0_0") is None:
        raise TensorNameError(
            f"names cannot begin with {prefix!r}; slashes and control characters are not allowed"
        )
    write_sets(where, end, sets, prefix)


def _other_kind(where: Path) -> "Kind | None":
    """Return the format of a file by its extension; None for `.tens`."""
    if where.suffix == ".tens":
        return None
    # Import late, because `.tens` files do not need the readers and writers of other formats.
    from tensorwrapper.store.wirecell._kinds import is_foreign, kind_of  # noqa: PLC0415

    return kind_of(where) if is_foreign(where) else None
