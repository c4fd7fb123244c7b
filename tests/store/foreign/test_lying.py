"""What strangers say where our files say origins, names and more of an array: taken, or left and told."""

import json

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.store import convert

h5py = pytest.importorskip("h5py")
zarr = pytest.importorskip("zarr")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

ODD = [3, "x", [1.5], [True], [1, 2], ["1"], [None], [2**63], [2**70], [], {"a": 1}]


def write_zarr(path, said):
    array = zarr.create_array(path, shape=(3,), dtype="f8")
    array[:] = [1.0, 2.0, 3.0]
    array.attrs.update(said)


def write_column(path, said):
    field = pa.field("a", pa.float64(), metadata={"tensorwrapper": json.dumps(said)})
    table = pa.table([pa.array([1.0, 2.0, 3.0]), pa.array([4, 5, 6])], pa.schema([field, ("b", pa.int64())]))
    (feather.write_feather if path.suffix == ".feather" else parquet.write_table)(table, path)


@pytest.mark.parametrize("odd", ODD, ids=str)
@pytest.mark.parametrize("end", [".zarr", ".feather", ".parquet"])
def test_an_origin_that_is_none_leaves_the_array_where_it_is_and_is_told(odd, end, tmp_path):
    path = tmp_path / f"a{end}"
    (write_zarr if end == ".zarr" else write_column)(path, {"index_origin": odd})
    with tw.open(path) as file:
        name = next(iter(file))
        assert file[name].shape == tw.Shape(3)
        assert file[name].tolist() == [1.0, 2.0, 3.0]
        told = [loss.code for loss in file.losses]
    done = convert(path, tmp_path / "out.h5")
    assert name in done.names
    assert any("index_origin" in text for text in done.lost)
    assert told == ([] if end == ".zarr" else ["convention"])


@pytest.mark.parametrize("odd", [np.uint64([2**63 + 1]), "x", [1, 2], np.int64(3), [1.5]], ids=str)
def test_an_origin_of_hdf5_that_is_none(odd, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["a"] = [1.0, 2.0, 3.0]
        file["a"].attrs["index_origin"] = odd
        file["v"] = [1.0]
        file["v"].attrs["index_origin"] = [5]
    with tw.open(tmp_path / "a.h5") as file:
        assert file["a"].tolist() == [1.0, 2.0, 3.0]
        assert file["v"].shape.origin == (5,)
    done = convert(tmp_path / "a.h5", tmp_path / "out.h5")
    assert sorted(done.names) == ["a", "v"]
    assert [text for text in done.lost if "index_origin" in text]


def test_sequences_of_hdf5_have_more_modes_than_are_named(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        rows = file.create_dataset("rows", (2,), h5py.vlen_dtype(np.int64))
        rows[0], rows[1] = [1, 2], [3]
        rows.dims[0].label = "event"
        rows.attrs["index_origin"] = [3]
    with tw.open(tmp_path / "a.h5") as file:
        assert file["rows"].tolist() == [[1, 2], [3]]


@pytest.mark.parametrize("end", [".feather", ".parquet"])
@pytest.mark.parametrize("odd", [3, [1], None, "s"], ids=str)
def test_metadata_of_a_column_that_are_no_object(odd, end, tmp_path):
    write_column(tmp_path / f"a{end}", {"metadata": odd})
    with tw.open(tmp_path / f"a{end}") as file:
        assert dict(file.tensor_metadata("a")) == {}
        assert [loss.code for loss in file.losses] == ["convention"]
    assert sorted(convert(tmp_path / f"a{end}", tmp_path / "out.tens").names) == ["a", "b"]


@pytest.mark.parametrize("end", [".feather", ".parquet"])
def test_what_a_file_says_of_itself_hides_no_column(end, tmp_path):
    table = pa.table({"a": [1.0, 2.0]}).replace_schema_metadata({"tensorwrapper": "not"})
    (feather.write_feather if end == ".feather" else parquet.write_table)(table, tmp_path / f"a{end}")
    with tw.open(tmp_path / f"a{end}") as file:
        assert file["a"].tolist() == [1.0, 2.0]
        assert [loss.code for loss in file.losses] == ["convention"]


def test_names_of_rows_that_cannot_be_names_are_told_and_their_arrays_listed(tmp_path):
    tw.save(tmp_path / "a.h5", {"r": tw.jagged([[1, 2], [3]])})
    with h5py.File(tmp_path / "a.h5", "a") as file:
        key = next(name for name in file["r"].attrs if "ragged" in name)
        said = json.loads(file["r"].attrs[key])
        file["r"].attrs[key] = json.dumps({**said, "dimension_names": ["a", "not ok!"]})
    with tw.open(tmp_path / "a.h5") as file:
        assert "r/values" in file
        assert [loss.code for loss in file.losses] == ["convention"]


@pytest.mark.parametrize("chunks", [None, (2,)])
def test_the_words_of_an_enumeration_are_no_part_of_the_type(chunks, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        kind = h5py.enum_dtype({"A": 0, "B": 1}, "i1")
        file.create_dataset("e", data=[0, 1, 1], dtype=kind, chunks=chunks)
        file.create_dataset("b", data=[True, False], chunks=chunks)
    with tw.open(tmp_path / "a.h5") as file:
        assert [file[name].dtype.metadata for name in ("b", "e")] == [None, None]
        assert [file[name].tolist() for name in ("b", "e")] == [[True, False], [0, 1, 1]]
    for end in ("npz", "tar"):
        assert len(convert(tmp_path / "a.h5", tmp_path / f"out.{end}").names) == 2


def test_a_damaged_member_is_told_as_damage_and_not_as_a_kind(tmp_path):
    path = tmp_path / "a.zarr"
    group = zarr.create_group(path)
    for name in ("bad", "good"):
        array = group.create_array(name, shape=(3,), dtype="f8", compressors=None)
        array[:] = [1.0, 2.0, 3.0]
    (chunk,) = [own for own in (path / "bad").rglob("*") if own.is_file() and own.name != "zarr.json"]
    chunk.write_bytes(b"123")
    done = convert(path, tmp_path / "out.npz", strict=False)
    assert done.names == ("good",)
    assert [loss.code for loss in done.lost] == ["damage"]
