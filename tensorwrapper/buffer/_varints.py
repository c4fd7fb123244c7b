"""Variable-length integers as Protocol Buffers write them, many at a time.

Seven bits to a byte, the least significant first; the high bit says that more follow. At most ten bytes,
which hold 64 bits. The work is one pass over all numbers and one more for those that have another byte.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer._bitmap import Bytes
from tensorwrapper.typing import IntArray

__all__ = ["LONGEST", "read_varints", "varint_size", "varint_sizes", "write_varints"]

LONGEST: Final = 10  # bytes that 64 bits take


def varint_size(value: int) -> int:
    """Return how many bytes one number takes."""
    return max((value.bit_length() + 6) // 7, 1)


def varint_sizes(values: IntArray) -> IntArray:
    """Return how many bytes each number takes; none is negative."""
    sizes = np.ones(len(values), dtype=np.int64)
    greatest = int(values.max(initial=0))
    for bits in range(7, 63, 7):
        if greatest >> bits == 0:
            break
        sizes += values >= 1 << bits
    return sizes


def write_varints(target: Bytes, places: IntArray, values: IntArray) -> None:
    """Write each number to `target`, its first byte at its place."""
    while len(values):
        more = values >= 0x80
        target[places] = (values & 0x7F) | (more.astype(np.int64) << 7)
        places, values = places[more] + 1, values[more] >> 7


def read_varints(data: Bytes, places: IntArray) -> tuple[npt.NDArray[np.uint64], IntArray, int]:
    """Return the numbers that begin at these places, their sizes, and which is the first that is none.

    The third is the number of places if all are numbers. A number must end within the data, in its tenth
    byte at the latest, and fit into 64 bits. What is returned for a place that has no number means nothing.
    """
    byte = data[places]
    values = (byte & 0x7F).astype(np.uint64)
    sizes = np.ones(len(places), dtype=np.int64)
    bad = len(places)
    going = np.flatnonzero(byte >= 0x80)
    for k in range(1, LONGEST):
        if not len(going):
            break
        at = places[going] + k
        inside = at < len(data)
        if not inside.all():
            bad = min(bad, int(going[~inside][0]))
            going, at = going[inside], at[inside]
        byte = data[at]
        values[going] |= (byte & 0x7F).astype(np.uint64) << np.uint64(7 * k)
        sizes[going] = k + 1
        # Nine bytes hold 63 bits: the tenth has one bit, and nothing may follow it.
        overflows = byte > 1 if k == LONGEST - 1 else np.zeros(len(byte), dtype=np.bool_)
        if overflows.any():
            bad = min(bad, int(going[overflows][0]))
        going = going[byte >= 0x80]
    return values, sizes, bad
