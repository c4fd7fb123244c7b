"""What many labels say, read as arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.store.records import _batch_read
from tensorwrapper.store.records._batch_read import (
    RecordBatch,
    RecordTemplate,
    find_alike,
    places_of_runs,
    read_alike,
)
from tensorwrapper.store.records._format import HEADER_BYTES, pack_header
from tensorwrapper.store.records._index_rows import Place
from tensorwrapper.tensor import jagged
from tests.support.store.uniform_records import file_of, label


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5))), st.integers(1, 8))
def test_places_of_runs_are_their_ranges_one_after_the_other(runs, at_a_time):
    starts = np.array([start for start, _ in runs], dtype=np.int64)
    counts = np.array([count for _, count in runs], dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_batch_read, "_GATHERED", at_a_time)
        blocks = list(places_of_runs(starts, counts))
    found = [place for _, places in blocks for place in places.tolist()]
    assert found == [place for start, count in runs for place in range(start, start + count)]
    assert [done for done, _ in blocks] == np.cumsum([0, *[len(places) for _, places in blocks]])[
        :-1
    ].tolist()


def test_a_label_that_says_more_is_like_no_other():
    mapped, table = file_of([np.zeros((2, 3), "i8")])
    place = Place(*table[0, :2].tolist())
    assert RecordTemplate.of(mapped, place, label("box")) is not None
    for more in (
        {**label("box"), "comment": 1},
        {**label("box"), "record": {**label("box")["record"], "piece": 0}},
        {**label("box"), "TENS": {**label("box")["TENS"], "metadata": {}}},
        {**label("box"), "TENS": {"tensors": [{**label("box")["TENS"]["tensors"][0], "metadata": {}}]}},
        {**label("box"), "TENS": {"tensors": []}},
        None,
    ):
        assert RecordTemplate.of(mapped, place, more) is None


def test_a_name_that_looks_like_a_number_of_the_label_is_none():
    name = '"shape":[7'
    mapped, table = file_of([np.zeros((2, 3), "i8"), np.ones((1, 3), "i8")], name)
    said = label("box")
    said["record"]["name"] = name
    like = RecordTemplate.of(mapped, Place(*table[0, :2].tolist()), said)
    assert like is not None
    assert find_alike(mapped, table.T, like, np.dtype("i8"))[0].all()


def test_places_counts_and_lengths_are_those_of_the_records():
    parts = [jagged([[1, 2], [3]]), jagged([[], [4, 5, 6], [7]])]
    mapped, table = file_of(parts)
    like = RecordTemplate.of(mapped, Place(*table[0, :2].tolist()), label("rows"))
    got = read_alike(mapped, *find_alike(mapped, table.T, like, np.dtype("i8")), np.dtype("i8"))
    assert got.found.tolist() == [True, True]
    assert got.counts.tolist() == [3, 4]
    assert got.lengths[0].tolist() == [2, 1, 0, 3, 1]
    assert got.marks[0].tolist() == [0, 2, 5]
    words = np.frombuffer(mapped, "<i8")
    assert [words[p // 8 : p // 8 + n].tolist() for p, n in zip(got.places, got.counts, strict=True)] == [
        [1, 2, 3],
        [4, 5, 6, 7],
    ]
    assert not RecordBatch.nothing(3).found.any()


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_what_is_cut_off_is_not_found(cut):
    parts = [np.zeros((2, 3), "i8"), np.ones((1, 3), "i8")]
    mapped, table = file_of(parts)
    like = RecordTemplate.of(mapped, Place(*table[0, :2].tolist()), label("box"))
    assert find_alike(mapped[:-cut], table.T, like, np.dtype("i8"))[0].tolist() == [True, False]


def test_a_byte_that_is_another_is_seen_or_says_nothing():
    parts = [np.zeros((2, 3), "i8"), np.ones((2, 3), "i8")]
    mapped, table = file_of(parts)
    start, length = table[1, :2].tolist()
    like = RecordTemplate.of(mapped, Place(*table[0, :2].tolist()), label("box"))
    elements = find_alike(mapped, table.T, like, np.dtype("i8"))[1][0, 1]
    end_of_label = start + 33 + mapped[start + 32]
    for place in range(start, start + 32 + length):
        changed = bytearray(mapped)
        changed[place] ^= 0x41
        found, places, sizes = find_alike(memoryview(changed), table.T, like, np.dtype("i8"))
        # In padding, coordinates and elements any byte may stand; a size of a frame is seen.
        assert not found[1] or (place >= end_of_label and (places[0, 1], sizes[0, 1]) == (elements, 48))
        assert found[0]


@given(
    st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 255), st.integers(0, 2**64 - 1)), min_size=1),
    st.integers(0, 2**32),
    st.booleans(),
)
def test_headers_are_right_where_each_is_by_itself(given, seed, alike):
    if alike:
        given = [(given[0][0], *rest) for _, *rest in given]
    raws = [bytearray(pack_header(length, algorithm, checksum)) for length, algorithm, checksum in given]
    rng = np.random.default_rng(seed)
    for raw in raws[::2]:
        # One bit of every other header is wrong.
        raw[rng.integers(len(raw))] ^= 1 << int(rng.integers(8))
    file = np.frombuffer(b"".join(raws), np.uint8)
    lengths = np.array([length for length, _, _ in given])
    found = _batch_read._has_header(file, np.arange(len(raws)) * HEADER_BYTES, lengths)
    assert found.tolist() == [number % 2 == 1 for number in range(len(raws))]
