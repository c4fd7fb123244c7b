"""The checksum of a record: CRC-32 at the speed of memory.

CRC-32 takes longer than writing the bytes does. So only the head of a message is put through it, label and
all, and of what follows the sums of its pages: each is one number that every bit of the page goes into, and
a page that is lost, zero or in another's place is found.
"""

import zlib
from collections.abc import Iterable
from typing import Final, final

import numpy as np

__all__ = ["Checksum", "checksum_of"]

HEAD: Final = 16_384
PAGE: Final = 4096
_WORDS: Final = np.dtype("<u8")


def checksum_of(buffers: Iterable[bytes | memoryview]) -> int:
    """Return the checksum of a message that lies in several buffers."""
    checksum = Checksum()
    for buffer in buffers:
        checksum.update(buffer)
    return checksum.value


@final
class Checksum:
    """A checksum under way."""

    __slots__ = ("_carry", "_left", "_value")

    def __init__(self) -> None:
        self._value = 0
        self._left = HEAD
        self._carry = b""

    def update(self, buffer: bytes | memoryview) -> None:
        """Add bytes to those that were given before."""
        view = memoryview(buffer)
        if self._left:
            head = view[: self._left]
            self._value = zlib.crc32(head, self._value)
            self._left -= len(head)
            view = view[len(head) :]
        if self._carry:
            missing = PAGE - len(self._carry)
            self._carry += view[:missing]
            view = view[missing:]
            if len(self._carry) < PAGE:
                return
            self._add(memoryview(self._carry))
            self._carry = b""
        whole = len(view) // PAGE * PAGE
        if whole:
            self._add(view[:whole])
        self._carry = bytes(view[whole:])

    def _add(self, pages: memoryview) -> None:
        words = np.frombuffer(pages, _WORDS).reshape(-1, PAGE // 8)
        sums = np.empty(len(words), _WORDS)
        np.add.reduce(words, axis=1, out=sums)
        self._value = zlib.crc32(sums.data, self._value)

    @property
    def value(self) -> int:
        """The checksum of all bytes so far; the last page is filled up with zeros."""
        if not self._carry:
            return self._value
        words = np.frombuffer(self._carry.ljust(PAGE, b"\0"), _WORDS)
        return zlib.crc32(int(np.add.reduce(words)).to_bytes(8, "little"), self._value)
