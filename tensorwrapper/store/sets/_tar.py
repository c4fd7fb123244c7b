"""Tar archives in mapped memory: where each member lies. Compressed ones are inflated to a file first.

Python's own reader goes through a stream, and believes what headers say of sizes; here every number is
compared with what is there. What it takes, this takes: the headers of POSIX and of GNU, with long names.
"""

import bz2
import gzip
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, BinaryIO, Final, cast, final

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.system._map import FileMap, map_file
from tensorwrapper.store.system._system import reading

__all__ = ["COMPRESSED", "TarMember", "map_tar", "tar_members"]

_BLOCK: Final = 512
_REGULAR: Final = frozenset(b"0\x007")
_WITHOUT_BYTES: Final = frozenset(b"123456")
"""Links, devices, folders and FIFOs: what their headers say of a size is nothing that follows."""
_NAME_BYTES: Final = 2**16  # of a header that has a long name, or other things to say
_AT_A_TIME: Final = 2**20

COMPRESSED: Final[dict[str, Callable[[BinaryIO], IO[bytes]]]] = {
    ".tar.gz": lambda stream: cast("IO[bytes]", gzip.GzipFile(fileobj=stream)),
    ".tgz": lambda stream: cast("IO[bytes]", gzip.GzipFile(fileobj=stream)),
    ".tar.bz2": lambda stream: cast("IO[bytes]", bz2.BZ2File(stream)),
    ".tbz2": lambda stream: cast("IO[bytes]", bz2.BZ2File(stream)),
}
"""What inflates an archive, by the end of its name."""


@final
@frozen
class TarMember:
    """One regular file of an archive."""

    name: str
    begin: int
    size: int


def map_tar(path: Path, kind: str, most: int) -> FileMap:
    """Return an archive as memory: the file, or a temporary one without a name, if it is compressed.

    Raises
    ------
    DataFileError
        If there is no such file, it is damaged, or takes over `most` bytes when it is inflated.
    """
    with reading(path, kind) as stream:
        inflate = COMPRESSED.get(kind)
        if inflate is None:
            return map_file(stream.fileno(), 0, path)
        with tempfile.TemporaryFile() as room, inflate(stream) as plain:
            size = 0
            while chunk := plain.read(_AT_A_TIME):
                size += len(chunk)
                if size > most:
                    raise DataFileError(
                        f"{path} takes over {most} bytes unpacked; limits=Limits(decompressed_bytes=...) "
                        "raises that"
                    )
                room.write(chunk)
            room.flush()
            return map_file(room.fileno(), 0, path)


def tar_members(memory: FileMap) -> Iterator[TarMember | str]:
    """Yield the regular files of an archive in their order, and of anything else the name.

    Files with holes, of which only the rest is there, are something else.

    Raises
    ------
    ValueError
        If a header is damaged, or what it says leaves the archive.
    """
    place, long_name, long_size, has_holes = 0, None, None, False
    while place < len(memory):
        header = memory[place : place + _BLOCK]
        if not any(header):
            return
        place += _BLOCK
        size = _checked_size(header, place)
        kind = header[156]
        if kind in _WITHOUT_BYTES:
            size = 0
        elif kind not in b"Lxg" and long_size is not None:
            size = long_size
        end = place + size
        if end > len(memory):
            raise ValueError(f"its member at {place} has {size} bytes, and it ends at {len(memory)}")
        if kind in b"Lx":
            if size > _NAME_BYTES:
                raise ValueError(f"its header at {place} has {size} bytes; {_NAME_BYTES} are allowed")
            said = memory[place:end]
            if kind == ord("L"):
                long_name = _text(said)
            else:
                path, long_size, has_holes = _records(said)
                long_name = path or long_name
        elif kind not in b"Kg":
            name = long_name or _name(header)
            regular = kind in _REGULAR and not name.endswith("/") and not has_holes
            yield TarMember(name, place, size) if regular else name
            long_name, long_size, has_holes = None, None, False
        place = end + -size % _BLOCK


def _checked_size(header: bytes, place: int) -> int:
    if len(header) < _BLOCK:
        raise ValueError(f"its header at {place - _BLOCK} is cut off")
    told = _number(header[148:156])
    # As if the sum itself were spaces.
    if told != sum(header) - sum(header[148:156]) + 8 * ord(" "):
        raise ValueError(f"the sum of its header at {place - _BLOCK} does not fit")
    return _number(header[124:136])


def _number(field: bytes) -> int:
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    text = field.partition(b"\0")[0].strip()
    if not all(digit in b"01234567" for digit in text):
        raise ValueError(f"its header has {field[:12]!r} where octal digits stand")
    return int(text or b"0", 8)


def _name(header: bytes) -> str:
    name, prefix = _text(header[:100]), _text(header[345:500])
    return f"{prefix}/{name}" if prefix else name


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "backslashreplace")


def _records(said: bytes) -> tuple[str | None, int | None, bool]:
    """Return the path and the size that an extended header of POSIX has, and whether there are holes."""
    path, size, place, has_holes = None, None, 0, False
    while place < len(said) and said[place]:
        digits = said[place : place + 6].partition(b" ")[0]
        length = int(digits) if digits.isdigit() else 0
        record = said[place : place + length]
        key, found, value = record[len(digits) + 1 : -1].partition(b"=")
        if not found or len(record) != length or record[-1:] != b"\n":
            raise ValueError(f"its extended header has {said[place : place + 20]!r} at {place}")
        has_holes |= key.startswith(b"GNU.sparse")
        if key == b"GNU.sparse.name" or (key == b"path" and not has_holes):
            path = _text(value)
        elif key == b"size":
            if not value.isdigit() or len(value) > 19:
                raise ValueError(f"its extended header has the size {value[:20]!r}")
            size = int(value)
        place += length
    return path, size, has_holes
