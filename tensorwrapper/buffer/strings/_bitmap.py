"""Bitmaps of validity as Arrow packs them: one bit per element, the least significant first."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tensorwrapper.errors import StringDataError
from tensorwrapper.typing import IntArray

Bytes: TypeAlias = npt.NDArray[np.uint8]
"""Bytes, eight marks in each or one part of a string in each."""

Marks: TypeAlias = npt.NDArray[np.bool_]
"""One truth value per element."""


def unpack_marks(bitmap: Bytes, first: int, count: int) -> Marks:
    """Return `count` bits from bit `first` on as an array of bool."""
    skip = first & 7
    part = bitmap[first >> 3 : (first + count + 7) >> 3]
    return np.unpackbits(part, count=skip + count, bitorder="little")[skip:].view(np.bool_)


def marks_at(bitmap: Bytes, first: int, positions: IntArray) -> Marks:
    """Return the bits at these positions, counted from bit `first`, as an array of bool. O(positions)."""
    bits = positions + first
    marks: Marks = (bitmap[bits >> 3] >> (bits & 7)) & 1 != 0
    return marks


def pack_marks(marks: Marks) -> Bytes:
    """Return the read-only bitmap of these marks; its first bit is that of the first mark."""
    bitmap = np.packbits(marks, bitorder="little")
    bitmap.flags.writeable = False
    return bitmap


def pack_nulls(marks: Marks) -> Bytes | None:
    """Return the bitmap of marks that have nulls among them; without nulls none is needed."""
    return None if marks.all() else pack_marks(marks)


def check_bitmap(bitmap: Bytes, first: int, count: int) -> None:
    """Raise unless the bitmap has `count` bits from bit `first` on."""
    if first < 0 or first + count > 8 * len(bitmap):
        raise StringDataError(
            f"a validity bitmap of {len(bitmap)} bytes has no {count} bits from bit {first} on: "
            f"it has {8 * len(bitmap)} bits"
        )
