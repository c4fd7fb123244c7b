"""Compressed, sparse and string tensors that lie: each lie has its reason, and memory is not wasted on it."""

import contextlib
import json
import struct
import tracemalloc
import zlib

import blosc2
import numpy as np
import pytest
import zstandard

from tensorwrapper.buffer import decode_tf_strings
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


@pytest.fixture(params=CODECS)
def codec(request):
    return request.param


@pytest.fixture(params=ALL)
def good(request):
    return ALL[request.param]


def test_what_the_tables_spoil_is_good():
    for spoilt in GOOD.values():
        (got,) = decode(spoilt.frames()).tensors
        assert got.elements().tobytes() == b"".join(RAW)
    assert decode(SPARSE.frames()).tensors[0].to_dense().tolist() == [[5, -1, -1, 6], [-1, -1, -1, 7]]
    assert decode(STRING.frames()).tensors[0].tolist() == [["a", None], ["b\xfc", "c"]]
    assert decode(TF.frames()).tensors[0].tolist() == [b"ab", b"c"]
    assert decode_tf_strings(TF.parts[0], 2).to_list() == [b"ab", b"c"]


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        *[(version, "schema") for version in (DROP, None, True, False, 1.0, "1", [1], {})],
        *[(version, "unsupported") for version in (0, 2, -1, 10**30)],
    ],
)
def test_versions(good, version, reason):
    assert good.reason(version=version) == reason


@pytest.mark.parametrize("packed", [None, True, 1, "x", [], [1]])
def test_a_packing_is_described_by_an_object(good, packed):
    assert good.reason(packed=packed) == "schema"


def test_the_packing_of_the_shape(good):
    for packing in ("zlib", "sparse", "string", "", "x", "zip" * 1000):
        assert good.reason(packing=packing) == "unsupported"
    for packing in (1, True, [], {}):
        assert good.reason(packing=packing) == "schema"
    # Said, but not described.
    for packing in ("jagged", "tiled"):
        assert good.reason(packing=packing) == "schema"
    assert len(decode(good.frames(packing="dense")).tensors) == 1
    assert good.reason(packing="jagged", beside={"order": [0, 1]}) == "unsupported"


def test_parts_that_are_not_there(good):
    for key in ("blocks", "addresses", "fill", "offsets", "validity"):
        if key not in good.keys:
            continue
        for part in (3, -1, 10**30):
            assert good.reason(**{key: part}) == "layout", (key, part)
        for part in (True, 1.0, "1", [1], {"part": 1}):
            assert good.reason(**{key: part}) == "schema", (key, part)
        if key in ("blocks", "addresses", "offsets"):
            assert good.reason(**{key: DROP}) == good.reason(**{key: None}) == "schema"


def test_index_parts_of_odd_sizes(good):
    for key in ("blocks", "addresses", "offsets"):
        if key in good.keys:
            assert good.reason(parts={1: good.parts[1] + b"x"}) == "size"
            assert good.reason(parts={1: good.parts[1][:-1]}) == "size"


@pytest.mark.parametrize(
    ("key", "values", "reason"),
    [
        ("block", [DROP, None, True, 256.0, "256", [256]], "schema"),
        ("block", [0, -1, 2**24 + 1, 10**30], "limit"),
        ("block", [1, 255, 288, 576, 2**24], "size"),
        ("shuffle", [None, 0, 1, "true", [True]], "schema"),
    ],
)
def test_keys_of_compressed_tensors(codec, key, values, reason):
    for value in values:
        assert GOOD[codec].reason(**{key: value}) == reason, value


def test_shuffles(codec):
    if codec == "blosc2":
        assert GOOD[codec].reason(shuffle=True) == "layout"
    else:
        # One byte per element is in order either way.
        assert decode(GOOD[codec].frames(shuffle=True)).tensors[0].elements().tobytes() == b"".join(RAW)
    assert len(decode(GOOD[codec].frames(shuffle=False)).tensors) == 1


def test_blocks_are_whole_elements(codec):
    wide = Spoilt(codec, "f8", [72], {**GOOD[codec].keys}, *GOOD[codec].parts)
    assert len(decode(wide.frames()).tensors) == 1
    assert wide.reason(block=257) == wide.reason(block=260) == "size"
    assert wide.reason(block=7) == "limit"


def test_tables_of_blocks(codec):
    good = GOOD[codec]
    zero, first, second, last = np.frombuffer(good.parts[1], "<i8").tolist()
    for table, reason in (
        ([], "size"),
        ([0], "size"),
        ([zero, first, last], "size"),
        ([zero, first, second, last, last], "size"),
        ([zero, second, first, last], "layout"),
        ([1, first, second, last], "layout"),
        ([-1, first, second, last], "layout"),
        ([zero, first, second, last - 1], "size"),
        ([zero, first, second, last + 1], "size"),
        ([zero, first, second, 2**62], "size"),
        ([zero, first, first, last], "size"),
        ([zero, zero, second, last], "size"),
    ):
        assert good.reason(parts={1: table}) == reason, table
    # More bytes than a block holds.
    grown = {0: good.parts[0][:second] + bytes(65), 1: [zero, first, second, second + 65]}
    assert good.reason(parts=grown) == "size"
    assert good.reason(shape_=[24, 25]) in ("size", "integrity")
    assert good.reason(shape_=[2**30, 2**4], limits=Limits(decompressed_bytes=2**40)) == "size"


