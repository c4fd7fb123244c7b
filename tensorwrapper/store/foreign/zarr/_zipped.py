"""Zarr stores in zip archives: each key is a member. Stored members are read where they are."""

import zipfile
from pathlib import Path
from typing import final

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.foreign._bytes import check_bytes
from tensorwrapper.store.foreign._contents import Contents, Opening
from tensorwrapper.store.foreign._npy import is_stored, map_whole, span_of, unknown_packing
from tensorwrapper.store.foreign.zarr._keys import MARKS, Entry, Keyed, Keys
from tensorwrapper.store.foreign.zarr._store import open_place
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.store.system._archive import Archive
from tensorwrapper.store.system._system import of_stranger
from tensorwrapper.wire import Limits

__all__ = ["open_zipped"]


def open_zipped(path: Path, how: Opening) -> Contents:
    """Return what a Zarr store in a zip archive has; nothing but metadata is read.

    Raises
    ------
    DataFileError
        If there is no such file, it is damaged, or has no store.
    """
    keys = _keys_of(path, how.limits)
    root = Keyed(keys)
    inner = root.nodes()
    if not any((root / mark).is_file() for mark in MARKS):
        if not inner:
            raise DataFileError(f"{path} has no member {', '.join(MARKS)}, and is not a Zarr store")
        if len(inner) == 1:
            # As `zip -r` packs a folder.
            root /= inner[0]
    return open_place(root, how)


def _keys_of(path: Path, limits: Limits) -> Keys:
    memory = map_whole(path, "Zarr")
    with of_stranger(path, "Zarr"):
        archive = Archive(memory)
    # Writers of Zarr add a member again to change it: the last one counts.
    entries: dict[str, Entry] = {
        info.filename: _Member(archive, info, limits)
        for info in archive.infolist()
        if not info.filename.endswith("/")
    }
    return Keys(path, entries, (_keys_of, (path, limits)))


@final
@frozen(eq=False)
class _Member:
    """The bytes of a member."""

    archive: Archive
    info: zipfile.ZipInfo
    limits: Limits

    @property
    def size(self) -> int:
        """Number of bytes when it is unpacked, as the archive tells it."""
        return self.info.file_size

    def read(self, start: int, stop: int) -> bytes:
        """Return some of the bytes."""
        memory, name = self.archive.memory, self.info.filename
        path = memory.filename
        refused = unknown_packing(self.info)
        if refused is not None:
            raise DataFileError(Loss(f"the member {name!r} of {path} {refused}", name, "codec"))
        check_bytes(stop - start if is_stored(self.info) else self.size, f"{path}: {name}", self.limits)
        if is_stored(self.info):
            begin, end = span_of(memory, self.info)
            found = memory[begin + start : min(begin + stop, end)]
        else:
            with of_stranger(path, "Zarr", name), self.archive.open(self.info) as member:
                found = member.read(stop)[start:]
        if len(found) != stop - start:
            raise DataFileError(f"{path}: {name!r} has not the {self.size} bytes that the archive claims")
        return found
