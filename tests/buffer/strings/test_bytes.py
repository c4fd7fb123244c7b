"""Runs of bytes, packed, joined and spread: against Python's bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.buffer.strings import _bytes
from tensorwrapper.errors import StringDataError

DATA = np.frombuffer(bytes(range(40)), dtype=np.uint8)
RUNS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 10)), min_size=1, max_size=8)


@given(RUNS)
def test_packed_runs_follow_one_another(runs):
    starts, lengths = np.array(runs, dtype=np.int64).T
    offsets = np.concatenate([[0], lengths.cumsum()])
    expected = b"".join(bytes(DATA[a : a + n]) for a, n in runs)

    packed = _bytes.pack_runs(DATA, starts, offsets)

    assert packed.tobytes() == expected
    assert not packed.flags.writeable
    assert b"".join(b.tobytes() for b in _bytes.batches_of_runs(DATA, starts, offsets)) == expected


def test_runs_that_lie_one_after_the_other_are_not_copied(monkeypatch):
    starts, offsets = np.array([3, 5, 5]), np.array([0, 2, 2, 6])

    assert np.shares_memory(_bytes.pack_runs(DATA, starts, offsets), DATA)
    monkeypatch.setattr(_bytes, "BATCH", 4)
    turned = np.array([7, 0, 3])
    places = list(_bytes.batches_of_places(turned, offsets))
    assert [len(batch) for batch in places] == [4, 2]
    assert np.concatenate(places).tolist() == [7, 8, 3, 4, 5, 6]


def test_the_one_part_that_has_bytes_is_not_copied():
    empty = DATA[:0]

    assert _bytes.join_bytes([empty, DATA, empty]) is DATA
    assert _bytes.join_bytes([DATA[:2], DATA[38:]]).tolist() == [0, 1, 38, 39]


@given(st.sets(st.integers(0, 11)))
def test_bytes_are_spread_to_the_places_that_are_free(taken):
    target = np.full(12, 99, dtype=np.uint8)

    _bytes.spread_bytes(DATA[: 12 - len(taken)], np.array(sorted(taken), dtype=np.int64), target)

    free = [k for k in range(12) if k not in taken]
    assert target[free].tolist() == list(range(len(free)))
    assert all(target[k] == 99 for k in taken)


def test_sums_of_lengths_do_not_wrap():
    assert _bytes.sum_of_lengths(np.array([2**62] * 6)) == 6 * 2**62
    assert _bytes.sum_of_lengths(np.array([], dtype=np.int64)) == 0


def test_what_has_no_bytes_in_a_row_is_refused():
    assert _bytes.to_bytes_array(np.arange(2, dtype="<u2"), "data").tolist() == [0, 0, 1, 0]
    with pytest.raises(StringDataError, match="data must be bytes"):
        _bytes.to_bytes_array(np.arange(6)[::2], "data")
