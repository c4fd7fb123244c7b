"""The checksum of a record's message: which algorithm, and the algorithms.

Up to 16 KiB it is CRC-32, the best there is for so little. A larger message has xxHash 3 where the package
xxhash is installed; both keep up with memory. Where it is not, 8192 lanes of 64 bits are mixed in step, each
with its words in order: three times as fast as CRC-32 of all bytes, and in NumPy alone. All of them depend on
every bit and on the order of the words; a change is missed once in 2**32 times at most.
"""

import importlib
import sys
import zlib
from collections.abc import Iterable
from enum import IntEnum
from types import ModuleType
from typing import Any, Final, final

import numpy as np

from tensorwrapper.errors import DataFileError

__all__ = ["Algorithm", "checksum_of", "choose"]

_SHORT: Final = 16_384  # bytes
_LANES: Final = 8192
_BLOCK: Final = 8 * _LANES
_WORDS: Final = np.dtype("<u8")
_FACTOR: Final = np.uint64(0x9E3779B185EBCA87)
_SHIFT: Final = np.uint64(29)


class Algorithm(IntEnum):
    """Checksum algorithms, as the header of a record names them."""

    CRC32 = 0
    LANES = 1
    XXH3 = 2


def _xxhash() -> ModuleType | None:
    # Looked up for each record, and nearly always loaded.
    found = sys.modules.get("xxhash")
    if found is not None:
        return found
    try:
        return importlib.import_module("xxhash")
    except ImportError:
        return None


def choose(length: int, *, anywhere: bool = False) -> Algorithm:
    """Return the algorithm for a message of `length` bytes.

    Parameters
    ----------
    length
        How long the message is.
    anywhere
        Whether every reader must be able to check it, with xxhash or without.
    """
    if length <= _SHORT:
        return Algorithm.CRC32
    return Algorithm.LANES if anywhere or _xxhash() is None else Algorithm.XXH3


def checksum_of(buffers: Iterable[bytes | memoryview], algorithm: int) -> int:
    """Return the checksum of a message split over several buffers.

    Raises
    ------
    DataFileError
        If the algorithm is not known, or its package is not installed. The text completes a sentence.
    """
    if algorithm == Algorithm.CRC32:
        value = 0
        for buffer in buffers:
            value = zlib.crc32(buffer, value)
        return value
    xxhash = _xxhash()
    if algorithm not in (Algorithm.LANES, Algorithm.XXH3):
        raise DataFileError(f"has a checksum of algorithm {algorithm}; this reader knows 0, 1 and 2")
    if xxhash is None and algorithm == Algorithm.XXH3:
        raise DataFileError("has a checksum of xxHash 3, which needs the package xxhash (the extra compress)")
    checksum: Any = _Lanes() if xxhash is None or algorithm == Algorithm.LANES else xxhash.xxh3_64()
    for buffer in buffers:
        checksum.update(buffer)
    return int(checksum.intdigest())


@final
class _Lanes:
    """Blocks of 64 KiB, word k of each into lane k: multiplied by an odd number, added, and folded.

    The fold carries high bits to low ones, where the next product takes them up again: without it two changes
    of sign would cancel. The last block is filled up with zeros; CRC-32 joins the lanes.
    """

    __slots__ = ("_carry", "_folded", "_lanes")

    def __init__(self) -> None:
        self._lanes = np.zeros(_LANES, _WORDS)
        self._folded = np.empty(_LANES, _WORDS)
        self._carry = b""

    def update(self, buffer: bytes | memoryview, /) -> None:
        view = memoryview(buffer)
        if self._carry:
            missing = _BLOCK - len(self._carry)
            self._carry += view[:missing]
            view = view[missing:]
            if len(self._carry) < _BLOCK:
                return
            _mix(self._lanes, self._folded, self._carry)
            self._carry = b""
        whole = len(view) // _BLOCK * _BLOCK
        if whole:
            _mix(self._lanes, self._folded, view[:whole])
        self._carry = bytes(view[whole:])

    def intdigest(self) -> int:
        lanes = self._lanes
        if self._carry:
            lanes = lanes.copy()
            _mix(lanes, self._folded, self._carry.ljust(_BLOCK, b"\0"))
        return zlib.crc32(lanes.data)


def _mix(lanes: "np.ndarray[Any, Any]", folded: "np.ndarray[Any, Any]", blocks: bytes | memoryview) -> None:
    for words in np.frombuffer(blocks, _WORDS).reshape(-1, _LANES):
        np.multiply(lanes, _FACTOR, out=lanes)
        np.add(lanes, words, out=lanes)
        np.right_shift(lanes, _SHIFT, out=folded)
        np.bitwise_xor(lanes, folded, out=lanes)
