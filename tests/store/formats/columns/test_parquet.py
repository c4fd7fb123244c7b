"""Parquet and Feather files are opened by path; pyarrow writes them, and says what is right."""

import base64
import contextlib
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import ConversionError, DataFileError, TensorWrapperError
from tensorwrapper.store.formats.columns import _parquet
from tensorwrapper.testing import SourceContract
from tensorwrapper.wire import Limits

COLUMNS = {
    "number": pa.array([1.5, 2.5, 3.5, -1.0, 0.0]),
    "half": pa.array(np.arange(5, dtype="f2")),
    "bool": pa.array([True, False, True, True, False]),
    "time": pa.array([1, None, 3, 4, 5], pa.timestamp("us")),
    "triple": pa.array([[1, 2, 3]] * 5, pa.list_(pa.int32(), 3)),
    "matrix": pa.array([[[1, 2], [3, 4]]] * 5, pa.list_(pa.list_(pa.int32(), 2), 2)),
    "rows": pa.array([[1, 2], [], [3], [4, 5, 6], []]),
    "deep": pa.array([[[1], [2, 3]], [], [[]], [[4]], [[5], []]], pa.large_list(pa.large_list(pa.int64()))),
    "pairs": pa.array([[[1, 2]], [], [[3, 4], [5, 6]], [], []], pa.list_(pa.list_(pa.int8(), 2))),
    "text": pa.array(["a", "ü", None, "", "long" * 20]),
    "bytes": pa.array([b"a", b"\xff", b"", b"x", None]),
    "words": pa.array([["a"], [], ["b", None], ["c"], []]),
}


def written(folder, kind, columns=COLUMNS, rows=2, compression=None):
    table = pa.table(columns)
    path = folder / f"a.{kind}"
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=rows, compression=compression or "none")
    else:
        pf.write_feather(table, path, chunksize=rows, compression=compression or "uncompressed")
    return path


def expected(column):
    found = column.to_pylist()
    if pa.types.is_timestamp(column.type):
        return np.asarray(column).tolist()
    return found


@pytest.mark.parametrize("rows", [2, 100])
@pytest.mark.parametrize("compression", [None, "zstd"])
@pytest.mark.parametrize("kind", ["parquet", "feather", "arrow"])
def test_columns_come_by_name(tmp_path, kind, rows, compression):
    f = tw.open(written(tmp_path, kind, rows=rows, compression=compression))
    assert list(f) == list(COLUMNS)
    for name, column in COLUMNS.items():
        assert f[name].tolist() == expected(column), name
        assert f.describe(name).shape.as_smooth().extents[0] == 5
    assert f["matrix"].shape == tw.Shape(5, 2, 2)
    assert f["deep"].shape == tw.as_tensor(COLUMNS["deep"]).shape
    assert f["pairs"][2].tolist() == [[3, 4], [5, 6]]


@pytest.mark.parametrize("key", [np.s_[3], np.s_[::-2], np.s_[[4, 0, 4], 1:], np.s_[1:4, ::2], np.s_[2:2]])
@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_parts_are_those_of_the_whole(tmp_path, kind, key):
    f = tw.open(written(tmp_path, kind))
    want = np.array(COLUMNS["triple"].to_pylist())[key]
    np.testing.assert_array_equal(np.asarray(f["triple"][key]), want)


def test_of_parquet_groups_are_decoded_that_are_needed(tmp_path, monkeypatch):
    path = written(tmp_path, "parquet", {"x": pa.array(np.arange(100))}, rows=10)
    asked = []
    read = _parquet._Groups.decoded

    def noted(self, groups):
        asked.extend(groups)
        return read(self, groups)

    monkeypatch.setattr(_parquet._Groups, "decoded", noted)
    view = tw.open(path)["x"]
    part = view[[15, 18, 71]]
    source = part.plan().reads[0]
    assert asked == []
    assert source.source.cost(source.selections[0]) == 160
    assert part.tolist() == [15, 18, 71]
    assert asked == [1, 7]


