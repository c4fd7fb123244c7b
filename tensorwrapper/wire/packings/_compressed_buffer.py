"""A buffer over compressed blocks, which are decompressed when their elements are read."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Final, Generic, NoReturn, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import are_truths, file_beneath, frozen_array, frozen_values
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import assign_elements
from tensorwrapper.errors import ReadOnlyError
from tensorwrapper.typing import Array, IntArray, ScalarT_co
from tensorwrapper.wire._protocol_errors import refuse
from tensorwrapper.wire.parts._allocation_limit import Claim
from tensorwrapper.wire.parts._compress import CODECS, Bytes, unshuffle

_KEPT: Final = 2**22
"""Bytes of decompressed blocks that one buffer keeps, beyond the last one."""


@final
class _Cache:
    """The blocks that were decompressed last, within `_KEPT` bytes; shared by threads."""

    __slots__ = ("_blocks", "_lock", "_room")

    def __init__(self, block: int) -> None:
        self._blocks: OrderedDict[int, Array] = OrderedDict()
        self._lock = threading.Lock()
        self._room = max(_KEPT // block, 1)

    def get(self, number: int) -> Array | None:
        with self._lock:
            found = self._blocks.get(number)
            if found is not None:
                self._blocks.move_to_end(number)
            return found

    def put(self, number: int, elements: Array) -> None:
        with self._lock:
            self._blocks[number] = elements
            while len(self._blocks) > self._room:
                self._blocks.popitem(last=False)


@final
@frozen(eq=False, repr=False, getstate_setstate=False)
class Compressed(BufferCommon[ScalarT_co], Generic[ScalarT_co]):
    """A run of elements in compressed blocks. Read-only; a read decompresses the blocks that it touches.

    The last few megabytes of decompressed blocks are cached. Damaged blocks are found when they are read.

    Attributes
    ----------
    codec
        Name of the codec.
    data
        The compressed blocks, one after the other.
    splits
        Start of each block in `data`, and the end of the last.
    block
        Bytes per block when decompressed; the last may have fewer.
    shuffled
        Whether the bytes of a block were sorted by their place in the element before.
    """

    codec: str
    data: Bytes
    splits: IntArray
    _dtype: "np.dtype[ScalarT_co]"
    _size: int
    block: int
    shuffled: bool
    _claim: Claim | None
    _cache: _Cache = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "_cache", _Cache(self.block))

    @property
    def dtype(self) -> "np.dtype[ScalarT_co]":
        return self._dtype

    @property
    def size(self) -> int:
        return self._size

    @property
    def is_readonly(self) -> bool:
        return True

    @property
    def filename(self) -> str | None:
        return file_beneath(self.data)

    def as_readonly(self) -> "Compressed[ScalarT_co]":
        return self

    def write(self, addresses: IntArray, values: Array) -> NoReturn:  # noqa: ARG002 - always refused
        raise ReadOnlyError("compressed elements are read-only; copy() gives some that can change")

    def read(self, addresses: IntArray) -> "npt.NDArray[ScalarT_co]":
        self._take(addresses.size)
        result: npt.NDArray[ScalarT_co] = np.empty(addresses.shape, self._dtype)
        self._read_into(addresses.reshape(-1), result.reshape(-1))
        return result

    def gather(self, places: Iterator[IntArray], size: int) -> "npt.NDArray[ScalarT_co]":
        self._take(size)
        result: npt.NDArray[ScalarT_co] = np.empty(size, self._dtype)
        start = 0
        for batch in places:
            flat = batch.reshape(-1)
            self._read_into(flat, result[start : start + len(flat)])
            start += len(flat)
        return result

    def read_run(self, start: int, stop: int) -> "npt.NDArray[ScalarT_co]":
        self._take(stop - start)
        result: npt.NDArray[ScalarT_co] = np.empty(stop - start, self._dtype)
        self._read_run(start, result)
        return result

    def _take(self, count: int) -> None:
        """Raise if a read of so many elements is more than a reader is ready to decompress."""
        claim, word = self._claim, self._dtype.itemsize
        if claim is not None and count:
            # Including cached blocks; the claim of a part is at most the size in its label.
            claim.take(min(max(count * word, self.block, _KEPT), self._size * word))

    def _read_into(self, addresses: IntArray, out: Array) -> None:
        if not len(addresses):
            return
        first, last = int(addresses[0]), int(addresses[-1])
        if last - first == len(addresses) - 1 and bool((np.diff(addresses) == 1).all()):
            self._read_run(first, out)
            return
        per_block = self.block // self._dtype.itemsize
        numbers = addresses // per_block
        order = None if bool((numbers[1:] >= numbers[:-1]).all()) else np.argsort(numbers, kind="stable")
        ranked = numbers if order is None else numbers[order]
        bounds = [0, *(np.flatnonzero(np.diff(ranked)) + 1).tolist(), len(ranked)]
        for low, high in pairwise(bounds):
            chosen = slice(low, high) if order is None else order[low:high]
            number = int(ranked[low])
            out[chosen] = self._elements(number)[addresses[chosen] - number * per_block]

    def _read_run(self, first: int, out: Array) -> None:
        per_block = self.block // self._dtype.itemsize
        done = 0
        while done < len(out):
            number, start = divmod(first + done, per_block)
            elements = self._elements(number)[start : start + len(out) - done]
            assign_elements(out[done : done + len(elements)], elements)
            done += len(elements)

    def _elements(self, number: int) -> Array:
        """Return the elements of one block; they must not be changed."""
        found = self._cache.get(number)
        if found is None:
            found = self._decompress(number)
            self._cache.put(number, found)
        return found

    def _decompress(self, number: int) -> Array:
        data = self.data[int(self.splits[number]) : int(self.splits[number + 1])]
        nbytes = min(self.block, self._size * self._dtype.itemsize - number * self.block)
        raw = np.empty(nbytes, np.uint8)
        if len(data) == nbytes:
            assign_elements(raw, data)
        elif self.shuffled:
            planes = np.empty_like(raw)
            CODECS[self.codec].decompress(data, planes, f"block {number}")
            unshuffle(planes, self._dtype.itemsize, raw)
        else:
            CODECS[self.codec].decompress(data, raw, f"block {number}")
        found = raw.view(self._dtype)
        if not are_truths(found):
            refuse("integrity", f"block {number} has a bool that is neither 0 nor 1")
        return found

    def __repr__(self) -> str:
        return (
            f"<Compressed buffer: {self._size} elements of type {self._dtype}, by {self.codec} in "
            f"{len(self.splits) - 1} blocks of {self.block} bytes, {len(self.data)} bytes in all>"
        )

    def __reduce__(self) -> "tuple[Callable[..., Compressed[Any]], tuple[object, ...]]":
        # The cache is not pickled. A pickle is trusted, and belongs to no message.
        parts = (self.codec, self.data, self.splits, self._dtype, self._size, self.block, self.shuffled)
        return make_compressed, parts


def make_compressed(
    codec: str,
    data: Bytes,
    splits: IntArray,
    dtype: "np.dtype[ScalarT_co]",
    size: int,
    block: int,
    shuffled: bool,  # noqa: FBT001 - pickle passes what it restores by position
    claim: Claim | None = None,
) -> Compressed[ScalarT_co]:
    """Return the buffer over compressed blocks that were checked to be `size` elements."""
    return Compressed(codec, frozen_values(data), frozen_array(splits), dtype, size, block, shuffled, claim)
