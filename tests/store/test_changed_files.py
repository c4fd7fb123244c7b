"""A file that another program replaces, cuts or removes: reads give its old values, or an error of ours."""

import os
import pickle
import shutil

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import TensorWrapperError

OLD, NEW = np.arange(4000.0).reshape(40, 100), -np.arange(4000.0).reshape(40, 100) - 1
KINDS = ["npy", "npz", "safetensors", "h5", "zarr", "parquet", "feather", "tens"]


def saved(path, array):
    name = "array" if path.suffix == ".npy" else "x"
    chunked = {"chunks": (10, 100)} if path.suffix in (".h5", ".zarr") else {}
    tw.save(path, {name: array}, **chunked)
    return name


def removed(path):
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def replaced(path):
    new = path.with_name(f"new{path.suffix}")
    saved(new, NEW)
    if path.is_dir():
        removed(path)
    new.replace(path)


def moved(path):
    path.rename(path.with_name(f"old{path.suffix}"))
    saved(path, NEW)


def left(path):
    """Enter another folder, where a file has the relative path."""
    other = path.parent / "other"
    other.mkdir()
    saved(other / path.name, NEW)
    os.chdir(other)


def open_tensor(opened):
    return lambda: opened


def open_view(opened):
    return sel.as_view(opened)[1:].compute


def pickled_tensor(opened):
    sent = pickle.dumps(opened)
    return lambda: pickle.loads(sent)


def pickled_view(opened):
    return pickled_tensor(sel.as_view(opened)[1:])


def dask_array(opened):
    return sel.as_view(opened)[1:].to_dask().compute


@pytest.mark.parametrize("change", [replaced, moved, removed, left])
@pytest.mark.parametrize("holder", [open_tensor, open_view, pickled_tensor, pickled_view, dask_array])
@pytest.mark.parametrize("kind", KINDS)
def test_reads_give_the_old_values_or_an_error_of_ours(tmp_path, monkeypatch, kind, holder, change):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"a.{kind}"
    name = saved(path, OLD)
    with tw.open(path.name) as file:
        read = holder(file[name])
        change(path)
        try:
            found = np.asarray(read())
        except TensorWrapperError:
            return
        np.testing.assert_array_equal(found, OLD[-len(found) :])


@pytest.mark.parametrize("change", [replaced, moved, removed, left])
@pytest.mark.parametrize("kind", KINDS)
def test_a_server_gives_the_old_values_or_an_error_of_ours(tmp_path, monkeypatch, kind, change):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"a.{kind}"
    name = saved(path, OLD)
    with (
        tw.open(path.name) as file,
        tw.serve({"x": file[name]}) as server,
        tw.connect(server.address) as client,
    ):
        remote = client["x"]
        change(path)
        try:
            found = np.asarray(remote[1:])
        except TensorWrapperError:
            return
        np.testing.assert_array_equal(found, OLD[1:])
