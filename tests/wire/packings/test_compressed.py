"""Compressed elements: they come back, a slice decompresses its blocks alone, and nothing grows."""

import copy
import json
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, wire
from tensorwrapper.errors import ConversionError, LocalProtocolError, ReadOnlyError, RemoteProtocolError
from tensorwrapper.testing import BufferContract
from tensorwrapper.wire.packings import _compressed, _compressed_buffer
from tensorwrapper.wire.packings._compressed_buffer import Compressed

CODECS = ["zlib", "zstd", "blosc2"]
BLOCK = 2**18


def walk(n, dtype="f8", seed=0):
    """Numbers that compress, though not to nothing."""
    return np.cumsum(np.random.default_rng(seed).integers(-2, 3, n)).astype(dtype)


def sent(*tensors, **options):
    return wire.decode([bytes(frame) for frame in wire.encode(tensors, **options)]).tensors


def size(*tensors, **options):
    return sum(memoryview(frame).nbytes for frame in wire.encode(tensors, **options)[2:])


@pytest.fixture(params=CODECS)
def codec(request):
    return request.param


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "f2", "f4", "f8", "c8", "c16", "M8[s]", ">f8"])
@pytest.mark.parametrize("n", [1000, BLOCK // 8, BLOCK // 8 + 1, 100_000])
def test_elements_of_any_type_come_back(codec, dtype, n):
    array = (walk(n, "i8") // 50).astype(dtype)
    (got,) = sent(array, compress=codec)
    assert isinstance(got.buffer, Compressed)
    assert (got.dtype, got.is_readonly) == (np.dtype(dtype).newbyteorder("<"), True)
    assert np.array_equal(np.asarray(got), array)
    assert size(array, compress=codec) < array.nbytes


def test_what_would_not_shrink_is_sent_as_it_is(codec):
    noise = np.random.default_rng(0).integers(0, 256, 100_000, dtype="u1")
    for array in (noise, np.arange(3), np.array(1.5), np.empty((0, 3))):
        assert wire.encode([array], compress=codec) == wire.encode([array])
        (got,) = sent(array, compress=codec)
        assert not isinstance(got.buffer, Compressed)


def test_a_block_that_would_not_shrink_is_kept_as_it_is(codec):
    array = np.concatenate(
        [np.random.default_rng(0).integers(0, 256, BLOCK, dtype="u1"), np.zeros(BLOCK, "u1")]
    )
    frames = wire.encode([array], compress=codec)
    assert bytes(frames[2][:BLOCK]) == array[:BLOCK].tobytes()
    assert np.array_equal(np.asarray(wire.decode(frames).tensors[0]), array)


def test_shapes_of_every_kind_come_back(codec):
    box = tw.from_buffer(walk(6000), Shape(60, 100, origin=(5, -3)))
    tiling = Tiling([10, 50], [40, 60])
    rows = tw.from_buffer(walk(9000), Shape.jagged([Shape(n) for n in [1000, 3000, 0, 5000]]))
    tiles = tw.from_buffer(walk(6000), tiling.shape)
    tensors = [
        box,
        box.permute((1, 0)).reverse(0),
        rows,
        tw.as_tensor(walk(6000).reshape(60, 100)).tiled(tiling),
    ]
    tensors += [tiles, tw.from_buffer(walk(6000), Shape(6000))]
    for got, want in zip(sent(*tensors, compress=codec), tensors, strict=True):
        assert isinstance(got.buffer, Compressed)
        assert (got.shape, got.layout.is_tiled) == (want.shape, want.layout.is_tiled)
        assert got.tolist() == want.tolist()


def test_a_compressed_tensor_is_compressed_anew_or_sent_plain(codec):
    (got,) = sent(walk(50_000).reshape(50, 1000), compress=codec)
    for options in ({}, {"compress": "zlib"}):
        (again,) = sent(got[10:40, ::3], **options)
        assert np.array_equal(np.asarray(again), np.asarray(got)[10:40, ::3])


@given(data=st.data())
def test_any_view_has_the_elements_of_the_array(data):
    array = walk(3 * 40 * 1000, "i4").reshape(3, 40, 1000)
    (got,) = sent(array, compress="zlib")
    key = tuple(
        data.draw(st.one_of(st.slices(n), st.integers(-n, n - 1)))
        for n in array.shape[: data.draw(st.integers(0, 3))]
    )
    assert np.array_equal(np.asarray(got[key]), array[key])
    order = data.draw(st.permutations(range(3)))
    assert np.array_equal(np.asarray(got.permute(order)[1:2]), array.transpose(order)[1:2])


def test_a_slice_decompresses_the_blocks_that_it_touches_and_keeps_few(codec, monkeypatch):
    count = []
    right = Compressed._decompress
    monkeypatch.setattr(Compressed, "_decompress", lambda self, k: count.append(k) or right(self, k))
    per_block = BLOCK // 8
    array = walk(40 * per_block).reshape(40, per_block)
    (got,) = sent(array, compress=codec)
    assert count == []
    assert np.array_equal(np.asarray(got[7, 5:9]), array[7, 5:9])
    assert count == [7]
    assert np.array_equal(np.asarray(got[7:9, ::1000]), array[7:9, ::1000])
    assert count == [7, 8]
    assert np.array_equal(np.asarray(got), array)
    assert sorted(count) == list(range(40))
    held = got.buffer._cache._blocks
    assert sum(block.nbytes for block in held.values()) <= _compressed_buffer._KEPT
    assert np.array_equal(np.asarray(got[0]), array[0])
    assert len(count) == 41


def test_memory_that_is_read_is_the_readers_own(codec):
    (got,) = sent(walk(1000), compress=codec)
    first = np.asarray(got)
    first[:] = 0
    assert np.array_equal(np.asarray(got), walk(1000))


def test_it_is_read_only_and_no_array_lies_under_it(codec):
    (got,) = sent(walk(1000), compress=codec)
    with pytest.raises(ReadOnlyError):
        got[0] = 1
    with pytest.raises(ConversionError):
        np.array(got, copy=False)
    copied = got.copy()
    copied[0] = 5
    assert (copied[0].item(), got[0].item()) == (5, walk(1000)[0])


def test_threads_read_at_the_same_time(codec):
    array = walk(500_000)
    (got,) = sent(array, compress=codec)
    with ThreadPoolExecutor(4) as pool:
        sums = pool.map(lambda k: np.asarray(got[k::7]).sum(), range(28))
        assert list(sums) == [array[k::7].sum() for k in range(28)]


def test_pickles_and_copies_hold_the_compressed_bytes(codec):
    array = walk(500_000)
    (got,) = sent(array, compress=codec)
    state = pickle.dumps(got.buffer)
    assert len(state) < array.nbytes / 2
    for other in (pickle.loads(state), copy.deepcopy(got.buffer)):
        assert np.array_equal(other.read(np.arange(len(array))), array)
        assert not other.data.flags.writeable
        assert not other.splits.flags.writeable
    assert np.array_equal(np.asarray(pickle.loads(pickle.dumps(got))), array)


@pytest.mark.parametrize("word", [1, 2, 4, 8, 16])
def test_small_blocks_are_read_too(word, codec, monkeypatch):
    monkeypatch.setattr(_compressed, "_BLOCK", 1000)
    array = np.repeat(walk(300), 20).astype({1: "i1", 2: "i2", 4: "f4", 8: "f8", 16: "c16"}[word])
    (got,) = sent(array, compress=codec)
    assert (got.buffer.block, len(got.buffer.splits)) == (
        1000 // word * word,
        -(-6000 * word // (1000 // word * word)) + 1,
    )
    assert np.array_equal(np.asarray(got), array)
    assert np.array_equal(np.asarray(got[::-3]), array[::-3])


def test_a_codec_that_is_not_here_is_named(monkeypatch):
    frames = [bytes(f) for f in wire.encode([walk(1000), walk(2)], compress="zstd")]
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(LocalProtocolError, match="zstandard"):
        wire.encode([walk(1000)], compress="zstd")
    tensors = wire.decode(frames).tensors
    assert np.array_equal(np.asarray(tensors[1]), walk(2))
    with pytest.raises(RemoteProtocolError, match="zstandard") as caught:
        tensors[0]
    assert caught.value.reason == "unsupported"


def test_other_codecs_are_refused():
    for name in ("lz4", "", "dense", True, 3, ["lz4"]):
        with pytest.raises(LocalProtocolError):
            wire.encode([walk(1000)], compress=name)


class TestContract(BufferContract):
    def buffer(self):
        return sent(walk(70_000), compress="zlib")[0].buffer

    def expected(self):
        return walk(70_000)


@pytest.mark.parametrize("ascend", [[True, True], [False, True]])
def test_order_and_origin_say_how_decompressed_elements_lie(ascend):
    array = walk(6000, "i4").reshape(60, 100)
    label, head, *parts = wire.encode([array], compress="zlib")
    text = bytes(label[8:]).replace(
        b'"packing"', b'"order":[0,1],"ascend":%s,"origin":[5,6],"packing"' % json.dumps(ascend).encode()
    )
    (got,) = wire.decode([b"ZIO0TENS" + text, head, *parts]).tensors
    want = array.reshape(-1).reshape(100, 60).T
    assert got.shape == Shape(60, 100, origin=(5, 6))
    assert np.array_equal(np.asarray(got), want if all(ascend) else want[::-1])
