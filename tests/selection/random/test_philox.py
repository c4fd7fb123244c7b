"""Philox4x64-10 against the known answers of its authors, the same in plain integers, and NumPy's."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.selection.random._parameters import ALGORITHM
from tensorwrapper.selection.random._values import generator_at, philox4x64, words_at, words_of_run

KNOWN = [
    # counter, key, block, as Random123 publishes them; the counter's upper words are ours only where 0
    ([0, 0, 0, 0], [0, 0], [0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B]),
    (
        [0xFFFFFFFFFFFFFFFF] * 4,
        [0xFFFFFFFFFFFFFFFF] * 2,
        [0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0],
    ),
]
words = st.integers(0, 2**64 - 1)
MOST = 2**64 - 1


def in_plain_integers(counter, key):
    a, b, c, d = counter
    k, m = key
    for _ in range(10):
        p, q = 0xD2E7470EE14C6C93 * a, 0xCA5A826395121157 * c
        a, b, c, d = (q >> 64) ^ b ^ k, q & MOST, (p >> 64) ^ d ^ m, p & MOST
        k, m = (k + 0x9E3779B97F4A7C15) & MOST, (m + 0xBB67AE8584CAA73B) & MOST
    return [a, b, c, d]


@pytest.mark.parametrize(("counter", "key", "block"), KNOWN)
def test_known_answers(counter, key, block):
    assert in_plain_integers(counter, key) == block
    if not any(counter):
        assert philox4x64(np.array([0], np.uint64), *key)[0].tolist() == block


@given(st.lists(words, max_size=5), words, words)
def test_every_block_is_that_of_plain_integers(counters, seed, stream):
    found = philox4x64(np.array(counters, np.uint64), seed, stream)
    assert found.shape == (len(counters), 4)
    for counter, block in zip(counters, found.tolist(), strict=True):
        assert block == in_plain_integers([counter, 0, 0, 0], [seed, stream])


@given(st.lists(st.one_of(st.integers(0, 60), words), max_size=12), words, words)
def test_words_are_the_same_alone_in_runs_and_from_numpy(ranks, seed, stream):
    found = words_at(np.array(ranks, np.uint64), seed, stream).tolist()
    whole = np.random.Philox(key=np.array([seed, stream], np.uint64)).random_raw(61).tolist()
    for rank, word in zip(ranks, found, strict=True):
        assert words_of_run(rank, 1, seed, stream).tolist() == [word]
        assert rank > 60 or whole[rank] == word


@given(first=words.filter(lambda n: n < 2**64 - 40), count=st.integers(0, 40))
def test_runs_are_what_ranks_apart_give(first, count):
    ranks = np.array([first + k for k in range(count)], np.uint64)
    apart = np.append(ranks, np.uint64(first ^ 2**63))
    assert words_of_run(first, count, 1, 2).tolist() == words_at(apart, 1, 2).tolist()[:-1]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 1)), max_size=8))
def test_runs_that_go_on_are_as_those_that_begin_anew(parts):
    first = 5
    for apart, count, seed in parts:
        first += apart if apart < 3 else 0
        whole = np.random.Philox(key=np.array([seed, 0], np.uint64)).random_raw(first + count)
        assert words_of_run(first, count, seed, 0).tolist() == whole[first:].tolist()
        first += count
        if apart == 3:
            generator_at(first, seed, 0).random(2)


def test_threads_have_generators_of_their_own():
    found = {}

    def draw(seed):
        found[seed] = [words_of_run(k, 1000, seed, 0).sum() for k in range(50)]

    threads = [threading.Thread(target=draw, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, sums in found.items():
        assert sums == [words_of_run(k, 1000, seed, 0).sum() for k in range(50)]


def test_the_generator_has_a_name():
    assert ALGORITHM == "philox4x64-10"
