"""Locate the members of tar archives in mapped memory. Compressed archives are decompressed first.

Python's reader uses a stream, and trusts the sizes in headers. This reader checks every number against the
file. It accepts the same formats: POSIX and GNU headers, with long names.
"""

import bz2
import gzip
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, BinaryIO, Final, cast, final

import attrs

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.system._map import FileMemory, map_file
from tensorwrapper.store.system._system import OpenedFile, of_stranger

_BLOCK: Final = 512
_REGULAR: Final = frozenset(b"0\x007")
_WITHOUT_BYTES: Final = frozenset(b"123456")
"""Links, devices, folders and FIFOs, which have no bytes, whatever size their headers have."""
_WORDS: Final = frozenset(b"LKxXg")
"""Extended headers for the next member, or for all members."""
_LINK: Final = ord("1")
_HOLES: Final = ord("S")
_KINDS: Final = {
    **dict.fromkeys(b"34", "a device"),
    **dict.fromkeys(b"5D", "a folder"),
    ord("6"): "a pipe",
    ord("V"): "the label of the archive",
    ord("M"): "the rest of a file in another archive",
}
_POSIX: Final = b"ustar\0"
_NAME_BYTES: Final = 2**16  # size limit of an extended header
_AT_A_TIME: Final = 2**20

COMPRESSED: Final[dict[str, Callable[[BinaryIO], IO[bytes]]]] = {
    ".tar.gz": lambda stream: cast("IO[bytes]", gzip.GzipFile(fileobj=stream)),
    ".tgz": lambda stream: cast("IO[bytes]", gzip.GzipFile(fileobj=stream)),
    ".tar.bz2": lambda stream: cast("IO[bytes]", bz2.BZ2File(stream)),
    ".tbz2": lambda stream: cast("IO[bytes]", bz2.BZ2File(stream)),
}
"""Decompressors of archives, by extension."""


@final
@frozen
class TarMember:
    """One regular file of an archive."""

    name: str
    begin: int
    size: int


@final
@frozen
class TarOther:
    """A member without contiguous bytes: a link, a folder, a file with holes."""

    name: str
    what: str
    """Kind of the member, for messages."""


def map_tar(path: Path, kind: str, most: int, opened: OpenedFile | None = None) -> FileMemory:
    """Map an archive: the file itself, or an unnamed temporary file if it is compressed.

    Raises
    ------
    DataFileError
        If the file is missing, damaged, or exceeds `most` bytes when decompressed.
    """
    with of_stranger(path, kind), opened or OpenedFile(path) as found:
        inflate = COMPRESSED.get(kind)
        if inflate is None:
            return found.memory()
        with tempfile.TemporaryFile() as room, inflate(found.stream()) as plain:
            size = 0
            while chunk := plain.read(_AT_A_TIME):
                size += len(chunk)
                if size > most:
                    raise DataFileError(
                        f"{path} exceeds {most} bytes when decompressed; "
                        f"limits=Limits(decompressed_bytes=...) can raise it"
                    )
                room.write(chunk)
            room.flush()
            return map_file(room.fileno(), 0, path)


def tar_members(memory: FileMemory) -> Iterator[TarMember | TarOther]:
    """Yield the regular files and the other members of an archive, in order.

    A hard link to an earlier file is yielded as that file. Sparse files, which store only part of their
    bytes, are other members.

    Raises
    ------
    ValueError
        If a header is damaged, or points outside of the archive.
    """
    place, said = 0, _Said()
    files: dict[str, TarMember] = {}
    while place < len(memory):
        header = memory[place : place + _BLOCK]
        if not any(header):
            return
        place += _BLOCK
        size, kind = _checked_size(header, place, said), header[156]
        if kind == _HOLES:
            place = _behind_holes(memory, header, place)
        end = place + size
        if end > len(memory):
            raise ValueError(f"its member at {place} has {size} bytes, but the file ends at {len(memory)}")
        if kind in b"LKxX":
            if size > _NAME_BYTES:
                raise ValueError(f"its header at {place} has {size} bytes, but the limit is {_NAME_BYTES}")
            said = said.with_words(kind, memory[place:end])
        elif kind not in _WORDS:
            found = _member(header, said, place, size, files)
            if isinstance(found, TarMember):
                files[found.name] = found
            yield found
            said = _Said()
        place = end + -size % _BLOCK


