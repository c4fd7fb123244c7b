"""What every buffer can do, whatever holds its elements."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Final, Generic

import numpy as np
import numpy.typing as npt

from tensorwrapper.errors import BufferSizeError, ReadOnlyError
from tensorwrapper.typing import Array, IntArray, ScalarT_co

__all__ = ["BufferCommon"]

_BATCH: Final = 1 << 20  # addresses at a time


class BufferCommon(ABC, Generic[ScalarT_co]):
    """Abstract: `dtype`, `size`, `writeable`, `read_only`, `read` and `write`.

    A buffer is a run of elements at the addresses 0 to ``size - 1``; a layout says which index has which
    address. Addresses were checked before they come here: `read` and `write` need not look.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def dtype(self) -> "np.dtype[ScalarT_co]":
        """The type of the elements."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many addresses there are."""

    @property
    @abstractmethod
    def writeable(self) -> bool:
        """Whether the elements can be written to."""

    @abstractmethod
    def read_only(self) -> "BufferCommon[ScalarT_co]":
        """Return the same elements as a buffer that cannot be written to; no copy."""

    def guarded(self) -> "BufferCommon[ScalarT_co]":
        """Return the elements for a layout that gives several indices one place: at most to be added to."""
        return self.read_only()

    def accumulate(self, addresses: IntArray, values: Array) -> None:  # noqa: ARG002 - most refuse
        """Add one value to each address, also where an address comes several times.

        Raises
        ------
        ReadOnlyError
            If this kind of buffer, or its memory, does not allow it.
        """
        raise ReadOnlyError(f"elements of a {type(self).__name__} buffer are not added to; copy() gives some")

    @abstractmethod
    def read(self, addresses: IntArray) -> "npt.NDArray[ScalarT_co]":
        """Return the elements at these addresses, in an array of its own of the same extents."""

    @abstractmethod
    def write(self, addresses: IntArray, values: Array) -> None:
        """Write one value to each address; no address comes twice, and `values` has their extents.

        All values are of this buffer's dtype. Either all are written, or an error changes nothing.
        """

    def gather(self, places: Iterator[IntArray], size: int) -> "npt.NDArray[ScalarT_co]":
        """Return the elements at addresses that come in batches and number `size` in all: a flat array."""
        result: npt.NDArray[ScalarT_co] = np.empty(size, dtype=self.dtype)
        start = 0
        for batch in places:
            flat = batch.reshape(-1)
            result[start : start + len(flat)] = self.read(flat)
            start += len(flat)
        return result

    def read_run(self, start: int, stop: int) -> "npt.NDArray[ScalarT_co]":
        """Return the elements at the addresses from `start` up to `stop`: a flat array."""
        batches = range(start, stop, _BATCH)
        places = (np.arange(first, min(first + _BATCH, stop)) for first in batches)
        return self.gather(places, stop - start)

    def check_bounds(self, least: int, greatest: int) -> None:
        """Raise unless all addresses from `least` to `greatest` exist: what makes a view safe."""
        if least < 0 or greatest >= self.size:
            raise BufferSizeError(
                f"the layout needs offsets {least} to {greatest}; the buffer has {self.size} elements"
            )
