"""The packings of compressed elements, in blocks of fixed size: a slice is read without all before it."""

from typing import Any, Final, final

import numpy as np

from tensorwrapper._arrays import splits_of
from tensorwrapper._json import Json
from tensorwrapper._value_class import frozen
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import IntArray
from tensorwrapper.wire._protocol_errors import refuse
from tensorwrapper.wire.packings._compressed_buffer import Compressed, make_compressed
from tensorwrapper.wire.packings._packing import ElementPacking, Packed, Received, WriteOptions
from tensorwrapper.wire.parts._compress import CODECS, Bytes, Compression, check_codec, shuffle
from tensorwrapper.wire.parts._dtypes import write_dtype
from tensorwrapper.wire.parts._part_reader import check_splits
from tensorwrapper.wire.parts._part_writer import PartWriter, as_bytes

_BLOCK: Final = 2**18
"""Bytes per block when written: they stay in a core's cache while they are shuffled and compressed."""

_MAX_BLOCK: Final = 2**24
"""Largest block of a reader, which decompresses a whole block for one element."""


@final
@frozen
class CompressedPacking(ElementPacking):
    """Compression of the elements of any tensor, if the options request its codec."""

    codec: Compression

    @property
    def name(self) -> str:
        return self.codec

    @property
    def replaces_elements(self) -> bool:
        return True

    @property
    def is_lazy(self) -> bool:
        return True

    def applies(self, options: WriteOptions) -> bool:
        return options.compress == self.codec

    def pack(self, tensor: Tensor[Any], parts: PartWriter, options: WriteOptions) -> Packed | None:
        _, word, dtype = write_dtype(tensor.dtype, parts.where, allow_longdouble=options.allow_longdouble)
        data = as_bytes(parts.row_major(tensor, dtype), dtype)
        codec, raw = CODECS[self.codec], np.frombuffer(data, np.uint8)
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
        described: dict[str, Json] = {"block": step, "blocks": parts.add_indices(splits)}
        if shuffled:
            described["shuffle"] = True
        return Packed(np.frombuffer(b"".join(blocks), np.uint8), described)

    def unpack(self, received: Received) -> Compressed[Any]:
        """Return the buffer over the blocks; decompress nothing."""
        fields, dtype, size, name = received.fields, received.dtype, received.size, self.codec
        check_codec(name, str(fields))
        word = dtype.itemsize
        step = fields["block"].integer(word, _MAX_BLOCK)
        if step % word:
            refuse("size", f"{fields['block']} is {step} bytes, which are not whole elements of {word}")
        shuffled = "shuffle" in fields and fields["shuffle"].boolean()
        if shuffled and CODECS[name].shuffles:
            refuse("layout", f"{fields} is shuffled by {name} itself, and cannot be shuffled before")
        what = fields["blocks"]
        splits = received.parts.indices(what)
        count = -(-size * word // step)
        if len(splits) != count + 1:
            refuse("size", f"{what} are {len(splits) - 1}, but {size} elements take {count}")
        check_splits(splits, what, received.data.nbytes)
        if count:
            _check_sizes(splits, size * word, step, str(what))
        raw = np.frombuffer(received.data, np.uint8)
        return make_compressed(name, raw, splits, dtype, size, step, shuffled, received.claim)


def _check_sizes(splits: IntArray, nbytes: int, step: int, what: str) -> None:
    """Raise unless every block has a byte at least, and no more than it has when decompressed."""
    sizes = np.diff(splits)
    last = nbytes - (len(sizes) - 1) * step
    if int(sizes.min()) < 1 or int(sizes[:-1].max(initial=1)) > step or int(sizes[-1]) > last:
        refuse("size", f"{what} must have from 1 byte to the {step} bytes that they hold")
