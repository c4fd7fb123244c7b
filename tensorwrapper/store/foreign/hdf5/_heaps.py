"""Heaps of an HDF5 file, on which text and sequences of any length lie, looked at before HDF5 does.

HDF5 goes from one object of a heap to the next by its size, and never ends where that is 0 or leads back.
"""

from typing import Final, final

from tensorwrapper.errors import DataFileError
from tensorwrapper.store.system._map import FileMap

__all__ = ["Heaps"]

_MARK: Final = b"GCOL\x01"
_HEAD: Final = 16  # bytes before the first object, and before the bytes of each


@final
class Heaps:
    """The heaps of one file; they are found by their marks when they are first needed."""

    __slots__ = ("_checked", "_memory", "_refused")

    def __init__(self, memory: FileMap) -> None:
        self._memory = memory
        self._checked = False
        self._refused: str | None = None

    def check(self) -> None:
        """Raise if HDF5 would not come to the end of a heap; the first call looks at the whole file.

        Raises
        ------
        DataFileError
            If there is such a heap.
        """
        if self._refused is not None:
            # Once is enough: who asks for each of many datasets would have the file searched as often.
            raise DataFileError(self._refused)
        if self._checked:
            return
        place = self._memory.find(_MARK)
        while place >= 0:
            self._walk(place)
            place = self._memory.find(_MARK, place + 1)
        self._checked = True

    def _walk(self, start: int) -> None:
        end = start + self._number(start + 8)
        place = start + _HEAD
        while place + _HEAD <= min(end, len(self._memory)):
            size = self._number(place + 8)
            # Number 0 is what is free, and its size is that of all of it.
            if self._memory[place : place + 2] != b"\0\0":
                size = _HEAD + (size + 7) // 8 * 8
            if not 0 < size < 2**63:
                self._refused = f"the heap at byte {start} has an object at byte {place} that never ends"
                raise DataFileError(self._refused)
            place += size

    def _number(self, place: int) -> int:
        return int.from_bytes(self._memory[place : place + 8], "little")
