"""Locations of files in other formats: a path, or byte ranges."""

import contextlib
import zipfile
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO, TypeAlias

from tensorwrapper.store.ranges._ranges import Ranges
from tensorwrapper.store.system._map import FileMemory
from tensorwrapper.store.system._system import OpenedFile, of_stranger, reading

Where: TypeAlias = Path | Ranges


def name_of(where: Where) -> Path | str:
    """Return the name of a file for error messages."""
    return where.name if isinstance(where, Ranges) else where


@contextlib.contextmanager
def reading_at(where: Where, kind: str) -> Generator[BinaryIO, None, None]:
    """Yield a stream of a file, and convert all errors of the block to errors of this package.

    Raises
    ------
    DataFileError
        If there is no such file, or the block raises.
    """
    if isinstance(where, Path):
        with reading(where, kind) as stream:
            yield stream
        return
    with of_stranger(where.name, kind):
        yield where.stream()


def memory_of(where: Where, kind: str) -> FileMemory | Ranges:
    """Return a mapped file, or its byte ranges."""
    if isinstance(where, Ranges):
        return where
    with of_stranger(where, kind), OpenedFile(where) as opened:
        return opened.memory()


def size_of(memory: FileMemory | Ranges) -> int:
    """Return the number of bytes of a file."""
    return memory.size if isinstance(memory, Ranges) else len(memory)


def begin_of_member(ranges: Ranges, info: zipfile.ZipInfo) -> int:
    """Return the start of a zip member's bytes."""
    place = info.header_offset
    lengths = ranges.read_at(place + 26, 4)
    return place + 30 + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
