"""Manifests of kerchunk are Zarr stores over the bytes of other files, and read no others."""

import base64
import json
import pickle

import numpy as np
import pytest
import zarr

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError, VersionChangedError
from tensorwrapper.store.formats.zarr import _manifest

ARRAY = {
    "zarr_format": 2,
    "shape": [4],
    "chunks": [2],
    "dtype": "<i4",
    "order": "C",
    "fill_value": 7,
    "filters": None,
    "compressor": None,
}
GROUP = json.dumps({"zarr_format": 2})


def written(folder, found, **others):
    (folder / "f.bin").write_bytes(np.arange(4, dtype="<i4").tobytes())
    path = folder / "a.json"
    path.write_text(json.dumps({"version": 1, "refs": {".zgroup": GROUP, **found}, **others}))
    return path


def array(name, refs, **said):
    return {
        f"{name}/.zarray": json.dumps({**ARRAY, **said}),
        **{f"{name}/{k}": own for k, own in refs.items()},
    }


SPANS = {"0": ["f.bin", 0, 8], "1": ["f.bin", 8, 8]}


def test_chunks_are_bytes_of_files_below_the_folder_that_is_named(tmp_path):
    path = written(tmp_path, array("x", SPANS))
    f = tw.open(path, follow=tmp_path)
    assert (list(f), f.losses) == (["x"], ())
    assert f["x"].tolist() == [0, 1, 2, 3]
    assert f["x"][3:].tolist() == [3]
    assert pickle.loads(pickle.dumps(f["x"])).tolist() == [0, 1, 2, 3]
    assert tw.store.recognise(path).kind == "kerchunk"


def test_the_folder_of_the_files_may_be_another(tmp_path):
    (tmp_path / "data").mkdir()
    path = written(tmp_path, array("x", SPANS))
    (tmp_path / "f.bin").rename(tmp_path / "data" / "f.bin")
    assert tw.open(path, follow=tmp_path / "data")["x"].tolist() == [0, 1, 2, 3]
    deeper = {"0": ["data/f.bin", 0, 8], "1": ["data/f.bin", 8, 8]}
    path.write_text(json.dumps({"version": 1, "refs": {".zgroup": GROUP, **array("x", deeper)}}))
    assert tw.open(path, follow=tmp_path)["x"].tolist() == [0, 1, 2, 3]


def test_texts_and_whole_files(tmp_path):
    one = base64.b64encode(np.array([5], "<i4").tobytes()).decode()
    refs = {
        **array("b", {"0": "base64:AQAAAA=="}, shape=[1], chunks=[1]),
        **array("t", {"0": "\x01\x00\x00\x00"}, shape=[1], chunks=[1]),
        **array("w", {"0": ["f.bin"]}, chunks=[4]),
        **array("n/d", {"0": f"base64:{one}"}, shape=[2], chunks=[1]),
        "n/.zattrs": {"by": "them"},
        "n/.zgroup": {"zarr_format": 2},
    }
    f = tw.open(written(tmp_path, refs), follow=tmp_path)
    assert {name: own.tolist() for name, own in f.items()} == {
        "b": [1],
        "n/d": [5, 7],
        "t": [1],
        "w": [0, 1, 2, 3],
    }


def test_what_is_not_below_the_folder_is_told(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "f.bin").write_bytes(bytes(16))
    (inside / "link.bin").symlink_to(outside / "f.bin")
    (inside / "folder").symlink_to(outside)
    targets = {
        "absolute": str(outside / "f.bin"),
        "up": "../out/f.bin",
        "link": "link.bin",
        "folder": "folder/f.bin",
        "file": f"file://{outside}/f.bin",
        "web": "https://example.org/f.bin",
        "gone": "gone.bin",
        "empty": "",
    }
    refs = array("x", SPANS)
    for name, target in targets.items():
        refs |= array(name, {"0": [target, 0, 8], "1": ["f.bin", 8, 8]})
    path = written(inside, refs)
    f = tw.open(path, follow=inside)
    assert list(f) == ["x"]
    losses = {loss.name: loss for loss in f.losses}
    assert losses.keys() == targets.keys()
    for name, target in targets.items():
        assert losses[name].code == "link"
        assert repr(target)[-40:] in losses[name]
    nothing = tw.open(path)
    assert list(nothing) == []
    assert {loss.code for loss in nothing.losses} == {"link"}
    assert all("follow=" in loss for loss in nothing.losses)
    # A view keeps to the files that it was made of.
    view = f["x"]
    (inside / "f.bin").unlink()
    (inside / "f.bin").symlink_to(outside / "f.bin")
    with pytest.raises(DataFileError, match="another file"):
        view.tolist()
    (inside / "f.bin").unlink()
    with pytest.raises(DataFileError):
        view.tolist()


@pytest.mark.parametrize(
    "chunk",
    [
        ["f.bin", 8, 9],
        ["f.bin", -1, 8],
        ["f.bin", 0, -8],
        ["f.bin", 0, 2**70],
        ["f.bin", True, 8],
        ["f.bin", 0.5, 8],
        ["f.bin", 0],
        [3, 0, 8],
        [],
        None,
        5,
        "base64:???",
    ],
)
def test_references_that_cannot_be_are_told(tmp_path, chunk):
    f = tw.open(written(tmp_path, {**array("x", SPANS), **array("y", {"0": chunk})}), follow=tmp_path)
    assert f["x"].tolist() == [0, 1, 2, 3]
    assert [(loss.name, loss.code) for loss in f.losses] == [("y", "damage")]


