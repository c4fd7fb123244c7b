"""Laws of all conventions: raw files have the same elements, nothing is lost, and nothing hides another."""

import gc
import json
import shutil

import h5py
import numpy as np
import pytest
import scipy.sparse as sp

import tensorwrapper as tw
from tests.store.formats.conventions.test_awkward import ARRAYS, group_of
from tests.store.formats.conventions.test_cf import DIMENSIONS, contiguous, write_variables
from tests.store.formats.conventions.test_sparse import M, matrix
from tests.support.store.groups import KINDS, write_groups

RAGGED = {"shape": [3, {"variable": [0]}]}


def groups_for(kind):
    """Return groups of each convention, and one of none."""
    said = str(RAGGED).replace("'", '"') if kind == "h5" else RAGGED
    return {
        **matrix(sp.csr_array(M), "csr"),
        **matrix(sp.csc_array(M), "in/csc"),
        "lists": group_of(ARRAYS["lists in lists"]),
        "rows": ({"ragged": said}, {"sizes_1": np.array([2, 0, 1]), "values": np.arange(3.0)}),
        "plain": ({"units": "m"}, {"x": np.arange(4)}),
    }


VALUES = {"csr": "csr/data", "in/csc": "in/csc/data", "lists": "lists/node2-data", "rows": "rows/values"}


@pytest.mark.parametrize("kind", KINDS)
def test_raw_files_have_the_same_elements(tmp_path, kind):
    path = write_groups(tmp_path, kind, groups_for(kind))
    put, raw = tw.open(path), tw.open(path, raw=True)
    assert set(put) == {*VALUES, "plain/x"}
    for name, values in VALUES.items():
        size = put[name].nnz if put[name].is_sparse else put[name].size
        assert size == raw[values].size, name
    assert put.losses == raw.losses == ()


@pytest.mark.parametrize("kind", KINDS)
def test_ragged_groups_may_name_some_of_the_modes_on_which_a_mode_depends(tmp_path, kind):
    said = {"shape": [2, {"variable": [0]}, {"variable": [1]}, {"variable": [1, 2]}]}
    sizes = {"sizes_1": [1, 2], "sizes_2": [2, 0, 1], "sizes_3": [1, 2, 3]}
    arrays = {name: np.array(own) for name, own in sizes.items()} | {"values": np.arange(6)}
    groups = {"r": ({"ragged": json.dumps(said) if kind == "h5" else said}, arrays)}
    file = tw.open(write_groups(tmp_path, kind, groups))
    assert (list(file), file.losses) == (["r"], ())
    assert file["r"].tolist() == [[[[0], [1, 2]]], [[], [[3, 4, 5]]]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("raw", [False, True])
def test_every_array_is_a_tensor_or_a_part_of_one(tmp_path, kind, raw):
    groups = groups_for(kind)
    file = tw.open(write_groups(tmp_path, kind, groups), raw=raw)
    arrays = {f"{name}/{own}" for name, (_, parts) in groups.items() for own in parts}
    parts = set() if raw else {own for own in arrays if own.rpartition("/")[0] in VALUES}
    assert set(file) == (arrays - parts) | (set() if raw else set(VALUES))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", list(VALUES))
def test_a_damaged_group_changes_no_other(tmp_path, kind, name):
    groups = groups_for(kind)
    whole = tw.open(write_groups(tmp_path, kind, groups))
    expected = {
        own: whole[own].to_scipy().toarray().tolist() if whole[own].is_sparse else whole[own].tolist()
        for own in whole
    }
    (tmp_path / "b").mkdir()
    said, parts = groups[name]
    left = VALUES[name].rpartition("/")[2]
    groups[name] = (said, {own: array for own, array in parts.items() if own != left})
    file = tw.open(write_groups(tmp_path / "b", kind, groups))
    assert [(loss.name, loss.code) for loss in file.losses] == [(name, "convention")]
    others = set(expected) - {name}
    assert set(file) == others | {f"{name}/{own}" for own in groups[name][1]}
    for own in others:
        found = file[own]
        assert (found.to_scipy().toarray() if found.is_sparse else found).tolist() == expected[own]


def test_a_file_that_is_let_go_is_closed(tmp_path):
    path = write_variables(tmp_path, "h5", contiguous(), DIMENSIONS)
    with h5py.File(path, "a") as file:
        for name, (said, parts) in groups_for("h5").items():
            group = file.require_group(name)
            group.attrs.update(said)
            for own, array in parts.items():
                group[own] = array
    gc.disable()
    try:
        tensors = [own for own in tw.open(path).values() if own.size]
        del tensors
        with h5py.File(path, "a") as file:
            assert "z" in file
    finally:
        gc.enable()


def test_a_link_to_a_part_is_told(tmp_path):
    path = write_groups(tmp_path, "h5", groups_for("h5"))
    with h5py.File(path, "a") as file:
        file["soft"] = h5py.SoftLink("/csr/data")
        file["whole"] = h5py.SoftLink("/csr")
        file["far"] = h5py.ExternalLink("b.h5", "/x")
        del file["lists/node2-data"]
        file["lists/node2-data"] = h5py.ExternalLink("b.h5", "/x")
    file = tw.open(path)
    told = {(loss.name, loss.code) for loss in file.losses}
    assert told == {("soft", "link"), ("far", "link"), ("lists", "convention"), ("lists/node2-data", "link")}
    assert file.aliases["whole"] == "csr"
    assert file["whole"].nnz == 3


def test_attributes_that_are_read_are_not_lost(tmp_path):
    groups = groups_for("h5")
    groups["csr"][0]["units"] = "m"
    path = write_groups(tmp_path, "h5", groups)
    lost = tw.store.convert(path, tmp_path / "a.tens", only=["csr", "in/csc", "lists"]).lost
    said = [loss for loss in lost if "attributes" in loss]
    assert [loss.name for loss in said] == ["csr"]
    assert "'units'" in said[0]
    assert "shape" not in said[0]


@pytest.mark.parametrize("kind", ["zarr2", "zarr3"])
def test_archives_of_stores_have_the_same_tensors(tmp_path, kind):
    path = write_groups(tmp_path, kind, groups_for(kind))
    archive = shutil.make_archive(str(tmp_path / "b.zarr"), "zip", path)
    folder, packed = tw.open(path), tw.open(archive)
    assert (set(packed), packed.losses) == (set(folder), ())
    for name in folder:
        found, expected = [own[name] for own in (packed, folder)]
        assert found.shape == expected.shape
        assert expected.is_sparse or found.tolist() == expected.tolist()
