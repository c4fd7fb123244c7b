"""Chunks that are links: those in a store are read, and no others; zarr-python says what is right."""

import pickle
import shutil
import subprocess

import numpy as np
import pytest
import zarr

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError

ARRAY = np.arange(1, 13, dtype="i4").reshape(4, 3)


def regular(folder):
    zarr.open_group(str(folder)).create_array("t", data=ARRAY, chunks=(2, 3))


def sharded(folder):
    zarr.open_group(str(folder)).create_array("t", data=ARRAY, chunks=(1, 3), shards=(2, 3))


def old(folder):
    group = zarr.create_group(str(folder), zarr_format=2, overwrite=True)
    group.create_array("t", data=ARRAY, chunks=(2, 3))


def old_in_folders(folder):
    group = zarr.create_group(str(folder), zarr_format=2, overwrite=True)
    keys = {"name": "v2", "separator": "/"}
    group.create_array("t", data=ARRAY, chunks=(2, 3), chunk_key_encoding=keys)


KINDS = {
    "regular": (regular, ["c", "c/1", "c/1/0"]),
    "sharded": (sharded, ["c", "c/1/0"]),
    "version 2": (old, ["1.0"]),
    "version 2 in folders": (old_in_folders, ["1", "1/0"]),
}
PLACES = [(kind, place) for kind, (_, places) in KINDS.items() for place in places]


@pytest.fixture
def path(tmp_path):
    zarr.create_group(str(tmp_path / "a.zarr"))
    return tmp_path / "a.zarr"


@pytest.mark.parametrize("target", ["inside", "outside", "nothing"])
@pytest.mark.parametrize(("kind", "place"), PLACES)
def test_a_link_among_the_chunks_is_read_in_the_store_alone(path, kind, place, target):
    KINDS[kind][0](path)
    zarr.open_group(str(path)).create_array("x", data=ARRAY)
    moved = (path if target == "inside" else path.parent) / "moved"
    (path / "t" / place).rename(moved)
    (path / "t" / place).symlink_to(moved)
    if target == "nothing":
        shutil.rmtree(moved) if moved.is_dir() else moved.unlink()
    f = tw.open(path)
    assert f["x"].tolist() == ARRAY.tolist()
    if target == "inside":
        assert f["t"].tolist() == ARRAY.tolist()
        return
    if place == "c":
        assert (list(f), [(loss.name, loss.code) for loss in f.losses]) == (["x"], [("t", "link")])
    else:
        # Rows that are here are read; others are never what is elsewhere, or what an array is filled with.
        assert f["t"][:2].tolist() == ARRAY[:2].tolist()
        with pytest.raises(DataFileError, match="is a link of the system"):
            f["t"][2:].compute()
    done = tw.store.convert(path, path.parent / "b.tens", strict=False)
    assert done.names == ("x",)
    assert [(loss.name, loss.code) for loss in done.lost] == [("t", "link")]
    if target == "outside":
        assert "`cp -rL`" in done.lost[0].help
        subprocess.run(["cp", "-rL", path, path.parent / "copy"], check=True)
        assert tw.open(path.parent / "copy")["t"].tolist() == ARRAY.tolist()


@pytest.mark.parametrize("part", ["values", "sizes_1"])
@pytest.mark.parametrize("place", ["", "c", "c/0"])
def test_a_part_of_rows_that_is_elsewhere_is_told_or_refused(path, part, place):
    tw.save(path, {"r": tw.jagged([[1], [2, 3]]), "x": [1]})
    moved = path.parent / "moved"
    at = path / "r" / part / place
    at.rename(moved)
    at.symlink_to(moved)
    f = tw.open(path)
    assert f["x"].tolist() == [1]
    if place == "c/0":
        with pytest.raises(DataFileError, match="is a link of the system"):
            f["r"].tolist()
    else:
        assert {"r": "link", f"r/{part}": "link"} == {loss.name: loss.code for loss in f.losses}


@pytest.mark.parametrize("target", ["inside", "outside", "nothing"])
def test_a_chunk_of_an_uneven_grid_is_read_in_the_store_alone(path, target):
    tw.save(path, {"t": tw.as_tensor(ARRAY).tiled(tw.Tiling([1, 3], [3]))})
    chunk = path / "t" / "c" / "1" / "0"
    moved = (path if target == "inside" else path.parent) / "moved"
    chunk.rename(moved)
    chunk.symlink_to(moved)
    if target == "nothing":
        moved.unlink()
    if target == "inside":
        assert tw.open(path)["t"].tolist() == ARRAY.tolist()
        return
    with pytest.raises(DataFileError, match="is a link of the system"):
        tw.open(path)["t"].compute()


def test_a_view_of_chunks_goes_to_other_processes(path):
    regular(path)
    view = pickle.loads(pickle.dumps(tw.open(path)["t"][1:]))
    assert view.tolist() == ARRAY[1:].tolist()
    assert "a.zarr/t" in repr(view.plan().reads[0].source)
