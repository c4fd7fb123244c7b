"""Messages of compressed, sparse and string tensors, and how to spoil them."""

import json
import struct
import zlib

import blosc2
import numpy as np
import pytest
import zstandard

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire import Limits, decode

DROP = object()
CODECS = ["zlib", "zstd", "blosc2"]


def integers(*numbers):
    return np.array(numbers, dtype="<i8").tobytes()


class Spoilt:
    """The description and the parts of a good tensor, to be spoilt."""

    def __init__(self, packing, dtype, shape, keys, *parts):
        self.packing, self.dtype, self.shape, self.keys, self.parts = packing, dtype, shape, keys, parts

    def frames(self, *, parts=None, shape_=None, packed=DROP, beside=None, **changed):
        keys = {key: value for key, value in {**self.keys, **changed}.items() if value is not DROP}
        kind, word = self.dtype
        whole = {
            "dtype": kind,
            "word": int(word),
            "part": 0,
            "shape": self.shape if shape_ is None else shape_,
        }
        whole |= {"packing": self.packing, self.packing: keys if packed is DROP else packed} | (beside or {})
        prefix = b"ZIO0TENS" + json.dumps({"TENS": {"tensors": [whole]}}).encode()
        replaced = {
            k: part if isinstance(part, bytes) else integers(*part) for k, part in (parts or {}).items()
        }
        return [prefix, bytes(24), *[replaced.get(k, part) for k, part in enumerate(self.parts)]]

    def reason(self, limits=None, **changed):
        with pytest.raises(RemoteProtocolError) as caught:
            np.asarray(decode(self.frames(**changed), limits=limits or Limits()).tensors[0].elements())
        return caught.value.reason


def packed_by(name, raw, word=1):
    if name == "zlib":
        return zlib.compress(raw)
    if name == "zstd":
        return zstandard.compress(raw)
    return bytes(blosc2.compress2(np.frombuffer(raw, "u1"), typesize=word, nthreads=1))


RAW = [bytes(range(8)) * 32, bytes([5]) * 256, bytes([7]) * 64]
"""576 bytes in blocks of 256."""


def compressed(name):
    blocks = [packed_by(name, raw) for raw in RAW]
    ends = np.cumsum([0, *map(len, blocks)])
    return Spoilt(
        name, "u1", [24, 24], {"version": 1, "block": 256, "blocks": 1}, b"".join(blocks), integers(*ends)
    )


GOOD = {name: compressed(name) for name in CODECS}
SPARSE = Spoilt(
    "sparse",
    "i2",
    [3],
    {"version": 1, "shape": [2, 4], "addresses": 1, "fill": 2},
    struct.pack("<3h", 5, 6, 7),
    integers(0, 3, 7),
    struct.pack("<h", -1),
)
STRING = Spoilt(
    "string",
    "u1",
    [5],
    {"version": 1, "kind": "utf8", "shape": [2, 2], "offsets": 1, "validity": 2},
    b"ab\xc3\xbcc",
    integers(0, 1, 1, 4, 5),
    b"\x0d",
)
TF = Spoilt(
    "string",
    "u1",
    [21],
    {"version": 1, "kind": "binary", "shape": [2], "form": "tf_string"},
    bytes.fromhex("0000000000000000 0300000000000000 026162 01 63".replace(" ", "")),
)
ALL = {**GOOD, "sparse": SPARSE, "string": STRING, "tf": TF}


def block_of(codec, data, size=256):
    """The reason for refusing one block with this in it."""
    spoilt = Spoilt(
        codec, "u1", [size], {"version": 1, "block": max(size, 1), "blocks": 1}, data, integers(0, len(data))
    )
    return spoilt.reason()
