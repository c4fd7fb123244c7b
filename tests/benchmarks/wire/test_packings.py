"""100 MB of doubles compressed, summed and put together; peers: the raw codecs on the same blocks."""

import random
import zlib

import blosc2
import numpy as np
import pytest
import xxhash
import zstandard

from tensorwrapper import wire

ARRAY = np.cumsum(np.random.default_rng(0).integers(-2, 3, 12_500_000)).astype("f8").reshape(1250, 10_000)
BLOCKS = [ARRAY.reshape(-1).view("u1")[k : k + 2**18] for k in range(0, ARRAY.nbytes, 2**18)]


def shuffled(block):
    return np.ascontiguousarray(block.reshape(-1, 8).T)


def unshuffled(data):
    return np.ascontiguousarray(np.frombuffer(data, "u1").reshape(8, -1).T)


RAW = {
    "zlib": (lambda b: zlib.compress(shuffled(b), 1), lambda d: unshuffled(zlib.decompress(d))),
    "zstd": (
        lambda b: zstandard.ZstdCompressor(level=1).compress(shuffled(b)),
        lambda d: unshuffled(zstandard.ZstdDecompressor().decompress(d)),
    ),
    "blosc2": (
        lambda b: blosc2.compress2(b, typesize=8, codec=blosc2.Codec.LZ4, clevel=5, nthreads=1),
        lambda d: blosc2.decompress2(d, nthreads=1),
    ),
}
SUMS = {"crc32": zlib.crc32, "xxh3": xxhash.xxh3_64_intdigest}


@pytest.mark.parametrize("codec", RAW)
@pytest.mark.parametrize("peer", [False, True], ids=["tensorwrapper", "raw"])
def test_compress(benchmark, codec, peer):
    benchmark.group = f"compress 100 MB by {codec}"
    if peer:
        benchmark.pedantic(lambda: [RAW[codec][0](block) for block in BLOCKS], rounds=3)
    else:
        frames = benchmark.pedantic(lambda: wire.encode([ARRAY], compress=codec), rounds=3)
        assert sum(memoryview(frame).nbytes for frame in frames) < ARRAY.nbytes / 5


@pytest.mark.parametrize("codec", RAW)
@pytest.mark.parametrize("peer", [False, True], ids=["tensorwrapper", "raw"])
def test_decompress(benchmark, codec, peer):
    benchmark.group = f"decompress 100 MB by {codec}"
    if peer:
        packed = [RAW[codec][0](block) for block in BLOCKS]
        benchmark.pedantic(lambda: [RAW[codec][1](data) for data in packed], rounds=3)
    else:
        frames = wire.encode([ARRAY], compress=codec)
        got = benchmark.pedantic(lambda: np.asarray(wire.decode(frames).tensors[0]), rounds=3)
        assert np.array_equal(got, ARRAY)


@pytest.mark.parametrize("codec", RAW)
def test_ten_rows_of_a_compressed_tensor(benchmark, codec):
    benchmark.group = "read 10 of 1250 compressed rows"
    frames = wire.encode([ARRAY], compress=codec)
    got = benchmark(lambda: np.asarray(wire.decode(frames).tensors[0][600:610]))
    assert np.array_equal(got, ARRAY[600:610])


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("peer", [False, True], ids=["tensorwrapper", "raw"])
def test_check_sums(benchmark, name, peer):
    benchmark.group = f"check 100 MB by {name}"
    frames = wire.encode([ARRAY], checksum=name)
    benchmark((lambda: SUMS[name](frames[2])) if peer else (lambda: wire.decode(frames)))


@pytest.mark.parametrize("peer", [False, True], ids=["tensorwrapper", "copy"])
def test_assemble(benchmark, peer):
    benchmark.group = "put 100 MB together of blocks of 1 MB"
    frames = [wire.encode([block]) for block in wire.split_blocks(ARRAY, "x", max_bytes=2**20)]
    random.Random(0).shuffle(frames)

    def assembled():
        assembler, done = wire.Assembler(2**30, 60), {}
        for some in frames:
            done |= assembler.add(wire.decode(some))
        return done["x"]

    got = benchmark.pedantic(ARRAY.copy if peer else assembled, rounds=5)
    assert np.array_equal(np.asarray(got), ARRAY)


def test_assemble_many_small_blocks(benchmark):
    benchmark.group = "put 10 000 numbers together that come one by one, in any order"
    messages = [wire.decode(wire.encode([b])) for b in wire.split_blocks(ARRAY[0], "x", max_bytes=8)]
    random.Random(0).shuffle(messages)

    def assembled():
        assembler, done = wire.Assembler(2**30, 60), {}
        for message in messages:
            done |= assembler.add(message)
        return done["x"]

    assert np.array_equal(np.asarray(benchmark.pedantic(assembled, rounds=1)), ARRAY[0])