def _member(
    header: bytes, said: "_Said", place: int, size: int, files: Mapping[str, TarMember]
) -> TarMember | TarOther:
    """Return the member of a header and of the bytes after it."""
    kind, name = header[156], said.name or _name(header)
    target = said.target or _text(header[157:257])
    if said.has_holes or kind == _HOLES:
        return TarOther(name, "a file with holes")
    if kind == _LINK and target in files:
        return TarMember(name, files[target].begin, files[target].size)
    if kind in b"12":
        return TarOther(name, f"a link to {target[:60]!r}")
    if kind in _REGULAR and not name.endswith("/"):
        return TarMember(name, place, size)
    return TarOther(name, "a folder" if kind in _REGULAR else _KINDS.get(kind, f"of kind {chr(kind)!r}"))


def _behind_holes(memory: FileMemory, header: bytes, place: int) -> int:
    """Return the start of a sparse file's bytes, after the blocks that list its holes."""
    is_more = header[482]
    while is_more:
        block = memory[place : place + _BLOCK]
        if len(block) < _BLOCK:
            raise ValueError(f"its header at {place} is truncated")
        is_more = block[504]
        place += _BLOCK
    return place


@final
@frozen
class _Said:
    """Fields of extended headers for the next member."""

    name: str | None = None
    target: str | None = None
    size: int | None = None
    has_holes: bool = False

    def with_words(self, kind: int, said: bytes) -> "_Said":
        """Add the fields of another header."""
        if kind == ord("L"):
            return attrs.evolve(self, name=_text(said))
        if kind == ord("K"):
            return attrs.evolve(self, target=_text(said))
        own = _records(said)
        return _Said(own.name or self.name, own.target or self.target, own.size, own.has_holes)


def _checked_size(header: bytes, place: int, said: "_Said") -> int:
    if len(header) < _BLOCK:
        raise ValueError(f"its header at {place - _BLOCK} is truncated")
    told = _number(header[148:156])
    # The checksum is computed with spaces in its own field; some writers used signed bytes.
    plain = sum(header) - sum(header[148:156]) + 8 * ord(" ")
    signed = plain - 256 * sum([byte > 127 for byte in header[:148] + header[156:]])
    if told not in (plain, signed):
        raise ValueError(f"the checksum of its header at {place - _BLOCK} does not match")
    own, kind = _number(header[124:136]), header[156]
    if kind in _WITHOUT_BYTES:
        return 0
    return own if kind in _WORDS or said.size is None else said.size


def _number(field: bytes) -> int:
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    text = field.partition(b"\0")[0].strip()
    if not all(digit in b"01234567" for digit in text):
        raise ValueError(f"its header has {field[:12]!r} instead of octal digits")
    return int(text or b"0", 8)


def _name(header: bytes) -> str:
    # GNU stores times instead of the prefix.
    name, prefix = _text(header[:100]), _text(header[345:500]) if header[257:263] == _POSIX else ""
    return f"{prefix}/{name}" if prefix else name


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "backslashreplace")


def _records(said: bytes) -> _Said:
    """Return the fields of a POSIX extended header."""
    path, target, size, place, has_holes = None, None, None, 0, False
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
        elif key == b"linkpath":
            target = _text(value)
        elif key == b"size":
            if not value.isdigit() or len(value) > 19:
                raise ValueError(f"its extended header has the size {value[:20]!r}")
            size = int(value)
        place += length
    return _Said(path, target, size, has_holes)
