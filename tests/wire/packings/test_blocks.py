"""Tensors in blocks come back from the wire, and false labels are refused with a reason."""

import json

import numpy as np
import pytest
from hypothesis import given

import tensorwrapper as tw
from tensorwrapper import BlockPattern, Tiling, wire
from tensorwrapper.errors import ConversionError, RemoteProtocolError
from tensorwrapper.wire import Limits, decode
from tests.support.tiles.block_tensors import P, T, X, block_tensors, dense, of
from tests.support.wire.sent_elements import sent
from tests.support.wire.spoilt_packings import DROP, Spoilt, integers

# 3 x 3 elements in tiles of 1 and 2 rows, 2 and 1 columns; the first and the last are present.
GOOD = Spoilt(
    "blocks",
    [4],
    {"version": 1, "packing": "tiled", "shape": [9], "present": 3},
    bytes([1, 2, 3, 4]),
    integers(0, 1, 3),
    integers(0, 2, 3),
    integers(0, 3),
    bytes([7]),
)
TILED = {"tiled": {"version": 1, "marks": [1, 2], "storage": "tiles"}}


def described(tensor):
    return decode(wire.encode([tensor])).label_object["TENS"]["tensors"][0]


@given(block_tensors(1, ("f8", "i2", "?", "c8"), fills=(0, 3, -0.0)))
def test_tensors_in_blocks_come_back(found):
    ((tensor, array),) = found
    (got,) = sent(tensor)
    assert (got.pattern, got.shape, got.dtype) == (tensor.pattern, tensor.shape, tensor.dtype)
    assert got.fill_value.tobytes() == tensor.fill_value.tobytes()
    assert np.array_equal(dense(got), array)
    assert got.is_readonly
    (box,) = sent(tensor.untiled())
    assert np.array_equal(np.asarray(box.to_dense()), array)


def test_views_and_names_come_back():
    tensor = of(P, X)
    for one in (
        tensor[1:],
        tensor.permute((1, 0, 3, 2)),
        tensor.translate_to((3, 4, 0, 0)),
        tensor.named("i", "j", "a", "b"),
        tw.zeros(BlockPattern(T, [])),
    ):
        (got,) = sent(one)
        assert got.buffer.in_tiles
        assert got.shape == one.shape
        assert got.array_equal(one)


def test_absent_tiles_cost_no_bytes():
    frames = wire.encode([of(P, X)])
    assert [len(bytes(part)) for part in frames[2:]] == [224, 32, 24, 32]
    assert np.frombuffer(frames[5], "<i8").tolist() == [0, 3, 4, 5]
    tensor = of(P, X)
    assert np.shares_memory(np.frombuffer(wire.encode([tensor])[2]), tensor.packed_values())
    huge = tw.zeros(BlockPattern(Tiling([10**5, 10**5], [10**5, 10**5]), [(0, 0)][:0]))
    assert sent(huge)[0].shape == huge.shape
    assert described(tensor)["blocks"] == {"version": 1, "packing": "tiled", "shape": [36], "present": 3}


def test_peers_that_know_dense_tensors_read_the_others():
    frames = wire.encode([np.arange(3), of(P, X)])
    entries = json.loads(bytes(frames[0])[8:])["TENS"]["tensors"]
    assert [np.prod(entry["shape"]) * entry["word"] for entry in entries] == [24, 224]


def test_files_keep_blocks_and_refuse_to_extend_them(tmp_path):
    tensor = of(P, X)
    tw.save(tmp_path / "a.tens", {"t": tensor})
    with tw.open(tmp_path / "a.tens") as file:
        got = file["t"]
        assert got.pattern == P
        assert got.tile((1, 1)).tolist() == tensor.tile((1, 1)).tolist()
        assert got.buffer.filename == str(tmp_path / "a.tens")
    with tw.open(tmp_path / "a.tens", "a") as file:
        for name in ("t", "new"):
            with pytest.raises(ConversionError, match=f"extend {name!r} by a tensor in blocks"):
                file.extend(name, tensor)


def frames(**changed):
    return GOOD.frames(beside=TILED, **changed)


def reason(**changed):
    with pytest.raises(RemoteProtocolError) as caught:
        list(decode(frames(**changed), limits=Limits()).tensors)
    return caught.value.reason


def test_what_is_spoilt_below_is_good():
    (got,) = decode(frames()).tensors
    assert dense(got).tolist() == [[1, 2, 0], [0, 0, 3], [0, 0, 4]]
    (got,) = decode(frames(fill=4)).tensors
    assert dense(got).tolist() == [[1, 2, 7], [7, 7, 3], [7, 7, 4]]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"version": 2}, "unsupported"),
        ({"version": DROP}, "schema"),
        ({"present": DROP}, "schema"),
        ({"present": "3"}, "schema"),
        ({"present": 9}, "layout"),
        ({"packing": DROP}, "layout"),
        ({"packing": "jagged"}, "schema"),
        ({"packing": "sparse"}, "unsupported"),
        ({"shape": [3, 3]}, "schema"),
        ({"parts": {3: [3, 0]}}, "layout"),
        ({"parts": {3: [0, 0]}}, "layout"),
        ({"parts": {3: [0, 4]}}, "layout"),
        ({"parts": {3: [-1, 3]}}, "layout"),
        ({"parts": {3: [0, 2**62]}}, "layout"),
        ({"parts": {3: [0]}}, "size"),
        ({"parts": {3: [0, 2]}}, "size"),
        ({"parts": {3: bytes(7)}}, "size"),
        ({"fill": 3}, "size"),
        ({"fill": "x"}, "schema"),
    ],
)
def test_lies_have_reasons(changed, why):
    assert reason(**changed) == why


def test_tiles_that_lie_in_a_box_are_refused():
    boxed = {"tiled": {"version": 1, "marks": [1, 2]}}
    with pytest.raises(RemoteProtocolError, match="contiguous") as caught:
        list(decode(GOOD.frames(beside=boxed, shape=[4], packed={**GOOD.keys, "shape": [3, 3]})).tensors)
    assert caught.value.reason == "layout"


def test_every_byte_spoilt_is_refused_or_read():
    plain = [bytes(frame) for frame in frames()]
    for number in (2, 3, 4, 5):
        for place in range(len(plain[number])):
            spoilt = [bytearray(frame) for frame in plain]
            spoilt[number][place] ^= 0x41
            try:
                (got,) = decode([bytes(frame) for frame in spoilt]).tensors
            except RemoteProtocolError:
                continue
            assert got.buffer.count_stored(got.layout.implementation) == got.pattern.elements
