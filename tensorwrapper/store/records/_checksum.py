"""Checksum algorithms for the messages of records.

Messages up to 16 KiB use CRC-32, the fastest for this size. Larger messages use xxHash 3 if the package
xxhash is installed. Both are as fast as memory. Otherwise NumPy mixes 8192 lanes of 64 bits in parallel, each
with its words in order, three times as fast as CRC-32. All algorithms depend on every bit and on the order of
words. They miss a change with a probability of at most 2**-32.
"""

import importlib
import sys
import zlib
from collections.abc import Iterable
from enum import IntEnum
from types import ModuleType
from typing import Any, Final, final

import numpy as np

from tensorwrapper._compiled import mix
from tensorwrapper.errors import DataFileError

_SHORT: Final = 16_384  # bytes
_LANES: Final = 8192
_BLOCK: Final = 8 * _LANES
_WORDS: Final = np.dtype("<u8")
_FACTOR: Final = np.uint64(0x9E3779B185EBCA87)
_SHIFT: Final = np.uint64(29)


class Algorithm(IntEnum):
    """Checksum algorithms by their number in record headers."""

    CRC32 = 0
    LANES = 1
    XXH3 = 2


# A look-up in the class of an enumeration takes longer than all else that is done for a small record.
_CRC32: Final = Algorithm.CRC32


def _xxhash() -> ModuleType | None:
    # Look up the loaded module first, because this runs for each record.
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
        Length of the message in bytes.
    anywhere
        Whether readers without xxhash must be able to verify it.
    """
    if length <= _SHORT:
        return _CRC32
    return Algorithm.LANES if anywhere or _xxhash() is None else Algorithm.XXH3


def checksum_of(buffers: Iterable[bytes | memoryview], algorithm: int) -> int:
    """Return the checksum of a message split over several buffers.

    Raises
    ------
    DataFileError
        If the algorithm is unknown, or its package is not installed. The text completes a sentence.
    """
    if algorithm == _CRC32:
        value = 0
        for buffer in buffers:
            value = zlib.crc32(buffer, value)
        return value
    xxhash = _xxhash()
    if algorithm not in (Algorithm.LANES, Algorithm.XXH3):
        raise DataFileError(f"has the unknown checksum algorithm {algorithm}; supported: 0, 1 and 2")
    if xxhash is None and algorithm == Algorithm.XXH3:
        raise DataFileError("has a checksum of xxHash 3, which needs the package xxhash (the extra compress)")
    checksum: Any = _Lanes() if xxhash is None or algorithm == Algorithm.LANES else xxhash.xxh3_64()
    for buffer in buffers:
        checksum.update(buffer)
    return int(checksum.intdigest())


@final
class _Lanes:
    """Checksum of blocks of 64 KiB: lane k multiplies, adds and folds word k of each block.

    The fold moves high bits to low bits, so that the next multiplication mixes them; otherwise two changes of
    sign would cancel. The last block is padded with zeros. CRC-32 combines the lanes.
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
    if mix(int(_FACTOR), int(_SHIFT), lanes, blocks):
        return
    for words in np.frombuffer(blocks, _WORDS).reshape(-1, _LANES):
        np.multiply(lanes, _FACTOR, out=lanes)
        np.add(lanes, words, out=lanes)
        np.right_shift(lanes, _SHIFT, out=folded)
        np.bitwise_xor(lanes, folded, out=lanes)
