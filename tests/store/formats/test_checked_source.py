"""What reading a stranger's file raises is an error of ours."""

import pickle
import shutil

import h5py
import numpy as np
import pytest
import zarr

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import DataFileError, TensorWrapperError, VersionChangedError


def test_chunks_that_are_damaged_are_refused_when_they_are_read(tmp_path):
    path, array = tmp_path / "a.h5", np.random.default_rng(1).integers(0, 9, 40_000)
    with h5py.File(path, "w") as f:
        f.create_dataset("x", data=array, chunks=(1000,), compression="gzip")
        f.create_dataset("y", data=array[:100], chunks=(100,))
    with h5py.File(path) as f:
        places = [f["x"].id.get_chunk_info(k).byte_offset for k in range(40)]
    raw = bytearray(path.read_bytes())
    raw[places[7] : places[7] + 200] = bytes(200)
    path.write_bytes(raw)
    view = tw.open(path)["x"]
    np.testing.assert_array_equal(np.asarray(view[:7000]), array[:7000])
    with pytest.raises(DataFileError, match=r"a\.h5"):
        view[6999:7001].compute()


def test_a_file_that_was_opened_to_be_read_is_not_written_to(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f.create_dataset("x", data=np.zeros(10), chunks=(5,))
    source = tw.open(tmp_path / "a.h5")["x"].plan().reads[0].source
    assert "write" not in source.abilities
    assert "threads" in source.abilities


@pytest.mark.parametrize("kind", ["zarr", "h5", "npz", "parquet", "tens"])
@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.array([300, -1]), "u1"),
        (np.array([1e300, np.nan]), "i8"),
        (np.array([1e300, 1.0]), "f4"),
        (np.array(["NaT", "2020-01-01"], "M8[ms]"), "i8"),
    ],
)
def test_an_element_that_does_not_fit_is_no_damage(tmp_path, kind, values, dtype):
    with pytest.raises(TensorWrapperError) as expected:
        tw.as_tensor(values).astype(dtype)
    tw.save(tmp_path / f"a.{kind}", {"x": values}, **({"chunks": (1,)} if kind in ("zarr", "h5") else {}))
    with tw.open(tmp_path / f"a.{kind}") as file, pytest.raises(TensorWrapperError) as found:
        tw.as_tensor(sel.as_view(file["x"]).astype(dtype))
    assert type(found.value) is type(expected.value)
    assert "damaged" not in str(found.value)


A, B = np.arange(4.0), np.arange(4.0) + 100


def test_a_parquet_file_that_was_replaced_is_not_read_by_the_old_footer(tmp_path):
    path = tmp_path / "a.parquet"
    tw.save(path, {"a": A, "b": B})
    file = tw.open(path)
    column = file["a"]
    tw.save(path, {"b": B, "a": A})
    with pytest.raises(VersionChangedError, match="replaced"):
        column.compute()
    for name in ("a", "b"):
        with pytest.raises(VersionChangedError, match="replaced"):
            file[name].compute()
    assert tw.open(path)["a"].tolist() == A.tolist()


@pytest.mark.parametrize("rows", [False, True])
def test_a_zarr_store_that_is_gone_or_replaced_invents_no_elements(tmp_path, rows):
    path = tmp_path / "a.zarr"
    values = tw.jagged([[1.0], [2.0, 3.0], [4.0]]) if rows else A + 1
    options = {} if rows else {"chunks": (2,)}
    tw.save(path, {"x": values}, **options)
    view = tw.open(path)["x"]
    zarr.open(path, mode="a")["x"].attrs["note"] = "attributes may change"
    assert view.tolist() == tw.as_tensor(values).tolist()
    tw.save(path, {"x": tw.jagged([[7.0, 8.0], [9.0], [0.0]]) if rows else A + 100}, **options)
    with pytest.raises(VersionChangedError, match="replaced"):
        view.compute()
    tw.save(path, {"x": tw.jagged([[7.0]]) if rows else np.array([7.0, 8.0])})
    with pytest.raises(VersionChangedError, match="replaced"):
        view.compute()
    assert tw.open(path)["x"].tolist() == ([[7.0]] if rows else [7.0, 8.0])
    shutil.rmtree(path)
    with pytest.raises(VersionChangedError, match="removed"):
        view.compute()


@pytest.mark.parametrize("kind", ["parquet", "zarr", "h5", "tens", "npz", "feather"])
def test_a_relative_path_is_of_the_folder_in_which_it_was_opened(tmp_path, monkeypatch, kind):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    tw.save(f"q.{kind}", {"a": A})
    tw.save(f"other/q.{kind}", {"a": B})
    with tw.open(f"q.{kind}") as file:
        view = sel.as_view(file["a"])
        monkeypatch.chdir(tmp_path / "other")
        assert view.tolist() == tw.as_tensor(file["a"]).tolist() == A.tolist()


def test_a_view_of_a_compressed_member_pickles_its_elements(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, x=np.arange(12.0).reshape(3, 4))
    sent = pickle.dumps(tw.open(path)["x"])
    path.unlink()
    view = pickle.loads(sent)
    assert view[1:].compute().tolist() == np.arange(12.0).reshape(3, 4)[1:].tolist()
