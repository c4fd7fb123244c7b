"""Compressed, sparse and string tensors that lie: each lie has its reason, and memory is not wasted on it."""

import json
import struct

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.buffer import decode_tf_strings
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire import Limits, decode
from tests.support.wire.spoilt_storages import (
    ALL,
    DROP,
    GOOD,
    RAW,
    SPARSE,
    STRING,
    TF,
    Spoilt,
)


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
    assert good.reason(packing="jagged", beside={"order": [0, 1], "jagged": {"version": 1}}) == "unsupported"


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
    for shape in ([2], [4]):
        assert SPARSE.reason(shape_=shape) == "size"
    for shape in ([], [3, 1, 2]):
        assert SPARSE.reason(shape_=shape) == "schema"


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


def test_the_entry_says_how_many_elements_there_are_and_nothing_else():
    """One element alone has as many under each of these shapes."""
    tensors = [
        tw.sparse([(0, 1)], np.array([5]), tw.Shape(1, 2)),
        tw.strings(["a"]),
        tw.blocks({(0, 0): [[1.0]]}, tw.Tiling([1], [1])),
        tw.from_packed([1.0], "s2", (1, 1)),
        tw.blocks({(0, 0): [[1.0]]}, tw.Tiling([1], [1]), symmetry="s2"),
        tw.jagged([[7.0]]),
    ]
    for tensor in tensors:
        label, *more = tw.wire.encode([tensor])
        said = json.loads(bytes(label)[8:])
        for shape in ([], [1, 1]):
            said["TENS"]["tensors"][0]["shape"] = shape
            with pytest.raises(RemoteProtocolError) as caught:
                decode([b"ZIO0TENS" + json.dumps(said).encode(), *more])
            assert caught.value.reason == "schema"
