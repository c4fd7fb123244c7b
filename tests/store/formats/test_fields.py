"""Fields of records and arrays in elements are tensors, in files of NumPy and of HDF5 alike."""

import h5py
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.store.formats._fields import FieldsOf, field_paths, inner_of

RECORD = np.dtype([("a", "<i2"), ("b", ">f4"), ("c", [("d", "i1", (2,)), ("e", "?")]), ("t", "S2")])


@pytest.fixture
def records():
    found = np.zeros(7, RECORD)
    found["a"], found["b"] = np.arange(7), np.arange(7) + 0.5
    found["c"]["d"], found["c"]["e"] = np.arange(14).reshape(7, 2), np.arange(7) % 2
    found["t"] = b"xy"
    return found


def written(tmp_path, kind, records):
    path = tmp_path / f"a.{kind}"
    if kind == "npy":
        np.save(path, records)
    elif kind == "npz":
        np.savez(path, array=records)
    elif kind == "deflated.npz":
        np.savez_compressed(path, array=records)
    else:
        with h5py.File(path, "w") as f:
            f.create_dataset("array", data=records, chunks=(3,) if kind == "chunked.h5" else None)
    return path


@pytest.mark.parametrize("kind", ["npy", "npz", "deflated.npz", "h5", "chunked.h5"])
def test_each_field_is_a_tensor(tmp_path, records, kind):
    f = tw.open(written(tmp_path, kind, records))
    names = {"array.a": records["a"], "array.b": records["b"], "array.c.d": records["c"]["d"]}
    names["array.c.e"] = records["c"]["e"]
    for name, want in names.items():
        found = np.asarray(f[name])
        assert found.dtype == want.dtype, name
        np.testing.assert_array_equal(found, want)
        np.testing.assert_array_equal(np.asarray(f[name][5:1:-2]), want[5:1:-2])
    np.testing.assert_array_equal(np.asarray(f["array.c.d"][2:4, 1]), records["c"]["d"][2:4, 1])
    # What HDF5 calls a string is text.
    assert f["array.t"].tolist() == ["xy" if "h5" in kind else b"xy"] * 7
    assert f.losses == ()


@pytest.mark.parametrize("chunks", [None, (2,)])
def test_arrays_in_elements_are_modes(tmp_path, chunks):
    array = np.arange(24, dtype="<i2").reshape(4, 2, 3)
    with h5py.File(tmp_path / "a.h5", "w") as f:
        made = f.create_dataset("x", (4,), np.dtype(("<i2", (2, 3))), chunks=chunks)
        made[...] = array
    found = tw.open(tmp_path / "a.h5")["x"]
    assert (found.shape, found.dtype) == (tw.Shape(4, 2, 3), np.int16)
    for key in (np.s_[:], np.s_[1:3, :, ::2], np.s_[-1, 1], np.s_[[2, 0], 0, [1]]):
        np.testing.assert_array_equal(np.asarray(found[key]), array[key])


def test_a_name_that_is_taken_gets_a_number(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f["x"] = np.zeros(2, [("a", "i2"), ("b", "i2")])
        f["x.a"] = [5]
    f = tw.open(tmp_path / "a.h5")
    assert (list(f), f["x.a"].tolist(), f["x.a~1"].tolist()) == (["x.a~1", "x.b", "x.a"], [5], [0, 0])
    assert [(loss.name, loss.code) for loss in f.losses] == [("x.a", "name")]


def test_a_third_truth_value_in_a_field_is_refused(tmp_path):
    records = np.zeros(2, [("a", "?"), ("b", "i1")])
    records["a"] = np.array([1, 2], np.uint8).view(bool)
    np.save(tmp_path / "a.npy", records)
    with pytest.raises(tw.errors.DataFileError, match="neither"):
        tw.open(tmp_path / "a.npy")["array.a"]


def test_fields_are_found_in_their_order():
    assert [path for path, _ in field_paths(RECORD)] == [("a",), ("b",), ("c", "d"), ("c", "e"), ("t",)]
    assert inner_of(RECORD["c"]["d"]) == (np.dtype("i1"), (2,))
    assert inner_of(RECORD["a"]) == (np.dtype("<i2"), ())


def test_chunks_are_those_of_whole_elements(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        made = f.create_dataset("x", (4,), np.dtype(("<i2", (2, 3))), chunks=(2,))
        own = FieldsOf(made, (), (4, 2, 3), np.dtype("<i2"))
        assert own.chunks == (2, 2, 3)
        assert own.file == f
