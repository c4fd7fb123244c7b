"""Columns by byte ranges: those of the path, and what is fetched is what a plan says."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.ranges._byte_readers import MemoryReader
from tensorwrapper.wire import Limits
from tests.support.store.served_files import served

COUNT = 4000


def table():
    rng = np.random.default_rng(7)
    lists = [rng.random(k % 4).tolist() for k in range(COUNT)]
    return pa.table(
        {
            "n": rng.integers(0, 1 << 40, COUNT),
            "some": pa.array([None if k % 5 == 0 else k for k in range(COUNT)], pa.int32()),
            "lists": lists,
            "word": [f"word {k % 50}" for k in range(COUNT)],
            "pair": [{"x": k, "y": [k] * (k % 3)} for k in range(COUNT)],
            "other": rng.random((COUNT, 8)).tolist(),
        }
    )


def bytes_of(write, **options):
    raw = io.BytesIO()
    write(table(), raw, **options)
    return raw.getvalue()


FILES = {
    "parquet": bytes_of(pq.write_table, row_group_size=900),
    "zstd": bytes_of(pq.write_table, row_group_size=900, compression="zstd", use_dictionary=False),
    "feather": bytes_of(pa.feather.write_feather, chunksize=900),
    "plain": bytes_of(pa.feather.write_feather, compression="uncompressed"),
}


@pytest.mark.parametrize("kind", FILES)
def test_columns_are_those_of_the_path(tmp_path, kind):
    path = tmp_path / "x.dat"
    path.write_bytes(FILES[kind])
    f, g = tw.open(path), tw.open(FILES[kind])
    assert (list(g), g.losses) == (list(f), f.losses)
    for name in f:
        assert (g[name].shape, g[name].dtype) == (f[name].shape, f[name].dtype)
        assert g[name].tolist() == f[name].tolist()


@given(
    st.sampled_from(["parquet", "zstd"]),
    st.lists(st.integers(0, COUNT - 1), min_size=1, max_size=5),
    st.sampled_from([0, 4096, 10**6]),
)
def test_a_plan_tells_what_is_fetched(kind, rows, gap):
    f = tw.open(FILES[kind])
    f.ranges._gap = gap
    view = f["n"][rows]
    plan = view.plan()
    told = plan.requests, plan.bytes_fetched
    before = f.ranges.requests, f.ranges.bytes_fetched
    assert view.tolist() == np.asarray(table()["n"])[rows].tolist()
    assert told == (f.ranges.requests - before[0], f.ranges.bytes_fetched - before[1])
    assert 0 < told[1] < len(FILES[kind]) / 2 or gap > 4096


def test_one_column_of_a_server_takes_few_requests():
    with served(FILES["parquet"], "x.parquet") as server:
        f = tw.open(server.url)
        opened = server.requests
        view = f["n"][[3, COUNT - 1]]
        plan = view.plan()
        told = plan.requests, plan.bytes_fetched
        before = server.requests, server.nbytes
        view.compute()
        assert opened <= 3
        assert told == (server.requests - before[0], server.nbytes - before[1])
        assert told[0] <= 2


def test_other_columns_of_arrow_are_not_fetched():
    raw = io.BytesIO()
    big = np.zeros(500_000)
    pa.feather.write_feather(pa.table({"a": big, "b": big[::-1], "c": big}), raw, compression="uncompressed")
    f = tw.open(raw.getvalue())
    assert f["b"].shape == tw.Shape(500_000)
    assert f.ranges.bytes_fetched < 4_300_000


def test_parts_of_all_batches_are_fetched_in_two_rounds(monkeypatch):
    rounds = []
    fetch = MemoryReader.fetch

    def noted(self, spans):
        rounds.append(len(spans))
        return fetch(self, spans)

    raw = io.BytesIO()
    table = pa.table({name: np.random.default_rng(1).random(40_000) for name in "abc"})
    pa.feather.write_feather(table, raw, compression="uncompressed", chunksize=4000)
    f = tw.open(raw.getvalue())
    monkeypatch.setattr(MemoryReader, "fetch", noted)
    assert f["b"].tolist() == table["b"].to_pylist()
    assert rounds[:2] == [10, 10]
    assert len(rounds) <= 3


def test_a_footer_that_does_not_tell_batches_is_left_to_pyarrow(tmp_path):
    raw = bytearray(FILES["plain"])
    for place in range(len(raw) - 120, len(raw) - 10, 7):
        changed = bytes(raw[:place]) + bytes([raw[place] ^ 0x55]) + bytes(raw[place + 1 :])
        path = tmp_path / f"{place}.feather"
        path.write_bytes(changed)
        found = []
        for source in (path, changed):
            try:
                found.append(tw.open(source, kind="arrow")["n"].tolist())
            except DataFileError:
                found.append(None)
        assert found[0] == found[1]


def test_what_a_reader_allows_holds_for_what_is_fetched():
    f = tw.open(FILES["zstd"], limits=Limits(decompressed_bytes=2000))
    with pytest.raises(DataFileError, match="decompressed_bytes"):
        f["n"].compute()
