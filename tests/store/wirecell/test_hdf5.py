"""Tensor sets in HDF5, written here as Wire-Cell's sink writes them."""

import json

import h5py
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import store
from tensorwrapper.errors import DataFileError

SAID = {"datapath": "pc/0/arrays/x", "datatype": "pcarray", "gain": 2.5, "run": 3, "masks": {"bad": [[1, 2]]}}


def say(found, said):
    """Write metadata as attributes: scalars as they are, the rest as text of a fixed size, or JSON in it."""
    for key, value in said.items():
        if isinstance(value, str | list | dict):
            raw = (value if isinstance(value, str) else json.dumps(value)).encode()
            kind = h5py.h5t.C_S1.copy()
            kind.set_size(len(raw))
            kind.set_strpad(h5py.h5t.STR_NULLTERM)
            space = h5py.h5s.create(h5py.h5s.SCALAR)
            h5py.h5a.create(found.id, key.encode(), kind, space).write(np.array(raw), mtype=kind)
        else:
            found.attrs[key] = value


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        for ident in (7, 0):
            group = file.create_group(f"tensorsets/{ident}")
            say(group, {"ident": ident, "kind": "tensorset"})
        for k in (0, 1, 10, 2):
            array = file.create_dataset(
                f"tensorsets/7/{k}", data=np.arange(4.0) + k, chunks=(2,), compression="gzip"
            )
            say(array, SAID | {"datapath": f"pc/0/arrays/{k}"})
        file["tensorsets/0/0"] = np.arange(3)
        file["tensorsets/0/01"] = np.arange(3)
        file["tensorsets/x/0"] = np.arange(3)
        file["other"] = np.arange(2)
    return path


def test_sets_are_groups_and_what_is_said_are_attributes(path):
    with tw.open(path) as file:
        sets = file.sets()
        assert sorted(sets) == [0, 7]
        assert sets[7].metadata == {"kind": "tensorset"}
        assert [t.tolist()[0] for t in sets[7].tensors] == [0, 1, 2, 10]
        assert sets[7].tensor_metadata[0] == SAID | {"datapath": "pc/0/arrays/0"}
        assert sets[7].tree["pc/0/arrays/10"].tensor.tolist() == [10, 11, 12, 13]
        assert (sets[0].metadata, sets[0].tensor_metadata) == ({"kind": "tensorset"}, ({},))
        assert file.metadata["tensorset_7"] == {"kind": "tensorset"}
        assert "other" in file


def test_sets_of_hdf5_go_into_tensor_files(path, tmp_path):
    with tw.open(path) as file:
        store.save_sets(tmp_path / "a.tar", [file.sets()[7]])
    back = tw.open(tmp_path / "a.tar").sets()[7]
    assert back.metadata == {"kind": "tensorset"}
    assert back.tree["pc/0/arrays/2"].metadata["masks"] == {"bad": [[1, 2]]}


def test_other_files_have_no_sets(tmp_path):
    tw.save(tmp_path / "a.h5", {"x": [1]}, metadata={"run": 3})
    file = tw.open(tmp_path / "a.h5")
    assert (dict(file.sets()), file.metadata) == ({}, {"run": 3})


def test_attributes_that_say_nothing_of_json_are_text(path):
    with h5py.File(path, "a") as file:
        own = file["tensorsets/0/0"].attrs
        own["broken"] = "{"
        own["deep"] = "[" * 100 + "]" * 100
        own["list"] = [1, 2]
        own["nothing"] = h5py.Empty("f8")
    said = tw.open(path).sets()[0].tensor_metadata[0]
    assert (said["broken"], said["deep"], said["list"]) == ("{", "[" * 100 + "]" * 100, [1, 2])
    assert said["nothing"] is None


def test_attributes_that_are_too_much_are_refused_and_hide_no_elements(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", libver="latest") as file:
        file["tensorsets/7/0"] = np.arange(3)
        file["tensorsets/7/0"].attrs["big"] = np.zeros(2**18)
    file = tw.open(path)
    with pytest.raises(DataFileError, match="bytes"):
        file.tensor_metadata("tensorsets/7/0")
    assert [(loss.name, loss.code) for loss in file.losses] == [("tensorsets/7/0", "damage")]
    assert (file.sets()[7].tensors[0].tolist(), file.sets()[7].tensor_metadata) == ([0, 1, 2], ({},))


def test_heaps_are_walked_before_what_is_said_is_read(tmp_path):
    """The picture of a heap that never ends, on which HDF5 would look for ever if it were one."""
    picture = b"GCOL\1" + bytes(3) + (128).to_bytes(8, "little") + bytes(112)
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", libver="latest") as file:
        file["tensorsets/7/0"] = np.arange(3)
        file["tensorsets/7/0"].attrs["text"] = "of any length"
        file["tensorsets/7/1"] = np.frombuffer(picture, np.uint8)
    file = tw.open(path)
    assert [(loss.name, loss.code) for loss in file.losses] == [("tensorsets/7/0", "damage")]
    assert file.sets()[7].tensors[0].tolist() == [0, 1, 2]