def test_of_large_lists_groups_are_decoded_that_are_needed(tmp_path, monkeypatch):
    column = COLUMNS["deep"]
    path = written(tmp_path, "parquet", {"x": column, "n": pa.array([[1], [None], [], [], [2]])}, rows=2)
    asked = []
    read = _parquet._Groups.decoded

    def noted(self, groups):
        asked.extend(groups)
        return read(self, groups)

    monkeypatch.setattr(_parquet, "_SMALL", 0)
    view = tw.open(path)["x"]
    assert isinstance(view, sel.View)
    monkeypatch.setattr(_parquet._Groups, "decoded", noted)
    assert view.shape == tw.as_tensor(column).shape
    assert view[4].tolist() == column[4].as_py()
    assert asked == [2]
    assert view[[4, 1, 0, 4]].tolist() == [column[k].as_py() for k in (4, 1, 0, 4)]
    assert asked == [2, 0, 2]
    assert view.tolist() == column.to_pylist()
    assert pickle.loads(pickle.dumps(view)).tolist() == column.to_pylist()
    nulls = tw.open(path)["n"]
    asked.clear()
    assert nulls[4].tolist() == [2]
    assert nulls[1].tolist() == [None]
    assert asked == [2]


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_columns_that_are_no_tensors_are_said(tmp_path, kind):
    columns = {
        "time": pa.array([1, 2], pa.time32("ms")),
        "zone": pa.array([1, 2], pa.timestamp("us", tz="UTC")),
        "day": pa.array([1, 2], pa.date32()),
        "code": pa.array(["a", "b"]).dictionary_encode(),
        "x": pa.array([1, 2]),
    }
    f = tw.open(written(tmp_path, kind, columns))
    assert list(f) == ["day", "x"]
    assert f["day"].dtype == np.dtype("M8[D]")
    assert np.asarray(f["day"]).tolist() == columns["day"].to_pylist()
    assert [loss.split("'")[1] for loss in f.losses] == ["time", "zone", "code"]


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_what_takes_more_than_a_reader_allows_is_refused(tmp_path, kind):
    columns = {"x": pa.array(np.zeros(100_000)), "r": pa.array([[0]] * 100_000)}
    path = written(tmp_path, kind, columns, rows=100_000)
    f = tw.open(path, limits=Limits(decompressed_bytes=10_000))
    for name in columns:
        with pytest.raises(DataFileError, match="decompressed_bytes"):
            np.asarray(f[name].elements())


def test_a_file_that_was_replaced_is_another(tmp_path):
    path = written(tmp_path, "parquet", {"x": pa.array(np.arange(100))}, rows=10)
    view = tw.open(path)["x"]
    source = view.plan().reads[0].source
    before = source.version
    written(tmp_path, "parquet", {"x": pa.array(np.arange(50))}, rows=5)
    assert source.version != before


@pytest.mark.parametrize("kind", ["parquet", "feather"])
@pytest.mark.parametrize("size", [0, 3, 100, 1000])
def test_a_file_that_was_cut_is_refused(tmp_path, kind, size):
    path = written(tmp_path, kind)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(DataFileError):
        tw.open(path)
    with pytest.raises(DataFileError):
        tw.open(tmp_path / f"none.{kind}")


@pytest.mark.parametrize("kind", ["parquet", "feather"])
@pytest.mark.parametrize("seed", range(30))
def test_bytes_that_changed_are_read_or_refused(tmp_path, kind, seed):
    path = written(tmp_path, kind)
    raw = bytearray(path.read_bytes())
    rng = np.random.default_rng(seed)
    for place in rng.integers(0, len(raw), 8):
        raw[place] = rng.integers(256)
    path.write_bytes(raw)
    try:
        f = tw.open(path, limits=Limits(decompressed_bytes=2**24))
    except DataFileError:
        return
    for name in f:
        with contextlib.suppress(TensorWrapperError):
            f[name].tolist()


def test_modes_other_than_reading_name_save(tmp_path):
    with pytest.raises(ConversionError, match="save"):
        tw.open(tmp_path / "a.parquet", "w")


class TestLists(SourceContract):
    """Lists of a group are a source that keeps the contract."""

    @pytest.fixture(autouse=True)
    def file(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_parquet, "_SMALL", 0)
        self.path = written(tmp_path, "parquet", {"x": pa.array([[1, 2], [], [3], [4, 5, 6]])}, rows=3)

    def source(self):
        return tw.open(self.path)["x"].plan().reads[0].source

    def expected(self):
        return tw.jagged([[1, 2], [], [3]])


