"""Zarr stores are opened by path; zarr writes them, and says what is right."""

import json

import numpy as np
import pytest
import zarr

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, DataFileError, DataFileNotFoundError, TensorWrapperError
from tensorwrapper.wire import Limits
from tests.support.store.saved import BOXES


def store(folder, **arrays):
    group = zarr.create_group(str(folder / "a.zarr"))
    for name, array in arrays.items():
        given = array if isinstance(array, dict) else {"data": array}
        group.create_array(name.replace("__", "/"), **given)
    return folder / "a.zarr"


def change(path, **fields):
    text = json.loads((path / "zarr.json").read_text())
    (path / "zarr.json").write_text(json.dumps(text | fields))


@pytest.mark.parametrize("name", [name for name, a in BOXES.items() if isinstance(a, np.ndarray)])
def test_what_zarr_wrote_is_read(tmp_path, name):
    array = np.ascontiguousarray(BOXES[name]).reshape(BOXES[name].shape)
    found = tw.open(store(tmp_path, group__inner__x=array))["group/inner/x"]
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(np.asarray(found), array)


@pytest.mark.parametrize("key", [np.s_[3], np.s_[::-7, 2:9], np.s_[[5, 1, 5], ::30], np.s_[2:2]])
@pytest.mark.parametrize("how", [{}, {"compressors": None}, {"shards": (10, 50)}])
def test_parts_are_read(tmp_path, how, key):
    array = np.arange(2000.0).reshape(20, 100)
    path = store(tmp_path, x={"shape": (20, 100), "dtype": "f8", "chunks": (5, 25), **how})
    zarr.open_array(str(path / "x"))[...] = array
    np.testing.assert_array_equal(np.asarray(tw.open(path)["x"][key]), array[key])


def test_of_chunks_those_are_read_that_are_needed(tmp_path):
    path = store(tmp_path, x={"data": np.arange(10_000.0).reshape(100, 100), "chunks": (10, 10)})
    f = tw.open(path)
    read = f["x"][5:7, 11].plan().reads[0]
    assert read.source.cost(read.selections[0]) == 800
    assert "a.zarr" in repr(read.source)
    assert f.describe("x").packing == "regular"
    for chunk in (path / "x" / "c").rglob("*"):
        if chunk.is_file() and chunk.parent.name != "0":
            chunk.write_bytes(b"spoilt")
    assert f["x"][5:7, 11].tolist() == [511.0, 611.0]
    with pytest.raises(DataFileError, match=r"a\.zarr"):
        f["x"].compute()


def test_an_array_is_a_store_by_itself(tmp_path):
    zarr.create_array(str(tmp_path / "b.zarr"), data=np.arange(6.0))
    assert list(tw.open(tmp_path / "b.zarr")) == ["array"]
    assert tw.open(tmp_path / "b.zarr")["array"].tolist() == list(range(6))


def test_names_of_dimensions_are_those_of_modes_where_they_can_be(tmp_path):
    path = store(tmp_path, x={"data": np.zeros((2, 3)), "dimension_names": ["event", "no name"]})
    assert tw.open(path)["x"].shape.names == ("event", None)


def test_strings_are_read(tmp_path):
    path = store(tmp_path, s={"shape": (2, 2), "dtype": "string"})
    zarr.open_array(str(path / "s"))[...] = np.array([["a", "ü"], ["", "long" * 9]], dtype=object)
    found = tw.open(path)["s"]
    assert found.tolist() == [["a", "ü"], ["", "long" * 9]]
    with pytest.raises(DataFileError, match="decompressed_bytes"):
        tw.open(path, limits=Limits(decompressed_bytes=20))["s"]


def test_what_is_no_store_is_refused(tmp_path):
    with pytest.raises(DataFileNotFoundError):
        tw.open(tmp_path / "none.zarr")
    (tmp_path / "file.zarr").write_text("x")
    (tmp_path / "folder.zarr").mkdir()
    for name in ("file", "folder"):
        with pytest.raises(DataFileError, match="Zarr"):
            tw.open(tmp_path / f"{name}.zarr")
    zarr.create_group(str(tmp_path / "two.zarr"), zarr_format=2)
    assert list(tw.open(tmp_path / "two.zarr")) == []
    with pytest.raises(ConversionError, match="save"):
        tw.open(tmp_path / "two.zarr", "a")


@pytest.mark.parametrize(
    "fields",
    [
        {"shape": [2**40]},
        {"shape": [-1]},
        {"shape": "x"},
        {"data_type": "int3"},
        {"data_type": {"name": "struct"}},
        {"codecs": [{"name": "nobody"}]},
        {"codecs": []},
        {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [0]}}},
        {
            "chunk_grid": {
                "name": "rectilinear",
                "configuration": {"kind": "inline", "chunk_shapes": [[1, 2]]},
            }
        },
        {
            "chunk_grid": {
                "name": "rectilinear",
                "configuration": {"kind": "inline", "chunk_shapes": [[[3, 2]], 3]},
            }
        },
    ],
)
def test_metadata_that_make_no_sense_are_refused(tmp_path, fields):
    path = store(tmp_path, x={"data": np.arange(6.0), "chunks": (3,), "compressors": None}, y=np.zeros(2))
    change(path / "x", **fields)
    f = tw.open(path)
    assert f["y"].tolist() == [0, 0]
    with pytest.raises(TensorWrapperError):
        f["x"].compute()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *[(text, "damage") for text in ("", "{", "[]", "[" * 200, '{"zarr_format":3}')],
        ('{"zarr_format":2}', "version"),
        ('{"zarr_format":3,"node_type":"x"}', "member"),
    ],
)
def test_nodes_that_make_no_sense_are_told_and_a_root_is_refused(tmp_path, text, code):
    path = store(tmp_path, g__x=np.zeros(2), y=np.ones(2))
    (path / "g" / "zarr.json").write_text(text)
    f = tw.open(path)
    assert f["y"].tolist() == [1, 1]
    assert [(loss.name, loss.code) for loss in f.losses] == [("g", code)]
    (path / "zarr.json").write_text(text)
    with pytest.raises(DataFileError):
        tw.open(path)


