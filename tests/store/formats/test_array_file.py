"""Files of NumPy and of safetensors, opened by path: lazy tensors by name."""

import gc
import io
import tracemalloc
import warnings
import zipfile

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper import store
from tensorwrapper.errors import (
    ConversionError,
    DataFileError,
    DataFileNotFoundError,
    ReadOnlyError,
    TensorNameError,
)
from tests.support.store.opened_arrays import KINDS, TABLE, written

ARRAYS = {
    "table": TABLE,
    "fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "scalar": np.array(2.5),
    "empty": np.zeros((3, 0), "i2"),
    "bool": np.array([True, False]),
    "long": np.arange(5, dtype="u8"),
    "complex": np.arange(3, dtype="c8"),
}
BEYOND = {"big": np.arange(4, dtype=">i4"), "days": np.array(["2026-11-23", "NaT"], "M8[D]")}


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_come_by_name(tmp_path, kind):
    arrays = ARRAYS if kind == "safetensors" else ARRAYS | BEYOND
    path = written(tmp_path, kind, arrays)
    with tw.open(path) as f:
        assert sorted(f) == sorted(arrays)
        assert len(f) == len(arrays)
        assert "table" in f
        assert "other" not in f
        for name, array in arrays.items():
            assert f[name].dtype == array.dtype
            np.testing.assert_array_equal(np.asarray(f[name]), array)
            assert f.describe(name).shape == tw.Shape(*array.shape)
            assert f.describe(name).size == array.size
        assert (f.path, f.mode, f.losses) == (path, "r", ())
    with pytest.raises(TensorNameError, match="other"):
        tw.open(path)["other"]


@pytest.mark.parametrize("array", [*ARRAYS.values(), *BEYOND.values()])
def test_a_single_array_is_named_array(tmp_path, array):
    f = tw.open(written(tmp_path, "npy", {"array": array}))
    assert list(f) == ["array"]
    np.testing.assert_array_equal(np.asarray(f["array"]), array)


def test_small_floats_and_metadata_of_safetensors(tmp_path):
    tw.save(tmp_path / "a.tens", {"w": np.arange(4).astype(ml_dtypes.bfloat16)}, metadata={"by": "us"})
    store.convert(tmp_path / "a.tens", tmp_path / "a.safetensors")
    f = tw.open(tmp_path / "a.safetensors")
    assert f.metadata == {"by": "us"}
    assert f["w"].dtype == ml_dtypes.bfloat16
    assert f["w"].tolist() == [0, 1, 2, 3]


def test_shards_of_safetensors_are_one_tensor(tmp_path):
    parts = [np.arange(12, dtype="f4").reshape(3, 4) + 100 * k for k in range(4)]
    for k, part in enumerate(parts):
        safetensors.numpy.save_file({"w": part}, tmp_path / f"{k}.safetensors")
    w = tw.concat([tw.open(tmp_path / f"{k}.safetensors")["w"] for k in range(4)])
    rows = w[2:7, ::2]
    assert rows.plan().bytes_read == rows.nbytes == 40
    assert len(rows.plan().reads) == 3
    np.testing.assert_array_equal(np.asarray(rows), np.concatenate(parts)[2:7, ::2])


@pytest.mark.parametrize("kind", [*KINDS, "npy"])
def test_nothing_is_read_before_it_is_asked_for(tmp_path, kind):
    array = np.zeros((4096, 1024))  # 32 MiB
    path = written(tmp_path, kind, {"array": array})
    tracemalloc.start()
    f = tw.open(path)
    part = sel.as_view(f["array"])[5:7]
    assert part.plan().bytes_read == 16384
    opened = tracemalloc.get_traced_memory()[1]
    part.compute()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert opened < 2**20
    # What is deflated is inflated up to the elements that are wanted, a few MiB at a time.
    assert peak < (2**23 if kind == "npz deflated" else 2**20)


@pytest.mark.parametrize("kind", KINDS)
def test_tensors_outlive_the_file(tmp_path, kind):
    path = written(tmp_path, kind, {"x": TABLE})
    with tw.open(path) as f:
        tensor = f["x"]
    assert f.closed
    f.close()
    with pytest.raises(DataFileError, match="closed"):
        f["x"]
    assert tensor[1].tolist() == TABLE[1].tolist()
    if isinstance(tensor, tw.Tensor):
        with pytest.raises(ReadOnlyError):
            tensor[0, 0] = 1


def test_who_opens_by_path_needs_to_close_nothing(tmp_path):
    path = written(tmp_path, "safetensors", {"x": TABLE})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tw.open(path)["x"].tolist()
        gc.collect()


@pytest.mark.parametrize("mode", ["a", "w"])
@pytest.mark.parametrize("kind", ["npy", "npz", "safetensors"])
def test_other_kinds_are_read_only(tmp_path, kind, mode):
    with pytest.raises(ConversionError, match="convert"):
        tw.open(tmp_path / f"a.{kind}", mode)
    assert not list(tmp_path.iterdir())
    with pytest.raises(DataFileNotFoundError):
        tw.open(tmp_path / f"a.{kind}")
    with pytest.raises(ReadOnlyError):
        tw.open(tmp_path / f"a.{kind}", metadata={"x": 1})


def test_members_that_are_no_arrays_are_said(tmp_path):
    path = written(tmp_path, "npz", {"x": TABLE})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("readme.txt", "hello")
    f = tw.open(path)
    assert list(f) == ["x"]
    assert f.losses == ("the archive holds 'readme.txt', which is not an array",)


def test_a_member_that_comes_twice_is_told(tmp_path):
    path = tmp_path / "a.npz"
    out = io.BytesIO()
    np.save(out, TABLE)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", out.getvalue())
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("x.npy", out.getvalue())
        archive.writestr("y.npy", out.getvalue())
    with tw.open(path) as f:
        assert (list(f), [(loss.name, loss.code) for loss in f.losses]) == (["y"], [("x", "name")])
        np.testing.assert_array_equal(np.asarray(f["y"]), TABLE)


@pytest.mark.parametrize("kind", ["npy", *KINDS])
def test_a_file_that_was_cut_is_refused(tmp_path, kind):
    path = written(tmp_path, kind, {"x": TABLE})
    raw = path.read_bytes()
    for size in (0, 4, len(raw) // 2, len(raw) - 1):
        path.write_bytes(raw[:size])
        with pytest.raises(DataFileError):
            np.asarray(tw.open(path)["array" if kind == "npy" else "x"])


def test_a_third_truth_value_is_refused(tmp_path):
    path = written(tmp_path, "npy", {"array": np.array([True, False])})
    path.write_bytes(path.read_bytes()[:-1] + b"\x02")
    with pytest.raises(DataFileError, match="neither"):
        tw.open(path)["array"]


def test_objects_are_told_and_never_read(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{}]), allow_pickle=True)
    f = tw.open(tmp_path / "a.npy")
    assert [(loss.name, loss.code) for loss in f.losses] == [("array", "objects")]
    with pytest.raises(TensorNameError, match="allow_pickle"):
        f["array"]