def block_of(codec, data, size=256):
    """The reason for refusing one block with this in it."""
    spoilt = Spoilt(
        codec, "u1", [size], {"version": 1, "block": max(size, 1), "blocks": 1}, data, integers(0, len(data))
    )
    return spoilt.reason()


def test_blocks_that_do_not_end_where_they_should(codec):
    good = packed_by(codec, RAW[1])
    assert block_of(codec, good[:-1]) in ("integrity", "size")
    assert block_of(codec, good[: len(good) // 2]) in ("integrity", "size")
    assert block_of(codec, good[:1]) == "integrity"
    assert block_of(codec, good + b"x") == "integrity"
    assert block_of(codec, good + good) == "integrity"
    assert block_of(codec, bytes(len(good))) in ("integrity", "unsupported", "size")
    assert block_of(codec, packed_by(codec, RAW[1][:-1])) == "size"
    assert block_of(codec, packed_by(codec, RAW[1] + b"\x05")) == "size"
    assert block_of(codec, packed_by(codec, b"")) in ("size", "integrity")


@pytest.mark.slow
def test_bombs_make_no_more_than_a_block(codec):
    bombs = {
        "zlib": zlib.compress(bytes(2**27)),
        "zstd": zstandard.compress(bytes(2**27)),
        "blosc2": packed_by("blosc2", bytes(2**27)),
    }
    for size in (len(bombs[codec]) + 1, 2**18):
        tracemalloc.start()
        assert block_of(codec, bombs[codec], size) == "size"
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 2**23


def test_frames_of_zstandard_that_do_not_say_their_size():
    writer = zstandard.ZstdCompressor(write_content_size=False)
    assert block_of("zstd", writer.compress(RAW[1])) == "size"
    huge = bytearray(zstandard.compress(bytes(2**33 // 2**10)))
    for place in range(4, 14):
        for value in (0, 0xFF, 0x84, 0xE0):
            spoilt = bytearray(huge)
            spoilt[place] = value
            assert block_of("zstd", bytes(spoilt), 2**20) in ("size", "integrity")


@pytest.mark.parametrize(
    ("place", "values", "reason"),
    [
        (2, [0, 1, 4, 0x45, 0xC5, 0xE5], "unsupported"),
        (16, [3, 4, 32, 35, 160, 255], "unsupported"),
        (21, [3, 4, 32, 35, 160, 255], "unsupported"),
        (31, [1, 2, 8, 0x80, 0x40, 0x50, 0x70, 0xFF], "unsupported"),
        (4, [1, 255], "size"),
        (7, [0x7F, 0xFF], "size"),
        (8, [0], "integrity"),
        (11, [0x7F, 0xFF], "integrity"),
        (12, [0, 255], "integrity"),
        (15, [0x7F, 0xFF], "integrity"),
    ],
)
def test_headers_of_blosc2(place, values, reason):
    good = packed_by("blosc2", RAW[0])
    for value in values:
        spoilt = bytearray(good)
        spoilt[place] = value
        if place == 8:
            spoilt[8:12] = bytes(4)
        assert block_of("blosc2", bytes(spoilt)) == reason, value


def test_every_byte_of_a_block_counts_or_does_no_harm(codec):
    good = packed_by(codec, RAW[0])
    rng = np.random.default_rng(1)
    for place in range(len(good)):
        for value in rng.integers(0, 256, 8).tolist():
            spoilt = bytes([*good[:place], value, *good[place + 1 :]])
            parts = {0: spoilt, 1: [0, len(spoilt)]}
            frames = GOOD[codec].frames(parts=parts, shape_=[256])
            with contextlib.suppress(RemoteProtocolError):
                assert len(decode(frames).tensors[0].elements()) == 256


def test_what_is_compressed_is_limited_all_together(codec):
    good = GOOD[codec]
    assert good.reason(limits=Limits(decompressed_bytes=575)) == "limit"
    assert len(decode(good.frames(), limits=Limits(decompressed_bytes=576)).tensors) == 1
    frames = good.frames()
    twice = json.loads(frames[0][8:])
    twice["TENS"]["tensors"] *= 2
    frames[0] = b"ZIO0TENS" + json.dumps(twice).encode()
    with pytest.raises(RemoteProtocolError, match="decompressed"):
        decode(frames, limits=Limits(decompressed_bytes=1151))
    assert len(decode(frames, limits=Limits(decompressed_bytes=1152)).tensors) == 2


def test_bools_in_blocks_are_0_or_1(codec):
    bad = Spoilt(codec, "b1", [256], {"version": 1, "block": 256, "blocks": 1}, packed_by(codec, RAW[1]))
    bad.parts += (integers(0, len(bad.parts[0])),)
    assert bad.reason() == "integrity"


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({1: [0, 3]}, "size"),
        ({1: [0, 3, 7, 7]}, "size"),
        ({1: []}, "size"),
        ({1: [0, 3, 3]}, "layout"),
        ({1: [3, 0, 7]}, "layout"),
        ({1: [-1, 3, 7]}, "layout"),
        ({1: [0, 3, 8]}, "layout"),
        ({1: [0, 3, 2**63 - 1]}, "layout"),
        ({1: [-(2**63), 3, 7]}, "layout"),
        ({0: bytes(4)}, "size"),
        ({0: bytes(8)}, "size"),
        ({2: b""}, "size"),
        ({2: bytes(1)}, "size"),
        ({2: bytes(4)}, "size"),
    ],
)
def test_arrays_of_sparse_tensors(parts, reason):
    assert SPARSE.reason(parts=parts) == reason


@pytest.mark.parametrize("good", [SPARSE, STRING, TF], ids=["sparse", "string", "tf"])
@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([DROP, None, 8, "24", [2.0, 4], [True, 4], [-2, 4], {"part": 1}], "schema"),
        ([[2**40, 1], [1] * 65], "limit"),
    ],
)
def test_shapes_beside_the_elements(good, values, reason):
    for value in values:
        assert good.reason(shape=value) == reason, value


def test_sparse_tensors_of_any_size_hold_what_is_stored():
    assert SPARSE.reason(shape=[2, 3]) == SPARSE.reason(shape=[]) == SPARSE.reason(shape=[0]) == "layout"
    assert SPARSE.reason(shape=[2**36, 2**36]) == "limit"
    (huge,) = decode(SPARSE.frames(shape=[2**31, 2**31])).tensors
    assert (huge.nnz, huge.size) == (3, 2**62)
    for shape in ([2], [4], [], [3, 1, 2]):
        assert SPARSE.reason(shape_=shape) == "size"


def test_stored_elements_that_equal_the_fill_are_dropped():
    (got,) = decode(SPARSE.frames(parts={2: struct.pack("<h", 6)})).tensors
    assert (got.nnz, got.to_dense().tolist()) == (2, [[5, 6, 6, 6], [6, 6, 6, 7]])


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"kind": DROP}, "schema"),
        ({"kind": None}, "schema"),
        ({"kind": "utf16"}, "schema"),
        ({"kind": ["utf8"]}, "schema"),
        ({"form": "arrow"}, "unsupported"),
        ({"form": ["offsets"]}, "unsupported"),
        ({"shape": [5]}, "size"),
        ({"shape": [2**35]}, "size"),
        ({"shape": []}, "size"),
        ({"parts": {1: [0, 1, 1, 4]}}, "size"),
        ({"parts": {1: [0, 1, 1, 4, 4]}}, "size"),
        ({"parts": {1: [0, 1, 1, 4, 6]}}, "size"),
        ({"parts": {1: [1, 1, 1, 4, 5]}}, "layout"),
        ({"parts": {1: [0, 2, 1, 4, 5]}}, "layout"),
        ({"parts": {1: [0, -1, 1, 4, 5]}}, "layout"),
        ({"parts": {1: [0, 1, 1, 3, 5]}}, "integrity"),
        ({"parts": {0: b"ab\xff\xfec"}}, "integrity"),
        ({"parts": {0: b"ab"}}, "size"),
        ({"parts": {2: b""}}, "size"),
        ({"parts": {2: b"\x0d\x00"}}, "size"),
        ({"beside": {"dtype": "i"}}, "schema"),
        ({"beside": {"dtype": "b"}}, "integrity"),
        ({"beside": {"dtype": "u", "word": 2}}, "size"),
    ],
)
def test_strings_that_are_wrong(changed, reason):
    assert STRING.reason(**changed) == reason


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"shape": [3]}, "integrity"),
        ({"shape": [2**35]}, "integrity"),
        ({"parts": {0: bytes(21)}, "kind": "utf8", "shape": [3]}, "integrity"),
        ({"parts": {0: b"\xff" * 21}}, "integrity"),
        ({"parts": {0: TF.parts[0][:-1] + b"\x7f"}, "kind": "utf8"}, DROP),
        ({"parts": {0: TF.parts[0][:-2] + b"\x7fa"}}, "integrity"),
        ({"parts": {0: TF.parts[0][:-1] + b"\xff"}, "kind": "utf8"}, "integrity"),
        ({"parts": {0: b""}, "shape_": [0]}, "integrity"),
    ],
)
def test_tf_strings_that_are_wrong(changed, reason):
    if reason is DROP:
        assert decode(TF.frames(**changed)).tensors[0].tolist() == ["ab", "\x7f"]
    else:
        assert TF.reason(**changed) == reason


def test_tf_strings_that_share_their_bytes_are_bounded():
    n = 1000
    long = bytes([0xE8, 0x07]) + bytes(1000)
    shared = Spoilt("string", "u1", [8 * n + 1002], {**TF.keys, "shape": [n]}, bytes(8 * n) + long)
    assert shared.reason(limits=Limits(decompressed_bytes=10**6 - 1)) == "integrity"
    (got,) = decode(shared.frames()).tensors
    assert got[999].item() == bytes(1000)
