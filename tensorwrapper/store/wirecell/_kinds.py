"""All file formats besides `.tens`, by extension: those of `formats`, and archives of tensor sets."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from tensorwrapper.store.fetched._open import FETCHED, spooled
from tensorwrapper.store.formats._boxes import write_npz_file
from tensorwrapper.store.formats._contents import Contents, Conversion, Named, Opening, Options
from tensorwrapper.store.formats._file_location import Where
from tensorwrapper.store.formats._kinds import KINDS as OTHERS
from tensorwrapper.store.formats._kinds import Kind
from tensorwrapper.store.formats._npy import open_npz
from tensorwrapper.store.formats.columns._feather import open_feather
from tensorwrapper.store.formats.columns._parquet import open_parquet
from tensorwrapper.store.formats.zarr._manifest import open_manifest
from tensorwrapper.store.formats.zarr._zipped import open_zipped
from tensorwrapper.store.ranges._ranges import Ranges
from tensorwrapper.store.system._system import OpenedFile, of_stranger
from tensorwrapper.store.wirecell._hdf5 import open_hdf5_sets
from tensorwrapper.store.wirecell._read import open_tar_sets, open_zip_sets
from tensorwrapper.store.wirecell._recognise import FileKind
from tensorwrapper.store.wirecell._write import ARCHIVES, are_sets, write_sets_file

SETS: Final = tuple(ARCHIVES)
"""Formats of tensor sets, selected by the names of tensors."""


def _write_npz(
    path: Path, tensors: Iterator[Named], metadata: Mapping[str, Any], options: Options
) -> Conversion:
    found = list(tensors)
    if are_sets([name for name, _, _ in found]):
        return write_sets_file(path, ".npz", iter(found), metadata, options)
    return write_npz_file(path, iter(found), metadata, options)


def _archive(end: str) -> Kind:
    read = open_zip_sets if end == ".zip" else open_tar_sets
    return Kind(
        lambda path, how: read(path, end, how),
        lambda path, tensors, metadata, options: write_sets_file(path, end, tensors, metadata, options),
    )


_PACKED: Final = {b"\x1f\x8b": ".tar.gz", b"BZ": ".tar.bz2"}
_ANYWHERE: Final[Mapping[FileKind, Callable[[Where, Opening], Contents]]] = {
    "hdf5": open_hdf5_sets,
    "parquet": open_parquet,
    "arrow": open_feather,
    "zarr": open_zipped,
}
"""Readers of single files, by path and by byte ranges."""
_READERS: Final[Mapping[FileKind, Callable[[Path, Opening], Contents]]] = {
    **{kind: _ANYWHERE[kind] for kind in ("hdf5", "parquet", "arrow")},
    "npy": OTHERS[".npy"].read,
    "npz": open_npz,
    "safetensors": OTHERS[".safetensors"].read,
    "zarr": OTHERS[".zarr"].read,
    "kerchunk": open_manifest,
}

KINDS: Final[Mapping[str, Kind]] = {
    **OTHERS,
    **{end: _archive(end) for end in ARCHIVES},
    ".npz": Kind(open_npz, _write_npz),
    **{end: attrs.evolve(OTHERS[end], read=open_hdf5_sets) for end in (".h5", ".hdf5")},
}


def read_ranges_as(kind: FileKind, ranges: Ranges, how: Opening) -> Contents:
    """Return the contents of a file read by byte ranges, or copied if necessary.

    Raises
    ------
    DataFileError
        If the file has another format, is damaged, or is too large to copy.
    """
    read = FETCHED.get(kind) or _ANYWHERE.get(kind)
    return spooled(ranges, kind, lambda path: read_as(kind, path, how)) if read is None else read(ranges, how)


def read_as(kind: FileKind, path: Path, how: Opening) -> Contents:
    """Return the contents of a file; reads only names, dtypes and extents.

    Raises
    ------
    DataFileError
        If the file has another format or is damaged.
    """
    if kind == "zarr" and path.is_file():
        return open_zipped(path, how)
    if kind == "wirecell":
        return _open_archive(path, how)
    return _READERS[kind](path, how)


def _open_archive(path: Path, how: Opening) -> Contents:
    with of_stranger(path, "archive"):
        opened = how.opened or OpenedFile(path)
        head = opened.read_at(0, 512)
        how = attrs.evolve(how, opened=opened)
    if head.startswith(b"PK"):
        return open_zip_sets(path, ".zip", how)
    if head[257:262] == b"ustar":
        return open_tar_sets(path, ".tar", how)
    if head[:2] in _PACKED or end_of(path) != ".zip":
        return open_tar_sets(path, _PACKED.get(head[:2], end_of(path)), how)
    return open_zip_sets(path, ".zip", how)


def end_of(path: Path) -> str:
    """Return the extension that determines a file's format, such as ``.h5`` or ``.tar.gz``."""
    both = "".join(path.suffixes[-2:]).lower()
    return both if both in KINDS else path.suffix.lower()


def is_foreign(path: Path) -> bool:
    """Return True if a file has another format than `.tens` by its extension."""
    return end_of(path) in KINDS


def kind_of(path: Path) -> Kind:
    """Return the kind of a file that `is_foreign`."""
    return KINDS[end_of(path)]
