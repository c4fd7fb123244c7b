"""Which nodes a store has is read from metadata, and from nowhere else."""

import os

import numpy as np
import pytest
import zarr

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.foreign.zarr._tree import nodes_of, read_node
from tensorwrapper.wire import DEFAULT_LIMITS, Limits


@pytest.fixture
def path(tmp_path):
    group = zarr.create_group(str(tmp_path / "a.zarr"))
    for name in ["b/two", "b/one", "a"]:
        group.create_array(name, data=np.zeros((4, 4)), chunks=(1, 1))
    return tmp_path / "a.zarr"


def test_groups_come_before_what_is_in_them(path):
    found = [(name, node["node_type"]) for name, _, node in nodes_of(path, DEFAULT_LIMITS)]
    assert found == [("", "group"), ("a", "array"), ("b", "group"), ("b/one", "array"), ("b/two", "array")]


def test_chunks_are_not_looked_at(path, monkeypatch):
    asked = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: asked.append(str(folder)) or scan(folder))
    list(nodes_of(path, DEFAULT_LIMITS))
    assert asked == [str(path), str(path / "b")]


def test_links_are_not_followed_and_that_is_told(path, tmp_path):
    zarr.create_array(str(tmp_path / "away"), data=np.zeros(2))
    (path / "link").symlink_to(tmp_path / "away", target_is_directory=True)
    (path / "round").symlink_to(path, target_is_directory=True)
    (path / "b" / "one" / "zarr.json").unlink()
    (path / "b" / "one" / "zarr.json").symlink_to(tmp_path / "away" / "zarr.json")
    with tw.open(path) as f:
        assert list(f) == ["a", "b/two"]
        assert [(loss.name, loss.code) for loss in f.losses] == [
            ("b/one", "link"), ("link", "link"), ("round", "link")
        ]  # fmt: skip


def test_a_store_of_too_many_nodes_is_refused(path):
    with pytest.raises(DataFileError, match="tensors"):
        list(nodes_of(path, Limits(tensors=3)))


def test_metadata_of_no_end_are_refused(path, monkeypatch):
    monkeypatch.setattr("tensorwrapper.store.foreign.zarr._tree._BYTES", 100)
    with pytest.raises(Exception, match="100"):
        read_node(path / "a")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes a FIFO")
def test_nobody_is_waited_for(path):
    (path / "a" / "zarr.json").unlink()
    os.mkfifo(path / "a" / "zarr.json")
    with pytest.raises(DataFileError, match="FIFO"):
        read_node(path / "a")
