"""Compressed parts: elements in blocks of fixed size, so that a slice is read without all before it.

docs/format.md describes them for other implementers.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from tensorwrapper._arrays import splits_of
from tensorwrapper._json import Json
from tensorwrapper.typing import IntArray
from tensorwrapper.wire._compress import CODECS, Bytes, Compression, check_codec, shuffle
from tensorwrapper.wire._compress_buffer import Compressed, make_compressed
from tensorwrapper.wire._packing import ReadPart, check_splits, read_int
from tensorwrapper.wire._refusal import refuse

__all__ = ["compress_part", "read_compressed"]

_BLOCK: Final = 2**18
"""Bytes per block when written: they stay in a core's cache while they are shuffled and compressed."""

_MAX_BLOCK: Final = 2**24
"""Bytes per block when read: what a reader decompresses to have one element."""


def compress_part(
    name: Compression, data: memoryview, word: int, add: Callable[[IntArray], int]
) -> tuple[memoryview, dict[str, Json]] | None:
    """Return the bytes of elements compressed, and their description; None if they would not be fewer.

    Parameters
    ----------
    name
        The codec, which is there.
    data
        The elements, one after the other.
    word
        Bytes per element.
    add
        Puts an index array into the payload, and returns the number of its part.
    """
    codec, raw = CODECS[name], np.frombuffer(data, np.uint8)
    step, shuffled = _BLOCK // word * word, word > 1 and not codec.shuffles
    blocks: list[memoryview] = []
    for start in range(0, len(raw), step):
        block: Bytes = raw[start : start + step]
        packed = codec.compress(shuffle(block, word) if shuffled else block, word)
        # A block that does not shrink stays as it is: its size tells the reader so.
        blocks.append(memoryview(packed) if len(packed) < len(block) else block.data)
    splits = splits_of(np.array([block.nbytes for block in blocks], dtype=np.int64))
    if int(splits[-1]) + splits.nbytes >= len(raw):
        return None
    described: dict[str, Json] = {"version": 1, "block": step, "blocks": add(splits)}
    if shuffled:
        described["shuffle"] = True
    return memoryview(b"".join(blocks)), described


def read_compressed(
    name: str,
    fields: Mapping[str, object],
    data: memoryview,
    dtype: "np.dtype[Any]",
    size: int,
    read: ReadPart,
    where: str,
) -> Compressed[Any]:
    """Return the buffer of `size` elements that a foreign object and its part hold; decompress nothing."""
    check_codec(name, where)
    word = dtype.itemsize
    step = read_int(fields.get("block"), f"block of {where}", word, _MAX_BLOCK)
    if step % word:
        refuse("size", f"blocks of {where} have {step} bytes, which are no whole elements of {word}")
    shuffled = fields.get("shuffle", False)
    if type(shuffled) is not bool:
        refuse("schema", f"shuffle of {where} must be a boolean")
    if shuffled and CODECS[name].shuffles:
        refuse("layout", f"{where} is shuffled by {name} itself, and cannot be shuffled before")
    what = f"blocks of {where}"
    splits = read(fields.get("blocks"), what)
    count = -(-size * word // step)
    if len(splits) != count + 1:
        refuse("size", f"{what} are {len(splits) - 1}, but {size} elements take {count}")
    check_splits(splits, what, data.nbytes)
    if count:
        _check_sizes(splits, size * word, step, what)
    return make_compressed(name, np.frombuffer(data, np.uint8), splits, dtype, size, step, shuffled)


def _check_sizes(splits: IntArray, nbytes: int, step: int, what: str) -> None:
    """Raise unless every block has a byte at least, and no more than it has when decompressed."""
    sizes = np.diff(splits)
    last = nbytes - (len(sizes) - 1) * step
    if int(sizes.min()) < 1 or int(sizes[:-1].max(initial=1)) > step or int(sizes[-1]) > last:
        refuse("size", f"{what} must have from 1 byte to the {step} bytes that they hold")
