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
        done = convert(tmp_path / "a.h5", tmp_path / f"out.{end}")
        assert len(done.names) == 2
        assert next(str(loss) for loss in done.lost if loss.name == "e").startswith("the words 'A', 'B' of")


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


def dimensions(path, names):
    """Write an array of as many modes as names, which have these, as the kind of file says it."""
    extents = tuple(range(2, 2 + len(names)))
    if path.suffix == ".h5":
        with h5py.File(path, "w") as file:
            for mode, name in enumerate(names):
                file.create_dataset("array", data=np.zeros(extents)) if not mode else None
                file["array"].dims[mode].label = name or ""
    elif path.suffix == ".zarr":
        zarr.create_array(path, shape=extents, dtype="f8", dimension_names=names)
    elif path.suffix == ".zarr2":
        array = zarr.create_array(path, shape=extents, dtype="f8", zarr_format=2)
        array.attrs["_ARRAY_DIMENSIONS"] = names
    else:
        kind = pa.fixed_shape_tensor(pa.float64(), extents[1:], dim_names=names[1:])
        column = pa.FixedShapeTensorArray.from_numpy_ndarray(np.zeros(extents))
        table = pa.table([pa.ExtensionArray.from_storage(kind, column.storage)], names=["array"])
        (feather.write_feather if path.suffix == ".feather" else parquet.write_table)(table, path)


@pytest.mark.parametrize("end", ["h5", "zarr", "zarr2", "feather", "parquet"])
@pytest.mark.parametrize(
    ("names", "taken"),
    [
        (["", "time (s)", "x"], (None, None, "x")),
        (["", "x", "x"], (None, None, None)),
        (["", "_", "y"], (None, None, "y")),
    ],
)
def test_names_of_modes_that_cannot_be_names_are_told(end, names, taken, tmp_path):
    dimensions(tmp_path / f"a.{end}", names)
    with tw.open(tmp_path / f"a.{end}") as file:
        assert file["array"].shape.names == taken
        (loss,) = file.losses
    assert (loss.name, loss.code) == ("array", "name")
    left = [own for own, kept in zip(names, taken, strict=True) if own and kept is None]
    assert all(repr(own) in loss for own in left)
    assert not any(repr(own) in loss for own in taken if own)
    assert loss in convert(tmp_path / f"a.{end}", tmp_path / "out.tens").lost


@pytest.mark.parametrize("end", ["h5", "zarr", "zarr2", "feather", "parquet"])
def test_names_of_modes_that_can_be_names_are_taken_without_a_word(end, tmp_path):
    dimensions(tmp_path / f"a.{end}", [None if end == "zarr" else "", "y", "x"])
    with tw.open(tmp_path / f"a.{end}") as file:
        assert (file["array"].shape.names, file.losses) == ((None, "y", "x"), ())
    assert convert(tmp_path / f"a.{end}", tmp_path / "out.tens").lost == ()


@pytest.mark.parametrize("odd", [3, "xy", ["x"], {"a": 1}], ids=str)
def test_names_of_modes_that_are_no_list_of_them(odd, tmp_path):
    array = zarr.create_array(tmp_path / "a.zarr", shape=(2, 3), dtype="f8", zarr_format=2)
    array.attrs["_ARRAY_DIMENSIONS"] = odd
    with tw.open(tmp_path / "a.zarr") as file:
        assert file["array"].shape == tw.Shape(2, 3)
        assert [loss.code for loss in file.losses] == ["convention"]


@pytest.mark.parametrize("inner", [(), (3,)])
def test_labels_and_origin_of_records_and_of_arrays_in_elements_are_those_of_the_outer_modes(inner, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        kinds = {"r": np.dtype([("a", "i4", inner)]), "e": np.dtype(("i4", inner or (1,)))}
        kinds["v"] = h5py.vlen_dtype(np.int64)
        for name, kind in kinds.items():
            own = file.create_dataset(name, (2,), kind)
            own.dims[0].label = "event"
            own.attrs["index_origin"] = [4]
        file["r"].dims[0].label = "not one"
    with tw.open(tmp_path / "a.h5") as file:
        assert {name: file[name].shape.names[0] for name in file} == {"e": "event", "r.a": None, "v": "event"}
        assert {name: file[name].shape.origin[0] for name in ("e", "r.a")} == {"e": 4, "r.a": 4}
        assert file["v"].shape.origin_at(()) == 4
        assert [(loss.name, loss.code) for loss in file.losses] == [("r", "name")]


def test_what_is_said_of_parts_of_rows_and_of_plain_groups_is_told(tmp_path):
    tw.save(tmp_path / "a.h5", {"r": tw.jagged([[1, 2], [3]])})
    tw.save(tmp_path / "a.zarr", {"r": tw.jagged([[1, 2], [3]])})
    with h5py.File(tmp_path / "a.h5", "a") as file:
        file["r/values"].dims[0].label = "hit"
        file["r/values"].attrs["index_origin"] = [4]
        file.create_group("g").attrs["metadata"] = '{"a": 1}'
    root = zarr.open_group(tmp_path / "a.zarr")
    root["r/values"].attrs["index_origin"] = [4]
    root.create_group("g").attrs["metadata"] = {"a": 1}
    for end, labels in (("h5", ["DIMENSION_LABELS"]), ("zarr", [])):
        told = convert(tmp_path / f"a.{end}", tmp_path / "out.tens", overwrite=True).lost
        text = " ".join(told)
        assert all(word in text for word in (*labels, "index_origin", "metadata"))


@pytest.mark.parametrize("end", ["feather", "parquet"])
def test_what_is_said_of_fields_within_a_column_is_told(end, tmp_path):
    inner = pa.list_(pa.field("hit", pa.int32(), metadata={"unit": "cm", "PARQUET:field_id": "3"}))
    fields = [pa.field("rows", inner), pa.field("deep", pa.list_(pa.field("row", inner)))]
    table = pa.table(
        [pa.array([[1], [2, 3]], inner), pa.array([[[1]], []], fields[1].type)], pa.schema(fields)
    )
    path = tmp_path / f"a.{end}"
    feather.write_feather(table, path) if end == "feather" else parquet.write_table(table, path)
    lost = convert(path, tmp_path / "out.tens").lost
    assert sorted([loss.name for loss in lost if ".unit'" in loss]) == ["deep", "rows"]
    assert not [loss for loss in lost if "field_id" in loss]


@pytest.mark.parametrize("end", ["feather", "parquet"])
@pytest.mark.parametrize("known", [True, False])
def test_types_that_libraries_add_to_arrow_are_told(end, known, tmp_path):
    if known:
        column = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}", "[]"]))
        table, name = pa.table([column, pa.array([1, 2])], names=["j", "n"]), "arrow.json"
    else:
        name = "somebody.units"
        field = pa.field("j", pa.int32(), metadata={"ARROW:extension:name": name})
        table = pa.table(
            [pa.array([1, 2], pa.int32()), pa.array([1, 2])], pa.schema([field, ("n", pa.int64())])
        )
    path = tmp_path / f"a.{end}"
    feather.write_feather(table, path) if end == "feather" else parquet.write_table(table, path)
    done = convert(path, tmp_path / "out.tens")
    assert [(str(loss), loss.name) for loss in done.lost] == [(f"the type {name!r} of 'j'", "j")]
