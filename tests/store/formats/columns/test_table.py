"""What a table says of its columns."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats._bytes import check_bytes
from tensorwrapper.store.formats.columns._table import KEY
from tensorwrapper.wire import Limits


def test_columns_of_one_name_are_told_and_hide_no_other(tmp_path):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], names=["x", "x", "y"])
    with pa.ipc.new_file(str(tmp_path / "a.feather"), table.schema) as f:
        f.write_table(table)
    f = tw.open(tmp_path / "a.feather")
    assert f["y"].tolist() == [3]
    assert [(loss.name, loss.code) for loss in f.losses] == [("x", "name"), ("x", "name")]


@pytest.mark.parametrize(
    "said", [b"[1]", b'{"dimension_names": 3, "index_origin": [0.5]}', b'{"metadata": 1}']
)
def test_what_others_say_under_our_key_is_no_more_than_that(tmp_path, said):
    schema = pa.schema([pa.field("x", pa.int64(), metadata={KEY: said})], metadata={KEY: said})
    with pa.ipc.new_file(str(tmp_path / "a.feather"), schema) as f:
        f.write_table(pa.Table.from_arrays([pa.array([1, 2])], schema=schema))
    assert tw.open(tmp_path / "a.feather")["x"].tolist() == [1, 2]


def test_bytes_are_allowed_up_to_the_limit():
    check_bytes(9, "x", Limits(decompressed_bytes=9))
    with pytest.raises(DataFileError, match="'x' needs 10 bytes"):
        check_bytes(10, "x", Limits(decompressed_bytes=9))


def test_a_column_of_nulls_alone_is_told(tmp_path):
    nested = pa.array([[None], []], pa.list_(pa.null()))
    table = pa.table({"n": pa.nulls(2), "x": [1, 2], "rows": nested})
    pq.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, str(tmp_path / "a.feather"))
    for end in ("parquet", "feather"):
        with tw.open(tmp_path / f"a.{end}") as f:
            assert (list(f), f["x"].tolist()) == (["x"], [1, 2])
            assert [(loss.name, loss.code) for loss in f.losses] == [("n", "null"), ("rows", "null")]
