"""Philox4x32-10 against the known answers of its authors and against the same in plain integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.selection.random._philox import ALGORITHM, make_scratch, philox4x32, philox_words

KNOWN = [
    # counter, key, block: each as words of 32 bits, the lowest first
    ([0, 0, 0, 0], [0, 0], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


def in_plain_integers(counter, key):
    a, b, c, d = counter
    k, m = key
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (q >> 32) ^ b ^ k, q & 0xFFFFFFFF, (p >> 32) ^ d ^ m, p & 0xFFFFFFFF
        k, m = (k + 0x9E3779B9) & 0xFFFFFFFF, (m + 0xBB67AE85) & 0xFFFFFFFF
    return [a, b, c, d]


def joined(low, high):
    return low | high << 32


@pytest.mark.parametrize(("counter", "key", "block"), KNOWN)
def test_known_answers(counter, key, block):
    counters = np.array([joined(*counter[:2])], np.uint64)
    assert philox4x32(counters, joined(*key), stream=joined(*counter[2:]))[0].tolist() == block
    assert in_plain_integers(counter, key) == block


words = st.integers(0, 2**64 - 1)


@given(st.lists(words, max_size=5), words, words)
def test_every_block_is_that_of_plain_integers(counters, seed, stream):
    found = philox4x32(np.array(counters, np.uint64), seed, stream=stream)
    assert found.dtype == np.uint32
    assert found.shape == (len(counters), 4)
    for counter, block in zip(counters, found.tolist(), strict=True):
        split = [word for part in (counter, stream) for word in (part & 0xFFFFFFFF, part >> 32)]
        assert block == in_plain_integers(split, [seed & 0xFFFFFFFF, seed >> 32])


def test_scratch_may_be_larger_than_needed_and_counters_stay():
    counters = np.arange(5, dtype=np.uint64)
    low, high = philox_words(counters, 3, 1, make_scratch(9))
    again = philox4x32(counters, 3, stream=1).astype(object)
    assert counters.tolist() == [0, 1, 2, 3, 4]
    assert low.tolist() == [joined(a, b) for a, b, _, _ in again]
    assert high.tolist() == [joined(c, d) for _, _, c, d in again]


def test_the_generator_has_a_name():
    assert ALGORITHM == "philox4x32-10"
