"""Codecs: what a frame of each says of itself is looked at before it is decompressed."""

import pytest
import zstandard

from tensorwrapper.wire import decode
from tests.support.wire.spoilt_storages import (
    ALL,
    CODECS,
    GOOD,
    RAW,
    block_of,
    packed_by,
)


@pytest.fixture(params=CODECS)
def codec(request):
    return request.param


@pytest.fixture(params=ALL)
def good(request):
    return ALL[request.param]


def test_shuffles(codec):
    if codec == "blosc2":
        assert GOOD[codec].reason(shuffle=True) == "layout"
    else:
        # One byte per element is in order either way.
        assert decode(GOOD[codec].frames(shuffle=True)).tensors[0].elements().tobytes() == b"".join(RAW)
    assert len(decode(GOOD[codec].frames(shuffle=False)).tensors) == 1


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