def test_chunks_that_are_too_short_are_refused(tmp_path):
    f = tw.open(written(tmp_path, array("x", {"0": ["f.bin", 0, 4]})), follow=tmp_path)
    with pytest.raises(DataFileError):
        f["x"].tolist()


@pytest.mark.parametrize(
    "others", [{"templates": {"u": "f"}}, {"gen": [{"key": "x"}]}, {"version": 2}, {"refs": []}]
)
def test_manifests_that_compute_references_are_refused(tmp_path, others):
    path = written(tmp_path, {}, **others)
    with pytest.raises(DataFileError, match=r"templates|gen|version"):
        tw.open(path, follow=tmp_path, kind="kerchunk")


def test_manifests_have_so_many_keys(tmp_path, monkeypatch):
    path = written(tmp_path, array("x", SPANS))
    monkeypatch.setattr(_manifest, "_MOST_KEYS", 3)
    with pytest.raises(DataFileError, match="4 keys, but the limit is 3"):
        tw.open(path)
    monkeypatch.setattr(_manifest, "_MOST_BYTES", 30)
    with pytest.raises(DataFileError, match="30"):
        tw.open(path)


@pytest.mark.parametrize(
    "text", ["", "[", '{"version": 1, "refs": {"a": 1, "a": 2}}', "[" * 1000, '{"version": 1}']
)
def test_damaged_manifests_are_refused(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(DataFileError):
        tw.open(tmp_path / "a.json", kind="kerchunk")


@pytest.mark.parametrize("version", [2, 3])
def test_a_store_of_zarr_as_a_manifest(tmp_path, version):
    group = zarr.create_group(tmp_path / "z.zarr", zarr_format=version)
    x = np.arange(35.0).reshape(5, 7)
    group.create_array("g/x", data=x, chunks=(2, 3))
    refs = {}
    for own in (tmp_path / "z.zarr").rglob("*"):
        if own.is_file():
            key = str(own.relative_to(tmp_path / "z.zarr"))
            is_text = own.suffix == ".json" or own.name.startswith(".z")
            refs[key] = own.read_text() if is_text else [f"z.zarr/{key}", 0, own.stat().st_size]
    (tmp_path / "a.json").write_text(json.dumps({"version": 1, "refs": refs}))
    assert tw.open(tmp_path / "a.json", follow=tmp_path)["g/x"].tolist() == x.tolist()


def test_kerchunk_itself_writes_such_manifests(tmp_path):
    kerchunk = pytest.importorskip("kerchunk.hdf")
    import h5py

    x = np.arange(24, dtype="<i2").reshape(4, 6)
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f.create_dataset("x", data=x, chunks=(2, 3), compression="gzip")
        f["y"] = x
    refs = kerchunk.SingleHdf5ToZarr(str(tmp_path / "a.h5"), inline_threshold=0).translate()
    text = json.dumps(refs).replace(str(tmp_path / "a.h5"), "a.h5")
    (tmp_path / "a.json").write_text(text)
    f = tw.open(tmp_path / "a.json", follow=tmp_path)
    assert (f["x"].tolist(), f["y"].tolist()) == (x.tolist(), x.tolist())


def test_a_key_that_is_an_object_may_have_nan_as_its_text_may(tmp_path):
    said = {"_FillValue": float("nan"), "most": float("inf")}
    meta = {**ARRAY, "dtype": "<f4", "fill_value": "NaN"}
    for given in (json.dumps, dict):
        refs = {"x/.zarray": given(meta), "x/.zattrs": given(said), "x/0": ["f.bin", 0, 8]}
        f = tw.open(written(tmp_path, refs), follow=tmp_path)
        assert (list(f), f.losses) == (["x"], ())
        assert np.isnan(f["x"][2:].compute().to_numpy()).all()


@pytest.mark.parametrize("change", ["replaced", "rewritten", "removed"])
def test_a_file_that_changes_after_its_manifest_was_opened_is_not_read(tmp_path, change):
    target = tmp_path / "f.bin"
    target.write_bytes(np.arange(2, dtype="<f4").tobytes() * 2)
    refs = {
        "x/.zarray": json.dumps({**ARRAY, "dtype": "<f4"}),
        "x/0": ["f.bin", 0, 8],
        "x/1": ["f.bin", 8, 8],
    }
    view = tw.open(written(tmp_path, refs), follow=tmp_path)["x"]
    wanted, sent = view.tolist(), pickle.dumps(view)
    assert pickle.loads(sent).tolist() == wanted
    if change == "rewritten":
        target.write_bytes(bytes(24))
    else:
        target.unlink()
        if change == "replaced":
            target.write_bytes(bytes(24))
    with pytest.raises((VersionChangedError, DataFileError)):
        view.compute()
    with pytest.raises(VersionChangedError, match="changed, replaced or removed"):
        pickle.loads(sent)
