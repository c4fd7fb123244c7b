"""Which nodes a store has is read from metadata, and from nowhere else."""

import os

import numpy as np
import pytest
import zarr

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.formats._links import Links
from tensorwrapper.store.formats.zarr._tree import nodes_of, read_node
from tensorwrapper.wire import DEFAULT_LIMITS, Limits


@pytest.fixture
def path(tmp_path):
    group = zarr.create_group(str(tmp_path / "a.zarr"))
    for name in ["b/two", "b/one", "a"]:
        group.create_array(name, data=np.zeros((4, 4)), chunks=(1, 1))
    return tmp_path / "a.zarr"


def test_groups_come_before_what_is_in_them(path):
    found = [(name, node["node_type"]) for name, _, node in nodes_of(path, DEFAULT_LIMITS, Links())]
    assert found == [("", "group"), ("a", "array"), ("b", "group"), ("b/one", "array"), ("b/two", "array")]


def test_chunks_are_not_looked_at(path, monkeypatch):
    asked = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: asked.append(str(folder)) or scan(folder))
    list(nodes_of(path, DEFAULT_LIMITS, Links()))
    assert asked == [str(path), str(path / "b")]


def test_links_in_the_store_are_names_and_those_out_of_it_are_told(path, tmp_path):
    zarr.create_array(str(tmp_path / "away"), data=np.zeros(2))
    (path / "out").symlink_to(tmp_path / "away", target_is_directory=True)
    (path / "gone").symlink_to(tmp_path / "nothing")
    (path / "round").symlink_to(path, target_is_directory=True)
    (path / "b" / "again").symlink_to("../a")
    (path / "notes").symlink_to(tmp_path)
    (path / "b" / "one" / "zarr.json").unlink()
    (path / "b" / "one" / "zarr.json").symlink_to(tmp_path / "away" / "zarr.json")
    (tmp_path / "link.zarr").symlink_to(path)
    for place in (path, tmp_path / "link.zarr"):
        with tw.open(place) as f:
            assert list(f) == ["a", "b/two"]
            assert f.aliases["b/again"] == f.aliases["round/a"] == "a"
            assert f["b/again"].tolist() == f["round/b/again"].tolist() == [[0.0] * 4] * 4
            assert [(loss.name, loss.code) for loss in f.losses] == [
                ("b/one", "link"), ("gone", "link"), ("out", "link")
            ]  # fmt: skip
            assert str(tmp_path / "away") in f.losses[2]
        done = tw.store.convert(place, tmp_path / "b.tens", overwrite=True)
        assert done.names == ("a", "b.two")
        assert {"b/one", "gone", "out", "b/again"} <= {loss.name for loss in done.lost}


def test_a_root_that_is_said_elsewhere_is_refused(path, tmp_path):
    (path / "zarr.json").rename(tmp_path / "zarr.json")
    (path / "zarr.json").symlink_to(tmp_path / "zarr.json")
    with pytest.raises(DataFileError, match="out of the store"):
        tw.open(path)


def test_a_store_of_too_many_nodes_is_refused(path):
    with pytest.raises(DataFileError, match="tensors"):
        list(nodes_of(path, Limits(tensors=3), Links()))


def test_metadata_of_no_end_are_refused(path, monkeypatch):
    monkeypatch.setattr("tensorwrapper.store.formats.zarr._tree._BYTES", 100)
    with pytest.raises(Exception, match="100"):
        read_node(path / "a")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes a FIFO")
def test_nobody_is_waited_for(path):
    (path / "a" / "zarr.json").unlink()
    os.mkfifo(path / "a" / "zarr.json")
    with pytest.raises(DataFileError, match="FIFO"):
        read_node(path / "a")


def test_what_lies_too_deep_or_cannot_be_listed_hides_no_other(path, monkeypatch):
    deep = path / "deep"
    for _ in range(70):
        deep.mkdir()
        (deep / "zarr.json").write_text('{"zarr_format":3,"node_type":"group"}')
        deep = deep / "g"
    f = tw.open(path)
    assert sorted(f) == ["a", "b/one", "b/two"]
    assert [loss.code for loss in f.losses] == ["member"]
    scan = os.scandir

    def refusing(folder):
        if str(folder) == str(path / "b"):
            raise PermissionError(13, "not allowed")
        return scan(folder)

    monkeypatch.setattr(os, "scandir", refusing)
    f = tw.open(path)
    assert list(f) == ["a"]
    assert {loss.name: loss.code for loss in f.losses}["b"] == "damage"


def test_an_array_of_too_many_modes_is_told(path):
    zarr.open_group(str(path)).create_array("x", shape=(1,) * 65, chunks=(1,) * 65, dtype="i4")
    f = tw.open(path)
    assert sorted(f) == ["a", "b/one", "b/two"]
    assert [(loss.name, loss.code) for loss in f.losses] == [("x", "member")]


def test_a_group_that_is_damaged_or_not_there_hides_nothing_in_it(path):
    (path / "b" / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group", "attributes": [1]}')
    with tw.open(path) as file:
        assert list(file) == ["a", "b/one", "b/two"]
        assert [(loss.name, loss.code) for loss in file.losses] == [("b", "damage")]
    (path / "b" / "zarr.json").unlink()
    (path / "deep" / "er").mkdir(parents=True)
    (path / "b" / "one").rename(path / "deep" / "er" / "one")
    (path / "notes" / "more").mkdir(parents=True)
    with tw.open(path) as file:
        assert (list(file), file.losses) == (["a", "b/two", "deep/er/one"], ())
        assert file["deep/er/one"].shape == tw.Shape(4, 4)


@pytest.mark.parametrize("separator", ["/", "."])
def test_what_lies_where_chunks_are_and_is_none_is_damage(path, separator):
    """The zarr library takes it for a chunk that was not written."""
    array = zarr.create_array(
        str(path / "x"),
        data=np.ones((2, 2)),
        chunks=(1, 2),
        chunk_key_encoding={"name": "default", "separator": separator},
    )
    chunk = path / "x" / "c" / "0" / "0" if separator == "/" else path / "x" / "c.0.0"
    data = chunk.read_bytes()
    chunk.unlink()
    chunk.mkdir()
    assert array[0].tolist() == [0, 0]
    with pytest.raises(DataFileError, match="is a folder, not a chunk"):
        tw.open(path)["x"][0].compute()
    assert tw.open(path)["x"][1].compute().tolist() == [1, 1]
    if separator == "/":
        chunk.rmdir()
        chunk.parent.rmdir()
        chunk.parent.write_bytes(data)
        with pytest.raises(DataFileError, match="is not a folder"):
            tw.open(path)["x"][0].compute()
