"""Recognise the format of a file by its first and last bytes, its content, and its name."""

import bz2
import contextlib
import errno
import struct
import zipfile
import zlib
from collections.abc import Mapping
from os import PathLike
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, TypeAlias, TypeVar, cast, final

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError, DataFileSystemError
from tensorwrapper.store.ranges._addresses import has_no_path
from tensorwrapper.store.system._system import (
    HEAD_BYTES,
    OpenedFile,
    of_stranger,
    refused_by_system,
    to_path,
)
from tensorwrapper.store.wirecell._names import member_name

if TYPE_CHECKING:
    from tensorwrapper.store.formats.zarr._remote_folders import FarStore
    from tensorwrapper.store.ranges._ranges import Ranges

_T = TypeVar("_T")

FileKind: TypeAlias = Literal[
    "tens",
    "hdf5",
    "parquet",
    "arrow",
    "npy",
    "npz",
    "safetensors",
    "zarr",
    "wirecell",
    "kerchunk",
]
"""File formats that can be recognised."""

KIND_OF_END: Final[Mapping[str, FileKind]] = {
    ".tens": "tens",
    **dict.fromkeys((".h5", ".hdf5", ".hdf", ".he5", ".h5ad", ".nc"), "hdf5"),
    **dict.fromkeys((".parquet", ".parq"), "parquet"),
    **dict.fromkeys((".feather", ".arrow"), "arrow"),
    ".npy": "npy",
    ".npz": "npz",
    ".safetensors": "safetensors",
    ".zarr": "zarr",
    **dict.fromkeys((".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".zip"), "wirecell"),
}
"""Formats by extension, used if the content is ambiguous."""

_HDF5: Final = b"\x89HDF\r\n\x1a\n"
_USER_BLOCKS: Final = tuple([1 << place for place in range(9, 21)])
_MAGIC: Final[Mapping[bytes, FileKind]] = {
    b"\x89TENS\r\n\x1a": "tens",
    _HDF5: "hdf5",
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\x93NUMPY": "npy",
}
_ENDS: Final[Mapping[FileKind | None, bytes]] = {"parquet": b"PAR1", "arrow": b"ARROW1"}
"""Last bytes of some file formats."""
_PACKED: Final = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
}
_UNPACKED: Final = ("gzip", "bzip2")
"""Compressions that are decompressed to recognise the content."""
_ENCRYPTED: Final = "an encrypted Parquet file: pyarrow reads it with its keys"
_REFUSED: Final = {
    b"PARE": _ENCRYPTED,
    b"FEA1": "a Feather file of version 1: pyarrow.feather.read_table reads it",
    b"ORC": "an ORC file: pyarrow.orc.read_table reads it",
    b"Obj\x01": "an Avro file: fastavro.reader and awkward.from_avro_file read it",
    b"CDF\x01": "a netCDF file of version 3: scipy.io.netcdf_file reads it",
    b"CDF\x02": "a netCDF file of version 3: scipy.io.netcdf_file reads it",
    b"CDF\x05": "a netCDF file of version 3: netCDF4.Dataset reads it",
    b"\x0e\x03\x13\x01": "an HDF4 file: `h4toh5` makes HDF5 of it",
    b"MATLAB 5.0": "a MATLAB file before 7.3: scipy.io.loadmat reads it",
    **{bytes([0x80, version]): "a pickle, which runs what its writer wants" for version in range(2, 6)},
}


@final
@frozen
class Recognised:
    """Format of a file, and the evidence for it.

    Examples
    --------
    >>> Recognised("hdf5", "magic", "user block of 512 bytes").kind
    'hdf5'
    """

    kind: FileKind
    by: Literal["magic", "structure", "name"]
    """Evidence: its first bytes, its content, or only its extension."""
    note: str = ""
    """Further information; often empty."""


_SAFETENSORS: Final = Recognised("safetensors", "structure")


def recognise(source: "str | PathLike[str] | bytes | bytearray | memoryview | BinaryIO") -> Recognised:
    """Recognise the format of a file at a path or an address, of an open file, or of bytes in memory.

    This reads the first 4 KiB of a file. It also reads the last bytes of a Parquet or Arrow file, the
    directory of a zip archive, and 8 bytes at each position where an HDF5 file may start. If the content is
    ambiguous, the extension decides.

    Raises
    ------
    DataFileError
        If the file is missing, or its format is unknown or only supported by other libraries, which the text
        names.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.dat"
    >>> with path.open("wb") as f:
    ...     np.savez(f, x=[1, 2])
    >>> recognise(path)
    Recognised(kind='npz', by='structure', note='')
    """
    if has_no_path(source):
        elsewhere = opened_at(source, None)
        if not isinstance(elsewhere, tuple):
            elsewhere.folder.close()
            return Recognised("zarr", "structure", f"version {elsewhere.version}")
        elsewhere[0].close()
        return elsewhere[1]
    found, opened = recognise_path(to_path(cast("str", source)))
    if opened is not None:
        opened.close()
    return found


def recognise_path(path: Path) -> tuple[Recognised, OpenedFile | None]:
    """Recognise the format of a file, and return the open file for its reader; None for a folder.

    Raises as `recognise`.
    """
    try:
        opened = OpenedFile(path)
    except DataFileSystemError as error:
        if error.errno != errno.EISDIR:
            raise
        return _of_folder(path), None
    try:
        with of_stranger(path, "known"):
            return _of_bytes(path, opened, str(path)), opened
    except BaseException:
        opened.close()
        raise


def opened_at(source: object, kind: FileKind | None) -> "tuple[Ranges, Recognised] | FarStore":
    """Return the ranges and the format of a file without a path; or a Zarr store in a folder.

    Raises
    ------
    DataFileError
        As `recognise` does.
    """
    from tensorwrapper.store.formats.zarr._remote_folders import far_store  # noqa: PLC0415 - few files have no path
    from tensorwrapper.store.ranges._ranges import Ranges  # noqa: PLC0415 - as above

    may_be_folder = isinstance(source, str) and kind in (None, "zarr")
    end = source.partition("?")[0].partition("::")[0] if isinstance(source, str) else ""
    if may_be_folder and (kind == "zarr" or end.endswith((".zarr", "/"))):
        with contextlib.suppress(DataFileError):
            found = far_store(cast("str", source))
            if found is not None:
                return found
        may_be_folder = False
    ranges: Ranges | None = None
    try:
        ranges = Ranges.of(cast("str", source))
        return ranges, recognise_ranges(ranges) if kind is None else Recognised(kind, "name")
    except DataFileError:
        if ranges is not None:
            ranges.close()
        # The address of a folder is not a file, or returns a listing page.
        with contextlib.suppress(DataFileError):
            found = far_store(cast("str", source)) if may_be_folder else None
            if found is not None:
                return found
        raise


def recognise_ranges(ranges: "Ranges") -> Recognised:
    """Recognise the format of a file read by ranges. Raises as `recognise`."""
    return _of_bytes(PurePosixPath(ranges.name), ranges, ranges.name)


def _of_bytes(path: PurePath, file: "OpenedFile | Ranges", shown: str) -> Recognised:
    head = file.read_at(0, HEAD_BYTES)
    found = _by_content(path, file, head, shown) or _by_name(path)
    if found is None:
        raise DataFileError(
            f"{shown} has an unknown format: it begins with {head[:8]!r}; specify tw.open(..., kind=...)"
        )
    return found


def _by_name(path: PurePath) -> Recognised | None:
    both = "".join(path.suffixes[-2:]).lower()
    kind = KIND_OF_END.get(both) or KIND_OF_END.get(path.suffix.lower())
    return None if kind is None else Recognised(kind, "name")


def _of_folder(path: Path) -> Recognised:
    if (path / "zarr.json").exists():
        return Recognised("zarr", "structure", "version 3")
    if any((path / name).exists() for name in (".zgroup", ".zarray", ".zmetadata")):
        return Recognised("zarr", "structure", "version 2")
    if path.suffix.lower() == ".zarr":
        return Recognised("zarr", "name")
    raise refused_by_system(
        f"{path} is a folder, not a regular file; it has no zarr.json, .zgroup or .zarray of Zarr",
        IsADirectoryError(21, "is a folder"),
    )


def _by_content(path: PurePath, file: "OpenedFile | Ranges", head: bytes, shown: str) -> Recognised | None:
    kind = _of_head(head, _MAGIC)
    end = _ENDS.get(kind, b"")
    tail = file.read_at(max(file.size - len(end), 0), len(end)) if end else b""
    if kind is not None and tail == end:
        return Recognised(kind, "magic")
    # Its first bytes are a length: 640, 896, 1152 and 1408 are those of a pickle.
    if _is_safetensors(head, file.size):
        return _SAFETENSORS
    refused = _ENCRYPTED if (kind, tail) == ("parquet", b"PARE") else _of_head(head, _REFUSED)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _of_zip(path, file, shown)
    packing = _of_head(head, _PACKED)
    if (head if packing is None else _unpacked(head, packing))[257:262] == b"ustar":
        return Recognised("wirecell", "magic", "tar" if packing is None else f"tar, {packing}")
    # A user block may start with any bytes.
    behind = _behind_user_block(file) if kind or refused or packing else None
    if behind is not None:
        return behind
    if refused is not None:
        raise DataFileError(f"{shown} is {refused}, which is not supported")
    if kind is not None:
        return Recognised(kind, "magic")
    if packing is not None and _by_name(path) is None:
        inside = ", and holds no tar archive" if packing in _UNPACKED else ""
        raise DataFileError(f"{shown} is compressed by {packing}{inside}; decompress it first")
    return _by_structure(head) or _behind_user_block(file)


def _by_structure(head: bytes) -> Recognised | None:
    if _is_stream(head):
        return Recognised("arrow", "structure", "stream")
    if head.lstrip()[:1] == b"{" and b'"refs"' in head and b'"version"' in head:
        return Recognised("kerchunk", "structure")
    return None


def _behind_user_block(file: "OpenedFile | Ranges") -> Recognised | None:
    for place in _USER_BLOCKS:
        if file.read_at(place, 8) == _HDF5:
            return Recognised("hdf5", "magic", f"user block of {place} bytes")
    return None


def _of_head(head: bytes, known: Mapping[bytes, _T]) -> _T | None:
    """Return the value of the first bytes of a file; None if they are not known."""
    if not head.startswith(tuple(known)):
        return None
    return next(value for magic, value in known.items() if head.startswith(magic))


def _unpacked(head: bytes, packing: str) -> bytes:
    """Return the first bytes of compressed data, decompressed; empty if invalid."""
    with contextlib.suppress(zlib.error, OSError, EOFError, ValueError):
        if packing == "gzip":
            return zlib.decompressobj(wbits=31).decompress(head, 512)
        if packing == "bzip2":
            return bz2.BZ2Decompressor().decompress(head, 512)
    return b""


def _of_zip(path: PurePath, file: "OpenedFile | Ranges", shown: str) -> Recognised | None:
    try:
        with zipfile.ZipFile(file.stream()) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, ValueError, RuntimeError):
        # If the file has no user block, reading it reports the damage.
        return _behind_user_block(file) or _by_name(path)
    roots = {own.rpartition("/")[2] for own in names if own.count("/") <= 1}
    if roots & {"zarr.json", ".zgroup", ".zarray"}:
        return Recognised("zarr", "structure", "in a zip archive")
    if {"format.npy", "shape.npy"} <= set(names):
        return Recognised("npz", "structure", "a sparse matrix of SciPy")
    members = [member_name(own) for own in names]
    if any(own is not None and own.role != "array" for own in members):
        return Recognised("wirecell", "structure", "zip")
    if any(own.endswith(".npy") for own in names):
        return Recognised("npz", "structure")
    if any(own.endswith("/data.pkl") for own in names):
        raise DataFileError(
            f"{shown} is a file of PyTorch, with a pickle, which runs what its writer wants; it is not "
            "opened here: torch.load(path, weights_only=True) reads tensors alone"
        )
    return _by_name(path)


def _is_stream(head: bytes) -> bool:
    """Return True if these are the first bytes of an Arrow stream: the header of a schema message."""
    if head[:4] != b"\xff\xff\xff\xff" or len(head) < 24:
        return False
    message = head[8:]
    with contextlib.suppress(struct.error, IndexError):
        (table,) = struct.unpack_from("<I", message)
        vtable = table - struct.unpack_from("<i", message, table)[0]
        # The second field of a message is its header type: 1 is a schema.
        (place,) = struct.unpack_from("<H", message, vtable + 6)
        return vtable >= 0 and bool(place) and message[table + place] == 1
    return False


def _is_safetensors(head: bytes, size: int) -> bool:
    length = int.from_bytes(head[:8], "little")
    return (
        size > 8
        and 2 <= length <= size - 8
        and head[8:9] == b"{"
        and (b'"data_offsets"' in head or b'"__metadata__"' in head or not head[8 : 8 + length].strip(b"{} "))
    )
