"""Tensors are saved as Zarr stores; zarr and TensorStore say what is in them."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tensorstore
import zarr

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, DataFileError, DataFileExistsError
from tensorwrapper.store.formats.zarr import _write
from tests.support.store.foreign_files import names_in
from tests.support.store.saved import BOXES, ROWS, assert_same


@pytest.mark.parametrize("compress", [None, "zlib", "zstd", "blosc2"])
def test_what_is_saved_comes_back(tmp_path, compress):
    tensors = BOXES | ROWS
    tw.save(tmp_path / "a.zarr", tensors, compress=compress)
    f = tw.open(tmp_path / "a.zarr")
    assert sorted(f) == sorted(tensors)
    for name, tensor in tensors.items():
        assert_same(f[name], tensor, name)
    assert names_in(tmp_path) == ["a.zarr"]


def test_zarr_and_tensorstore_read_boxes(tmp_path):
    array = BOXES["large"]
    tw.save(tmp_path / "a.zarr", {"g/x": array}, compress="zstd", chunks=(100, 99))
    found = zarr.open_array(str(tmp_path / "a.zarr/g/x"), mode="r")
    assert found.chunks == (100, 99)
    np.testing.assert_array_equal(found[...], array)
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(tmp_path / "a.zarr/g/x")}}
    np.testing.assert_array_equal(tensorstore.open(spec).result().read().result(), array)


def test_names_origins_strings_times_and_metadata(tmp_path):
    box = tw.as_tensor(np.zeros((2, 3))).named("event", None).translate_to((5, 0))
    days = np.array(["2026-11-24", "NaT"], "M8[D]")
    tensors = {"x": box, "s": tw.strings([["a", "ü"]]), "none": tw.strings([]), "days": days}
    tw.save(tmp_path / "a.zarr", tensors, metadata={"run": [3]})
    x = zarr.open_array(str(tmp_path / "a.zarr/x"), mode="r")
    assert (x.metadata.dimension_names, dict(x.attrs)) == (("event", None), {"index_origin": [5, 0]})
    assert zarr.open_array(str(tmp_path / "a.zarr/s"), mode="r")[...].tolist() == [["a", "ü"]]
    f = tw.open(tmp_path / "a.zarr")
    assert f.metadata == {"run": [3]}
    assert f["x"].shape == box.shape
    assert f["s"].tolist() == [["a", "ü"]]
    np.testing.assert_array_equal(np.asarray(f["days"].compute()), days)


@pytest.mark.parametrize(
    ("tensor", "chunks"),
    [
        (np.zeros((10, 20)), (10, 20)),
        (np.zeros((1000, 1000)), (125, 1000)),
        (tw.as_tensor(np.zeros((1000, 1000))).permute((1, 0)), (1000, 125)),
        (
            tw.from_buffer(np.zeros(8 * 60 * 50), tw.Shape.nested(tw.Shape(8, 60, 50), layers=(1, 2))),
            (1, 60, 50),
        ),
        (tw.as_tensor(np.zeros((7, 6))).tiled(tw.Tiling([3, 3, 1], [2, 2, 2])), (3, 2)),
    ],
)
def test_chunks_are_what_lies_together(tmp_path, tensor, chunks):
    tw.save(tmp_path / "a.zarr", {"x": tensor})
    assert zarr.open_array(str(tmp_path / "a.zarr/x"), mode="r").chunks == chunks


def test_tiles_of_several_sizes_are_chunks_of_a_rectilinear_grid(tmp_path):
    array = np.arange(900.0).reshape(30, 30)
    tiled = tw.as_tensor(array).tiled(tw.Tiling([5, 15, 10], [30])).named("a", None, None, None)
    tw.save(tmp_path / "a.zarr", {"g/t": tw.as_tensor(array).tiled(tw.Tiling([5, 0, 15, 10], [30]))})
    text = json.loads((tmp_path / "a.zarr/g/t/zarr.json").read_text())
    assert text["chunk_grid"] == {
        "name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[5, 15, 10], [30]]},
    }
    raw = (tmp_path / "a.zarr/g/t/c/1/0").read_bytes()
    np.testing.assert_array_equal(np.frombuffer(raw, "<f8").reshape(15, 30), array[5:20])
    assert_same(tw.open(tmp_path / "a.zarr")["g/t"], array)
    assert tiled.tiling.chunks == ((5, 15, 10), (30,))
    tw.save(tmp_path / "b.zarr", {"t": tiled}, chunks=(10, 10))
    assert zarr.open_array(str(tmp_path / "b.zarr/t"), mode="r").chunks == (10, 10)


def test_ragged_arrays_are_in_the_form_that_is_discussed(tmp_path):
    tw.save(tmp_path / "a.zarr", {"r": ROWS["deep"], "c": ROWS["triples"]})
    group = zarr.open_group(str(tmp_path / "a.zarr/r"), mode="r")
    assert group.attrs["ragged"] == {"shape": [3, {"variable": [0]}, {"variable": [0, 1]}]}
    assert group["sizes_1"][...].tolist() == [2, 0, 1]
    assert group["sizes_2"][...].tolist() == [1, 0, 2]
    assert group["values"][...].tolist() == [1.5, 2.5, 3.5]
    cells = zarr.open_group(str(tmp_path / "a.zarr/c"), mode="r")
    assert cells.attrs["ragged"] == {"shape": [3, {"variable": [0]}, 3]}


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (tw.sparse([[1, 2]], [3.5], (3, 3)), "to_dense"),
        (tw.strings(["a", None]), "fill_null"),
        (tw.strings([["a"], ["b", "c"]]), r"^(?!.*fill_null).*\.tens.*\.parquet"),
        (tw.strings([b"a", None], kind="binary"), r"^(?!.*fill_null).*\.tens"),
        (np.zeros(3, ml_dtypes.bfloat16), "astype"),
    ],
)
def test_what_zarr_cannot_say_is_refused_with_the_call_that_works(tmp_path, tensor, words):
    tw.save(tmp_path / "a.zarr", {"x": [1]})
    with pytest.raises(ConversionError, match=words):
        tw.save(tmp_path / "a.zarr", {"odd": tensor})
    assert list(tw.open(tmp_path / "a.zarr")) == ["x"]
    assert names_in(tmp_path) == ["a.zarr"]


@pytest.mark.parametrize("name", ["", "/a", "a/", "a//b", "..", "a/../b", "x/y", "x"])
def test_names_that_are_no_paths_are_refused(tmp_path, name):
    with pytest.raises(ConversionError):
        tw.save(tmp_path / "a.zarr", {"x": [1], "x/z": [2]} if name == "x" else {"x": [1], name: [2]})
    assert names_in(tmp_path) == []


def test_a_folder_of_something_else_is_not_replaced(tmp_path):
    (tmp_path / "a.zarr").mkdir()
    (tmp_path / "a.zarr" / "precious").write_text("x")
    with pytest.raises(DataFileError):
        tw.save(tmp_path / "a.zarr", {"x": [1]})
    assert names_in(tmp_path / "a.zarr") == ["precious"]


def test_zarr_is_converted_both_ways(tmp_path):
    tw.save(tmp_path / "a.tens", {"rows": ROWS["rows"], "x": BOXES["table"]}, metadata={"run": 3})
    tw.store.convert(tmp_path / "a.tens", tmp_path / "b.zarr")
    with pytest.raises(DataFileExistsError):
        tw.store.convert(tmp_path / "a.tens", tmp_path / "b.zarr")
    tw.store.convert(tmp_path / "a.tens", tmp_path / "b.zarr", overwrite=True)
    tw.store.convert(tmp_path / "b.zarr", tmp_path / "c.h5")
    done = tw.store.convert(tmp_path / "c.h5", tmp_path / "d.tens")
    assert (done.names, done.lost) == (("rows", "x"), ())
    with tw.open(tmp_path / "d.tens") as f:
        assert f.metadata == {"run": 3}
        assert_same(f["rows"], ROWS["rows"])


@pytest.mark.parametrize("can_exchange", [True, False])
def test_the_old_store_stays_until_the_new_one_is_there(tmp_path, monkeypatch, can_exchange):
    path = tmp_path / "a.zarr"
    tw.save(path, {"x": np.arange(3)})
    if not can_exchange:
        monkeypatch.setattr(_write, "exchange", lambda *_: False)
    tw.save(path, {"y": np.arange(4)})
    assert list(tw.open(path)) == ["y"]
    assert [own.name for own in tmp_path.iterdir()] == ["a.zarr"]

    rename = Path.rename

    def refused(self, target):
        if Path(target) == path and (self / "z").exists():
            raise PermissionError(13, "no")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refused)
    monkeypatch.setattr(_write, "exchange", lambda *_: False)
    with pytest.raises(DataFileError):
        tw.save(path, {"z": np.arange(5)})
    assert list(tw.open(path)) == ["y"]
    assert [own.name for own in tmp_path.iterdir()] == ["a.zarr"]
