"""Spans of files: every door gives the same bytes, in as few requests as the gaps allow."""

import io
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, DataFileError
from tensorwrapper.store import Ranges
from tests.support.store.served_files import served

RAW = np.random.default_rng(1).bytes(300_000)


@st.composite
def spans(draw):
    ends = st.integers(0, len(RAW))
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=8))
    return [(min(pair), max(pair)) for pair in pairs]


@given(spans(), st.integers(0, 100_000))
def test_spans_in_any_order_give_their_bytes_and_requests_join_what_is_near(wanted, gap):
    ranges = Ranges.of(RAW, gap=gap)
    assert ranges.read(wanted) == [RAW[start:stop] for start, stop in wanted]
    marked = np.zeros(len(RAW) + 1, bool)
    for start, stop in wanted:
        marked[start:stop] = True
    assert ranges.bytes_fetched >= marked.sum()
    assert ranges.requests <= len(wanted)


@given(spans())
def test_what_is_kept_is_fetched_once(wanted):
    ranges = Ranges.of(RAW)
    expected = [RAW[start:stop] for start, stop in wanted]
    assert ranges.read_kept(wanted) == expected
    before = ranges.requests
    assert ranges.read_kept(wanted) == expected
    assert ranges.requests == before


def test_all_doors_give_the_same(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    path = tmp_path / "x.bin"
    path.write_bytes(RAW)
    fsspec.filesystem("memory").pipe("/tests-ranges.bin", RAW)
    wanted = [(0, 5), (250_000, 250_001), (100_000, 200_000), (299_999, 300_000), (7, 7)]
    expected = [RAW[start:stop] for start, stop in wanted]
    with served(RAW) as server, path.open("rb") as opened, path.open("rb", buffering=0) as raw:
        sources = [path, str(path), RAW, bytearray(RAW), io.BytesIO(RAW), opened, raw, server.url]
        for source in [*sources, "memory://tests-ranges.bin", path.as_uri()]:
            with Ranges.of(source) as ranges:
                assert ranges.size == len(RAW)
                assert ranges.read(wanted) == expected
                assert ranges.stream().read() == RAW
                assert ranges.read_at(299_990, 100) == RAW[-10:]


def test_a_span_that_leaves_the_file_is_refused_before_anything_is_fetched():
    ranges = Ranges.of(b"0123456789")
    for span in [(0, 11), (-1, 2), (4, 3)]:
        with pytest.raises(DataFileError, match="has 10 bytes"):
            ranges.read([(0, 2), span])
    assert ranges.requests == 0


def test_long_spans_are_cut_and_put_together(tmp_path):
    path = tmp_path / "long.bin"
    with path.open("wb") as file:
        file.truncate(40 * 2**20)
        file.seek(33 * 2**20)
        file.write(b"here")
    with Ranges.of(path) as ranges:
        (found,) = ranges.read([(1, 40 * 2**20)])
        assert found[33 * 2**20 - 1 :][:4] == b"here"
        assert (len(found), ranges.requests) == (40 * 2**20 - 1, 3)


def test_a_closed_file_says_so(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(b"abc")
    ranges = Ranges.of(path)
    ranges.close()
    ranges.close()
    with pytest.raises(DataFileError, match="is closed"):
        ranges.read([(0, 1)])


@pytest.mark.parametrize(("source", "text"), [(3, "not int"), (io.StringIO("x"), "text"), (None, "NoneType")])
def test_what_is_no_file_is_refused(source, text):
    with pytest.raises((ConversionError, DataFileError), match=text):
        Ranges.of(source)


def test_servers_of_tensors_are_told_apart():
    with pytest.raises(ConversionError, match=r"tw.connect\('tcp://host:1'\)"):
        Ranges.of("tcp://host:1")


def test_a_file_that_is_cut_off_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(b"a" * 100)
    with Ranges.of(path) as ranges:
        path.write_bytes(b"a" * 50)
        with pytest.raises(DataFileError, match="was truncated"):
            ranges.read([(40, 60)])


def test_the_last_blocks_that_were_used_are_kept():
    raw = bytes(2**20) * 70
    ranges = Ranges.of(raw)
    ranges.read_at(0, 10)
    ranges.read_at(2**20, 2**26)
    before = ranges.requests
    ranges.read_at(2**20 + 2**26 - 10, 10)
    assert ranges.requests == before
    ranges.read_at(0, 10)
    assert ranges.requests == before + 1


def test_empty_and_long_spans_together_are_each_what_they_are():
    raw = np.random.default_rng(0).bytes(17_000_000)
    spans = [(0, 0), (65_536, 65_546), (65_546, 65_551 + 2**24), (16_900_000, 16_900_000)]
    assert Ranges.of(raw).read(spans) == [raw[start:stop] for start, stop in spans]


def test_memory_that_is_no_run_is_copied():
    raw = bytes(range(200))
    assert Ranges.of(memoryview(raw)[::2]).read([(1, 3)]) == [b"\x02\x04"]


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), None, "1"])
def test_a_timeout_is_a_number_of_seconds(timeout):
    with pytest.raises(ConversionError, match="a positive number of seconds"):
        Ranges.of(b"", timeout=timeout)


def test_spans_beyond_any_file_are_refused_and_ranges_are_not_pickled():
    with pytest.raises(DataFileError, match="exceeds 2\\^63"):
        Ranges.of(b"abc").read([(0, 2**70)])
    with pytest.raises(TypeError, match=r"cannot pickle open ranges"):
        pickle.dumps(Ranges.of(b"abc"))


class NoPlaces(io.BytesIO):
    def seek(self, *_):
        return None


def test_an_object_whose_seek_says_nothing_is_refused():
    with pytest.raises(DataFileError, match="is not seekable"):
        Ranges.of(NoPlaces(b"abc"))


SPANS = st.lists(
    st.tuples(st.integers(0, 5000), st.integers(0, 900)).map(lambda own: (own[0], own[0] + own[1])),
    max_size=12,
)
LIBRARY = bytes(np.random.default_rng(5).integers(0, 256, 6000, dtype=np.uint8))


@given(SPANS, st.integers(0, 600))
def test_what_is_told_of_a_read_is_what_it_takes(spans, gap):
    ranges = Ranges.of(LIBRARY, gap=gap)
    told = ranges.told(spans)
    assert ranges.read(spans) == [LIBRARY[start:stop] for start, stop in spans]
    assert told == (ranges.requests, ranges.bytes_fetched)


@given(SPANS, SPANS, st.integers(0, 9000))
def test_libraries_read_the_bytes_of_the_file(loaded, spans, gap):
    file = Ranges.of(LIBRARY, gap=gap).file_for_libraries(loaded)
    for start, stop in spans:
        file.seek(start)
        assert file.read(stop - start) == LIBRARY[start:stop]
        target = bytearray(50)
        assert file.readinto(target) == min(50, len(LIBRARY) - stop)
        assert bytes(target).startswith(LIBRARY[stop : stop + 50])
    assert file.seek(0, 2) == len(LIBRARY)
    assert file.read(10**15) == b""


@given(SPANS)
def test_the_end_of_a_file_came_when_it_was_opened(spans):
    with served(LIBRARY * 3) as server:
        ranges = Ranges.of(server.url)
        for start, stop in spans:
            own = (start + 10_000, min(stop + 10_000, 18_000))
            assert ranges.read_with_tail(*own) == (LIBRARY * 3)[own[0] : own[1]]
        assert ranges.read_with_tail(6000, 18_000) == LIBRARY * 2
        assert server.requests <= 2
