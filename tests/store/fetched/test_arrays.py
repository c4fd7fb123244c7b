"""Arrays by ranges: as by path, and of safetensors, npy and stored npz only what is asked for."""

import io
import zipfile

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tests.support.store.served_files import served

ARRAYS = {
    "w": np.arange(400_000.0).reshape(1000, 400),
    "fortran": np.asfortranarray(np.arange(60_000, dtype=">i4").reshape(300, 200)),
    "truths": np.arange(100_000) % 3 == 0,
    "times": np.arange(50_000).astype("M8[ns]"),
    "text": np.array(["ab", "c"]),
    "scalar": np.array(3.5),
    "empty": np.zeros((0, 5), "c8"),
    "pairs": np.array([(1, 2.5), (3, 4.5)], [("a", "i2"), ("b", "f4")]),
}


def npz(save=np.savez, **others):
    raw = io.BytesIO()
    save(raw, **ARRAYS, **others)
    return raw.getvalue()


def by_path(tmp_path, raw, name):
    path = tmp_path / name
    path.write_bytes(raw)
    return tw.open(path)


def check_alike(found, expected):
    assert list(found) == list(expected)
    assert [(loss.name, loss.code) for loss in found.losses] == [
        (loss.name, loss.code) for loss in expected.losses
    ]
    for name, tensor in expected.items():
        own = found[name]
        assert (own.shape, own.dtype) == (tensor.shape, tensor.dtype), name
        assert own.tolist() == tensor.tolist(), name


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives_have_what_they_have_by_path(tmp_path, save):
    raw = npz(save, objects=np.array([{}, []], dtype=object))
    expected = by_path(tmp_path, raw, "x.npz")
    assert [loss.code for loss in expected.losses] == ["objects"]
    check_alike(tw.open(raw), expected)
    with served(raw, "x.npz") as server:
        check_alike(tw.open(server.url), expected)


@pytest.mark.parametrize("name", ARRAYS)
def test_single_arrays_have_what_they_have_by_path(tmp_path, name):
    raw = io.BytesIO()
    np.save(raw, ARRAYS[name])
    check_alike(tw.open(raw.getvalue()), by_path(tmp_path, raw.getvalue(), "x.npy"))


def test_three_rows_of_a_model_take_three_requests(tmp_path):
    weights = {f"w{k}": np.arange(500_000, dtype="f4").reshape(5000, 100) + k for k in range(8)}
    path = tmp_path / "model.safetensors"
    tw.save(path, weights)
    with served(path.read_bytes(), "model.safetensors") as server:
        found = tw.open(server.url)
        rows = found["w3"][[7, 8, 9]]
        assert rows.tolist() == weights["w3"][7:10].tolist()
        assert server.requests <= 3
        assert server.nbytes <= 16_384 + 4096


def test_rows_of_a_stored_member_are_fetched_alone():
    with served(npz(), "x.npz") as server:
        found = tw.open(server.url)
        before = server.nbytes
        view = found["w"][[10, 900], ::100]
        assert view.tolist() == ARRAYS["w"][[10, 900], ::100].tolist()
        assert server.nbytes - before == view.plan().bytes_fetched == 2 * 301 * 8


def test_what_an_archive_claims_beyond_its_bytes_is_refused():
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            head, {"descr": "<f8", "fortran_order": False, "shape": (10**9,)}
        )
        archive.writestr("x.npy", head.getvalue() + bytes(80))
        archive.writestr("y.npy", _npy(np.arange(3)))
    found = tw.open(raw.getvalue())
    with pytest.raises(DataFileError, match="do not fit"):
        found["x"]
    assert found["y"].tolist() == [0, 1, 2]


def test_truth_values_are_checked_when_they_are_fetched():
    raw = bytearray(_npy(ARRAYS["truths"]))
    raw[-7] = 2
    view = tw.open(bytes(raw))["array"]
    assert view[:100].tolist() == ARRAYS["truths"][:100].tolist()
    with pytest.raises(DataFileError, match="neither 0 nor 1"):
        view[-100:].compute()


def _npy(array):
    raw = io.BytesIO()
    np.save(raw, array)
    return raw.getvalue()