class TestColumn(SourceContract):
    """A column of numbers is a source that keeps the contract."""

    @pytest.fixture(autouse=True)
    def file(self, tmp_path):
        self.path = written(tmp_path, "parquet")

    def source(self):
        return tw.open(self.path)["triple"].plan().reads[0].source

    def expected(self):
        return np.array(COLUMNS["triple"].to_pylist(), "i4")


def test_a_codec_that_pyarrow_has_not_is_told_and_hides_no_other_column(tmp_path):
    table = pa.table({"x": [1, 2], "y": [3, 4]})
    pq.write_table(table, tmp_path / "a.parquet", compression="snappy", use_dictionary=False)
    raw = (tmp_path / "a.parquet").read_bytes()
    # The footer: the path ["x"], and then the number of the codec, which becomes that of LZO.
    before = b"\x19\x18\x01x\x15\x02"
    assert raw.count(before) == 1
    (tmp_path / "a.parquet").write_bytes(raw.replace(before, before[:-1] + b"\x06"))
    f = tw.open(tmp_path / "a.parquet")
    assert f["y"].tolist() == [3, 4]
    assert [(loss.name, loss.code) for loss in f.losses] == [("x", "codec")]
    assert "LZO" in f.losses[0]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_name_may_be_a_path_in_another_column(tmp_path, is_first):
    given = {"l": [[1], [2, 3], []], "l.list.element": [4, 5, 6], "s": [7, 8, 9], "s.a": ["x", "y", ""]}
    names = list(given) if is_first else list(reversed(given))
    pq.write_table(pa.table({name: given[name] for name in names}), tmp_path / "a.parquet")

    with tw.open(tmp_path / "a.parquet") as f:
        assert {name: f[name].tolist() for name in f} == given


class Keys(pe.KmsClient):
    """Keys that are no secret."""

    def __init__(self, _config):
        super().__init__()

    def wrap_key(self, key_bytes, master_key_identifier):
        del master_key_identifier
        return base64.b64encode(key_bytes)

    def unwrap_key(self, wrapped_key, master_key_identifier):
        del master_key_identifier
        return base64.b64decode(wrapped_key)


def test_a_column_that_is_encrypted_is_told_and_hides_no_other(tmp_path):
    how = pe.EncryptionConfiguration(footer_key="f", column_keys={"c": ["odd"]}, plaintext_footer=True)
    keys = pe.CryptoFactory(Keys).file_encryption_properties(pe.KmsConnectionConfig(), how)
    table = pa.table({"a": [1, 2], "odd": [3, 4], "z": [[5], []]})
    with pq.ParquetWriter(tmp_path / "a.parquet", table.schema, encryption_properties=keys) as file:
        file.write_table(table)
    f = tw.open(tmp_path / "a.parquet")
    assert {name: f[name].tolist() for name in f} == {"a": [1, 2], "z": [[5], []]}
    (told,) = f.losses
    assert (told.name, told.code, told.help) == ("odd", "codec", "pyarrow reads it with its keys")


def test_columns_that_are_in_other_files_are_told(tmp_path):
    """As of a folder of Parquet files, which one says all of: the places are those in the other files."""
    said = []
    pq.write_table(pa.table({"a": [1, 2], "b": [3, 4]}), tmp_path / "part.parquet", metadata_collector=said)
    said[0].set_file_path("part.parquet")
    said[0].write_metadata_file(tmp_path / "_metadata")
    f = tw.open(tmp_path / "_metadata")
    assert list(f) == []
    assert [(loss.name, loss.code) for loss in f.losses] == [("a", "link"), ("b", "link")]
    assert "'part.parquet'" in f.losses[0]


def test_row_groups_of_numbers_are_in_memory_one_at_a_time(tmp_path):
    values = np.random.default_rng(0).random(2**20)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": values}), path, row_group_size=2**17, use_dictionary=False)
    pool = pa.proxy_memory_pool(pa.default_memory_pool())
    default = pa.default_memory_pool()
    with tw.open(path) as f:
        pa.set_memory_pool(pool)
        try:
            found = f["x"].compute()
        finally:
            pa.set_memory_pool(default)

    assert np.asarray(found).tobytes() == values.tobytes()
    # A group has 1 MiB; pyarrow decodes it from pages of 1 MiB.
    assert 2**20 <= pool.max_memory() < 3 * 2**20
