"""S9: the checksums of records, against their definitions, and what they find."""

import itertools
import struct
import sys
import zlib

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.records import _checksum
from tensorwrapper.store.records._checksum import Algorithm, checksum_of, choose

MESSAGE = np.random.default_rng(0).bytes(200_000)
SIZES = [0, 1, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537, 131_072, 200_000]


def lanes_by_definition(message):
    lanes = [0] * 8192
    blocks = message + bytes(-len(message) % 65_536)
    for block in range(0, len(blocks), 65_536):
        for lane, word in enumerate(struct.unpack("<8192Q", blocks[block : block + 65_536])):
            mixed = (lanes[lane] * 0x9E3779B185EBCA87 + word) % 2**64
            lanes[lane] = mixed ^ (mixed >> 29)
    return zlib.crc32(struct.pack("<8192Q", *lanes))


DEFINITIONS = {
    Algorithm.CRC32: zlib.crc32,
    Algorithm.LANES: lanes_by_definition,
    Algorithm.XXH3: xxhash.xxh3_64_intdigest,
}


@pytest.mark.parametrize("algorithm", Algorithm)
@pytest.mark.parametrize("size", SIZES)
def test_it_is_what_the_format_says(size, algorithm):
    assert checksum_of([MESSAGE[:size]], algorithm) == DEFINITIONS[algorithm](MESSAGE[:size])


@pytest.mark.parametrize("algorithm", Algorithm)
@given(cuts=st.lists(st.integers(0, 200_000), max_size=8))
def test_buffers_do_not_matter(algorithm, cuts):
    places = [0, *sorted(cuts), 200_000]
    pieces = [memoryview(MESSAGE)[a:b] for a, b in itertools.pairwise(places)]

    assert checksum_of(pieces, algorithm) == checksum_of([MESSAGE], algorithm)


def test_which_algorithm_it_is(monkeypatch):
    assert [choose(n) for n in (0, 16_384, 16_385, 2**40)] == [0, 0, 2, 2]
    assert [choose(n, anywhere=True) for n in (16_384, 16_385)] == [0, 1]
    monkeypatch.setitem(sys.modules, "xxhash", None)
    assert [choose(n) for n in (16_384, 16_385)] == [0, 1]
    with pytest.raises(DataFileError, match="the package xxhash"):
        checksum_of([], 2)
    with pytest.raises(DataFileError, match="algorithm 3"):
        checksum_of([], 3)


PLACES = st.integers(0, 24_999)


@pytest.mark.parametrize("algorithm", Algorithm)
@given(first=PLACES, second=PLACES, bits=st.tuples(st.integers(0, 63), st.integers(0, 63)))
def test_s9_two_bits_anywhere_are_found(algorithm, first, second, bits):
    words = np.frombuffer(MESSAGE, "<u8").copy()
    words[first] ^= np.uint64(1 << bits[0])
    words[second] ^= np.uint64(1 << bits[1])
    if words.tobytes() != MESSAGE:
        assert checksum_of([words.data.cast("B")], algorithm) != checksum_of([MESSAGE], algorithm)


@pytest.mark.parametrize("algorithm", Algorithm)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_s9_signs_and_orders_of_numbers_are_found(algorithm, dtype):
    rng = np.random.default_rng(3)
    values = (rng.integers(1, 200, 100_000)).astype(dtype)
    want = checksum_of([values.data.cast("B")], algorithm)
    for _ in range(100):
        spoilt = values.copy()
        a, b = rng.integers(len(values), size=2)
        match rng.integers(4):
            case 0:
                # In one column of the lanes, where sums of the highest bits cancel.
                b = (a + 65_536 // spoilt.itemsize) % len(values)
                spoilt[a], spoilt[b] = -spoilt[a], -spoilt[b]
            case 1:
                spoilt[a], spoilt[b] = -spoilt[a], -spoilt[b]
            case 2:
                spoilt[a], spoilt[b] = spoilt[b], spoilt[a]
            case _:
                rows = spoilt[: len(spoilt) // 8 * 8].reshape(-1, 8)
                rows[a % len(rows)] = rows[a % len(rows), ::-1].copy()
        if not np.array_equal(spoilt, values):
            assert checksum_of([spoilt.data.cast("B")], algorithm) != want


@pytest.mark.parametrize("algorithm", [Algorithm.LANES, Algorithm.XXH3])
def test_s9_blocks_in_each_others_place_or_lost_are_found(algorithm):
    for size in (512, 4096, 65_536):
        pages = [MESSAGE[k : k + size] for k in range(0, 196_608, size)][-40:]
        want = checksum_of(pages, algorithm)
        for a, b in itertools.combinations(range(len(pages)), 2):
            other = list(pages)
            other[a], other[b] = other[b], other[a]
            assert checksum_of(other, algorithm) != want
            if b == a + 1:
                other[b] = bytes(size)
                assert checksum_of(other, algorithm) != want


@pytest.fixture(params=["xxh3", "lanes"])
def path(request, tmp_path, monkeypatch):
    if request.param == "lanes":
        monkeypatch.setattr(_checksum, "_xxhash", lambda: None)
    path = tmp_path / "run.tens"
    tw.save(path, {"x": np.arange(1.0, 50_000.0)})
    return path


def test_s9_verify_finds_signs_and_swaps_in_one_page(path):
    # Where they were found: one page of 4 KiB, beyond the first 16 KiB.
    raw = path.read_bytes()
    place = raw.index(np.float64(4001.0).tobytes())
    for spoil in (
        lambda words: np.negative(words[[3, 5]]),
        lambda words: -words[[3, 5]][::-1],
        lambda words: words[[5, 3]],
    ):
        spoilt = bytearray(raw)
        words = np.frombuffer(spoilt, "<f8", 512, place)
        pair = spoil(words)
        words[[3, 5]] = pair
        path.write_bytes(spoilt)
        assert not tw.store.verify(path).ok
    path.write_bytes(raw)
    assert tw.store.verify(path).ok


def test_s9_a_file_is_read_without_xxhash_and_never_cut_off_for_the_lack_of_it(tmp_path, monkeypatch):
    path = tmp_path / "run.tens"
    many = {f"{k:04}": [k] for k in range(600)}
    tw.save(path, {"x": np.arange(50_000.0), **many})
    with tw.open(tmp_path / "open.tens", "a") as f:
        f["x"] = np.arange(50_000.0)
        torn = (tmp_path / "open.tens").read_bytes()
    (tmp_path / "open.tens").write_bytes(torn)

    monkeypatch.setattr(_checksum, "_xxhash", lambda: None)
    with tw.open(path) as f:
        assert len(f) == 601
        assert f["x"].to_numpy().sum() == 1249975000.0
    (problem,) = tw.store.verify(path).problems
    assert "needs the package xxhash" in problem
    with tw.open(path, "a") as f:
        f["y"] = np.arange(50_000.0)
    with tw.open(path) as f:
        assert len(f) == 602
    # Without an index the last record must be checked, and here it cannot be.
    with tw.open(tmp_path / "open.tens") as f:
        assert list(f) == []
        assert "needs the package xxhash" in f.losses[0]
    with pytest.raises(DataFileError, match=r"cannot be appended to.*needs the package xxhash"):
        tw.open(tmp_path / "open.tens", "a")
    assert (tmp_path / "open.tens").read_bytes() == torn
    monkeypatch.undo()
    assert tw.store.verify(path).ok
    with tw.open(tmp_path / "open.tens", "a") as f:
        assert list(f) == ["x"]
