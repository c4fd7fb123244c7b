"""Compressed elements that lie: each lie has its reason, and memory is not wasted on it."""

import contextlib
import json
import tracemalloc
import zlib

import numpy as np
import pytest
import zstandard

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.wire import Limits, decode
from tests.support.wire.spoilt_storages import (
    ALL,
    CODECS,
    DROP,
    GOOD,
    RAW,
    Spoilt,
    block_of,
    integers,
    packed_by,
)


@pytest.fixture(params=CODECS)
def codec(request):
    return request.param


@pytest.fixture(params=ALL)
def good(request):
    return ALL[request.param]


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
    with pytest.raises(RemoteProtocolError, match="decompressed"):
        decode(good.frames(), limits=Limits(decompressed_bytes=575)).tensors[0].elements()
    assert decode(good.frames(), limits=Limits(decompressed_bytes=576)).tensors[0].elements().nbytes == 576
    frames = good.frames()
    twice = json.loads(frames[0][8:])
    twice["TENS"]["tensors"] *= 2
    frames[0] = b"ZIO0TENS" + json.dumps(twice).encode()
    for tensor in decode(frames, limits=Limits(decompressed_bytes=1151)).tensors:
        with pytest.raises(RemoteProtocolError, match="decompressed"):
            tensor.elements()
    for tensor in decode(frames, limits=Limits(decompressed_bytes=1152)).tensors:
        assert tensor.elements().nbytes == 576


def test_bools_in_blocks_are_0_or_1(codec):
    bad = Spoilt(codec, "b1", [256], {"version": 1, "block": 256, "blocks": 1}, packed_by(codec, RAW[1]))
    bad.parts += (integers(0, len(bad.parts[0])),)
    assert bad.reason() == "integrity"
