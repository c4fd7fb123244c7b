"""Check the global heaps of an HDF5 file, with variable-length data, before HDF5 reads them.

HDF5 finds the next object of a heap by the object's size, and loops for ever if this is 0 or wraps around.
"""

from typing import Final, final

from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats._file_location import size_of
from tensorwrapper.store.ranges._ranges import Ranges
from tensorwrapper.store.system._map import FileMemory

_MARK: Final = b"GCOL\x01"
_HEAD: Final = 16  # bytes of the heap header, and of each object header


@final
class Heaps:
    """Heaps of one file, found by their signatures on first use."""

    __slots__ = ("_checked", "_memory", "_refused", "_walked")

    def __init__(self, memory: FileMemory | Ranges) -> None:
        self._memory = memory
        # The stream of a file by byte ranges checks each heap when HDF5 reads it.
        self._checked = isinstance(memory, Ranges)
        self._walked: set[int] = set()
        self._refused: str | None = None

    def check(self) -> None:
        """Raise if HDF5 would loop on a heap; the first call searches the whole file.

        Raises
        ------
        DataFileError
            If there is such a heap.
        """
        if self._refused is not None:
            # Cache the result, because every dataset read would search the file again.
            raise DataFileError(self._refused)
        if self._checked or isinstance(self._memory, Ranges):
            return
        place = self._memory.find(_MARK)
        while place >= 0:
            self._walk(place)
            place = self._memory.find(_MARK, place + 1)
        self._checked = True

    def check_between(self, start: int, stop: int) -> None:
        """Raise if HDF5 would loop on a heap with its signature in this byte range.

        Raises
        ------
        DataFileError
            If there is such a heap.
        """
        first = max(start - len(_MARK) + 1, 0)
        raw = self._bytes(first, stop + len(_MARK) - 1)
        place = raw.find(_MARK)
        while place >= 0:
            if first + place not in self._walked:
                self._walk(first + place)
                self._walked.add(first + place)
            place = raw.find(_MARK, place + 1)

    def _walk(self, start: int) -> None:
        end = min(start + self._number(start + 8), size_of(self._memory))
        place = start + _HEAD
        while place + _HEAD <= end:
            size = self._number(place + 8)
            # Object 0 is the free space; its size includes its header.
            if self._bytes(place, place + 2) != b"\0\0":
                size = _HEAD + (size + 7) // 8 * 8
            if not 0 < size < 2**63:
                self._refused = f"the heap at byte {start} has an object at byte {place} that never ends"
                raise DataFileError(self._refused)
            place += size

    def _bytes(self, start: int, stop: int) -> bytes:
        if isinstance(self._memory, Ranges):
            return self._memory.read_at(start, stop - start)
        return self._memory[start:stop]

    def _number(self, place: int) -> int:
        return int.from_bytes(self._bytes(place, place + 8), "little")
