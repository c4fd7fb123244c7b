"""What headers of pages say, with pyarrow as the judge, and what hostile ones are refused for."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError, VersionChangedError
from tensorwrapper.store.formats.columns import _parquet
from tensorwrapper.store.formats.columns._pages import decoded_bytes, read_footer
from tensorwrapper.wire import Limits

COLUMNS = {
    "x": pa.array(np.arange(5000.0)),
    "few": pa.array(np.arange(5000) % 7),
    "text": pa.array([f"{k % 50}" * (k % 9) for k in range(5000)]),
    "rows": pa.array([[k] * (k % 4) for k in range(5000)]),
    "bytes": pa.array([bytes(4)] * 5000, pa.binary(4)),
}


@settings(max_examples=30)
@given(
    st.sampled_from(list(COLUMNS)),
    st.sampled_from(["none", "zstd", "gzip"]),
    st.sampled_from(["1.0", "2.0"]),
    st.sampled_from([200, 4000, 2**20]),
    st.booleans(),
    st.booleans(),
)
def test_all_pages_are_counted(tmp_path_factory, name, compression, version, size, words, statistics):
    path = tmp_path_factory.getbasetemp() / "pages.parquet"
    pq.write_table(
        pa.table({name: COLUMNS[name]}),
        path,
        compression=compression,
        data_page_version=version,
        data_page_size=size,
        use_dictionary=words,
        write_statistics=statistics,
    )
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(0)
    ((own,),) = read_footer(path)
    assert (own.values, own.unpacked, own.packed) == (
        chunk.num_values,
        chunk.total_uncompressed_size,
        chunk.total_compressed_size,
    )
    assert b".".join(own.path).decode() == chunk.path_in_schema
    with path.open("rb") as file:
        nbytes, texts = decoded_bytes(file, own, 4)
    pages = max(chunk.total_uncompressed_size // size, 1)
    width = {"x": 8, "few": 8, "rows": 8}.get(name, 16) + 4

    # Pyarrow counts the headers, too, of at most some dozens of bytes; words of a dictionary are values, too.
    unpacked = nbytes - width * chunk.num_values
    assert chunk.total_uncompressed_size - 150 * (pages + 2) - 5000 <= unpacked
    assert unpacked <= chunk.total_uncompressed_size + width * 5000 * words
    assert nbytes >= pq.read_table(path).column(0).nbytes - texts
    assert (texts > 0) == chunk.has_dictionary_page


@pytest.mark.parametrize(
    "column",
    [
        lambda: np.zeros(4_000_000),
        lambda: ["long" * 25_000] * 1000,
        lambda: [["long" * 25_000] * 40] * 25,
        lambda: [np.zeros(2_000_000)],
        lambda: [np.zeros(2_000_000)] * 3,
    ],
    ids=["numbers", "text", "texts in lists", "a list", "lists"],
)
def test_what_unpacks_to_too_much_is_refused_before_it_is_unpacked(tmp_path, column):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": pa.array(column())}), path, compression="zstd")
    assert path.stat().st_size < 2_000_000
    pool = pa.default_memory_pool()
    seen = []
    decode = pq.ParquetFile.read_row_group
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            pq.ParquetFile,
            "read_row_group",
            lambda *given, **how: seen.append(decode(*given, **how)) or seen[-1],
        )
        before = pool.bytes_allocated()
        with pytest.raises(DataFileError, match="decompressed_bytes"):
            tw.open(path, limits=Limits(decompressed_bytes=2**22))["x"].tolist()
        assert sum(found.nbytes for found in seen) < 2**22
        assert pool.bytes_allocated() - before < 2**22


def test_texts_that_repeat_are_read_where_they_fit(tmp_path):
    path = tmp_path / "a.parquet"
    texts = [["long" * 100, "b"], [], ["long" * 100] * 50]
    pq.write_table(pa.table({"x": pa.array(texts), "y": pa.array(["long" * 1000] * 3)}), path)
    f = tw.open(path, limits=Limits(decompressed_bytes=22_000))

    assert f["x"].tolist() == texts
    assert f["y"].tolist() == ["long" * 1000] * 3


@pytest.mark.parametrize(
    "spoilt", [b"\xff" * 30, b"\x15\x00\x15" + b"\xff" * 9 + b"\x01", b"\x00" * 30, b"\x2c" * 40]
)
def test_headers_that_say_what_cannot_be_are_refused(tmp_path, spoilt):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": pa.array([[k] for k in range(100)])}), path, compression="none")
    raw = bytearray(path.read_bytes())
    raw[4 : 4 + len(spoilt)] = spoilt
    path.write_bytes(raw)
    with pytest.raises(DataFileError):
        tw.open(path)["x"].tolist()


def test_pages_are_read_once_and_of_the_file_that_was_opened(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": np.arange(1000.0)}), path, row_group_size=500)
    read = []
    real = _parquet.decoded_bytes
    monkeypatch.setattr(_parquet, "decoded_bytes", lambda *given: read.append(given[1].start) or real(*given))
    column = tw.open(path)["x"]
    for _ in range(2):
        assert column[400:600].tolist() == np.arange(400.0, 600.0).tolist()
        assert len(read) == 2
    os.utime(path, ns=(0, 1))
    with pytest.raises(VersionChangedError, match="changed or replaced"):
        column[:3].compute()
    assert len(read) == 2
