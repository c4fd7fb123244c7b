"""Zarr stores in zip archives: each key is a member. Stored members are read where they are."""

import zipfile
from pathlib import Path
from typing import final

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.foreign._contents import Contents, Opening
from tensorwrapper.store.foreign._npy import is_stored, map_whole, span_of, unknown_packing
from tensorwrapper.store.foreign.zarr._keys import MARKS, Entry, Keyed, Keys
from tensorwrapper.store.foreign.zarr._store import open_place
from tensorwrapper.store.records._loss import Loss
from tensorwrapper.store.system._map import FileMap, stream_over
from tensorwrapper.store.system._system import of_stranger

__all__ = ["open_zipped"]


def open_zipped(path: Path, how: Opening) -> Contents:
    """Return what a Zarr store in a zip archive has; nothing but metadata is read.

    Raises
    ------
    DataFileError
        If there is no such file, it is damaged, or has no store.
    """
    keys = _keys_of(path, how.limits.decompressed_bytes)
    root = Keyed(keys)
    inner = root.nodes()
    if not any((root / mark).is_file() for mark in MARKS):
        if not inner:
            raise DataFileError(f"{path} has no member {', '.join(MARKS)}, and is not a Zarr store")
        if len(inner) == 1:
            # As `zip -r` packs a folder.
            root /= inner[0]
    return open_place(root, how)


def _keys_of(path: Path, most: int) -> Keys:
    memory = map_whole(path, "Zarr")
    with of_stranger(path, "Zarr"):
        infos = zipfile.ZipFile(stream_over(memoryview(memory))).infolist()
    # Writers of Zarr add a member again to change it: the last one counts.
    entries: dict[str, Entry] = {
        info.filename: _Member(memory, info, most) for info in infos if not info.filename.endswith("/")
    }
    return Keys(path, entries, (_keys_of, (path, most)))


@final
@frozen(eq=False)
class _Member:
    """The bytes of a member."""

    memory: FileMap
    info: zipfile.ZipInfo
    most: int

    @property
    def size(self) -> int:
        """Number of bytes when it is unpacked, as the archive tells it."""
        return self.info.file_size

    def read(self, start: int, stop: int) -> bytes:
        """Return some of the bytes."""
        path, name = self.memory.filename, self.info.filename
        refused = unknown_packing(self.info)
        if refused is not None:
            raise DataFileError(Loss(f"the member {name!r} of {path} {refused}", name, "codec"))
        if stop - start > self.most or (self.size > self.most and not is_stored(self.info)):
            raise DataFileError(
                f"{path}: {name!r} has {self.size} bytes; {self.most} are allowed; "
                "limits=Limits(decompressed_bytes=...) raises that"
            )
        if is_stored(self.info):
            begin, end = span_of(self.memory, self.info)
            found = self.memory[begin + start : min(begin + stop, end)]
        else:
            with (
                of_stranger(path, "Zarr", name),
                zipfile.ZipFile(stream_over(memoryview(self.memory))) as archive,
                archive.open(self.info) as member,
            ):
                found = member.read(stop)[start:]
        if len(found) != stop - start:
            raise DataFileError(f"{path}: {name!r} has not the {self.size} bytes that the archive claims")
        return found
