"""Zarr stores in zip archives: each key is a member. Uncompressed members are read in place."""

import zipfile
from typing import cast, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats._bytes import check_bytes
from tensorwrapper.store.formats._contents import Contents, Opening
from tensorwrapper.store.formats._file_location import Where, begin_of_member, name_of, reading_at
from tensorwrapper.store.formats._npy import is_stored, map_whole, span_of, unknown_packing
from tensorwrapper.store.formats.zarr._keys import MARKS, Entry, Keyed, Keys
from tensorwrapper.store.formats.zarr._store import open_place
from tensorwrapper.store.ranges._byte_readers import Span
from tensorwrapper.store.ranges._ranges import Ranges
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.store.system._archive import Archive
from tensorwrapper.store.system._system import of_stranger
from tensorwrapper.wire import Limits


def open_zipped(where: Where, how: Opening) -> Contents:
    """Return the contents of a Zarr store in a zip archive; reads only metadata.

    Raises
    ------
    DataFileError
        If the file is missing, damaged, or has no Zarr store.
    """
    path = name_of(where)
    keys = _keys_of(where, how.limits)
    root = Keyed(keys)
    inner = root.nodes()
    if not any((root / mark).is_file() for mark in MARKS):
        if not inner:
            raise DataFileError(f"{path} has no member {', '.join(MARKS)}, and is not a Zarr store")
        if len(inner) == 1:
            # `zip -r` of a folder adds the name of the folder.
            root /= inner[0]
    return open_place(root, how)


def _keys_of(where: Where, limits: Limits) -> Keys:
    archive: zipfile.ZipFile
    with reading_at(where, "Zarr"):
        archive = (
            zipfile.ZipFile(where.stream())
            if isinstance(where, Ranges)
            else Archive(map_whole(where, "Zarr"))
        )
    infos = archive.infolist()
    # Zarr writers change a member by adding it again, so the last one is valid.
    entries: dict[str, Entry] = {
        info.filename: _Fetched(where, archive, info, end, limits)
        if isinstance(where, Ranges)
        else _Member(cast("Archive", archive), info, limits)
        for info, end in zip(infos, _ends(archive, infos), strict=True)
        if not info.filename.endswith("/")
    }
    return Keys(name_of(where), entries, (_keys_of, (where, limits)), is_far=isinstance(where, Ranges))


def _ends(archive: zipfile.ZipFile, infos: list[zipfile.ZipInfo]) -> list[int]:
    """Return the end of each member: the start of the next one, or of the directory."""
    starts = np.sort([*[info.header_offset for info in infos], archive.start_dir])
    own = np.array([info.header_offset for info in infos], dtype=np.int64)
    ends: list[int] = starts[np.minimum(starts.searchsorted(own, "right"), len(starts) - 1)].tolist()
    return ends


def _check(info: zipfile.ZipInfo, path: object, nbytes: int, limits: Limits) -> None:
    """Raise if the compression of a member is unknown, or its size exceeds the limit."""
    name = info.filename
    refused = unknown_packing(info)
    if refused is not None:
        raise DataFileError(Loss(f"the member {name!r} of {path} {refused}", name, "codec"))
    check_bytes(nbytes if is_stored(info) else info.file_size, f"{path}: {name}", limits)


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: object, span: Span) -> bytes:
    """Return some bytes of a compressed member."""
    with of_stranger(path, "Zarr", info.filename), archive.open(info) as member:
        return member.read(span[1])[span[0] :]


def _checked(found: bytes, info: zipfile.ZipInfo, path: object, span: Span) -> bytes:
    if len(found) != span[1] - span[0]:
        raise DataFileError(
            f"{path}: {info.filename!r} does not have the {info.file_size} bytes that the archive declares"
        )
    return found


@final
@frozen(eq=False)
class _Fetched:
    """The bytes of a member in an archive read by byte ranges."""

    ranges: Ranges
    archive: zipfile.ZipFile
    info: zipfile.ZipInfo
    end: int
    """Position after the last byte of the member."""
    limits: Limits

    @property
    def size(self) -> int:
        """Uncompressed size in bytes, as declared in the archive."""
        return self.info.file_size

    def read(self, start: int, stop: int) -> bytes:
        """Return some of the bytes."""
        info, path = self.info, self.ranges.name
        _check(info, path, stop - start, self.limits)
        if not is_stored(info) or (start, stop) == (0, self.size):
            # Fetch header and bytes in one request; the reads below use this memory.
            self.ranges.read_kept([(info.header_offset, self.end)])
        if is_stored(info):
            begin = begin_of_member(self.ranges, info)
            last = min(begin + stop, begin + self.size)
            found = self.ranges.read_at(begin + start, max(last - begin - start, 0))
        else:
            found = _unpacked(self.archive, info, path, (start, stop))
        return _checked(found, info, path, (start, stop))


@final
@frozen(eq=False)
class _Member:
    """The bytes of a member."""

    archive: Archive
    info: zipfile.ZipInfo
    limits: Limits

    @property
    def size(self) -> int:
        """Uncompressed size in bytes, as declared in the archive."""
        return self.info.file_size

    def read(self, start: int, stop: int) -> bytes:
        """Return some of the bytes."""
        memory, info = self.archive.memory, self.info
        path = memory.filename
        _check(info, path, stop - start, self.limits)
        if is_stored(info):
            begin, end = span_of(memory, info)
            found = memory[begin + start : min(begin + stop, end)]
        else:
            found = _unpacked(self.archive, info, path, (start, stop))
        return _checked(found, info, path, (start, stop))