@pytest.mark.parametrize(
    ("ragged", "sizes"),
    [
        ({"shape": [2, {"variable": [0]}]}, [1, 3]),
        ({"shape": [2, {"variable": [0]}]}, [4, -1]),
        ({"shape": [2, {"variable": [0]}]}, [1, 1]),
    ],
)
def test_rows_whose_sizes_make_no_sense_are_refused(tmp_path, ragged, sizes):
    path = store(tmp_path, r__values=np.arange(3.0), r__sizes_1=np.array(sizes))
    change(path / "r", attributes={"ragged": ragged})
    with pytest.raises(DataFileError, match=r"r: the ragged group 'r'") as caught:
        tw.open(path)["r"]
    loss = caught.value.args[0]
    assert (loss.code, loss.help) == ("convention", "raw=True lists its arrays")
    assert tw.open(path, raw=True)["r/values"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("ragged", "sizes", "codes"),
    [
        ({"shape": [3, {"variable": [0]}]}, [1, 2], ["convention"]),
        ({"shape": [2, {"variable": [0]}]}, [3.0, 0.0], ["convention"]),
        ({"shape": [2, {"variable": [0]}]}, [[1, 2]], ["convention"]),
        ({"shape": [2, {"variable": [0]}, {"variable": [0]}]}, [1, 2], ["convention"]),
        ({"shape": 2}, [1, 2], ["convention"]),
        ({"of": "tree"}, [1, 2], []),
        (7, [1, 2], []),
        ("yes", [1, 2], []),
    ],
)
def test_a_group_that_is_no_rows_is_a_group(tmp_path, ragged, sizes, codes):
    path = store(tmp_path, r__values=np.arange(3.0), r__sizes_1=np.array(sizes))
    change(path / "r", attributes={"ragged": ragged})
    with tw.open(path) as f:
        assert (list(f), f["r/values"].tolist()) == (["r/sizes_1", "r/values"], [0, 1, 2])
        assert [(loss.name, loss.code) for loss in f.losses] == [("r", code) for code in codes]


TEXTS = {
    "string": ["a", "bb", "ccc"],
    "<U3": ["a", "bb", "ccc"],
    "S3": [b"a", b"bb", b"ccc"],
    "variable_length_bytes": [b"a", b"\xffb", b""],
}


@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
@pytest.mark.parametrize("dtype", TEXTS)
@pytest.mark.parametrize("version", [2, 3])
def test_rows_of_text_and_text_itself_are_read(tmp_path, dtype, version):
    group, texts = zarr.create_group(str(tmp_path / "a.zarr"), zarr_format=version), TEXTS[dtype]
    kind = zarr.dtype.VariableLengthBytes() if dtype == "variable_length_bytes" else dtype
    for name in ("r/values", "x"):
        group.create_array(name, shape=(3,), dtype=kind)[:] = np.array(texts, object)
    group.create_array("none", shape=(0,), dtype=kind)
    group.create_array("r/sizes_1", data=np.array([2, 0, 1]))
    group["r"].attrs["ragged"] = {"shape": [3, {"variable": [0]}], "index_origin": [5, 0]}
    with tw.open(tmp_path / "a.zarr") as f:
        assert (sorted(f), f.losses) == (["none", "r", "x"], ())
        assert (f["x"].tolist(), f["none"].tolist()) == (texts, [])
        assert f["r"].tolist() == [texts[:2], [], texts[2:]]
        assert f["r"].shape.origin == (5, 0)
        assert f["r"].dtype == f["none"].dtype == f["x"].dtype


def test_rows_of_text_that_are_too_few_are_refused(tmp_path):
    group = zarr.create_group(str(tmp_path / "a.zarr"))
    group.create_array("r/values", shape=(3,), dtype="string")
    group.create_array("r/sizes_1", data=np.array([2, 0]))
    group["r"].attrs["ragged"] = {"shape": [2, {"variable": [0]}]}
    with pytest.raises(DataFileError, match="3 values for 2"):
        tw.open(tmp_path / "a.zarr")["r"]


def test_what_others_put_among_rows_is_listed(tmp_path):
    path = tmp_path / "a.zarr"
    tw.save(path, {"r": tw.jagged([[1, 2], [3]])})
    zarr.open_group(str(path), mode="a").create_array("r/extra", data=np.arange(2))
    with tw.open(path) as f:
        assert (list(f), f.losses) == (["r", "r/extra"], ())
        assert (f["r"].tolist(), f["r/extra"].tolist()) == ([[1, 2], [3]], [0, 1])


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)], ids=str)
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("is_fetched", [False, True])
def test_a_bool_of_any_rank_is_0_or_1(tmp_path, shape, zarr_format, is_fetched):
    path = tmp_path / "a.zarr"
    array = zarr.create_array(
        str(path), shape=shape, dtype=bool, zarr_format=zarr_format, compressors=None, fill_value=True
    )

    def element():
        return np.asarray(tw.open(path.as_uri() if is_fetched else path)["array"].compute())

    assert element().tobytes() == b"\1"  # no chunk: the fill
    array[...] = np.zeros(shape, bool)
    assert element().tobytes() == b"\0"
    (chunk,) = [own for own in path.rglob("*") if own.is_file() and own.read_bytes() == b"\0"]
    chunk.write_bytes(b"\2")
    with pytest.raises(DataFileError, match="neither 0 nor 1"):
        element()
