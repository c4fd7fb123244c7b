"""Uncompressed sizes of Parquet columns, from the footer and the page headers."""

from typing import Any, BinaryIO, Final, TypeAlias, cast, final

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats._file_location import Where, name_of, reading_at
from tensorwrapper.store.formats.columns._thrift import Spec, read_struct
from tensorwrapper.typing import Index

_HEADER: Final = 2**20  # size limit of a page header, which includes minimum and maximum
_DICTIONARY: Final = 2
_BYTE_ARRAY: Final = 6
_FIXED_BYTES: Final = 7
_WIDTHS: Final = (1, 4, 8, 12, 4, 8)  # bytes of BOOLEAN, INT32, INT64, INT96, FLOAT, DOUBLE
_TEXT: Final = 16  # bytes of the position and length of a string
_LEVELS: Final = 4  # bytes of the definition and repetition levels of a value
_PAGE: Final[Spec] = {1: int, 2: int, 3: int, 5: {1: int}, 7: {1: int}, 8: {1: int}}
_COLUMN: Final[Spec] = {1: int, 3: [bytes], 4: int, 5: int, 6: int, 7: int, 9: int, 11: int, 12: {3: int}}
_FOOTER: Final[Spec] = {4: [{1: [{1: bytes, 3: _COLUMN, 8: {}}]}]}


@final
@frozen
class Chunk:
    """Position and size of a column chunk's pages."""

    kind: int
    """Number of the type of its values."""
    path: tuple[bytes, ...]
    """Path of names, starting with the name of the column."""
    codec: int
    """Number of the codec of its pages."""
    values: int
    unpacked: int
    packed: int
    start: int
    number: int
    """Number of the column in the group. Paths are ambiguous if names have dots."""
    nulls: int | None = None
    """Null count of the statistics, which includes null or empty lists; None without statistics."""
    away: bytes = b""
    """Path of the file with the pages; empty for this file."""
    is_encrypted: bool = False

    @property
    def is_odd(self) -> bool:
        """True if its pages are in another file, or are encrypted."""
        return bool(self.away) or self.is_encrypted

    @property
    def has_width(self) -> bool:
        """True if the schema has the bytes of its values, and not their type."""
        return self.kind == _FIXED_BYTES

    @property
    def is_text(self) -> bool:
        """True if its values may be of any length."""
        return self.kind == _BYTE_ARRAY


Footer: TypeAlias = tuple[tuple[Chunk, ...], ...]
"""Column chunks of each row group."""


def read_footer(where: Where) -> Footer:
    """Return the positions of the columns of a file.

    Raises
    ------
    DataFileError
        If the footer does not list them.
    """
    path = name_of(where)
    with reading_at(where, "Parquet") as file:
        size = file.seek(0, 2)
        file.seek(max(size - 8, 0))
        length = int.from_bytes(file.read(4), "little")
        file.seek(max(size - 8 - length, 0))
        data = file.read(min(length, size))
    try:
        said, _ = read_struct(data, 0, _FOOTER)
        groups = cast("list[dict[int, Any]]", said.get(4, []))
        return tuple(
            [tuple([_chunk(own, number) for number, own in enumerate(group.get(1, []))]) for group in groups]
        )
    except (IndexError, KeyError) as error:
        raise DataFileError(f"the footer of {path} does not list the positions of its columns") from error


def _chunk(own: dict[int, Any], number: int) -> Chunk:
    said: dict[int, Any] = own[3]
    start, first = said[9], said.get(11)
    start = first if first is not None and 0 < first < start else start
    sizes = said[5], said[6], said[7]
    nulls = said.get(12, {}).get(3)
    found = Chunk(
        said[1], tuple(said[3]), said[4], *sizes, start, number, nulls, own.get(1, b""), is_encrypted=8 in own
    )
    if min(found.kind, found.values, found.unpacked, found.packed, start) < 0:
        raise DataFileError("a column has a negative position or size")
    return found


def decoded_bytes(file: BinaryIO, chunk: Chunk, width: int) -> Index:
    """Return the decoded size of a column chunk in bytes, and the maximum size of its strings.

    Parameters
    ----------
    file
        The file.
    chunk
        Position of the pages.
    width
        Bytes of a fixed-length value.

    Raises
    ------
    DataFileError
        If a page has impossible numbers.
    """
    width = _WIDTHS[chunk.kind] if chunk.kind < len(_WIDTHS) else max(width, _TEXT)
    unpacked = entries = longest = counted = 0
    place, end = chunk.start, chunk.start + chunk.packed
    while place < end and counted < chunk.values:
        said, length = _header(file, place, end)
        kind, size, stored = [said.get(field, -1) for field in (1, 2, 3)]
        count = max([said.get(field, {}).get(1, 0) for field in (5, 7, 8)])
        if min(size, stored) < 0:
            raise DataFileError(
                f"the page at byte {place} declares {size} bytes, but {stored} compressed bytes"
            )
        unpacked += size
        if kind == _DICTIONARY:
            entries += count
            longest = max(longest, size)
        else:
            counted += count
        place += length + stored
    values = max(counted, chunk.values)
    return unpacked + values * (width + _LEVELS) + entries * width, values * longest


def _header(file: BinaryIO, place: int, end: int) -> tuple[dict[int, Any], int]:
    length = 2**8
    while True:
        file.seek(place)
        data = file.read(min(length, end - place))
        try:
            return read_struct(data, 0, _PAGE)
        except IndexError as error:
            if len(data) < length or length >= _HEADER:
                raise DataFileError(f"the header of the page at byte {place} has no end") from error
        length *= 4
