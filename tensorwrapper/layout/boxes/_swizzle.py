"""Swizzles: offsets whose bits are folded onto lower ones, so that columns spread over memory banks."""

from typing import SupportsIndex, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import to_count, to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LayoutError, OutOfBoundsError
from tensorwrapper.shape.lowlevel import to_ordinal_array
from tensorwrapper.typing import IntArray

_WORD = 63


def _to_bits(value: SupportsIndex) -> int:
    return to_count(value, "a number of bits")


def _to_shift(value: SupportsIndex) -> int:
    return to_int(value, "a shift")


@final
@frozen(repr=False)
class Swizzle:
    """A permutation of the offsets from 0 on: some bits are combined, by exclusive or, with higher ones.

    The ``bits`` bits of an offset from position ``base + shift`` on are moved down by ``shift`` positions and
    combined with those from position ``base`` on; with a negative shift the lower bits are moved up. Applying
    it twice returns the offset, and every aligned block of ``period`` offsets is permuted within itself.

    Source: the ``Swizzle`` of NVIDIA's CuTe, as the CUTLASS documentation describes it.

    Parameters
    ----------
    bits
        Number of combined bits.
    base
        The lowest changed bit; lower ones stay, so runs of ``2**base`` stay contiguous.
    shift
        Distance of the two groups of bits: at least `bits`, or at most ``-bits``.

    Raises
    ------
    LayoutError
        If the groups of bits overlap, or do not fit into 63 bits.

    Examples
    --------
    >>> from tensorwrapper.layout import Swizzle
    >>> s = Swizzle(2, 0, 2)
    >>> [s(k) for k in range(8)], s(s(13)), s.period
    ([0, 1, 2, 3, 5, 4, 7, 6], 13, 16)
    """

    bits: int = attrs.field(converter=_to_bits)
    base: int = attrs.field(converter=_to_bits)
    shift: int = attrs.field(converter=_to_shift)

    def __attrs_post_init__(self) -> None:
        if abs(self.shift) < self.bits:
            raise LayoutError(f"{self.bits} bits overlap when shifted by {self.shift}: shift by {self.bits}")
        if self.bits + self.base + abs(self.shift) > _WORD:
            raise LayoutError(f"{self} reaches beyond {_WORD} bits")

    @property
    def period(self) -> int:
        """The length of the aligned blocks that are permuted in themselves."""
        return 1 << (self.base + abs(self.shift) + self.bits) if self.bits else 1

    @property
    def source_place(self) -> int:
        """The lowest of the bits that are read: an offset below ``2**source_place`` stays where it is."""
        return self.base + max(self.shift, 0)

    def __call__(self, offset: SupportsIndex) -> int:
        """Return where an offset goes; a negative one raises `OutOfBoundsError`."""
        place = to_int(offset, "an offset")
        if place < 0:
            raise OutOfBoundsError(f"a swizzle permutes the offsets from 0 on, not {place}")
        read = place & self._mask()
        return place ^ (read >> self.shift if self.shift >= 0 else read << -self.shift)

    def apply(self, offsets: npt.ArrayLike) -> IntArray:
        """Return where each of an array of offsets goes."""
        places = to_ordinal_array(offsets)
        if places.size and int(places.min()) < 0:
            raise OutOfBoundsError(f"a swizzle permutes the offsets from 0 on, not {places.min()}")
        read = places & np.int64(self._mask())
        moved = read >> self.shift if self.shift >= 0 else read << -self.shift
        return places ^ moved

    def _mask(self) -> int:
        return ((1 << self.bits) - 1) << self.source_place

    def __str__(self) -> str:
        return f"S<{self.bits},{self.base},{self.shift}>"

    def __repr__(self) -> str:
        return f"Swizzle({self.bits}, {self.base}, {self.shift})"
