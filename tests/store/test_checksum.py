"""The checksum of records, against its definition, however the bytes are dealt to buffers."""

import itertools
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.store._checksum import Checksum, checksum_of


def by_definition(message):
    pages = message[16384:] + bytes(-len(message[16384:]) % 4096)
    words = struct.unpack(f"<{len(pages) // 8}Q", pages)
    sums = [sum(words[k : k + 512]) % 2**64 for k in range(0, len(words), 512)]
    return zlib.crc32(struct.pack(f"<{len(sums)}Q", *sums), zlib.crc32(message[:16384]))


MESSAGE = np.random.default_rng(0).bytes(50_000)


@pytest.mark.parametrize(
    "size", [0, 1, 16_383, 16_384, 16_385, 16_392, 20_479, 20_480, 20_481, 24_576, 50_000]
)
def test_it_is_what_the_format_says(size):
    assert checksum_of([MESSAGE[:size]]) == by_definition(MESSAGE[:size])


@given(cuts=st.lists(st.integers(0, 50_000), max_size=8))
def test_buffers_do_not_matter(cuts):
    places = [0, *sorted(cuts), 50_000]
    pieces = [memoryview(MESSAGE)[a:b] for a, b in itertools.pairwise(places)]

    assert checksum_of(pieces) == by_definition(MESSAGE)


def test_it_may_be_asked_on_the_way():
    checksum = Checksum()
    for k in range(0, 50_000, 777):
        checksum.update(MESSAGE[k : k + 777])
        assert checksum.value == by_definition(MESSAGE[: k + 777])


@given(place=st.integers(0, 49_999), bit=st.integers(0, 7))
def test_every_bit_counts(place, bit):
    spoilt = bytearray(MESSAGE)
    spoilt[place] ^= 1 << bit

    assert checksum_of([bytes(spoilt)]) != checksum_of([MESSAGE])


def test_pages_in_each_others_place_are_found():
    pages = [MESSAGE[k : k + 4096] for k in range(0, 49_152, 4096)]
    for a in range(len(pages)):
        for b in range(a):
            other = list(pages)
            other[a], other[b] = other[b], other[a]
            assert checksum_of(other) != checksum_of(pages)
            other[b] = bytes(4096)
            assert checksum_of(other) != checksum_of(pages)
